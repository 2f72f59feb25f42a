"""Which shards this process serves: all of them, or, where several processes share a database, those it holds a lease on."""

import logging
from datetime import timedelta

from adapters.discord.spots import PLATFORM
from adapters.host import Host
from core.model import Conversation
from core.post import Post

log = logging.getLogger(__name__)

LIVES = timedelta(seconds=30)
"""How long a lease lasts without its owner: after a crash, that long a shard is served by nobody."""
RENEW = 10.0
"""Seconds between two renewals."""


def shard_of(where: Conversation, count: int) -> int:
    """The shard that tells of a conversation: the vendor's formula; direct messages come by the first."""
    if where.server is None or not where.server.isdecimal():
        return 0
    return (int(where.server) >> 22) % count


class Leases:
    """One process's leases. `owner` is unlike that of any other process."""

    def __init__(self, post: Post, host: Host, owner: str) -> None:
        self._post = post
        self._host = host
        self._owner = owner
        self.mine: set[int] = set()

    async def settle(self, count: int) -> tuple[int, ...]:
        """Take a fair share of `count` shards, giving back what is more than that; the shards held now."""
        fair = await self._fair(count)
        for shard in sorted(self.mine, reverse=True)[: max(0, len(self.mine) - fair)]:
            await self._let_go(shard)
        for shard in range(count):
            if len(self.mine) < fair and shard not in self.mine and await self._claim(shard):
                self.mine.add(shard)
        return tuple(sorted(self.mine))

    async def keep(self, count: int) -> None:
        """Renew until the share has to change: a lease was lost, another process came or went."""
        while True:
            await self._host.sleep(RENEW)
            held = set(self.mine)
            for shard in held:
                if not await self._claim(shard):
                    log.warning("lease lost", extra={"shard": shard})
                    self.mine.discard(shard)
            if self.mine != held or len(held) > await self._fair(count):
                return
            if await self._more(count):
                return

    async def _more(self, count: int) -> bool:
        """True when a shard that nobody serves became ours."""
        if len(self.mine) >= await self._fair(count):
            return False
        for shard in range(count):
            if shard not in self.mine and await self._claim(shard):
                self.mine.add(shard)
                return True
        return False

    async def leave(self) -> None:
        """Give everything back: others take over at once."""
        for shard in tuple(self.mine):
            await self._let_go(shard)
        await self._post.forget(PLATFORM, f"process:{self._owner}")

    async def _fair(self, count: int) -> int:
        until = self._host.now() + LIVES
        await self._post.remember(PLATFORM, f"process:{self._owner}", True, until)
        processes = len(await self._post.recall_all(PLATFORM, "process:"))
        return -(-count // max(1, processes))

    async def _claim(self, shard: int) -> bool:
        return await self._post.claim(PLATFORM, f"shard:{shard}", self._owner, self._host.now() + LIVES)

    async def _let_go(self, shard: int) -> None:
        self.mine.discard(shard)
        await self._post.forget(PLATFORM, f"shard:{shard}")
