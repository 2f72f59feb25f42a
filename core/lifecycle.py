"""How what people brought ends: books nobody has a right to, words past their time, readers, channels and books forgotten."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from core.errors import LoccitError
from core.formats.pictures import Pictures
from core.model import Forgotten
from core.progress import UNDO
from core.retrieval import Ranks
from core.store import Store

log = logging.getLogger(__name__)

EVERY = 300.0
"""Seconds between two sweeps."""
_MARGIN = timedelta(minutes=1)
"""Clocks of several machines differ; what can be brought back on one is not deleted by another."""
_TOLD_AGAIN = timedelta(days=3)
"""No platform tells an event again after so long; until then its key is kept, so that one event is one question."""
_BUTTONS = timedelta(days=400)
"""Buttons that are no footnotes work for a year and a month; footnotes always."""
_LATE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long words are kept; None: until somebody has them forgotten."""

    questions: timedelta | None = None
    history: timedelta | None = None
    """Questions and answers; footnotes go on answering."""


class Lifecycle:
    """Deletes for good. Who may ask for it is decided by whoever calls."""

    def __init__(
        self,
        store: Store,
        ranks: Ranks,
        pictures: Pictures,
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[None]],
        keeping: Keeping,
    ) -> None:
        self._store = store
        self._ranks = ranks
        self._pictures = pictures
        self._now = now
        self._sleep = sleep
        self._keeping = keeping
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Sweep now and every so often, until `close`. Needs a running loop."""
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _work(self) -> None:
        while True:
            try:
                gone = await self.sweep()
                if gone:
                    log.info("swept: %s", gone)
            except LoccitError as error:
                # A disk or database that is away: whoever runs the bot hears of it through everything else.
                log.error("sweep: stopped", exc_info=error, extra={"key": error.key})
            except Exception:  # the task's outer edge: tidying is put off, people are served
                log.exception("sweep: stopped")
            await self._sleep(EVERY)

    async def sweep(self) -> Forgotten:
        """Delete what nobody has a right to any more and what is past its time. Safe at any moment, in many processes."""
        gone = Forgotten()
        now = self._now()
        for sha256 in await self._store.forgetting.unwanted(self._since()):
            gone += await self._purge(sha256)
        kept = self._keeping
        gone += await self._store.forgetting.old_words(
            None if kept.questions is None else now - kept.questions,
            None if kept.history is None else now - kept.history,
        )
        gone += await self._store.forgetting.leftovers(self._today(), now - _LATE)
        await self._store.events.forget(now - _TOLD_AGAIN)
        await self._store.buttons.forget(now - _BUTTONS)
        await self._store.memos.forget(now)
        await self._tidy_caches()
        return gone

    async def forget_reader(self, platform: str, reader: str) -> Forgotten:
        """Everything about one reader of a platform."""
        return await self._store.forgetting.reader(platform, reader, self._today(), self._now())

    async def forget_channel(self, channel: int) -> Forgotten:
        """Everything of a channel, and the text of the books that were only its own."""
        gone, books = await self._store.forgetting.channel(channel)
        for sha256 in books:
            gone += await self._purge(sha256, counted=True)
        await self._tidy_caches()
        return gone

    async def forget_book(self, channel: int, sha256: str) -> Forgotten:
        """A book of a channel, at once; its text too, unless another channel has a right to it."""
        gone = await self._store.forgetting.book(channel, sha256)
        gone += await self._purge(sha256, counted=True)
        await self._tidy_caches()
        return gone

    async def forget_everywhere(self, sha256: str) -> Forgotten:
        """A book of all channels: what an operator does who must no longer keep it."""
        gone = Forgotten()
        for channel in await self._store.forgetting.everywhere(sha256):
            gone += await self._store.forgetting.book(channel, sha256)
        gone += await self._purge(sha256, counted=bool(gone.books))
        await self._tidy_caches()
        return gone

    async def _purge(self, sha256: str, *, counted: bool = False) -> Forgotten:
        """`counted`: the book has been counted where the channel let go of it."""
        gone = await self._store.forgetting.book_text(sha256, self._since())
        return gone + Forgotten(books=-gone.books) if counted else gone

    async def _tidy_caches(self) -> None:
        """Rank tables and page pictures hold a book's text as well; each process has its own."""
        stored = await self._store.forgetting.stored()
        await self._ranks.keep_only(stored)
        await self._pictures.keep_only(stored)

    def _since(self) -> datetime:
        return self._now() - UNDO - _MARGIN

    def _today(self) -> str:
        return f"{self._now().astimezone(UTC):%Y-%m-%d}"
