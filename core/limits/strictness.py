"""Several limits at once, and what of an earlier answer lies past today's."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.model import WHOLE_BOOK, Limit, Position, Span, Turn


class Reach(NamedTuple):
    """How far one book of an earlier answer may be told today."""

    files: int
    limit: Limit
    kept_back: tuple[Span, ...] = ()
    """Lines before the limit that tell of what lies past it, in reading order."""


def strictest(limits: Iterable[Limit]) -> Limit:
    """The one that permits least; the whole book when there is none."""
    return min(limits, key=_reach, default=WHOLE_BOOK)


def told_within(turn: Turn, books: Sequence[Reach]) -> bool:
    """True when an earlier answer may be told, or shown to a model, under the limits of now.

    `books`: the reach of each book of the turn, in the turn's order. Nothing delivered may lie past a limit; and as an
    overview tells more than its tags name, nothing may have been said under a wider limit, in any of the books.
    """
    if turn.answer.outcome == "chat":
        return True
    if not books:
        return False
    then = [turn.limit, *turn.further_limits]
    then += [WHOLE_BOOK] * (len(books) - len(then))  # a turn from before this was kept
    if any(_reach(was) > _reach(now.limit) for was, now in zip(then, books, strict=True)):
        return False
    return all(_permitted(run, books) for window in turn.evidence for run in window)


def _permitted(run: Span, books: Sequence[Reach]) -> bool:
    file = run.file
    for book in books:
        if file < book.files:
            span = Span(file, run.start, run.end)
            told = any(line.file == file and line.start < span.end and line.end > span.start for line in book.kept_back)
            return book.limit.permits(span) and not told
        file -= book.files
    return False


def _reach(limit: Limit) -> tuple[bool, Position]:
    return limit.position is None, limit.position or Position(0, 0)
