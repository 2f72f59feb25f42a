"""Discussions being prepared or held: their questions, and what was answered to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import Missing, ReaderError
from core.model import Conversation, Document, Letter, Span
from core.store import schema
from core.store.codec import decode_document, encode_document
from core.store.engines import Engines, insert_new
from core.store.letters import as_row

_discussion = schema.discussion.c
_topic = schema.topic.c
_remark = schema.remark.c


@dataclass(frozen=True, slots=True)
class DiscussionRow:
    """`reader` prepares it; `limit_words` bounds what its questions may draw on."""

    id: str
    conversation: Conversation
    reader: str
    book: str
    text_version: str
    limit_words: str
    posted_at: datetime | None
    at: datetime


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One question. `place` counts from 1; None: in reserve, 0: another one took its place. `runs` are the runs behind its notes, in their order."""

    id: str
    discussion: str
    place: int | None
    document: Document
    runs: tuple[Span, ...]
    kept: bool


@dataclass(frozen=True, slots=True)
class RemarkRow:
    topic: str
    reader: str
    words: str
    at: datetime


class Discussions:
    """By id; the caller checks the channel."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def begin(self, channel: int, row: DiscussionRow, topics: Sequence[TopicRow]) -> None:
        """A new draft with its questions, all in one."""
        values = {
            "id": row.id,
            "channel": channel,
            "thread": row.conversation.thread,
            "reader": row.reader,
            "book": row.book,
            "text_version": row.text_version,
            "limit_words": row.limit_words,
            "posted_at": row.posted_at,
            "at": row.at,
        }
        async with self._engines.write() as connection:
            await connection.execute(insert(schema.discussion), values)
            if topics:
                await connection.execute(insert(schema.topic), [_values(channel, topic) for topic in topics])

    async def get(self, channel: int, id: str) -> DiscussionRow | None:
        return await self._one(channel, _discussion.id == id)

    async def latest(
        self, channel: int, thread: str | None, *, posted: bool, reader: str | None = None
    ) -> DiscussionRow | None:
        """The last one here that was posted (or is still a draft), prepared by `reader` when given."""
        here = _discussion.thread.is_(None) if thread is None else _discussion.thread == thread
        which = here & (_discussion.posted_at.is_not(None) if posted else _discussion.posted_at.is_(None))
        if reader is not None:
            which &= _discussion.reader == reader
        return await self._one(channel, which)

    async def _one(self, channel: int, which: Any) -> DiscussionRow | None:
        query = (
            select(schema.discussion, schema.channel.c.platform, schema.channel.c.external)
            .join(schema.channel, schema.channel.c.id == _discussion.channel)
            .where(_discussion.channel == channel, which)
            .order_by(_discussion.at.desc(), _discussion.id.desc())
            .limit(1)
        )
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        where = Conversation(row.platform, row.external, row.thread)
        return DiscussionRow(
            row.id, where, row.reader, row.book, row.text_version, row.limit_words, row.posted_at, row.at
        )

    async def topics(self, discussion: str) -> tuple[TopicRow, ...]:
        """Its questions by their place, then those in reserve."""
        query = select(schema.topic).where(_topic.discussion == discussion)
        async with self._engines.read() as connection:
            rows = [_as_topic(row) for row in await connection.execute(query)]
        return tuple(sorted(rows, key=lambda row: (row.place is None, row.place or 0, row.id)))

    async def topic(self, channel: int, id: str) -> TopicRow | None:
        query = select(schema.topic).where(_topic.id == id, _topic.channel == channel)
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else _as_topic(row)

    async def add(self, channel: int, discussion: str, topics: Sequence[TopicRow]) -> None:
        """Further questions in reserve. Raises as `exchange`."""
        async with self._engines.write() as connection:
            await _lock_draft(connection, _discussion.id == discussion)
            if topics:
                await connection.execute(insert(schema.topic), [_values(channel, topic) for topic in topics])

    async def keep(self, topic: str, kept: bool) -> None:
        """Raises as `exchange`."""
        async with self._engines.write() as connection:
            await _lock_draft(connection, _of_topic(topic))
            await connection.execute(update(schema.topic).where(_topic.id == topic).values(kept=kept))

    async def exchange(self, topic: str) -> bool:
        """Put one of the reserve in the place of a question, which is only kept so that it is not asked again; False
        when there is none. One that has lost its place by now stays so.

        Raises ReaderError `discuss_posted`, and Missing `unknown_button` for a draft that is gone: nothing is changed then.
        """
        async with self._engines.write() as connection:
            await _lock_draft(connection, _of_topic(topic))
            old = (await connection.execute(select(schema.topic).where(_topic.id == topic))).one_or_none()
            if old is None or not old.place:
                return True
            reserve = select(_topic.id).where(_topic.discussion == old.discussion, _topic.place.is_(None))
            other = (await connection.execute(reserve.order_by(_topic.id).limit(1))).scalar_one_or_none()
            if other is None:
                return False
            await connection.execute(update(schema.topic).where(_topic.id == topic).values(place=0, kept=False))
            await connection.execute(update(schema.topic).where(_topic.id == other).values(place=old.place))
            return True

    async def rewrite(self, topic: str, document: Document) -> None:
        """Other words for a question; its notes stay. It counts as kept. Raises as `exchange`."""
        mine = update(schema.topic).where(_topic.id == topic)
        async with self._engines.write() as connection:
            await _lock_draft(connection, _of_topic(topic))
            await connection.execute(mine.values(document=encode_document(document), kept=True))

    async def post(
        self, channel: int, discussion: str, topics: Sequence[str], letters: Sequence[Letter], at: datetime
    ) -> bool:
        """It is posted with these questions, the others are dropped, the letters are owed; False when it had been before."""
        mine = update(schema.discussion).where(_discussion.id == discussion, _discussion.posted_at.is_(None))
        others = delete(schema.topic).where(_topic.discussion == discussion, _topic.id.not_in(topics))
        async with self._engines.write() as connection:
            if (await connection.execute(mine.values(posted_at=at))).rowcount == 0:
                return False
            await connection.execute(others)
            for letter in letters:
                await insert_new(connection, schema.letter, as_row(channel, letter))
        return True

    async def remark(self, channel: int, event: str, remark: RemarkRow) -> bool:
        """What somebody answered; False when the event is known."""
        values = {
            "event": event,
            "channel": channel,
            "topic": remark.topic,
            "reader": remark.reader,
            "words": remark.words,
            "at": remark.at,
        }
        async with self._engines.write() as connection:
            return await insert_new(connection, schema.remark, values) is not None

    async def remarks(self, topics: Sequence[str]) -> tuple[RemarkRow, ...]:
        """What was answered to these questions, oldest first."""
        query = select(schema.remark).where(_remark.topic.in_(topics)).order_by(_remark.at, _remark.event)
        async with self._engines.read() as connection:
            return tuple(RemarkRow(row.topic, row.reader, row.words, row.at) for row in await connection.execute(query))


def _of_topic(topic: str) -> ColumnElement[bool]:
    return _discussion.id.in_(select(_topic.discussion).where(_topic.id == topic))


async def _lock_draft(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    """Until this transaction ends, it is not posted."""
    draft = select(_discussion.posted_at).where(which).with_for_update()
    row = (await connection.execute(draft)).one_or_none()
    if row is None:
        raise Missing("unknown_button")
    if row.posted_at is not None:
        raise ReaderError("discuss_posted")


def _values(channel: int, topic: TopicRow) -> dict[str, Any]:
    return {
        "id": topic.id,
        "channel": channel,
        "discussion": topic.discussion,
        "place": topic.place,
        "document": encode_document(topic.document),
        "runs": topic.runs,
        "kept": topic.kept,
    }


def _as_topic(row: Any) -> TopicRow:
    runs = tuple(Span(*run) for run in row.runs)
    return TopicRow(row.id, row.discussion, row.place, decode_document(row.document), runs, row.kept)
