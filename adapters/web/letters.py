"""What is said unasked: the outbox, shown to the windows that are open."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from adapters.host import Host
from adapters.web.lines import HERE, Lines
from adapters.web.streams import Streams
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError
from core.model import Letter, Reader

log = logging.getLogger(__name__)

_EVERY = 5.0
"""Seconds between two looks into the outbox; a nudge makes the next one come at once."""


class Letters:
    """Says what is due, each letter once. While no window is open it waits: what is said unasked stands nowhere else.

    The outbox is the shelf's, which the page shares with the terminal: whichever of them is open says what is due.
    """

    def __init__(self, club: Club, desk: Desk, lines: Lines, streams: Streams, host: Host) -> None:
        self._club = club
        self._desk = desk
        self._lines = lines
        self._streams = streams
        self._host = host
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Something was done that may have left a letter."""
        self._nudged.set()

    async def drain(self, reader: Callable[[], Awaitable[Reader]]) -> None:
        """For as long as we run; `reader` tells in which language."""
        while True:
            try:
                if self._streams.watched:
                    for letter in await self._club.post.due(HERE.platform):
                        await self._say(letter, await reader())
            except Exception:  # this task's outer edge: the next round tries again
                log.exception("letters failed")
            waits = (
                asyncio.ensure_future(self._nudged.wait()),
                asyncio.ensure_future(self._host.sleep(_EVERY)),
            )
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            self._nudged.clear()

    async def _say(self, letter: Letter, reader: Reader) -> None:
        try:
            reply = await self._desk.letter(letter)
            if reply is not None:
                self._streams.tell(self._lines.reply(reply, reader))
        except LoccitError as error:
            log.warning("a letter has nothing to say", extra={"kind": letter.kind, "key": error.key})
        await self._club.post.done(letter.id)
