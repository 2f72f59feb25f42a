"""Days, months and everything added up: calls, money, outcomes, drops, how soon answers began. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.store.statistics import CallDay, TurnFacts


@dataclass(frozen=True, slots=True)
class Tally:
    """One period: a day, a month, or "" for everything. `amount` is in millionths of the unit of the prices."""

    period: str
    calls: int
    input_tokens: int
    output_tokens: int
    amount: int
    unsettled: int
    answers: int
    outcomes: Mapping[str, int]
    tags: int
    """Tags that models wrote: notes and dropped ones."""
    dropped: int
    median_ms: int | None
    """Milliseconds to the first text; None when no answer kept them."""
    p95_ms: int | None

    @property
    def drops_per_100_tags(self) -> float:
        return round(100 * self.dropped / self.tags, 1) if self.tags else 0.0


def tallies(days: Sequence[CallDay], turns: Sequence[TurnFacts], length: int) -> list[Tally]:
    """One tally for each period, in order; `length` is that of its name: 10 for days, 7 for months, 0 for everything."""
    named = [day.day for day in days] + [turn.day for turn in turns]
    periods = sorted({day[:length] for day in named})
    calls: dict[str, list[CallDay]] = {period: [] for period in periods}
    facts: dict[str, list[TurnFacts]] = {period: [] for period in periods}
    for day in days:
        calls[day.day[:length]].append(day)
    for turn in turns:
        facts[turn.day[:length]].append(turn)
    return [_tally(period, calls[period], facts[period]) for period in periods]


def _tally(period: str, days: Sequence[CallDay], turns: Sequence[TurnFacts]) -> Tally:
    waits = sorted(turn.first_text_ms for turn in turns if turn.first_text_ms is not None)
    dropped = sum(turn.dropped for turn in turns)
    return Tally(
        period,
        sum(day.calls for day in days),
        sum(day.input_tokens for day in days),
        sum(day.output_tokens for day in days),
        sum(day.amount for day in days),
        sum(day.unsettled for day in days),
        len(turns),
        dict(Counter(turn.outcome for turn in turns)),
        dropped + sum(turn.notes for turn in turns),
        dropped,
        _share(waits, 50),
        _share(waits, 95),
    )


def _share(waits: Sequence[int], percent: int) -> int | None:
    """The wait that so many percent of the answers did not exceed."""
    return waits[max(0, -(-percent * len(waits) // 100) - 1)] if waits else None
