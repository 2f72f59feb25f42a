"""Small things a platform's adapter keeps over a restart."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Text, cast, delete, or_, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.store import schema
from core.store.engines import Engines, insert_new

_memo = schema.memo.c


class Memos:
    """JSON values by (platform, key), for a while or for good."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    @property
    def shared(self) -> bool:
        """Whether other processes work on the same database."""
        return self._engines.postgres

    async def keep(self, platform: str, key: str, value: Any, until: datetime | None) -> None:
        """Remember a value, in place of an earlier one."""
        new = {"platform": platform, "key": key, "value": value, "until": until}
        mine = update(schema.memo).where(_memo.platform == platform, _memo.key == key)
        async with self._engines.write() as connection:
            if await insert_new(connection, schema.memo, new) is None:
                await connection.execute(mine.values(value=value, until=until))

    async def claim(self, platform: str, key: str, owner: str, until: datetime, at: datetime) -> bool:
        """Hold a key as `owner` until then; False while another owner does. One statement: two never succeed."""
        new = {"platform": platform, "key": key, "value": owner, "until": until}
        free = or_(cast(_memo.value, Text) == json.dumps(owner), _memo.until <= at)  # JSON is not comparable everywhere
        mine = update(schema.memo).where(_memo.platform == platform, _memo.key == key, free)
        async with self._engines.write() as connection:
            if await insert_new(connection, schema.memo, new) is not None:
                return True
            return (await connection.execute(mine.values(value=owner, until=until))).rowcount == 1

    async def recall(self, platform: str, key: str, at: datetime) -> Any:
        """The value, unless its time is over or there is none: None then."""
        query = select(_memo.value, _memo.until).where(_memo.platform == platform, _memo.key == key)
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None or (row.until is not None and row.until <= at) else row.value

    async def recall_all(self, platform: str, prefix: str, at: datetime) -> dict[str, Any]:
        """The values that still hold whose key begins with `prefix`, by key."""
        query = select(_memo.key, _memo.value, _memo.until).where(
            _memo.platform == platform, _memo.key.startswith(prefix, autoescape=True)
        )
        async with self._engines.read() as connection:
            rows = (await connection.execute(query)).all()
        return {row.key: row.value for row in rows if row.until is None or row.until > at}

    async def drop(self, platform: str, key: str) -> None:
        """Forget the value."""
        async with self._engines.write() as connection:
            await connection.execute(delete(schema.memo).where(_memo.platform == platform, _memo.key == key))

    async def forget(self, at: datetime) -> int:
        """Delete what is out of date; how many."""
        async with self._engines.write() as connection:
            return (await connection.execute(delete(schema.memo).where(_memo.until <= at))).rowcount


async def forget_reader(connection: AsyncConnection, platform: str, reader: str) -> None:
    """What is remembered of one reader: keys that have the platform's id of theirs as a part, and whom a passage stands open for.

    Not a vote that the platform itself goes on showing: it is forgotten when its poll is counted, and would be read anew.
    """
    await _forget_named(connection, platform, reader, "vote:")
    openers = type_coerce(_memo.value, Text).contains('"openers":', autoescape=True)
    standing = select(_memo.key, _memo.value).where(_memo.platform == platform, openers)
    for key, value in (await connection.execute(standing)).all():
        others = [one for one in value["openers"] if str(one) != reader]
        if others != value["openers"]:
            mine = update(schema.memo).where(_memo.platform == platform, _memo.key == key)
            await connection.execute(mine.values(value={**value, "openers": others}))


async def forget_channel(connection: AsyncConnection, platform: str, channel: str) -> None:
    """What is remembered of one chat: all but that it was greeted, that it is listened to, and which chat became which."""
    await _forget_named(connection, platform, channel, "hello:", "direct:", "moved:")


async def _forget_named(connection: AsyncConnection, platform: str, id: str, *kept: str) -> None:
    """Keys that have an id of the platform's as a part, unless they begin with one of these."""
    named = or_(_memo.key.endswith(f":{id}", autoescape=True), _memo.key.contains(f":{id}:", autoescape=True))
    others = [~_memo.key.startswith(prefix) for prefix in kept]
    await connection.execute(delete(schema.memo).where(_memo.platform == platform, named, *others))
