"""What a club planned, said and kept together, deleted with the channel, the reader or the book it belongs to."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, Table, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.store import schema

_NOBODY = ""
TABLES = (
    schema.remark,
    schema.topic,
    schema.discussion,
    schema.appointment,
    schema.approval,
    schema.quotation,
    schema.daily,
    schema.popular,
    schema.ballot,
    schema.nomination,
    schema.poll,
)
"""All of them, those that point at others first."""
_OURS = (schema.topic, schema.daily, schema.popular)
_OF_BOOK = (schema.appointment, schema.daily, schema.popular)


async def forget_channel(connection: AsyncConnection, channel: int) -> int:
    """Everything of a channel; how many entries that were."""
    gone = 0
    for table in TABLES:
        gone += await _deleted(connection, table, table.c.channel == channel)
    return gone


async def forget_reader(connection: AsyncConnection, channels: "Select[Any]", reader: str) -> int:
    """What one reader said and how they voted, and how much that was; what they made for all stays, without a name."""
    gone = 0
    for table in (schema.remark, schema.approval, schema.ballot):
        gone += await _deleted(connection, table, table.c.reader == reader, table.c.channel.in_(channels))
    discussion = schema.discussion.c  # a draft nobody else has seen is its maker's own
    gone += await _end_discussions(
        connection, discussion.reader == reader, discussion.channel.in_(channels), discussion.posted_at.is_(None)
    )
    for table in (schema.discussion, schema.appointment, schema.quotation, schema.nomination, schema.poll):
        mine = update(table).where(table.c.reader == reader, table.c.channel.in_(channels))
        await connection.execute(mine.values(reader=_NOBODY))
    return gone


async def forget_book(connection: AsyncConnection, sha256: str, channel: int | None = None) -> int:
    """What a channel made of a book (None: every channel); how many entries that were."""

    def mine(table: Any) -> list[Any]:
        return [table.c.book == sha256, *([] if channel is None else [table.c.channel == channel])]

    gone = await _end_discussions(connection, *mine(schema.discussion))
    quotations = select(schema.quotation.c.id).where(*mine(schema.quotation))
    await connection.execute(quotations.with_for_update())  # nobody likes one meanwhile
    gone += await _deleted(connection, schema.approval, schema.approval.c.quotation.in_(quotations))
    for table in (schema.quotation, *_OF_BOOK):
        gone += await _deleted(connection, table, *mine(table))
    return gone


async def forget_old(connection: AsyncConnection, before: datetime) -> int:
    """The questions and answers of discussions that were posted, or begun and never posted, before then."""
    discussion = schema.discussion.c
    return await _end_discussions(connection, func.coalesce(discussion.posted_at, discussion.at) < before)


async def _end_discussions(connection: AsyncConnection, *which: Any) -> int:
    discussions = select(schema.discussion.c.id).where(*which)
    await connection.execute(discussions.with_for_update())  # nobody adds a question to one meanwhile
    topics = select(schema.topic.c.id).where(schema.topic.c.discussion.in_(discussions))
    gone = await _deleted(connection, schema.remark, schema.remark.c.topic.in_(topics))
    await _deleted(connection, schema.topic, schema.topic.c.discussion.in_(discussions))
    return gone + await _deleted(connection, schema.discussion, *which)


async def _deleted(connection: AsyncConnection, table: Table, *which: Any) -> int:
    """How many entries went that somebody made: the parts of a draft, and what we noted for ourselves, are none."""
    gone = (await connection.execute(delete(table).where(*which))).rowcount
    return 0 if table in _OURS else max(0, gone)
