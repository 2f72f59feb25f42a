"""Books proposed to be read next, and polls about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.model import Conversation
from core.store import schema
from core.store.engines import Engines, insert_new

_nomination = schema.nomination.c
_poll = schema.poll.c
_ballot = schema.ballot.c


@dataclass(frozen=True, slots=True)
class NominationRow:
    id: str
    title: str
    reader: str


@dataclass(frozen=True, slots=True)
class PollRow:
    """`closes_at`: when it ends by itself; `closed_at`: when it did."""

    id: str
    conversation: Conversation
    ranked: bool
    reader: str
    at: datetime
    closes_at: datetime | None
    closed_at: datetime | None

    def open_at(self, moment: datetime) -> bool:
        """True while ballots count."""
        return self.closed_at is None and (self.closes_at is None or moment < self.closes_at)


class Polls:
    """By channel."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def nominate(self, channel: int, row: NominationRow, at: datetime) -> None:
        values = {"id": row.id, "channel": channel, "poll": None, "title": row.title, "reader": row.reader, "at": at}
        async with self._engines.write() as connection:
            await connection.execute(insert(schema.nomination), values)

    async def nominations(self, channel: int, poll: str | None = None) -> tuple[NominationRow, ...]:
        """Those of a poll, or those that wait for one, in the order they came."""
        which = _nomination.poll.is_(None) if poll is None else _nomination.poll == poll
        query = select(schema.nomination).where(_nomination.channel == channel, which)
        async with self._engines.read() as connection:
            rows = await connection.execute(query.order_by(_nomination.at, _nomination.id))
            return tuple(NominationRow(row.id, row.title, row.reader) for row in rows)

    async def withdraw(self, channel: int, nomination: str) -> None:
        """Take back one that waits for a poll."""
        mine = (_nomination.channel == channel, _nomination.id == nomination, _nomination.poll.is_(None))
        async with self._engines.write() as connection:
            await connection.execute(delete(schema.nomination).where(*mine))

    async def open(self, channel: int, row: PollRow) -> bool:
        """A poll about everything that waits for one; False while another one is open here."""
        values = {
            "id": row.id,
            "channel": channel,
            "thread": row.conversation.thread,
            "ranked": row.ranked,
            "reader": row.reader,
            "at": row.at,
            "closes_at": row.closes_at,
            "closed_at": None,
        }
        waiting = update(schema.nomination).where(_nomination.channel == channel, _nomination.poll.is_(None))
        async with self._engines.write() as connection:
            if await _another_open(connection, channel, row.id, row.at):
                return False
            if await insert_new(connection, schema.poll, values) is not None:
                await connection.execute(waiting.values(poll=row.id))
            return True

    async def get(self, channel: int, id: str | None = None) -> PollRow | None:
        """A poll of the channel; without an id the latest."""
        query = (
            select(schema.poll, schema.channel.c.platform, schema.channel.c.external)
            .join(schema.channel, schema.channel.c.id == _poll.channel)
            .where(_poll.channel == channel)
            .order_by(_poll.at.desc(), _poll.id.desc())
            .limit(1)
        )
        if id is not None:
            query = query.where(_poll.id == id)
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        where = Conversation(row.platform, row.external, row.thread)
        return PollRow(row.id, where, row.ranked, row.reader, row.at, row.closes_at, row.closed_at)

    async def close(self, poll: str, at: datetime) -> None:
        """No ballot counts any more. A poll closed once stays closed as it was."""
        mine = update(schema.poll).where(_poll.id == poll, _poll.closed_at.is_(None))
        async with self._engines.write() as connection:
            await connection.execute(mine.values(closed_at=at))

    async def reopen(self, channel: int, poll: str, since: datetime, at: datetime) -> bool | None:
        """Take the closing of the latest one back when it was at `since` or later; None while another one is open here."""
        begun = select(_poll.at).where(_poll.id == poll).scalar_subquery()
        newer = schema.poll.alias().c
        latest = ~exists().where(newer.channel == channel, newer.at > begun)
        mine = update(schema.poll).where(_poll.id == poll, _poll.channel == channel, _poll.closed_at >= since, latest)
        async with self._engines.write() as connection:
            if await _another_open(connection, channel, poll, at):
                return None
            return (await connection.execute(mine.values(closed_at=None, closes_at=None))).rowcount > 0

    async def cast(
        self,
        channel: int,
        poll: str,
        reader: str,
        change: Callable[[tuple[str, ...]], Sequence[str]],
        at: datetime,
        *,
        until_recorded: bool = False,
    ) -> tuple[str, ...] | None:
        """A reader's ballot, made of the earlier one (empty: none, or taken back); None when the poll takes none at `at`.

        `until_recorded`: a poll whose time is over takes it as long as its closing is not on record.
        """
        mine = (_ballot.poll == poll, _ballot.reader == reader)
        # The poll's row is locked: nothing is counted that came after the closing.
        lock = select(_poll.closes_at, _poll.closed_at).where(_poll.id == poll, _poll.channel == channel)
        async with self._engines.write() as connection:
            row = (await connection.execute(lock.with_for_update())).one_or_none()
            over = row is not None and row.closes_at is not None and row.closes_at <= at and not until_recorded
            if row is None or row.closed_at is not None or over:
                return None
            before = (await connection.execute(select(_ballot.choices).where(*mine))).scalar_one_or_none()
            choices = tuple(change(tuple(before or ())))
            await connection.execute(delete(schema.ballot).where(*mine))
            values: dict[str, Any] = {
                "poll": poll,
                "reader": reader,
                "channel": channel,
                "choices": list(choices),
                "at": at,
            }
            if choices:
                await insert_new(connection, schema.ballot, values)
            return choices

    async def ballots(self, poll: str) -> dict[str, tuple[str, ...]]:
        """Every reader's choices, the best first."""
        query = select(_ballot.reader, _ballot.choices).where(_ballot.poll == poll).order_by(_ballot.at, _ballot.reader)
        async with self._engines.read() as connection:
            return {row.reader: tuple(row.choices) for row in await connection.execute(query)}


async def _another_open(connection: AsyncConnection, channel: int, poll: str, at: datetime) -> bool:
    """Whether another poll of the channel takes votes; none is opened until this transaction ends."""
    await connection.execute(select(schema.channel.c.id).where(schema.channel.c.id == channel).with_for_update())
    still = or_(_poll.closes_at.is_(None), _poll.closes_at > at)
    others = select(_poll.id).where(_poll.channel == channel, _poll.id != poll, _poll.closed_at.is_(None), still)
    return (await connection.execute(others)).first() is not None
