"""What a bot did, in order and with the time of each: the requests, and what the gateway saw."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Entry:
    """One request or gateway event. `route` is the path with its parameters named."""

    at: float
    """Seconds of the steady clock."""
    method: str
    route: str
    path: dict[str, str] = field(default_factory=dict)
    body: Any = None
    status: int = 0
    code: int = 0
    """The vendor's error code; 0 when all went well."""


class Journal:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.breaches: list[str] = []
        """Calls of routes that do not exist here, and faults of the pretence itself: any of them fails the test."""
        self._changed = asyncio.Condition()

    def note(self, method: str, route: str, **more: Any) -> Entry:
        entry = Entry(time.monotonic(), method, route, **more)
        self.entries.append(entry)
        return entry

    async def changed(self) -> None:
        """Something happened: whoever waits looks again."""
        async with self._changed:
            self._changed.notify_all()

    async def until(self, true: Callable[[], Any], patience: float = 30.0) -> Any:
        """The first truth of `true`, looked at after every event. Raises AssertionError when patience runs out."""
        ends = time.monotonic() + patience
        while not (found := true()):
            left = ends - time.monotonic()
            assert left > 0, f"nothing of the kind within {patience:g} s; last: {self.entries[-8:]}"
            try:
                async with self._changed:
                    await asyncio.wait_for(self._changed.wait(), min(left, 0.25))
            except TimeoutError:
                pass
        return found

    def requests(self, method: str, route: str) -> list[Entry]:
        return [entry for entry in self.entries if (entry.method, entry.route) == (method, route)]

    def refused(self) -> list[Entry]:
        """What was answered with an error, rate limits aside."""
        return [entry for entry in self.entries if entry.status >= 400 and entry.status != 429]
