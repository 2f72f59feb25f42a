"""Places in books as they stand in addresses: `/read/{book}/{text version}/f5-123-165`. Pure."""

import re
from typing import NamedTuple

from core.errors import Missing
from core.model import Passage, Position, Span

_BOOK = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[a-z0-9][a-z0-9._-]{0,40}")
_PLACE = re.compile(r"f(\d{1,7})-(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


class Spot(NamedTuple):
    """A place in one extraction of a book; `marked` is the range that is highlighted there."""

    book: str
    text_version: str
    at: Position
    marked: Span | None = None

    @property
    def path(self) -> str:
        """The address on the local page, from the root."""
        return f"/read/{self.book}/{self.text_version}/{self.place}{'#mark' if self.marked else ''}"

    @property
    def place(self) -> str:
        span = self.marked
        return f"f{span.file}-{span.start}-{span.end}" if span else f"f{self.at.file}-{self.at.offset}"


def spot_of(passage: Passage) -> Spot:
    """Where a passage stands."""
    return Spot(passage.book, passage.text_version, passage.span.first, passage.span)


def read_spot(book: str, text_version: str, place: str) -> Spot:
    """The spot an address names. Raises Missing for one that no address of ours spells."""
    found = _PLACE.fullmatch(place)
    if not found or not _BOOK.fullmatch(book) or not _VERSION.fullmatch(text_version):
        raise Missing("link_broken")
    file, start = int(found[1]), int(found[2])
    marked = Span(file, start, int(found[3])) if found[3] else None
    return Spot(book, text_version, Position(file, start), marked)
