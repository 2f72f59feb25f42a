"""The jobs of summarising, one a (content, text version): who is at it, whether it waits, is paused or was stopped."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, text, true, update
from sqlalchemy.engine import Row

from core.model import Conversation, Indexed, IndexNews, IndexState, Notice
from core.store import schema
from core.store.engines import Engines, insert_new
from core.store.segments import EXTRACTIVE, UNSUMMARISED
from core.store.structure import pack_notice, unpack_notice

_job = schema.job.c
_segment = schema.segment.c
_extraction = schema.extraction.c
_right = schema.rights.c
_channel = schema.channel.c

LEASE = 6.0
"""Seconds without a sign of life after which a run on another machine counts as dead or frozen."""
UNFINISHED = ("waiting", "queued", "running", "paused", "failed")
BLOCKED = ("waiting", "cancelled")
"""States in which nobody works on a book."""


class Pending(NamedTuple):
    """A book that is to be summarised now."""

    sha256: str
    text_version: str
    rank: int


@dataclass(frozen=True, slots=True)
class JobRow:
    state: IndexState
    rank: int
    tries: int
    notice: Notice | None
    until: datetime | None


class Jobs:
    """Decisions about a book's summaries and the run that is at them. What is done, the segments say.

    A run holds a job by its `owner` (any unique text). On SQLite one process has the data folder, so whoever claims a
    job has it; on a server a claim waits until the owner before has given no sign for LEASE, by the server's clock.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    @property
    def leased(self) -> bool:
        """Whether a run has to give signs of life to keep its job."""
        return self._engines.postgres

    async def make(
        self, sha256: str, text_version: str, state: IndexState, channel: int | None, at: datetime
    ) -> JobRow:
        """The job of a book that came to a channel's shelf, made in `state` unless there is one."""
        here = select(_right.book).where(_right.channel == channel, _right.removed_at.is_(None), _right.book != sha256)
        before = select(func.count()).where(_job.book.in_(here), _job.state.in_(UNFINISHED))
        which = _this(sha256, text_version)
        async with self._engines.write() as connection:
            rank: int = (await connection.execute(before)).scalar_one()
            values = {
                "book": sha256,
                "text_version": text_version,
                "state": state,
                "rank": rank,
                "tries": 0,
                "notice": None,
                "changed_at": at,
            }
            if await insert_new(connection, schema.job, values) is None:
                earlier = update(schema.job).where(which, _job.rank > rank)
                await connection.execute(earlier.values(rank=rank))
            return _as_job((await connection.execute(select(schema.job).where(which))).one())

    async def get(self, sha256: str, text_version: str) -> JobRow | None:
        async with self._engines.read() as connection:
            row = (await connection.execute(select(schema.job).where(_this(sha256, text_version)))).one_or_none()
        return None if row is None else _as_job(row)

    async def turn(
        self, sha256: str, text_version: str, to: IndexState, at: datetime, *, among: Collection[IndexState]
    ) -> bool:
        """Decide about a job in one of these states; a run that is at it has lost it. False when it is in no such state."""
        changes = {"state": to, "owner": None, "notice": None, "until": None, "tries": 0, "changed_at": at}
        mine = update(schema.job).where(_this(sha256, text_version), _job.state.in_(among))
        async with self._engines.write() as connection:
            return (await connection.execute(mine.values(**changes))).rowcount > 0

    async def claim(self, sha256: str, text_version: str, owner: str, at: datetime) -> bool:
        """Begin a run. False while another is at it, or somebody said no or has not said yes."""
        values = {"state": "running", "owner": owner, "seen_at": self._clock(at), "until": None, "changed_at": at}
        claimed = update(schema.job).where(_this(sha256, text_version), _job.state.not_in(BLOCKED), self._free())
        async with self._engines.write() as connection:
            if (await connection.execute(claimed.values(**values))).rowcount:
                return True
            there = select(_job.id).where(_this(sha256, text_version))
            if (await connection.execute(there)).first() is not None:
                return False
            new = {"book": sha256, "text_version": text_version, "rank": 0, "tries": 0, "notice": None}
            made = await insert_new(connection, schema.job, {**new, **values, "seen_at": at})
            if made is not None and self._engines.postgres:
                await connection.execute(update(schema.job).where(_job.id == made).values(seen_at=func.now()))
            return made is not None

    async def beat(self, sha256: str, text_version: str, owner: str, at: datetime) -> bool:
        """A sign of life. False when the job is no longer this run's."""
        mine = update(schema.job).where(_this(sha256, text_version), _held(owner)).values(seen_at=self._clock(at))
        async with self._engines.write() as connection:
            return (await connection.execute(mine)).rowcount > 0

    async def holds(self, sha256: str, text_version: str, owner: str) -> bool:
        """Whether the job is still this run's, and the book on somebody's shelf."""
        query = select(_job.id).where(_this(sha256, text_version), _held(owner), _on_a_shelf(sha256, text_version))
        async with self._engines.read() as connection:
            return (await connection.execute(query)).first() is not None

    async def wanted(self, sha256: str, text_version: str) -> bool:
        """Whether the book is on somebody's shelf, as this text."""
        async with self._engines.read() as connection:
            return bool((await connection.execute(select(_on_a_shelf(sha256, text_version)))).scalar_one())

    async def release(
        self,
        sha256: str,
        text_version: str,
        owner: str,
        state: IndexState,
        at: datetime,
        *,
        notice: Notice | None = None,
        until: datetime | None = None,
    ) -> None:
        """End a run; nothing happens when the job is no longer its own. A notice counts as one more failure."""
        ended = {
            "state": state,
            "owner": None,
            "notice": None if notice is None else pack_notice(notice),
            "until": until,
            "tries": 0 if notice is None else _job.tries + 1,
            "changed_at": at,
        }
        mine = update(schema.job).where(_this(sha256, text_version), _held(owner))
        async with self._engines.write() as connection:
            await connection.execute(mine.values(**ended))

    async def pending(self, due: datetime | None = None) -> tuple[Pending, ...]:
        """The books that lack summaries and that nobody said no to; each channel's first before any channel's second.

        `due`: only what can begin by then: not what is paused until later, has failed, or is at work elsewhere.
        """
        same = and_(_job.book == _extraction.book, _job.text_version == _extraction.text_version)
        rank = func.coalesce(_job.rank, 0)
        query = UNSUMMARISED.outerjoin(schema.job, same).add_columns(rank.label("rank"))
        if due is None:
            query = query.where(or_(_job.id.is_(None), _job.state.not_in(BLOCKED)))
        else:
            ready = or_(
                _job.state.in_(("queued", "done")),
                and_(_job.state == "paused", or_(_job.until.is_(None), _job.until <= due)),
                and_(_job.state == "running", self._free()),
            )
            query = query.where(or_(_job.id.is_(None), ready))
        query = query.order_by(None).order_by(rank, _extraction.id)
        async with self._engines.read() as connection:
            return tuple(Pending(row.book, row.text_version, row.rank) for row in await connection.execute(query))

    async def indexed(self, sha256: str, text_version: str) -> Indexed:
        """How far a stored book is."""
        query = _progress().where(_extraction.book == sha256, _extraction.text_version == text_version)
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return Indexed(0, 0, "done") if row is None else _indexed(row)

    async def news(self, platform: str, since: datetime) -> tuple[IndexNews, ...]:
        """How far the books of a platform's channels are that are unfinished, or changed at `since` or later."""
        lately = or_(_job.state.in_(UNFINISHED), _job.changed_at >= since)
        query = (
            _progress()
            .add_columns(_extraction.book, _extraction.title, _channel.external)
            .join(
                schema.rights,
                and_(_right.book == _extraction.book, _right.text_version == _extraction.text_version),
            )
            .join(schema.channel, _channel.id == _right.channel)
            .where(_channel.platform == platform, _right.removed_at.is_(None), lately)
            .group_by(_extraction.book, _extraction.title, _channel.external, _channel.id)
            .order_by(_channel.id)
        )
        async with self._engines.read() as connection:
            return tuple(
                IndexNews(Conversation(platform, row.external), row.book, row.title, _indexed(row))
                for row in await connection.execute(query)
            )

    async def counts(self) -> dict[IndexState, int]:
        """How many jobs are in each state that is not done."""
        query = select(_job.state, func.count().label("jobs")).where(_job.state != "done").group_by(_job.state)
        async with self._engines.read() as connection:
            return {row.state: row.jobs for row in await connection.execute(query)}

    def _clock(self, at: datetime) -> Any:
        return func.now() if self._engines.postgres else at

    def _free(self) -> ColumnElement[bool]:
        """Nobody is at it who still breathes."""
        if not self._engines.postgres:
            return true()
        lapsed = _job.seen_at < func.now() - text(f"interval '{LEASE} seconds'")
        return or_(_job.state != "running", _job.owner.is_(None), lapsed)


def _this(sha256: str, text_version: str) -> ColumnElement[bool]:
    return and_(_job.book == sha256, _job.text_version == text_version)


def _on_a_shelf(sha256: str, text_version: str) -> ColumnElement[bool]:
    return exists().where(_right.book == sha256, _right.text_version == text_version, _right.removed_at.is_(None))


def _held(owner: str) -> ColumnElement[bool]:
    return and_(_job.owner == owner, _job.state == "running")


def _progress() -> Any:
    """Segments, those a model was asked about, and the job's state, for each extraction that is asked for."""
    asked = or_(_segment.flags != [], and_(_segment.stamp.is_not(None), ~_segment.stamp.startswith(EXTRACTIVE)))
    facts = (_job.state, _job.notice, _job.until)
    return (
        select(func.count().label("total"), func.count().filter(asked).label("done"), *facts)
        .select_from(schema.extraction)
        .join(schema.segment, _segment.extraction == _extraction.id)
        .outerjoin(schema.job, and_(_job.book == _extraction.book, _job.text_version == _extraction.text_version))
        .group_by(_extraction.id, *facts)
    )


def _indexed(row: Row[*tuple[Any, ...]]) -> Indexed:
    if row.done >= row.total:
        return Indexed(row.done, row.total, "done")
    state: IndexState = "queued" if row.state in (None, "done") else row.state
    notice = None if row.notice is None else unpack_notice(row.notice)
    return Indexed(row.done, row.total, state, notice, row.until)


def _as_job(row: Row[*tuple[Any, ...]]) -> JobRow:
    notice = None if row.notice is None else unpack_notice(row.notice)
    return JobRow(row.state, row.rank, row.tries, notice, row.until)
