"""Which message of a platform shows which part of what we had to say."""

from datetime import datetime

from sqlalchemy import delete, select, update

from core.model import Delivery
from core.store import schema
from core.store.engines import Engines, insert_new

_delivery = schema.delivery.c


class Deliveries:
    """Rows by (key, part): the key of the event that is answered, or one of the adapter's own."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def begin(self, channel: int, key: str, part: int, at: datetime) -> None:
        """About to be sent: should the process die before `record`, nobody can know whether it was taken."""
        values = {"channel": channel, "key": key, "part": part, "at": at, "message": None, "turn": None}
        async with self._engines.write() as connection:
            await insert_new(connection, schema.delivery, values)

    async def confirm(self, key: str, part: int, message: str, turn: str | None) -> bool:
        """Sent, as this message of the platform; False when the part is not on record.

        A process that dies between sending and this says the part twice, so this is as short as can be: after a power
        cut the part may stand as begun.
        """
        mine = update(schema.delivery).where(_delivery.key == key, _delivery.part == part)
        async with self._engines.write(flushes=False) as connection:
            found = await connection.execute(mine.values(message=message, turn=turn))
            return bool(found.rowcount)

    async def record(self, channel: int, key: str, part: int, message: str, turn: str | None, at: datetime) -> None:
        """Sent, as this message of the platform; said again it replaces what was on record."""
        values = {"channel": channel, "key": key, "part": part, "at": at, "message": message, "turn": turn}
        mine = update(schema.delivery).where(_delivery.key == key, _delivery.part == part)
        async with self._engines.write() as connection:
            if await insert_new(connection, schema.delivery, values) is None:
                await connection.execute(mine.values(message=message, turn=turn))

    async def of(self, key: str) -> dict[int, Delivery]:
        """What was sent or begun under this key, by part."""
        query = select(schema.delivery).where(_delivery.key == key).order_by(_delivery.part)
        async with self._engines.read() as connection:
            rows = await connection.execute(query)
            return {row.part: Delivery(row.part, row.message, row.turn) for row in rows}

    async def turn_of(self, channel: int, message: str) -> str | None:
        """The id of the turn that this message shows part of."""
        query = select(_delivery.turn).where(_delivery.channel == channel, _delivery.message == message)
        async with self._engines.read() as connection:
            found: str | None = (await connection.execute(query.order_by(_delivery.id.desc()).limit(1))).scalar()
        return found

    async def messages(self, channel: int, turn: str) -> tuple[str, ...]:
        """The messages that show the turn, in order of their parts."""
        query = select(_delivery.message).where(_delivery.channel == channel, _delivery.turn == turn)
        query = query.where(_delivery.message.is_not(None)).order_by(_delivery.id)
        async with self._engines.read() as connection:
            return tuple((await connection.execute(query)).scalars())

    async def withdraw(self, key: str, part: int) -> None:
        """The message is gone from the platform, or was never taken."""
        async with self._engines.write() as connection:
            await connection.execute(delete(schema.delivery).where(_delivery.key == key, _delivery.part == part))
