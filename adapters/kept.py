"""Answers that come later: those that nobody saw before a crash, and those that waited for the language model.

They are found alike on every platform, which only brings one to where it was asked.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from adapters.outbox import Nowhere
from core.club.questions import Questions
from core.model import Answered, AskEvent, Unanswered

log = logging.getLogger(__name__)

CHECK = 15.0
"""Seconds between two attempts to reach a provider that was down while a question waits for it."""
LOOK = 300.0
"""Seconds after which it is looked whether another process has kept a question."""

Bring = Callable[[Answered | Unanswered], Awaitable[None]]
"""Shows it as a reply to its question, on record; then it counts as shown (`Questions.shown`).

Raises Nowhere; whatever else it raises, it is brought again.
"""


class Kept:
    """Brings what comes later on one platform, each once; one that fails waits and holds up no other."""

    def __init__(self, questions: Questions, platform: str, bring: Bring) -> None:
        self._questions = questions
        self._platform = platform
        self._bring = bring
        self._nudged = asyncio.Event()
        self._failed: set[str] = set()
        """Turns that could not be brought yet. They are asked for anew: they may be gone, or past the limit, by then."""
        self._unanswered: list[Unanswered] = []
        self._told: set[str] = set()
        """Events whose failure the log has in full; "": that of a whole round."""

    def nudge(self) -> None:
        """A question has just been kept."""
        self._nudged.set()

    async def drain(self, sleep: Callable[[float], Awaitable[None]], known: frozenset[str]) -> None:
        """For as long as we run. `known`: the events that are taken up anyway; their answers are shown there."""
        taken_up = False
        while True:
            try:
                if not taken_up:
                    await self._collect(self._questions.unshown(self._platform), known)
                    taken_up = True
                await self._look()
            except Exception as error:  # noqa: BLE001  # this task's outer edge: the next round tries again
                self._log("kept questions failed", "", error)
            else:
                self._told.discard("")
            await sleep(CHECK)

    async def _look(self) -> None:
        self._nudged.clear()
        await self._bring_again()
        if await self._questions.keeps(self._platform):
            await self._collect(self._questions.answer_kept(self._platform))
        elif not self._failed and not self._unanswered:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):  # not wait_for, which can hide that we are ended
                    await self._nudged.wait()

    async def _bring_again(self) -> None:
        if self._failed:
            there = set()
            async with aclosing(self._questions.unshown(self._platform)) as found:
                async for event in found:
                    if event.turn.id in self._failed:
                        there.add(event.turn.id)
                        await self._show(event)
            self._failed &= there
        unanswered, self._unanswered = self._unanswered, []
        for lost in unanswered:
            await self._show(lost)

    async def _collect(self, events: AsyncGenerator[AskEvent, None], known: frozenset[str] = frozenset()) -> None:
        async with aclosing(events) as found:
            async for event in found:
                if isinstance(event, Answered | Unanswered) and event.event not in known:
                    await self._show(event)

    async def _show(self, event: Answered | Unanswered) -> None:
        try:
            await self._brought(event)
        except Exception as error:  # noqa: BLE001  # the outer edge of one answer: a disk, a network or we may mend
            self._log("an answer waits to be brought", event.event, error)
            if isinstance(event, Answered):
                self._failed.add(event.turn.id)
            else:
                self._unanswered.append(event)
        else:
            self._told.discard(event.event)
            if isinstance(event, Answered):
                self._failed.discard(event.turn.id)

    def _log(self, what: str, key: str, error: Exception) -> None:
        """In full the first time; what lasts would fill a disk."""
        log.error("%s: %s", what, type(error).__name__, exc_info=None if key in self._told else error)
        self._told.add(key)

    async def _brought(self, event: Answered | Unanswered) -> None:
        try:
            await self._bring(event)
        except Nowhere as nowhere:
            log.warning("nowhere to bring an answer", exc_info=nowhere)
            if isinstance(event, Answered):
                await self._questions.shown(event.turn.id)
