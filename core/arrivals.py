"""Which files a channel is waiting for: those that are being taken in now, in this process."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Arrivals:
    """By the channel's number."""

    def __init__(self) -> None:
        self._names: dict[int, list[str]] = {}
        self._settled: dict[int, asyncio.Event] = {}

    @contextmanager
    def expecting(self, channel: int, name: str) -> Iterator[None]:
        """While the block runs, however it ends, this file is on its way."""
        names = self._names.setdefault(channel, [])
        names.append(name)
        try:
            yield
        finally:
            names.remove(name)
            if not names:
                del self._names[channel]
                if (waiting := self._settled.pop(channel, None)) is not None:
                    waiting.set()

    def first(self, channel: int) -> str | None:
        """The name of the file that has been on its way for longest."""
        names = self._names.get(channel)
        return names[0] if names else None

    async def settle(self, channel: int) -> None:
        """Wait until nothing is on its way."""
        while channel in self._names:
            await self._settled.setdefault(channel, asyncio.Event()).wait()
