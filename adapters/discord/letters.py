"""What is said unasked: the outbox, drained for as long as we run, and the first hello of a server."""

import asyncio
import logging

import aiohttp
import discord

from adapters.discord import deliveries, polls, view
from adapters.discord.connection import Connection
from adapters.discord.line import Gone, Unwritable, passes
from adapters.discord.spots import PLATFORM, Spot, conversation_of, locale_of
from core.errors import ReaderError, UpstreamError
from core.model import Letter, Reply

log = logging.getLogger(__name__)

_EVERY = 5.0
"""Seconds between two looks into the outbox; a nudge makes the next one come at once."""


class Letters:
    """Says what is due, each letter once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
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
        spot = Spot(int(where.thread or where.channel))
        try:
            reply = await self._connection.desk.letter(letter)
            if reply is not None:
                parts = view.messages(reply)
                shown = await deliveries.show(self._connection, where, spot, letter.id, parts, reply.turn)
                await self._open(letter, reply, shown[-1])
                await polls.over(self._connection, reply.over)
        except UpstreamError as error:
            log.warning("a letter waits", extra={"kind": letter.kind, "key": error.key})
            return  # the next round
        except ReaderError as error:  # a disk or a database that is away mends: the next round tries again
            log.warning("a letter has nothing to say", extra={"kind": letter.kind, "key": error.key})
        except (Gone, Unwritable) as error:
            log.warning("nowhere to say a letter", extra={"kind": letter.kind, "reason": type(error).__name__})
        except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
            if passes(error):
                log.warning("a letter waits", extra={"kind": letter.kind, "reason": type(error).__name__})
                return  # the next round
            # What the vendor takes in no way is not tried for ever.
            log.exception("a letter was not taken", extra={"kind": letter.kind})
        await self._connection.club.post.done(letter.id)

    async def _open(self, letter: Letter, reply: Reply, message: int) -> None:
        """A thread for each question of a discussion, where people can be heard answering it."""
        where = letter.conversation
        if letter.kind == "discussion" and reply.turn is not None and where.thread is None:
            await self._connection.line.thread(int(where.channel), message, view.name(reply.document))

    async def greet(self, guild: discord.Guild) -> None:
        """One line in the first channel that can be written to, once per server."""
        for channel in guild.text_channels:
            if channel.permissions_for(guild.me).send_messages:
                where = conversation_of(channel, guild.id)
                await self._connection.desk.hello(where, locale_of(guild.preferred_locale))
                self.nudge()
                return
