"""What a book is once it has been read: spine files, runs, contents, chapters, segments. Stdlib only.

All offsets are Python code points into the canonical text of one spine file; ranges are half-open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Position(NamedTuple):
    """A place in a book: a spine file (from 0) and an offset (code points) in its canonical text.

    A named tuple, not a dataclass: a novel holds tens of thousands of them and they are compared and sorted all day.
    """

    file: int
    offset: int


class Span(NamedTuple):
    """A non-empty range inside one spine file, `0 <= start < end`. A *run* is a span that carries a tag."""

    file: int
    start: int
    end: int

    @property
    def first(self) -> Position:
        return Position(self.file, self.start)

    @property
    def last(self) -> Position:
        """The position just past the span."""
        return Position(self.file, self.end)


@dataclass(frozen=True, slots=True)
class SpineFile:
    """One part of a book in reading order; its text is frozen for the life of a `text_version`."""

    index: int
    label: str
    """The printed page label of a PDF page; elsewhere empty."""
    text: str
    join: str | None = None
    """What stands before the *next* file when a paragraph runs on ("" or " "); None when the next file starts anew."""


@dataclass(frozen=True, slots=True)
class TocEntry:
    """One line of the repaired contents. `depth` counts from 1."""

    title: str
    depth: int
    file: int
    offset: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """A leaf of the contents that has text, front matter aside, numbered from 1 as `/toc` prints it."""

    number: int
    title: str
    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch that is summarised by one call; segments cover the book in order without overlap."""

    sequence: int
    title: str
    start: Position
    end: Position
    summary: str | None = None
    """Prose with tags in the book's own numbering, ready for a prompt (look-alikes defused)."""
    stamp: str = ""
    """What made the summary: prompt version and model, or "extractive@1"; "" when nobody has."""
    flags: tuple[str, ...] = ()
    """What is doubtful about the summary, such as "refused"."""


@dataclass(frozen=True, slots=True)
class PageMark:
    """A printed page begins here (EPUB page list, PDF page labels)."""

    label: str
    file: int
    offset: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be said in one sentence: a key of `core/strings` and its parameters."""

    key: str
    params: Mapping[str, str | int] = field(default_factory=dict)


class Foretold(NamedTuple):
    """A line of a printed contents page: it stands at `span` and tells of what begins at `place`, further on."""

    span: Span
    place: Position


@dataclass(frozen=True, slots=True)
class ParsedBook:
    """Everything extraction knows about a book. Immutable for one (content, text_version)."""

    title: str
    authors: tuple[str, ...]
    language: str
    """Primary language subtag in lower case ("en", "zh"); guessed from the text when the file is silent."""
    format: str
    """epub, pdf, txt, md, html, fb2, docx, mobi."""
    text_version: str
    files: tuple[SpineFile, ...]
    runs: tuple[Span, ...]
    toc: tuple[TocEntry, ...]
    chapters: tuple[Chapter, ...]
    segments: tuple[Segment, ...]
    pages: tuple[PageMark, ...] = ()
    warnings: tuple[Notice, ...] = ()
    blind: tuple[int, ...] = ()
    """Files (PDF pages) that are pictures and hold no text."""
    machine_read: bool = False
    """True when the text came from optical recognition."""
    cover: bytes | None = None
    """The cover picture as stored in the book, when it has one (at most 2 MB)."""

    @property
    def characters(self) -> int:
        return sum(len(file.text) for file in self.files)
