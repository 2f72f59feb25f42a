"""What is said unasked: the outbox, drained alike on every platform. A platform only brings one reply where it belongs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from core.desk import Desk
from core.errors import ReaderError
from core.model import Letter, Reply
from core.post import Post

log = logging.getLogger(__name__)

EVERY = 5.0
"""Seconds between two looks into the outbox; a nudge makes the next one come at once."""

Show = Callable[[Letter, Reply], Awaitable[None]]
"""Brings what a letter says, on record under its id (`Post.sending`, `Post.sent`): one that was taken is not said again.

Raises Nowhere; whatever else it raises, the letter stays due.
"""


_UNREAD = ""
"""Stands among the letters that failed while the outbox itself cannot be read."""


class Nowhere(Exception):
    """What a letter says has no place any more, or the platform takes it in no way: it is done all the same."""


class Outbox:
    """Says what is due on one platform, each letter once; one that fails stays due and holds up no other.

    `ready` tells whether a letter may be said yet.
    """

    def __init__(
        self,
        post: Post,
        desk: Desk,
        platform: str,
        show: Show,
        *,
        ready: Callable[[Letter], Awaitable[bool]] | None = None,
    ) -> None:
        self._post = post
        self._desk = desk
        self._platform = platform
        self._show = show
        self._ready = ready
        self._nudged = asyncio.Event()
        self._failed: set[str] = set()
        """Letters whose failure the log has in full."""

    def nudge(self) -> None:
        """Something was done that may have left a letter."""
        self._nudged.set()

    async def drain(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """For as long as we run."""
        while True:
            try:
                await self.look()
            except Exception as error:  # this task's outer edge: the next round tries again
                told = _UNREAD in self._failed
                log.error("the outbox could not be read: %s", type(error).__name__, exc_info=None if told else error)
                self._failed.add(_UNREAD)
            else:
                self._failed.discard(_UNREAD)
            waits = (asyncio.ensure_future(self._nudged.wait()), asyncio.ensure_future(sleep(EVERY)))
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            self._nudged.clear()

    async def look(self) -> None:
        """Say everything that is due by now."""
        for letter in await self._post.due(self._platform):
            try:
                if self._ready is None or await self._ready(letter):
                    await self._say(letter)
            except Exception as error:  # the outer edge of one letter: a disk, a network or we may mend
                told = letter.id in self._failed
                facts = {"kind": letter.kind, "reason": type(error).__name__}
                log.warning("a letter waits", exc_info=None if told else error, extra=facts)
                self._failed.add(letter.id)
            else:
                self._failed.discard(letter.id)

    async def _say(self, letter: Letter) -> None:
        try:
            reply = await self._desk.letter(letter)
            if reply is not None:
                await self._show(letter, reply)
        except ReaderError as error:
            log.warning("a letter has nothing to say", extra={"kind": letter.kind, "key": error.key})
        except Nowhere as nowhere:
            log.warning("nowhere to say a letter", exc_info=nowhere, extra={"kind": letter.kind})
        await self._post.done(letter.id)
