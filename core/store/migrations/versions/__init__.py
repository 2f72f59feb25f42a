"""One file a revision, named `v0002_what_it_does.py`; also listed in `core.store.upgrade.REVISIONS`."""
