"""The cover picture of an EPUB, as stored."""

from typing import Any

from core.formats.epub.package import Package

MOST_COVER = 2 * 1024 * 1024
"""Bytes; a larger cover is left alone."""
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF")


def read_cover(package: Package) -> bytes | None:
    """The picture the package names as cover (JPEG, PNG, GIF or WebP); None when there is none that can be shown."""
    for item in _candidates(package):
        name = package.find(item.file_name)
        if name is None or package.archive.size(name) > MOST_COVER:
            continue
        data = package.archive.read(name)
        if data.startswith(_PICTURES) and len(data) <= MOST_COVER:
            return data
    return None


def _candidates(package: Package) -> list[Any]:
    """EPUB 3 marks the item, EPUB 2 names its id (or, wrongly, its path) in a `meta`."""
    named = {facts.get("content") for _, facts in package.meta() if facts.get("name") == "cover"}
    properties = [item for item in package.items.values() if type(item).__name__ == "EpubCover"]
    return properties + [item for item in package.items.values() if {item.id, item.file_name} & named]
