"""Catching up: after a restart or a session that ended, what was said meanwhile is read from the channels themselves."""

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any

import discord

from adapters.discord.connection import Connection
from adapters.discord.hearing import Hearing
from adapters.discord.spots import PLATFORM

log = logging.getLogger(__name__)

BEAT = 20.0
"""Seconds between two notes that we are connected: how far back is looked."""
MARGIN = timedelta(seconds=60)
"""Looked back further than the last note: a message is looked at twice rather than never. Events known are not taken again."""
LONGEST = timedelta(hours=24)
"""Questions older than this are not answered out of the blue."""
_MOST = 500
"""Messages of one channel that are looked through."""
_AT_ONCE = 8
"""Channels that are read at the same time."""
_ALIVE = "alive"


class Catching:
    def __init__(self, connection: Connection, hearing: Hearing) -> None:
        self._connection = connection
        self._hearing = hearing
        self._few = asyncio.Semaphore(_AT_ONCE)

    async def beat(self, connected: Callable[[], Collection[int]]) -> None:
        """For as long as we run: note which shards are connected and have been caught up."""
        while True:
            await self._connection.host.sleep(BEAT)
            await self.note(connected())

    async def note(self, shards: Collection[int]) -> None:
        """For each shard: one may be connected when another is not, here or in another process."""
        for shard in tuple(shards):
            await self._note(shard)

    async def _note(self, shard: int) -> None:
        now = self._connection.host.now().timestamp()
        await self._connection.club.post.remember(PLATFORM, f"{_ALIVE}:{shard}", now)

    async def since(self, shard: int) -> datetime | None:
        """From when on messages may have been missed; None at the first start."""
        alive = await self._connection.club.post.recall(PLATFORM, f"{_ALIVE}:{shard}")
        if alive is None:
            return None
        now = self._connection.host.now()
        return max(datetime.fromtimestamp(float(alive), now.tzinfo) - MARGIN, now - LONGEST)

    async def missed(self, shard: int) -> list[tuple[Any, datetime]]:
        """The channels in which something may have been said since a shard was last connected, and since when."""
        since = await self.since(shard)
        return [] if since is None else [(channel, since) for channel in await self._channels(shard, since)]

    async def _channels(self, shard: int, since: datetime) -> list[Any]:
        """Where something was said since then and may be read; direct conversations are known from before."""
        first = discord.utils.time_snowflake(since)
        channels: list[Any] = []
        for guild in self._connection.client.guilds:
            spoken: list[Any] = [*guild.text_channels, *guild.threads] if guild.shard_id == shard else []
            for channel in spoken:
                last = channel.last_message_id
                if last is not None and last > first and channel.permissions_for(guild.me).read_message_history:
                    channels.append(channel)
        if shard != 0:  # direct messages come by the first shard
            return channels
        direct = await self._connection.club.post.recall_all(PLATFORM, "direct:")
        ids = [int(key.rpartition(":")[2]) for key in direct]
        return channels + [self._connection.client.get_partial_messageable(id) for id in ids]

    async def read(self, channel: Any, since: datetime) -> None:
        """Hear what was said in a channel since then, oldest first. Doing it again does nothing twice."""
        found = 0
        try:
            async with self._few:
                async for message in channel.history(after=since, limit=_MOST, oldest_first=True):
                    found += await self._hearing.heard(message)
        except (discord.Forbidden, discord.NotFound):
            log.info("a channel cannot be read", extra={"channel": str(channel.id)})
        if found:
            log.info("caught up", extra={"messages": found, "channel": str(channel.id)})
