"""What every format reader yields: frozen text with the marks found on the way, before contents are repaired."""

from dataclasses import dataclass, field

from core.model import Notice, PageMark, Position, SpineFile, TocEntry


@dataclass(frozen=True, slots=True)
class HeadingMark:
    """A heading in the text itself (h1–h6, Markdown #, a large line of a PDF). Level 1 is the highest."""

    level: int
    title: str
    position: Position


@dataclass(slots=True)
class Extracted:
    """A book as its file gives it. `toc` is what the file claims, resolved to offsets but not yet repaired or sorted."""

    format: str
    files: list[SpineFile]
    title: str = ""
    authors: tuple[str, ...] = ()
    language: str = ""
    toc: list[TocEntry] = field(default_factory=list)
    headings: list[HeadingMark] = field(default_factory=list)
    pages: list[PageMark] = field(default_factory=list)
    blind: list[int] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    machine_read: bool = False
    cover: bytes | None = None
    front_files: frozenset[int] = frozenset()
    """Files the book itself marks as front matter (title page, imprint, contents, dedication)."""
    back_files: frozenset[int] = frozenset()
    """Files the book itself marks as back matter (colophon, notes, licence)."""
