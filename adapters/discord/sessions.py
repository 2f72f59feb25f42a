"""Sessions of the gateway, shard by shard: what was missed is read first, so that in each channel the order is kept."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Any

import discord

from adapters.discord.catching import Catching
from adapters.discord.hearing import Hearing
from adapters.host import Host
from adapters.lanes import Lanes

log = logging.getLogger(__name__)

_ATTEMPTS = (1.0, 3.0, 10.0, 30.0, 60.0)
"""Seconds before something that could not be put on record is tried again; after the last it is left to the next session."""


class Sessions:
    """What is said goes on record in the order it came: the library starts a task for each event, and tasks overtake."""

    def __init__(
        self, host: Host, hearing: Hearing, catching: Catching, votes: Callable[[int], Awaitable[None]]
    ) -> None:
        """`votes` has the votes read that a shard may have missed."""
        self._host = host
        self._hearing = hearing
        self._catching = catching
        self._votes = votes
        self._ears = Lanes()
        self._begun = asyncio.Event()
        self._up: set[int] = set()
        """Shards that are connected and have missed nothing."""
        self._count: Counter[int] = Counter()
        """How many sessions each shard has had."""
        self._unread: dict[int, set[int]] = {}
        """By shard, the channels that have to be caught up."""
        self._held: dict[int, list[discord.Message]] = {}
        """By shard in a new session, what is said until it is known which channels have to be caught up first."""

    # What the gateway tells of a shard

    def begin(self) -> None:
        """What was left of the last run is in its lanes: anything newer may be heard."""
        self._begun.set()

    def connected(self, shard: int) -> None:
        """A new session: in each channel what was said before it is heard first."""
        self._up.discard(shard)
        self._count[shard] += 1
        self._unread[shard] = set()
        self._held.setdefault(shard, [])

    async def ready(self, shard: int) -> None:
        await self._begun.wait()
        session = self._count[shard]
        if not await self._patiently(partial(self._catch_up, shard, session), "sessions"):
            log.error("a session is not caught up", extra={"shard": shard})

    def disconnected(self, shard: int) -> None:
        self._up.discard(shard)

    def resumed(self, shard: int) -> None:
        """What happened meanwhile has been told."""
        if shard not in self._held and not self._unread.get(shard):
            self._up.add(shard)

    async def beat(self) -> None:
        """For as long as we run."""
        await self._catching.beat(lambda: self._up)

    async def leave(self) -> None:
        """Hear nothing more."""
        await self._ears.close()

    async def note(self) -> None:
        """The next session need not look back further than to now, where nothing is missing."""
        await self._catching.note(self._up)

    # What is said

    def said(self, message: discord.Message) -> None:
        shard = 0 if message.guild is None else message.guild.shard_id
        if shard in self._held:
            self._held[shard].append(message)
        else:
            self._listen(shard, message)

    def changed(self, payload: discord.RawMessageUpdateEvent) -> None:
        self.soon(_place(payload.message.channel), partial(self._hearing.heard_again, payload.message))

    def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        self.soon(str(payload.channel_id), partial(self._hearing.gone, payload.channel_id, payload.message_id))

    def soon(self, channel: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do it when everything that was told of the channel before is on record."""
        self._ears.add(channel, work)

    def _listen(self, shard: int, message: discord.Message) -> None:
        self.soon(_place(message.channel), partial(self._hear, shard, message))

    async def _hear(self, shard: int, message: discord.Message) -> None:
        if not await self._patiently(partial(self._hearing.heard, message), str(message.channel.id)):
            # Whatever session comes next looks back for it.
            self._up.discard(shard)
            self._unread.setdefault(shard, set()).add(message.channel.id)

    # What was missed

    async def _catch_up(self, shard: int, session: int) -> None:
        """Put the reading of each channel that missed something before what is said there from now on."""
        missed = await self._catching.missed(shard)
        await self._votes(shard)
        if self._count[shard] != session:
            return  # a newer session does it
        self._unread[shard] = {channel.id for channel, _ in missed}
        for channel, since in missed:
            self.soon(_place(channel), partial(self._read, shard, session, channel, since))
        for message in self._held.pop(shard, ()):
            self._listen(shard, message)
        if not missed:
            await self._complete(shard)

    async def _read(self, shard: int, session: int, channel: Any, since: datetime) -> None:
        """Catch a channel up; one that cannot be read for long is looked at again in the next session, as far back."""
        if await self._patiently(partial(self._catching.read, channel, since), str(channel.id)):
            if self._count[shard] == session:
                self._unread[shard].discard(channel.id)
                if not self._unread[shard]:
                    await self._complete(shard)
        else:
            log.error("a channel is not caught up", extra={"channel": str(channel.id)})

    async def _complete(self, shard: int) -> None:
        """Nothing is missing any more: the next session need not look back further than to now."""
        self._up.add(shard)
        await self._catching.note((shard,))

    async def _patiently(self, work: Callable[[], Awaitable[object]], what: str) -> bool:
        """Do something that may be repeated, again when it fails; False when it fails for long."""
        for pause in (*_ATTEMPTS, None):
            try:
                await work()
                return True
            except Exception as error:  # the outer edge of one attempt
                log.warning("not on record yet", exc_info=error, extra={"what": what, "again_in": pause})
                if pause is not None:
                    await self._host.sleep(pause)
        return False


def _place(channel: Any) -> str:
    """The lane of a channel; threads keep the order of theirs."""
    return str(channel.parent_id if isinstance(channel, discord.Thread) else channel.id)
