"""What is said unasked: the outbox, drained for as long as we run."""

import asyncio
import logging
from contextlib import suppress

from adapters.telegram import deliveries, view
from adapters.telegram.ballots import Ballots
from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.group import Groups
from adapters.telegram.line import Gone, Moved, Refused, Unwritable
from adapters.telegram.payloads import Spot
from core.errors import LoccitError, ReaderError
from core.model import Letter

log = logging.getLogger(__name__)

_EVERY = 5.0
"""Seconds between two looks into the outbox; a nudge makes the next one come at once."""


class Letters:
    """Says what is due, each letter once."""

    def __init__(self, connection: Connection, groups: Groups, ballots: Ballots) -> None:
        self._connection = connection
        self._groups = groups
        self._ballots = ballots
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Something was done that may have left a letter."""
        self._nudged.set()

    async def drain(self) -> None:
        while True:
            try:
                for letter in await self._connection.club.post.due(PLATFORM):
                    await self._edge(letter)
            except Exception:  # this task's outer edge: the next round tries again
                log.exception("letters failed")
            waits = (
                asyncio.ensure_future(self._nudged.wait()),
                asyncio.ensure_future(self._connection.host.sleep(_EVERY)),
            )
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            self._nudged.clear()

    async def _edge(self, letter: Letter) -> None:
        """One letter; whatever it fails on, it stays due and holds up no other."""
        try:
            await self._say(letter)
        except Exception:  # the outer edge of one letter
            log.exception("a letter failed", extra={"kind": letter.kind})

    async def _say(self, letter: Letter) -> None:
        where = letter.conversation
        place = Spot(int(where.channel), int(where.thread) if where.thread else None)
        if "poll" in letter.params and not await self._ballots.settled(letter.params["poll"]):
            return  # a round later every vote that Telegram took is counted
        try:
            reply = await self._connection.desk.letter(letter)
            if reply is not None:
                if reply.over is not None:
                    await self._ballots.end(reply.over)
                parts = view.messages(reply)
                await deliveries.show(self._connection, where, place, letter.id, parts, reply.turn)
        except ReaderError as error:  # a disk or a database that is away mends: the next round tries again
            log.warning("a letter has nothing to say", extra={"kind": letter.kind, "key": error.key})
        except Moved as moved:
            await self._groups.moved(place.chat, moved.chat)
            return  # the next round finds it in the new chat
        except Unwritable as error:
            with suppress(LoccitError):
                await self._groups.unwritable(place.chat, error)
        except (Gone, Refused) as error:
            log.warning("a letter was not taken", extra={"kind": letter.kind, "error": type(error).__name__})
        await self._connection.club.post.done(letter.id)
