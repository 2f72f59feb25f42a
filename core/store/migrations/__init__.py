"""The history of the schema, run by `core.store.upgrade` when a store opens."""
