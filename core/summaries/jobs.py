"""A book's summaries as a job: estimated, agreed to, made by one run at a time wherever that is, paused, stopped."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from core.errors import LimitReached, LoccitError, Missing, ReaderError, UpstreamError
from core.model import BookCard, Estimate, Indexed, IndexNews, IndexState, Notice, Usage
from core.spending import Terms
from core.store import Store
from core.summaries.estimating import estimate
from core.summaries.work import Summaries, Summarised, Superseded

BEAT = 1.5
"""Seconds between two signs of life of a run; a quarter of the time after which it counts as dead."""
FIRST_WAIT, LONGEST_WAIT = 30.0, 900.0
"""Seconds until a provider that failed is asked again, doubled each time."""
LOOK = 1.0
"""Seconds between two looks at how far books are: another process may be at work on them."""

_STOPPABLE: tuple[IndexState, ...] = ("waiting", "queued", "running", "paused", "failed")
_STARTABLE: tuple[IndexState, ...] = ("waiting", "paused", "failed", "cancelled")


class Busy(Exception):
    """Another run is at the book, or somebody said no or has not said yes."""


class Jobs:
    """One job a (content, text version), however many channels have the book. `new_id` names runs."""

    def __init__(
        self,
        store: Store,
        summaries: Summaries,
        terms: Terms,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._store = store
        self._summaries = summaries
        self._terms = terms
        self._now = now
        self._new_id = new_id
        self._sleep = sleep

    async def estimate(self, sha256: str, text_version: str) -> Estimate:
        """What is left to do for a book."""
        contents = await self._store.books.contents(sha256, text_version)
        if contents is None:
            raise Missing("book_not_stored")
        language = await self._store.books.language(sha256, text_version)
        segments = await self._store.books.segments(sha256, text_version)
        return estimate(language, contents, segments, self._terms)

    async def enlist(self, sha256: str, text_version: str, channel: int | None = None) -> Estimate:
        """Take a book up, when it came to a channel's shelf; above a sum it waits for a yes."""
        found = await self.estimate(sha256, text_version)
        state: IndexState = "waiting" if found.asks else "queued"
        if found.calls:
            job = await self._store.jobs.make(sha256, text_version, state, channel, self._now())
            found = replace(found, asks=job.state == "waiting")
        return found

    async def indexed(self, card: BookCard) -> Indexed:
        """How far a book is."""
        return await self._store.jobs.indexed(card.sha256, card.text_version)

    async def approve(self, card: BookCard) -> None:
        """The yes: what waits, was stopped, or could not go on is taken up."""
        await self._store.jobs.turn(card.sha256, card.text_version, "queued", self._now(), among=_STARTABLE)

    async def cancel(self, card: BookCard) -> None:
        """Stop. What is made stays; calls under way end and are kept."""
        await self._store.jobs.turn(card.sha256, card.text_version, "cancelled", self._now(), among=_STOPPABLE)

    async def watch(self, platform: str) -> AsyncGenerator[IndexNews, None]:
        """How far the books of a platform are: first the unfinished ones, then every change, without end."""
        known: dict[tuple[str, str], Indexed] = {}
        since = self._now()
        while True:
            # What commits while we look is seen the next time too; what is known is not told twice.
            looked = self._now() - timedelta(seconds=10 * LOOK)
            found = await self._store.jobs.news(platform, since)
            for news in found:
                if known.get((news.conversation.channel, news.sha256)) != news.indexed:
                    yield news
            known = {(news.conversation.channel, news.sha256): news.indexed for news in found}
            since = looked
            await self._sleep(LOOK)

    async def run(self, sha256: str, text_version: str, *, refresh: bool = False) -> AsyncGenerator[Summarised, None]:
        """Summarise a book as the one run that is at it; as `Summaries.summarise`. The job says how it ended.

        Raises Busy when it is not to be worked on here now, Superseded when it is stopped or taken over meanwhile.
        """
        jobs, owner = self._store.jobs, self._new_id()
        if await jobs.get(sha256, text_version) is None:  # the process ended between shelf and job
            await self.enlist(sha256, text_version)
        if not await jobs.claim(sha256, text_version, owner, self._now()):
            raise Busy
        state: IndexState = "queued"
        notice: Notice | None = None
        until: datetime | None = None
        breathing = asyncio.create_task(self._breathe(sha256, text_version, owner)) if jobs.leased else None
        try:

            async def mine() -> bool:
                return await jobs.holds(sha256, text_version, owner)

            async with aclosing(self._summaries.summarise(sha256, text_version, refresh=refresh, mine=mine)) as steps:
                async for step in steps:
                    yield step
            state = "done"
        except LoccitError as error:
            state, notice = "failed", Notice(error.key, error.params)
            if passes(error):
                state = "paused"
                until = self._now() + timedelta(seconds=await self._wait(error, sha256, text_version))
            raise
        finally:
            if breathing is not None:
                breathing.cancel()
                await asyncio.gather(breathing, return_exceptions=True)
            await jobs.release(sha256, text_version, owner, state, self._now(), notice=notice, until=until)

    async def finish(self, card: BookCard, *, refresh: bool = False) -> AsyncGenerator[Summarised, None]:
        """Agree to a book and wait until it is summarised, here or by whoever is at it. As `run` otherwise.

        Raises ReaderError `index_stopped` when somebody stops it meanwhile, Missing `book_removed` when nobody has it any more.
        """
        await self.enlist(card.sha256, card.text_version)
        await self.approve(card)
        spent = Usage()
        last = Summarised(0, 0, 0, spent)
        while True:
            try:
                async with aclosing(self.run(card.sha256, card.text_version, refresh=refresh)) as steps:
                    async for step in steps:
                        last = replace(step, usage=spent + step.usage)
                        yield last
                return
            except (Busy, Superseded):
                spent = last.usage
            found = await self.indexed(card)
            if found.state == "done" and not refresh:
                yield replace(last, done=found.done, total=found.total)
                return
            if found.state == "cancelled":
                raise ReaderError("index_stopped", title=card.title)
            if not await self._store.jobs.wanted(card.sha256, card.text_version):
                raise Missing("book_removed")
            await self._sleep(LOOK)

    async def _breathe(self, sha256: str, text_version: str, owner: str) -> None:
        while True:
            await asyncio.sleep(BEAT)  # by the machine's own clock, whatever `sleep` is: it measures that we live
            with suppress(LoccitError):  # a database that is away for a moment; the run itself will notice
                if not await self._store.jobs.beat(sha256, text_version, owner, self._now()):
                    return

    async def _wait(self, error: LoccitError, sha256: str, text_version: str) -> float:
        """Seconds until another attempt may help."""
        if isinstance(error, LimitReached):  # until the month turns; now and then it is looked whether there is room
            return min(error.retry_after, LONGEST_WAIT)
        job = await self._store.jobs.get(sha256, text_version)
        doubled = min(FIRST_WAIT * 2.0 ** min(0 if job is None else job.tries, 10), LONGEST_WAIT)
        named = error.retry_after if isinstance(error, UpstreamError) else None
        return max(doubled, named or 0.0)


def passes(error: LoccitError) -> bool:
    """True for what may be well a little later without anybody touching the bot: the work is taken up again by itself."""
    return isinstance(error, UpstreamError | LimitReached) or error.key in ("database_unavailable", "disk_full")
