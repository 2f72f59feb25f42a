"""How a letter of the outbox is shown in a channel; and the first hello of a server, owed through it."""

import discord

from adapters.discord import deliveries, polls, view
from adapters.discord.connection import Connection
from adapters.discord.spots import PLATFORM, Spot, conversation_of, locale_of
from adapters.outbox import Outbox
from core.model import Letter, Reply


class Letters:
    """The outbox of one bot on Discord."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.outbox = Outbox(connection.club.post, connection.desk, PLATFORM, self._show)

    async def _show(self, letter: Letter, reply: Reply) -> None:
        where = letter.conversation
        spot = Spot(int(where.thread or where.channel))
        with deliveries.bringing():
            parts = view.messages(reply)
            shown = await deliveries.show(self._connection, where, spot, letter.id, parts, reply.turn)
            await self._open(letter, reply, shown[-1])
            await polls.over(self._connection, reply.over)

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
                self.outbox.nudge()
                return
