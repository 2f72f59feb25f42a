"""What the buttons do that are no footnotes, by the opaque id they carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from core.store import schema
from core.store.engines import Engines

_button = schema.button.c


@dataclass(frozen=True, slots=True)
class Button:
    """`reader` is the only one who may press it; None = everybody in the channel."""

    channel: int
    reader: str | None
    action: Mapping[str, Any]
    at: datetime


class Buttons:
    """Actions by opaque id."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def make(
        self, channel: int, actions: Mapping[str, Mapping[str, Any]], reader: str | None, at: datetime
    ) -> None:
        """Keep what each id does, in one write."""
        rows = [
            {"id": id, "channel": channel, "reader": reader, "action": dict(action), "at": at}
            for id, action in actions.items()
        ]
        if rows:
            async with self._engines.write() as connection:
                await connection.execute(insert(schema.button), rows)

    async def find(self, id: str) -> Button | None:
        """What the id stands for. The caller checks channel and reader."""
        if id != schema.clean(id):  # characters no database takes: nobody was ever given such an id
            return None
        async with self._engines.read() as connection:
            row = (await connection.execute(select(schema.button).where(_button.id == id))).one_or_none()
        return None if row is None else Button(row.channel, row.reader, row.action, row.at)

    async def forget(self, before: datetime) -> int:
        """Delete buttons made before then; how many."""
        async with self._engines.write() as connection:
            return (await connection.execute(delete(schema.button).where(_button.at < before))).rowcount
