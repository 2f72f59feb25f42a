"""A book as the bytes that are stored, and back: pieces of text, packed runs, the structure; each with its hash.

A hash covers the place as well as the content, so a row that turns up under another key is refused too.
"""

import hashlib
import json
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from core.errors import BrokenPromise
from core.limits import find_listings
from core.model import Chapter, Contents, Foretold, Notice, PageMark, ParsedBook, Position, Segment, Span, TocEntry

PIECE = 16_384
"""Code points in a stored piece: at most 64 KB of UTF-8 (DESIGN section 4)."""


class Structure(NamedTuple):
    """What is stored of a book besides its text, runs, segments and title page."""

    lengths: tuple[int, ...]
    labels: tuple[str, ...]
    joins: tuple[str | None, ...]
    toc: tuple[TocEntry, ...]
    chapters: tuple[Chapter, ...]
    pages: tuple[PageMark, ...]
    blind: tuple[int, ...]
    foretold: tuple[Foretold, ...] | None
    """None: stored by a program that did not look for it yet."""

    def contents(self, sha256: str, text_version: str) -> Contents:
        facts = {**self._asdict(), "foretold": self.foretold or ()}
        return Contents(sha256=sha256, text_version=text_version, **facts)


def digest(kind: str, place: Iterable[int], data: bytes) -> bytes:
    """The hash stored beside `data`: over what it is, where it stands, and the bytes."""
    head = f"{kind} {' '.join(map(str, place))}\n"
    return hashlib.sha256(head.encode("ascii") + data).digest()


def check(stored: bytes, kind: str, place: Iterable[int], data: bytes) -> bytes:
    """`data` again, when it is what was stored. Raises BrokenPromise `text_damaged`."""
    if digest(kind, place, data) != stored:
        raise BrokenPromise("text_damaged")
    return data


def pieces(book: ParsedBook) -> list[dict[str, Any]]:
    """The rows of the table `piece`."""
    rows = []
    for file in book.files:
        for number, start in enumerate(range(0, len(file.text), PIECE)):
            # Strict decoding upstream leaves no lone surrogates; should one come, exactness beats purity.
            data = file.text[start : start + PIECE].encode("utf-8", "surrogatepass")
            hashed = digest("piece", (file.index, number), data)
            rows.append({"file": file.index, "number": number, "text": data, "hash": hashed})
    return rows


def piece_text(file: int, number: int, data: bytes, stored: bytes) -> str:
    return check(stored, "piece", (file, number), data).decode("utf-8", "surrogatepass")


def spine_files(book: ParsedBook) -> list[dict[str, Any]]:
    """The rows of the table `spine_file`. A run outside its file or out of order is a ValueError: our bug."""
    by_file: list[list[Span]] = [[] for _ in book.files]
    for run in book.runs:
        by_file[run.file].append(run)
    rows = []
    for file, runs in zip(book.files, by_file, strict=True):
        end = 0
        for run in runs:
            if not end <= run.start < run.end <= len(file.text):
                raise ValueError(f"run {run} does not fit into its file")
            end = run.end
        data = pack_runs(runs)
        hashed = digest("runs", (file.index, len(file.text)), data)
        rows.append({"file": file.index, "length": len(file.text), "runs": data, "runs_hash": hashed})
    return rows


def pack_runs(runs: Iterable[Span]) -> bytes:
    """Start and end of each run as little-endian 32-bit numbers."""
    numbers = array("I", (offset for run in runs for offset in (run.start, run.end)))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpack_runs(file: int, data: bytes) -> tuple[Span, ...]:
    numbers = array("I")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(Span(file, start, end) for start, end in zip(numbers[::2], numbers[1::2], strict=True))


def pack_structure(book: ParsedBook) -> bytes:
    value = Structure(
        lengths=tuple(len(file.text) for file in book.files),
        labels=tuple(file.label for file in book.files),
        joins=tuple(file.join for file in book.files),
        toc=book.toc,
        chapters=book.chapters,
        pages=book.pages,
        blind=book.blind,
        foretold=find_listings(
            [file.text for file in book.files],
            [file.label for file in book.files],
            book.toc,
            book.chapters,
            book.pages,
        ),
    )._asdict()
    value["toc"] = [(entry.title, entry.depth, entry.file, entry.offset) for entry in book.toc]
    value["chapters"] = [(chapter.number, chapter.title, chapter.start, chapter.end) for chapter in book.chapters]
    value["pages"] = [(page.label, page.file, page.offset) for page in book.pages]
    return json.dumps(value, separators=(",", ":")).encode("ascii")


@lru_cache(maxsize=64)
def unpack_structure(data: bytes) -> Structure:
    """Kept for the books in use: every press asks for the structure of its book, and it is the same each time."""
    value = json.loads(data)
    return Structure(
        lengths=tuple(value["lengths"]),
        labels=tuple(value["labels"]),
        joins=tuple(value["joins"]),
        toc=tuple(TocEntry(*entry) for entry in value["toc"]),
        chapters=tuple(
            Chapter(number, title, Position(*start), Position(*end)) for number, title, start, end in value["chapters"]
        ),
        pages=tuple(PageMark(*page) for page in value["pages"]),
        blind=tuple(value["blind"]),
        foretold=tuple(Foretold(Span(*span), Position(*place)) for span, place in value["foretold"])
        if "foretold" in value
        else None,
    )


def segment_digest(segment: Segment) -> bytes:
    words = json.dumps([segment.title, segment.summary]).encode("ascii")
    return digest("segment", (segment.sequence, *segment.start, *segment.end), words)


def pack_notice(notice: Notice) -> list[Any]:
    return [notice.key, dict(notice.params)]


def unpack_notice(value: Sequence[Any]) -> Notice:
    key, params = value
    return Notice(key, params)
