"""Summaries made behind the conversation: what the store says is missing is worked off, here or by many processes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import datetime

from core.errors import BrokenPromise, LimitReached, LoccitError, Missing, UpstreamError
from core.store import Pending, Store
from core.summaries.jobs import FIRST_WAIT, LONGEST_WAIT, Busy, Jobs, passes
from core.summaries.work import Superseded

log = logging.getLogger(__name__)

AT_ONCE = 3
"""Books at work at once in one process: a short one does not wait for a long one."""
LOOK_AGAIN = 5.0
"""Seconds between two looks for books that dead processes left behind, or that may go on."""


class Indexing:
    """Each channel's first book, then each channel's second. Nothing is remembered here: the store is the queue.

    On SQLite this process does it all. On a server the books are handed out to every process that `works`.
    """

    def __init__(
        self,
        store: Store,
        jobs: Jobs,
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[None]],
        works: bool = True,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._now = now
        self._sleep = sleep
        self._works = works
        self._more = asyncio.Event()
        """Set: look once more after this round, whatever ends it."""
        self._added = asyncio.Event()
        """Set: look while this round is under way."""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin; `close` ends it. Needs a running loop."""
        if self._tasks:
            return
        queue = self._store.queue
        if queue is None:
            self._tasks.append(asyncio.create_task(self._alone()))
            return
        self._tasks.append(asyncio.create_task(self._hand_out()))
        if self._works:
            self._tasks.append(asyncio.create_task(queue.work(self._handed, AT_ONCE)))

    def notice(self) -> None:
        """A book was added or agreed to: look again."""
        self._more.set()
        self._added.set()

    async def close(self) -> None:
        """Stop. What was written is stored; a call that is cut off is made again another time."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    # One process

    async def _alone(self) -> None:
        wait = FIRST_WAIT
        while True:
            self._more.clear()
            try:
                if await self._round():
                    wait = FIRST_WAIT
            except LimitReached as error:
                # Until the month turns; now and then it is looked whether there is room again.
                log.info("summaries: %s, again in %.0f s at the latest", error.key, error.retry_after)
                await self._sleep(min(error.retry_after, LONGEST_WAIT))
                continue
            except LoccitError as error:
                if passes(error):
                    log.info("summaries: %s, again in %.0f s", error.key, wait)
                    named = error.retry_after if isinstance(error, UpstreamError) else None
                    await self._sleep(max(wait, named or 0.0))
                    wait = min(2 * wait, LONGEST_WAIT)
                    continue
                # Whoever runs the bot has to mend it; the next book that is added tries again.
                log.error("summaries: stopped", exc_info=error, extra={"key": error.key})
            except Exception:  # the task's outer edge: summaries are a help, questions go on without
                log.exception("summaries: stopped")
            await self._more.wait()

    async def _round(self) -> int:
        """Work off all books there are; how many. One that is damaged keeps no other from its turn.

        Raises what concerns them all, once those under way have ended.
        """
        tried: set[Pending] = set()
        flying: dict[asyncio.Task[None], Pending] = {}
        failure: BaseException | None = None
        finished = 0
        try:
            while True:
                self._added.clear()
                if failure is None:
                    waiting = [book for book in await self._store.jobs.pending() if book not in tried]
                    for book in waiting[: AT_ONCE - len(flying)]:
                        tried.add(book)
                        flying[asyncio.create_task(self._one(book.sha256, book.text_version))] = book
                if not flying:
                    break
                woken = asyncio.create_task(self._added.wait())
                await asyncio.wait({*flying, woken}, return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
                for task in [task for task in flying if task.done()]:
                    book = flying.pop(task)
                    match task.exception():
                        case None:
                            finished += 1
                        case Superseded():
                            tried.discard(book)  # it may be agreed to again
                        case Busy() | BrokenPromise() | Missing():  # damaged, or forgotten meanwhile
                            pass
                        case error:
                            failure = failure or error
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)
        if failure is not None:
            raise failure
        return finished

    async def _one(self, sha256: str, text_version: str) -> None:
        try:
            async with aclosing(self._jobs.run(sha256, text_version)) as steps:
                async for _ in steps:
                    pass
        except BrokenPromise as error:
            log.error("summaries: a book was left out", exc_info=error, extra={"key": error.key, "book": sha256})
            raise

    # Many processes

    async def _hand_out(self) -> None:
        queue = self._store.queue
        assert queue is not None
        due: datetime | None = None  # at first also what failed: whoever starts a process may have mended it
        while True:
            self._more.clear()
            try:
                await queue.drop_dead()
                await queue.put(await self._store.jobs.pending(due))
                due = self._now()
            except LoccitError as error:
                log.warning("summaries: %s", error.key)
            except Exception:  # the task's outer edge: handing out is tried again
                log.exception("summaries: not handed out")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN):
                    await self._more.wait()
            due = due and self._now()

    async def _handed(self, sha256: str, text_version: str) -> None:
        try:
            await self._one(sha256, text_version)
        except (Busy, Superseded):
            pass
        except LoccitError as error:  # the job's row says it, and when it goes on
            log.info("summaries: %s", error.key, extra={"key": error.key, "book": sha256})
        except Exception:  # the task's outer edge: the other books have their turn
            log.exception("summaries: a book was left out", extra={"book": sha256})
