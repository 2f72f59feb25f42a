"""What only whoever runs the bot can mend, told to the application's owner: directly, once a day, not once a question."""

import logging
from collections.abc import Iterable

import discord

from adapters.alarms import Daily
from adapters.discord import view
from adapters.discord.connection import Connection
from adapters.discord.line import Gone, Unwritable
from adapters.discord.spots import PLATFORM, Spot
from adapters.discord.view import Shown
from core.model import Notice
from core.strings import tell

log = logging.getLogger(__name__)


class Alarms:
    """The vendor knows whose bot this is; servers are many, and their owners can mend nothing of it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._daily = Daily(connection.club, connection.host, PLATFORM)

    async def raise_for(self, notices: Iterable[Notice]) -> None:
        """Tell of the first of these that somebody has to mend, unless that was told today."""
        notice = await self._daily.due(notices)
        if notice is None:
            return
        client = self._connection.client
        try:
            application = await client.application_info()
            owner = application.team.owner_id if application.team is not None else application.owner.id
            if owner is None:
                return
            channel = await (await client.fetch_user(owner)).create_dm()
            said = view.sentence(tell(notice, await self._connection.locale_of(owner)))
            await self._connection.line.send(Spot(channel.id), Shown(said))
        except (discord.HTTPException, Gone, Unwritable):
            log.info("nobody could be told")
