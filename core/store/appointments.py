"""When a club wants to be how far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from core.model import Conversation
from core.store import schema
from core.store.engines import Engines

_appointment = schema.appointment.c


@dataclass(frozen=True, slots=True)
class AppointmentRow:
    """`local` is the wall clock in `zone` ("2026-03-29T19:00"), `due` the moment that is; `limit_words` name no title."""

    id: str
    conversation: Conversation
    book: str
    limit_words: str
    local: str
    zone: str
    due: datetime
    reader: str


class Appointments:
    """By id; the caller checks the channel."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def add(self, channel: int, rows: Sequence[AppointmentRow]) -> None:
        """All of them or none."""
        values = [
            {
                "id": row.id,
                "channel": channel,
                "thread": row.conversation.thread,
                "book": row.book,
                "limit_words": row.limit_words,
                "local": row.local,
                "zone": row.zone,
                "due": row.due,
                "reader": row.reader,
            }
            for row in rows
        ]
        if values:
            async with self._engines.write() as connection:
                await connection.execute(insert(schema.appointment), values)

    async def of(self, channel: int, since: datetime) -> tuple[AppointmentRow, ...]:
        """Those of a channel that are due after `since`, the next one first."""
        return await self._read(channel, _appointment.due > since)

    async def get(self, channel: int, id: str) -> AppointmentRow | None:
        found = await self._read(channel, _appointment.id == id)
        return found[0] if found else None

    async def move(self, id: str, local: str, zone: str, due: datetime) -> None:
        mine = update(schema.appointment).where(_appointment.id == id)
        async with self._engines.write() as connection:
            await connection.execute(mine.values(local=local, zone=zone, due=due))

    async def remove(self, channel: int, ids: Sequence[str]) -> int:
        """Call these off; how many there were."""
        mine = delete(schema.appointment).where(_appointment.channel == channel, _appointment.id.in_(ids))
        async with self._engines.write() as connection:
            return (await connection.execute(mine)).rowcount

    async def _read(self, channel: int, which: Any) -> tuple[AppointmentRow, ...]:
        query = (
            select(schema.appointment, schema.channel.c.platform, schema.channel.c.external)
            .join(schema.channel, schema.channel.c.id == _appointment.channel)
            .where(_appointment.channel == channel, which)
            .order_by(_appointment.due, _appointment.id)
        )
        async with self._engines.read() as connection:
            return tuple(
                AppointmentRow(
                    row.id,
                    Conversation(row.platform, row.external, row.thread),
                    row.book,
                    row.limit_words,
                    row.local,
                    row.zone,
                    row.due,
                    row.reader,
                )
                for row in await connection.execute(query)
            )
