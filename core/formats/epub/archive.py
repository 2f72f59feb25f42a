"""A zip that is not trusted: names found leniently, sizes counted while inflating, nothing ever written to disk."""

import copy
import zipfile
import zlib
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote

from core.errors import BadBook

MOST_ENTRIES = 10_000
MOST_INFLATED = 300 * 1024 * 1024
"""Bytes of one archive, declared or inflated."""
_RATIO = 200
_RATIO_FROM = 8 * 1024 * 1024
"""A ratio above `_RATIO` only counts from this size on: blank pictures of honest books reach 463 : 1."""
_CHUNK = 1 << 20
_ENCRYPTED = 0x1


class Archive:
    """The entries of an EPUB. Raises BadBook when it is no zip or passes a limit."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError):
            raise BadBook("book_epub_broken") from None
        entries = self._zip.infolist()
        if len(entries) > MOST_ENTRIES:
            raise BadBook("book_too_many_entries", most=MOST_ENTRIES)
        if sum(entry.file_size for entry in entries) > MOST_INFLATED or any(map(_swells, entries)):
            raise _too_large()
        self._inflated = 0
        # Backslashes come from careless tools under Windows.
        self.names = [entry.filename.replace("\\", "/") for entry in entries if not entry.is_dir()]
        self._entries = dict(zip(self.names, (entry for entry in entries if not entry.is_dir()), strict=True))
        self._folded: dict[str, str] = {}
        for name in self.names:
            self._folded.setdefault(name.casefold(), name)
        self.damaged: set[str] = set()
        """Entries that were asked for and cannot be inflated to what their checksum promises."""

    def find(self, href: str) -> str | None:
        """The entry a reference means: as written, percent-decoded once, then in any case. None when there is none."""
        for candidate in (href, unquote(href)):
            name = normpath(candidate).lstrip("/")
            if name in self._entries:
                return name
        return self._folded.get(normpath(unquote(href)).lstrip("/").casefold())

    def size(self, name: str) -> int:
        """What the archive declares; not to be trusted, but a cheap reason to leave a picture alone."""
        return self._entries[name].file_size

    def read(self, name: str) -> bytes:
        """The content of an entry from `names`; empty when it is damaged. Raises BadBook at the limits."""
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise BadBook("book_protected")
        # zipfile stops at the declared size; to see a lie it must be let past it.
        open_ended = copy.copy(entry)
        open_ended.file_size = MOST_INFLATED + 1
        del open_ended.CRC
        chunks: list[bytes] = []
        size = checksum = 0
        try:
            with self._zip.open(open_ended) as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    self._inflated += len(chunk)
                    if self._inflated > MOST_INFLATED or (size > _RATIO_FROM and size > _RATIO * entry.compress_size):
                        raise _too_large()
                    checksum = zlib.crc32(chunk, checksum)
                    chunks.append(chunk)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError, RuntimeError):
            self.damaged.add(name)
            return b""
        if checksum != entry.CRC:
            self.damaged.add(name)
            return b""
        return b"".join(chunks)


def _swells(entry: zipfile.ZipInfo) -> bool:
    return entry.file_size > _RATIO_FROM and entry.file_size > _RATIO * entry.compress_size


def _too_large() -> BadBook:
    return BadBook("book_inflates", most=MOST_INFLATED // (1024 * 1024))
