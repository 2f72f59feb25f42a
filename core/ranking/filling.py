"""Filling a token budget with windows, best first."""

from collections.abc import Collection, Iterable

from core.model import Span
from core.ranking.table import Window


def fill(windows: Iterable[Window], budget_tokens: int, delivered: Collection[Span] = ()) -> list[tuple[Span, ...]]:
    """What to deliver of ranked windows: runs not delivered yet, whole windows while they fit, best first.

    The first window that does not fit whole gives single runs from its beginning, and so do the ones after it, until
    nothing fits. The costs of all returned runs add up to at most `budget_tokens`; no run is returned twice.
    """
    taken = set(delivered)
    left = budget_tokens
    filled: list[tuple[Span, ...]] = []
    whole = True
    for window in windows:
        fresh = [(run, cost) for run, cost in zip(window.runs, window.costs, strict=True) if run not in taken]
        if not fresh:
            continue
        whole = whole and sum(cost for _, cost in fresh) <= left
        chosen: list[Span] = []
        for run, cost in fresh:
            if cost <= left:
                chosen.append(run)
                left -= cost
            elif not whole:
                break
        if chosen:
            taken.update(chosen)
            filled.append(tuple(chosen))
        if left < 8:
            break
    return filled
