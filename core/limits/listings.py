"""Where a book's own text lists its chapters ahead of them (a printed contents page), and which place each line tells of. Pure.

The contents page of a printed book stands before everything it names: it is permitted text under any limit, and full of
titles that are not. What is found here, once for each stored text, is kept back line by line (P6).
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from core import words as wording
from core.limits.numerals import LABELS, number_of
from core.model import Chapter, Foretold, PageMark, Position, Span, TocEntry

_APART = (200, 800)
"""Characters between two entries of one listing: in the body, and before the first chapter, where what stands between them
tells of the chapters (an analytic contents)."""
_HEADING = 200
"""Characters after the place of a title within which its line is the heading itself."""
_LONGEST = 400
"""Characters of a line that may be one entry, its dots included."""
_ENOUGH = (3.0, 1.5)
"""What a listing holds at least, in the body and before the first chapter: a title counts one; a bare number, or a line
that ends in dots and a page, half, and in the body nothing: a table holds such too."""
_SEVERAL = 3
"""So many titles on one line are a listing by themselves, when they are most of it."""
_TELLING = 6
"""Characters that make one word a title that can be told inside a line."""
_PAGED = re.compile(r"(?:(?:[.·…_] ?){3,}|\t) *(\d{1,4}|[ivxlc]{1,7})\s*$", re.I)

_Key = tuple[str, ...]


def find_listings(
    texts: Sequence[str],
    labels: Sequence[str],
    toc: Iterable[TocEntry],
    chapters: Sequence[Chapter],
    pages: Iterable[PageMark],
) -> tuple[Foretold, ...]:
    """The lines of a book (texts of its files in order) that tell of a later place, in reading order.

    A line tells of the place whose title it is, with or without its number and its page; what stands between two such
    lines tells of the later one.
    """
    titles = _Titles([*((Position(e.file, e.offset), e.title) for e in toc), *((c.start, c.title) for c in chapters)])
    if not titles.places and not chapters:
        front = Position(len(texts) // 10, 0)
    else:
        front = chapters[0].start if chapters else Position(len(texts), 0)
    numbered = {label.lower(): Position(file, 0) for file, label in enumerate(labels) if label}
    numbered.update({mark.label.lower(): Position(mark.file, mark.offset) for mark in pages})
    reading = _Reading(titles, front, numbered, Position(len(texts), 0))
    for file, text in enumerate(texts):
        for line in _lines(file, text):
            reading.read(line)
    reading.close()
    return tuple(reading.found)


@dataclass(frozen=True, slots=True)
class _Line:
    span: Span
    text: str
    opens: bool
    """True when a paragraph begins with it."""


def _lines(file: int, text: str) -> Iterator[_Line]:
    start, opens = 0, True
    for piece in text.split("\n"):
        if stripped := piece.strip():
            first = start + piece.index(stripped)
            yield _Line(Span(file, first, first + len(stripped)), stripped, opens)
        opens = not stripped
        start += len(piece) + 1


@dataclass(frozen=True, slots=True)
class _Entry:
    place: Position
    weight: float


class _Titles:
    """Titles by their words, without numbers and labels, and the places that have them."""

    def __init__(self, titles: Iterable[tuple[Position, str]]) -> None:
        self.places: defaultdict[_Key, list[Position]] = defaultdict(list)
        for place, title in sorted(set(titles)):
            for key in _keys(title, paged=False):
                if place not in self.places[key]:
                    self.places[key].append(place)
        self._inside = [
            (joined, any(map(wording.is_cjk, joined)))
            for key in self.places
            if key[0] != "#" and (len(key) > 1 or len(key[0]) >= _TELLING or any(map(wording.is_cjk, key[0])))
            for joined in [" ".join(key)]
        ]

    def named(self, text: str) -> tuple[list[Position], bool]:
        """The places whose title the line is, and whether that is more than a number."""
        for key in _keys(text, paged=True):
            if key in self.places:
                return self.places[key], key[0] != "#"
        return [], False

    def several(self, text: str) -> list[Position]:
        """The first places of the titles on a line that holds little else; empty for fewer than _SEVERAL."""
        said = " ".join(wording.words(text))
        found = [(t, unspaced) for t, unspaced in self._inside if (t in said if unspaced else f" {t} " in f" {said} ")]
        whole = [t for t, _ in found if not any(t != other and t in other for other, _ in found)]
        if len(whole) < _SEVERAL or 5 * sum(map(len, whole)) < 2 * len(said):
            return []
        return [self.places[tuple(title.split(" "))][0] for title in whole]


def _keys(title: str, *, paged: bool) -> Iterator[_Key]:
    """A title by its words: all of them, then without number and label; `paged`: also without a page behind it."""
    said = wording.words(title)
    for tokens in (said, said[:-1]) if paged and len(said) > 1 and number_of(said[-1]) is not None else (said,):
        if tokens:
            yield tuple(tokens)
        rest, numbers, labelled = list(tokens), [], False
        while rest and (rest[0] in LABELS or number_of(rest[0], written=labelled) is not None):
            if rest[0] in LABELS:
                labelled = True
            else:
                numbers.append(str(number_of(rest[0], written=True)))
            rest = rest[1:]
        if rest and len(rest) < len(tokens):
            yield tuple(rest)
        elif numbers and not rest:
            yield ("#", *numbers)


@dataclass(slots=True)
class _Reading:
    """Goes through the lines of a book and keeps the stretch that may turn out to be a listing."""

    titles: _Titles
    front: Position
    pages: dict[str, Position]
    end: Position
    found: list[Foretold] = field(default_factory=list)
    _stretch: list[tuple[_Line, _Entry | None]] = field(default_factory=list)
    _quiet: int = 0
    _last: Position | None = None

    def read(self, line: _Line) -> None:
        places, telling = self.titles.named(line.text) if len(line.text) <= _LONGEST else ([], False)
        before = line.span.first < self.front
        if self._heads(line, places) or (self._stretch and not before and self._stretch[0][0].span.first < self.front):
            self.close()
        if self._heads(line, places):
            return
        entry = self._entry(line, places, telling)
        if entry is None and not self._stretch:
            return
        self._stretch.append((line, entry))
        if entry is not None:
            self._quiet, self._last = 0, entry.place
            return
        self._quiet += line.span.end - line.span.start
        if self._quiet > _APART[before]:
            self.close()

    def close(self) -> None:
        """Keep the stretch when it is a listing."""
        lines, self._stretch, self._quiet, self._last = self._stretch, [], 0, None
        members = [at for at, (_, entry) in enumerate(lines) if entry is not None]
        if not members:
            return
        before = lines[members[0]][0].span.first < self.front
        # by what is printed: a refrain that happens to be a later title is one title
        if sum({line.text: self._weight(entry, before) for line, entry in lines if entry}.values()) < _ENOUGH[before]:
            return
        place, telling = self.end, []
        for line, entry in reversed(lines[: self._tail(lines, members[-1])]):
            place = entry.place if entry is not None else place
            telling.append(Foretold(line.span, place))
        self.found += reversed(telling)

    def _tail(self, lines: Sequence[tuple[_Line, _Entry | None]], last: int) -> int:
        """Behind the last entry: the rest of its paragraph tells of the same chapter."""
        after = last + 1
        while after < len(lines) and not lines[after][0].opens:
            after += 1
        return after

    @staticmethod
    def _weight(entry: _Entry, before: bool) -> float:
        return entry.weight if before or entry.weight >= 1 else 0.0

    @staticmethod
    def _heads(line: _Line, places: Sequence[Position]) -> bool:
        """True when the line is the heading itself."""
        return any(place.file == line.span.file and 0 <= line.span.start - place.offset <= _HEADING for place in places)

    def _entry(self, line: _Line, places: Sequence[Position], telling: bool) -> _Entry | None:
        """What a line tells of, when that lies behind it; `places`: those whose title it is."""
        if places:
            # Titles repeat ("I" of every part): a listing names them in order.
            at = bisect_left(places, self._last) if self._last is not None else 0
            place = places[at] if at < len(places) else places[0]
            return _Entry(place, 1.0 if telling else 0.5) if place >= line.span.last else None
        if line.span.first >= self.front:
            return None
        if paged := _PAGED.search(line.text):
            place = self.pages.get(paged[1].lower(), self._last or self.end)
            return _Entry(place, 0.5) if place >= line.span.last else None
        later = [place for place in self.titles.several(line.text) if place >= line.span.last]
        return _Entry(max(later), float(_SEVERAL)) if len(later) >= _SEVERAL else None
