"""What a club planned, said and kept together, deleted with the channel, the reader or the book it belongs to."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, select, update
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
_OF_BOOK = (schema.appointment, schema.daily, schema.popular)


async def forget_channel(connection: AsyncConnection, channel: int) -> None:
    """Everything of a channel."""
    for table in TABLES:
        await connection.execute(delete(table).where(table.c.channel == channel))


async def forget_reader(connection: AsyncConnection, channels: "Select[Any]", reader: str) -> None:
    """What one reader said and how they voted; what they made for all stays, without a name."""
    for table in (schema.remark, schema.approval, schema.ballot):
        await connection.execute(delete(table).where(table.c.reader == reader, table.c.channel.in_(channels)))
    discussion = schema.discussion.c  # a draft nobody else has seen is its maker's own
    await _end_discussions(
        connection, discussion.reader == reader, discussion.channel.in_(channels), discussion.posted_at.is_(None)
    )
    for table in (schema.discussion, schema.appointment, schema.quotation, schema.nomination, schema.poll):
        mine = update(table).where(table.c.reader == reader, table.c.channel.in_(channels))
        await connection.execute(mine.values(reader=_NOBODY))


async def forget_book(connection: AsyncConnection, sha256: str, channel: int | None = None) -> None:
    """What a channel made of a book (None: every channel)."""

    def mine(table: Any) -> list[Any]:
        return [table.c.book == sha256, *([] if channel is None else [table.c.channel == channel])]

    await _end_discussions(connection, *mine(schema.discussion))
    quotations = select(schema.quotation.c.id).where(*mine(schema.quotation))
    await connection.execute(delete(schema.approval).where(schema.approval.c.quotation.in_(quotations)))
    for table in (schema.quotation, *_OF_BOOK):
        await connection.execute(delete(table).where(*mine(table)))


async def forget_old(connection: AsyncConnection, before: datetime) -> None:
    """The questions and answers of discussions that were posted, or begun and never posted, before then."""
    discussion = schema.discussion.c
    await _end_discussions(connection, func.coalesce(discussion.posted_at, discussion.at) < before)


async def _end_discussions(connection: AsyncConnection, *which: Any) -> None:
    discussions = select(schema.discussion.c.id).where(*which)
    topics = select(schema.topic.c.id).where(schema.topic.c.discussion.in_(discussions))
    await connection.execute(delete(schema.remark).where(schema.remark.c.topic.in_(topics)))
    await connection.execute(delete(schema.topic).where(schema.topic.c.discussion.in_(discussions)))
    await connection.execute(delete(schema.discussion).where(*which))
