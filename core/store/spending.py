"""What was spent: counters that are raised before a call and corrected after it, and what readers opened of books.

A counter is raised in the transaction that compares it with its cap, so no number of calls at once passes a cap. What a
crash leaves stays counted as it was estimated: it needs no cleaning up.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BigInteger, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.model import Usage
from core.store import schema
from core.store.engines import Engines, insert_new

_spent = schema.spent.c
_charge = schema.charge.c
_opened = schema.opened.c

# Made once: every call of a model runs them.
_MINE = (_spent.scope == bindparam("of")) & (_spent.period == bindparam("during"))
_ADD = update(schema.spent).where(_MINE).values(amount=_spent.amount + bindparam("more", type_=BigInteger))
_ADD_UP_TO = _ADD.where(_spent.amount + bindparam("more", type_=BigInteger) <= bindparam("most", type_=BigInteger))

Stretch = tuple[int, int]
"""Characters of a book, half-open; offsets count through all its files."""


@dataclass(frozen=True, slots=True)
class Pot:
    """What something adds up to in one day ("2026-03-01") or month ("2026-03"); `cap` None: as much as it takes."""

    scope: str
    period: str
    cap: int | None = None
    key: str = ""
    """The sentence that says this pot is empty."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A call on record. Amounts are millionths of the unit that prices are in."""

    id: int
    pots: tuple[Pot, ...]
    amount: int


class _Full(Exception):
    """Rolls a reservation back."""

    def __init__(self, pot: Pot) -> None:
        super().__init__(pot.scope)
        self.pot = pot


class Spending:
    """Money and passages, by day and month."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def reserve(
        self, pots: Sequence[Pot], amount: int, *, purpose: str, model: str, usage: Usage, at: datetime
    ) -> Charge | Pot:
        """Count a call in every pot before it is made; the pot that has no room for it, and nothing is counted then."""
        pots = tuple(sorted(pots, key=_order))
        full = await self._full(pots, amount)  # most refusals cost no transaction
        if full is not None:
            return full
        values = {
            "day": f"{at:%Y-%m-%d}",
            "purpose": purpose,
            "model": model,
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "amount": amount,
            "at": at,
            "settled": False,
        }
        try:
            async with self._engines.write() as connection:
                for pot in pots:
                    await _raise(connection, pot, amount)
                made = await connection.execute(insert(schema.charge).returning(_charge.id), values)
                return Charge(made.scalar_one(), pots, amount)
        except _Full as full_one:
            return full_one.pot

    async def settle(self, charge: Charge, amount: int, usage: Usage) -> None:
        """Put what a call cost in the place of its estimate."""
        real = {
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "amount": amount,
            "settled": True,
        }
        async with self._engines.write() as connection:
            for pot in charge.pots:
                await connection.execute(_ADD, _added(pot, amount - charge.amount))
            await connection.execute(update(schema.charge).where(_charge.id == charge.id).values(**real))

    async def spent(self, pot: Pot) -> int:
        """What stands in a pot, calls under way included."""
        query = select(_spent.amount).where(_spent.scope == pot.scope, _spent.period == pot.period)
        async with self._engines.read() as connection:
            return (await connection.execute(query)).scalar_one_or_none() or 0

    async def open(
        self,
        pot: Pot,
        reader: str,
        book: str,
        stretch: Stretch,
        uncovered: Callable[[Stretch, Iterable[Stretch]], int],
    ) -> bool:
        """Count what of a stretch the reader did not see in the pot's period; False when that is more than is left.

        `uncovered` tells how many characters of a stretch others leave.
        """
        mine = (_opened.reader == reader) & (_opened.book == book)
        query = select(_opened.start, _opened.end).where(mine, _opened.day == pot.period)
        async with self._engines.read() as connection:
            if not uncovered(stretch, [(row.start, row.end) for row in await connection.execute(query)]):
                return True
        try:
            async with self._engines.write() as connection:
                # the counter's row is the lock: of two presses at once the second counts what the first left
                await _raise(connection, pot, 0)
                rows = await connection.execute(query)
                new = uncovered(stretch, [(row.start, row.end) for row in rows])
                if new:
                    await _raise(connection, pot, new)
                    await connection.execute(delete(schema.opened).where(mine, _opened.day < pot.period))
                    values = {"reader": reader, "book": book, "day": pot.period, "start": stretch[0], "end": stretch[1]}
                    await connection.execute(insert(schema.opened), values)
        except _Full:
            return False
        return True

    async def _full(self, pots: Sequence[Pot], amount: int) -> Pot | None:
        capped = {(pot.scope, pot.period): pot for pot in pots if pot.cap is not None}
        if not capped:
            return None
        query = select(schema.spent).where(
            _spent.scope.in_({scope for scope, _ in capped}), _spent.period.in_({period for _, period in capped})
        )
        async with self._engines.read() as connection:
            amounts = {(row.scope, row.period): row.amount for row in await connection.execute(query)}
        for key, pot in capped.items():
            if pot.cap is not None and amounts.get(key, 0) + amount > pot.cap:
                return pot
        return None


def _order(pot: Pot) -> tuple[str, str]:
    """Everybody takes rows in the same order, so that nobody waits in a circle."""
    return pot.scope, pot.period


async def _raise(connection: AsyncConnection, pot: Pot, amount: int) -> None:
    await insert_new(connection, schema.spent, {"scope": pot.scope, "period": pot.period, "amount": 0})
    values = _added(pot, amount)
    if pot.cap is None:
        done = await connection.execute(_ADD, values)
    else:
        done = await connection.execute(_ADD_UP_TO, {**values, "most": pot.cap})
    if not done.rowcount:
        raise _Full(pot)


def _added(pot: Pot, amount: int) -> dict[str, str | int]:
    return {"of": pot.scope, "during": pot.period, "more": amount}
