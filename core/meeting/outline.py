"""Where chapters begin and end and how long they are, also past the limit: numbers and lengths, never a title or a word. Pure."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from core.model import Contents, Position

PACE = 1_000
"""Characters read in a minute: about two hundred words."""
PACE_CJK = 400


@dataclass(frozen=True, slots=True)
class Stretch:
    """One chapter."""

    number: int
    start: Position
    end: Position
    characters: int


def outline(contents: Contents) -> tuple[Stretch, ...]:
    """The chapters of a book in their order."""
    starts = (0, *accumulate(contents.lengths))

    def place(position: Position) -> int:
        return starts[position.file] + position.offset

    return tuple(
        Stretch(chapter.number, chapter.start, chapter.end, max(place(chapter.end) - place(chapter.start), 0))
        for chapter in contents.chapters
    )


def spelled(contents: Contents, end: Position | None) -> str:
    """A limit in words that name no title: by chapters where it stands at the end of one, else by its share, never further."""
    if end is None:
        return "all"
    chapters = outline(contents)
    before = [chapter for chapter in chapters if chapter.end <= end]
    rest = chapters[len(before) :]
    if before and (not rest or end <= rest[0].start):
        return f"finished {before[-1].number}"
    starts = (0, *accumulate(contents.lengths))
    read, whole = starts[end.file] + end.offset, max(starts[-1], 1)
    tenths = -(-1_000 * read // whole)  # as it was said, where it was said so
    if whole * tenths // 1_000 > read or tenths == 1_000:  # 100 % would be no limit at all
        tenths = min(1_000 * read // whole, 999)
    if not tenths:
        return "start"
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def chapter_at(chapters: tuple[Stretch, ...], position: Position) -> Stretch | None:
    """The chapter a place lies in."""
    at = bisect_right(chapters, position, key=lambda chapter: chapter.start) - 1
    return chapters[at] if at >= 0 and position < chapters[at].end else None
