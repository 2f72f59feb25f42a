"""What a data folder says of its use: calls by day and the facts of each turn, read without changing anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import and_, case, func, select

from core.errors import OperatorError
from core.store import schema
from core.store.engines import Engines
from core.store.upgrade import is_up_to_date

_charge = schema.charge.c
_turn = schema.turn.c
_footnote = schema.footnote.c


@dataclass(frozen=True, slots=True)
class CallDay:
    """The calls of one day ("2026-03-01", UTC). `amount` is in millionths; `unsettled` calls stand at their estimates."""

    day: str
    calls: int
    input_tokens: int
    output_tokens: int
    amount: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """One answer, without a word of it."""

    day: str
    outcome: str
    notes: int
    dropped: int
    first_text_ms: int | None


async def read_statistics(
    url: str, folder: Path, given_up: datetime
) -> tuple[Sequence[CallDay], Sequence[TurnFacts]] | None:
    """Every day's calls and every turn, oldest first; None when there is no database yet.

    A call begun before `given_up` that was never settled counts as unsettled: nobody waits for it any more.
    Raises OperatorError `stats_older` for a database that older code left, and what opening a store raises.
    """
    if Engines.missing(url, folder):
        return None
    engines = await Engines.open(url, folder, prepare=False)
    try:
        if not await is_up_to_date(engines):
            raise OperatorError("stats_older")
        lost = case((and_(_charge.settled.is_(False), _charge.at < given_up), 1), else_=0)
        sums = [func.sum(column) for column in (_charge.calls, _charge.input_tokens, _charge.output_tokens)]
        by_day = select(_charge.day, *sums, func.sum(_charge.amount), func.sum(lost)).group_by(_charge.day)
        cited = select(_footnote.turn, func.count().label("notes")).group_by(_footnote.turn).subquery()
        turns = select(_turn.asked_at, _turn.outcome, _turn.dropped, _turn.first_text_ms, cited.c.notes)
        turns = turns.outerjoin(cited, cited.c.turn == _turn.id).order_by(_turn.sequence)
        async with engines.read() as connection:
            days = [
                CallDay(day, *(int(value) for value in values))
                for day, *values in await connection.execute(by_day.order_by(_charge.day))
            ]
            facts = [
                TurnFacts(f"{row.asked_at:%Y-%m-%d}", row.outcome, row.notes or 0, len(row.dropped), row.first_text_ms)
                for row in await connection.execute(turns)
            ]
        return days, facts
    finally:
        await engines.close()
