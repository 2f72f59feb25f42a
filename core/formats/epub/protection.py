"""Whether an EPUB's text is locked: obfuscated fonts are not, a listed content document is."""

from core.errors import BadBook
from core.formats.epub.archive import Archive
from core.formats.markup import parse_xml


def refuse_locked(archive: Archive, documents: set[str]) -> None:
    """Raise BadBook when META-INF/encryption.xml lists one of `documents`: cipher bytes must never become text."""
    name = archive.find("META-INF/encryption.xml")
    root = parse_xml(archive.read(name)) if name else None
    if root is None:
        return
    for reference in root.iter("{*}CipherReference"):
        if archive.find((reference.get("URI") or "").partition("#")[0]) in documents:
            raise BadBook("book_protected")
