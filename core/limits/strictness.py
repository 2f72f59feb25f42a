"""Several limits at once, and what lies past one."""

from collections.abc import Iterable

from core.model import WHOLE_BOOK, Limit, Position


def strictest(limits: Iterable[Limit]) -> Limit:
    """The one that permits least; the whole book when there is none."""
    return min(limits, key=_reach, default=WHOLE_BOOK)


def beyond(made: Limit, now: Limit) -> bool:
    """True when `made` permits what `now` does not: what was said under it may not be told today."""
    return _reach(made) > _reach(now)


def _reach(limit: Limit) -> tuple[bool, Position]:
    return limit.position is None, limit.position or Position(0, 0)
