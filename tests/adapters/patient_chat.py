"""The chat with a model that answers only once a file exists: run as a program, so that Ctrl-C can come while it waits."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

from adapters.console.app import Console
from adapters.console.here import local_reader
from adapters.console.talk import talk
from adapters.console.terminal import Terminal
from bot.wiring import new_id, now
from core.club import Club
from core.model import ChatEvent, ChatRequest
from core.offline import OfflineReader
from core.store import Store


class PatientModel:
    """Quotes like the offline reader, but not before `signal` exists."""

    name = "patient"

    def __init__(self, signal: Path) -> None:
        self._signal = signal
        self._reader = OfflineReader()

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        while not self._signal.exists():  # noqa: ASYNC110  # another process makes the file; there is no event to wait for
            await asyncio.sleep(0.05)
        async for event in self._reader.stream(request):
            yield event


def main(data: Path, signal: Path) -> None:
    async def open_console() -> Console:
        store = await Store.open("", data)
        model = PatientModel(signal)
        club = Club(store, model, OfflineReader(), data, now=now, clock=monotonic, new_id=new_id)
        return Console(club, local_reader("en"), new_id, data)

    talk(open_console, Terminal(sys.stdin, sys.stdout, locale="en", colour=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
