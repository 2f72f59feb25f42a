"""Work in lanes: what belongs to one chat is done in the order it came, different chats side by side."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]


class Lanes:
    """Runs work by lane. A lane exists while it has work; a piece of work that fails never stops its lane."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Work]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    def add(self, lane: str, work: Work) -> None:
        """Do `work` after everything that was added to this lane before. It has to tell people itself when it fails."""
        if self._closed:
            return  # the store may be closed by the time it runs; whoever tells us tells it again at the next start
        if lane in self._waiting:
            self._waiting[lane].append(work)
            return
        self._waiting[lane] = deque((work,))
        self._idle.clear()
        task = asyncio.create_task(self._drain(lane))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def follow(self, lane: str, before: str) -> None:
        """One chat has two lanes, as when its platform gave it another id: what `lane` gets from now on waits for what
        `before` has.
        """
        if before == lane or before not in self._waiting:
            return
        reached = asyncio.Event()

        async def reach() -> None:
            reached.set()

        async def wait() -> None:
            await reached.wait()

        self.add(before, reach)
        self.add(lane, wait)

    async def settled(self) -> None:
        """Wait until nothing is left to do."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stop what is under way, and take no more. What was recorded as an event is taken up at the next start."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drain(self, lane: str) -> None:
        waiting = self._waiting[lane]
        try:
            while waiting:
                try:
                    await waiting[0]()
                except Exception:  # a task's outer edge: the next in this lane goes on
                    log.exception("work in a lane failed", extra={"lane": lane})
                waiting.popleft()
        finally:
            del self._waiting[lane]

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._idle.set()
