"""Places among the requests in flight to one provider: whoever asks goes before summaries, and both in their order."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Places:
    """So many requests at once. Summaries leave one place free for a question, and wait while any question waits."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._free_for_summaries = max(1, count - 1)
        self._hurried: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def one(self, *, patient: bool = False) -> AsyncIterator[None]:
        """Hold a place; `patient` for a summary."""
        waiting = self._patient if patient else self._hurried
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(ticket)
        self._hand_out()
        try:
            await ticket
        except asyncio.CancelledError:
            if not ticket.cancelled():  # handed over in the moment in which it was given up
                self._give_back(patient=patient)
            raise
        try:
            yield
        finally:
            self._give_back(patient=patient)

    def _give_back(self, *, patient: bool) -> None:
        self._free += 1
        self._free_for_summaries += patient
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free and (ticket := _first(self._hurried)):
            self._free -= 1
            ticket.set_result(None)
        while self._free and self._free_for_summaries and (ticket := _first(self._patient)):
            self._free -= 1
            self._free_for_summaries -= 1
            ticket.set_result(None)


def _first(waiting: deque[asyncio.Future[None]]) -> asyncio.Future[None] | None:
    """The first who has not given up."""
    while waiting:
        if not (ticket := waiting.popleft()).done():
            return ticket
    return None
