"""What platforms told us, as it came, until it has been dealt with."""

from datetime import datetime

from sqlalchemy import delete, select, update

from core.model import Event
from core.store import schema
from core.store.engines import Engines, insert_new

_event = schema.event.c


class Events:
    """Rows by unique key. A key stays on record after its payload is gone: what comes twice is dealt with once."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def receive(self, event: Event, at: datetime) -> bool:
        """Keep the event; False when its key is known. Tell the platform that it arrived only after this returned."""
        values = {"key": event.key, "platform": event.platform, "lane": event.lane, "payload": dict(event.payload)}
        async with self._engines.write() as connection:
            return await insert_new(connection, schema.event, {**values, "at": at}) is not None

    async def unfinished(self, platform: str) -> tuple[Event, ...]:
        """What has not been dealt with, oldest first."""
        query = select(schema.event).where(_event.platform == platform, _event.done_at.is_(None)).order_by(_event.id)
        async with self._engines.read() as connection:
            rows = await connection.execute(query)
            return tuple(Event(row.key, row.platform, row.lane, row.payload) for row in rows)

    async def finish(self, key: str, at: datetime) -> None:
        """It has been dealt with; its payload, which may hold words of people, is emptied."""
        done = update(schema.event).where(_event.key == key, _event.done_at.is_(None))
        async with self._engines.write() as connection:
            await connection.execute(done.values(done_at=at, payload={}))

    async def forget(self, before: datetime) -> int:
        """Delete what was dealt with before then: no platform tells anything again after so long. How many."""
        async with self._engines.write() as connection:
            return (await connection.execute(delete(schema.event).where(_event.done_at < before))).rowcount
