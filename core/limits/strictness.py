"""Several limits at once, and what of an earlier answer lies past today's."""

from collections.abc import Iterable, Sequence

from core.model import WHOLE_BOOK, Limit, Position, Span, Turn


def strictest(limits: Iterable[Limit]) -> Limit:
    """The one that permits least; the whole book when there is none."""
    return min(limits, key=_reach, default=WHOLE_BOOK)


def told_within(turn: Turn, books: Sequence[tuple[int, Limit]]) -> bool:
    """True when an earlier answer may be told, or shown to a model, under the limits of now.

    `books`: the number of files and today's limit of each book of the turn, in the turn's order. Nothing delivered may
    lie past a limit; and as an overview tells more than its tags name, nothing may have been said under a wider limit.
    """
    if turn.answer.outcome == "chat":
        return True
    if not books or _reach(turn.limit) > _reach(books[0][1]):
        return False
    return all(_permitted(run, books) for window in turn.evidence for run in window)


def _permitted(run: Span, books: Sequence[tuple[int, Limit]]) -> bool:
    file = run.file
    for files, limit in books:
        if file < files:
            return limit.permits(Span(file, run.start, run.end))
        file -= files
    return False


def _reach(limit: Limit) -> tuple[bool, Position]:
    return limit.position is None, limit.position or Position(0, 0)
