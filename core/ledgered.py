"""A `ChatModel` over the call ledger: a request that was answered in full once is never sent again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any

from core.llm.closing import closable
from core.llm.ledger import request_key
from core.model import Called, ChatEvent, ChatModel, ChatRequest, Finished, Said, ToolCall, Usage
from core.store import Ledger

_UNFINISHED = ("", "content_filter")
"""Ends after which the same request may well be answered another time."""


class Ledgered:
    """Replays what is on record and records what is new, before its last event is handed on.

    A replay costs no call; its text comes in one piece. What the model raises is raised, and nothing is recorded then.
    Identical requests at the same time are sent once: the others wait for the first, and go themselves only when it
    brought nothing to record.
    """

    def __init__(self, model: ChatModel, ledger: Ledger, now: Callable[[], datetime]) -> None:
        self._model = model
        self._ledger = ledger
        self._now = now
        self._flights: dict[str, _Flight] = {}

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """As `ChatModel.stream`; may also raise what a store raises."""
        key = request_key(request, self.name)
        async with self._flight(key):
            kept = await self._ledger.find(key)
            if kept is not None:
                for event in _replay(kept.result):
                    yield event
                return
            said: list[Said | Called] = []
            end: Finished | None = None
            async with aclosing(closable(self._model.stream(request))) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        end = event
                        # Before anything else: what happens to us now costs nothing more. A metered model has let go of
                        # its place in the line by then, so that the next request does not wait for our disk.
                        if end.reason not in _UNFINISHED:
                            await self._record(key, request, said, end)
                    else:
                        said.append(event)
                        yield event
            if end is not None:
                yield end

    async def _record(self, key: str, request: ChatRequest, said: list[Said | Called], end: Finished) -> None:
        await self._ledger.record(
            key,
            purpose=request.purpose,
            stamp=request.stamp,
            model=self.name,
            book=request.book,
            result={
                "text": "".join(event.text for event in said if isinstance(event, Said)),
                "calls": [
                    [event.call.id, event.call.name, event.call.arguments]
                    for event in said
                    if isinstance(event, Called)
                ],
                "reason": end.reason,
            },
            usage=end.usage,
            at=self._now(),
        )

    @asynccontextmanager
    async def _flight(self, key: str) -> AsyncIterator[None]:
        flight = self._flights.setdefault(key, _Flight())
        flight.passengers += 1
        try:
            async with flight.lock:
                yield
        finally:
            flight.passengers -= 1
            if not flight.passengers:
                del self._flights[key]


class _Flight:
    """The requests of one key that are under way or wait."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.passengers = 0


def _replay(result: Any) -> list[ChatEvent]:
    events: list[ChatEvent] = [Said(result["text"])] if result["text"] else []
    events += [Called(ToolCall(*call)) for call in result["calls"]]
    return [*events, Finished(result["reason"], Usage())]
