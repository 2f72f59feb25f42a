"""An answer while it is written: typing kept alive, and one message whose edits are coalesced."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import aiohttp
import discord

from adapters.discord.connection import Connection
from adapters.discord.spots import Spot
from adapters.ending import end

log = logging.getLogger(__name__)

TYPING = 8.0
"""Seconds between two "typing": it shows for ten."""
PATIENCE = 4.0
"""Seconds until somebody who waits is told that we are looking; sooner it would only flicker."""
FIRST = 0.4
"""Seconds a first draft is held back: what is complete by then needs no second edit."""
GAP = 1.6
"""Seconds between two edits: five per five seconds are let through, and the final one must not have to wait."""

Write = Callable[[str], Awaitable[None]]


class Typing:
    """ "Typing" in a channel while at least one thing is being worked on there; never longer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._open: dict[int, int] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def begin(self, spot: Spot) -> None:
        if spot.token is not None:
            return  # a command shows by itself that the bot is thinking
        self._open[spot.channel] = self._open.get(spot.channel, 0) + 1
        if spot.channel not in self._tasks:
            self._tasks[spot.channel] = asyncio.create_task(self._keep(spot))

    def end(self, spot: Spot) -> None:
        if spot.token is not None or spot.channel not in self._open:
            return
        self._open[spot.channel] -= 1
        if self._open[spot.channel] <= 0:
            del self._open[spot.channel]
            self._tasks.pop(spot.channel).cancel()

    async def _keep(self, spot: Spot) -> None:
        try:
            while True:
                await self._connection.line.typing(spot)
                await self._connection.host.sleep(TYPING)
        except (discord.HTTPException, aiohttp.ClientError, OSError):
            log.info("typing ended")  # it is never worth a failure

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()


class Draft:
    """Shows one text as it grows. The latest wins; there is never a queue of edits."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]], write: Write, looking: str) -> None:
        self._sleep = sleep
        self._write = write
        self._looking = looking
        self._latest: str | None = None
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    @property
    def text(self) -> str:
        """What was to be shown last."""
        return self._latest or ""

    def update(self, text: str) -> None:
        self._latest = text
        self._news.set()

    async def finish(self) -> None:
        """End it; a write under way is waited for, so that what stands there is on record."""
        await end(self._task)

    async def _run(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):  # not wait_for: in Python 3.11 the news can hide that we are ended
                await self._news.wait()
        except TimeoutError:
            await self._put(self._looking)
            await self._sleep(GAP)
        else:
            await self._sleep(FIRST)
        while True:
            await self._news.wait()
            self._news.clear()
            await self._put(self.text)
            await self._sleep(GAP)

    async def _put(self, text: str) -> None:
        """Write; being cancelled waits until it is done. A draft that fails is no harm: the final text follows."""
        work = asyncio.ensure_future(self._safely(text))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await work
            raise

    async def _safely(self, text: str) -> None:
        try:
            await self._write(text)
        except Exception:  # the outer edge of one draft
            log.info("draft not shown", exc_info=True)
