"""What has to be said unasked, until it has been said."""

from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update

from core.model import Conversation, Letter
from core.store import schema
from core.store.engines import Engines, insert_new

_letter = schema.letter.c


class Letters:
    """The outbox, by unique id."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def owe(self, channel: int, letter: Letter) -> bool:
        """Put a letter into the outbox; False when one with its id is there or was sent."""
        async with self._engines.write() as connection:
            return await insert_new(connection, schema.letter, as_row(channel, letter)) is not None

    async def due(self, platform: str, at: datetime) -> tuple[Letter, ...]:
        """What is to be said on this platform by now, longest due first."""
        query = (
            select(schema.letter, schema.channel.c.external)
            .join(schema.channel, schema.channel.c.id == _letter.channel)
            .where(schema.channel.c.platform == platform, _letter.done_at.is_(None), _letter.due <= at)
            .order_by(_letter.due, _letter.id)
        )
        async with self._engines.read() as connection:
            rows = await connection.execute(query)
            return tuple(
                Letter(row.id, Conversation(platform, row.external, row.thread), row.kind, row.due, row.params)
                for row in rows
            )

    async def done(self, id: str, at: datetime) -> None:
        """It was said."""
        async with self._engines.write() as connection:
            await connection.execute(update(schema.letter).where(_letter.id == id).values(done_at=at, params={}))

    async def tear_up(self, id: str) -> None:
        """It need not be said any more; it may be owed again."""
        async with self._engines.write() as connection:
            await connection.execute(delete(schema.letter).where(_letter.id == id, _letter.done_at.is_(None)))


def as_row(channel: int, letter: Letter) -> dict[str, Any]:
    return {
        "id": letter.id,
        "channel": channel,
        "thread": letter.conversation.thread,
        "kind": letter.kind,
        "params": dict(letter.params),
        "due": letter.due,
    }
