"""Summaries made behind the conversation: a task that works off what the store says is missing, and waits for more."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from core.errors import BrokenPromise, LimitReached, LoccitError, UpstreamError
from core.store import Store
from core.summaries.work import Summaries

log = logging.getLogger(__name__)

_FIRST_WAIT, _LONGEST_WAIT = 30.0, 900.0
"""Seconds until a provider that failed is asked again, doubled each time."""


class Indexing:
    """One book after another, oldest first. Nothing is remembered here: the segments without a summary are the queue."""

    def __init__(self, store: Store, summaries: Summaries, *, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._store = store
        self._summaries = summaries
        self._sleep = sleep
        self._more = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; `close` ends it. Needs a running loop."""
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    def notice(self) -> None:
        """A book was added: look again."""
        self._more.set()

    async def close(self) -> None:
        """Stop. What was written is stored; a call that is cut off is made again another time."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _work(self) -> None:
        wait = _FIRST_WAIT
        while True:
            self._more.clear()
            try:
                for sha256, text_version in await self._store.books.unsummarised():
                    if await self._finished(sha256, text_version):
                        wait = _FIRST_WAIT
            except UpstreamError as error:
                log.info("summaries: %s, again in %.0f s", error.key, wait)
                await self._sleep(max(wait, error.retry_after or 0.0))
                wait = min(2 * wait, _LONGEST_WAIT)
                continue
            except LimitReached as error:
                # Until the month turns; now and then it is looked whether there is room again.
                log.info("summaries: %s, again in %.0f s at the latest", error.key, error.retry_after)
                await self._sleep(min(error.retry_after, _LONGEST_WAIT))
                continue
            except LoccitError as error:
                # Whoever runs the bot has to mend it; the next book that is added tries again.
                log.error("summaries: stopped", exc_info=error, extra={"key": error.key})
            except Exception:  # the task's outer edge: summaries are a help, questions go on without
                log.exception("summaries: stopped")
            await self._more.wait()

    async def _finished(self, sha256: str, text_version: str) -> bool:
        """Summarise one book; False when it is damaged, which keeps no other from its turn."""
        try:
            async with aclosing(self._summaries.summarise(sha256, text_version)) as steps:
                async for _ in steps:
                    pass
        except BrokenPromise as error:
            log.error("summaries: a book was left out", exc_info=error, extra={"key": error.key, "book": sha256})
            return False
        return True
