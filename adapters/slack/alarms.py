"""What only whoever runs the bot can mend, told to who made the channel: directly, once a day, not once a question."""

import logging
from collections.abc import Iterable
from dataclasses import replace

from adapters.alarms import Daily
from adapters.host import Host
from adapters.slack import view
from adapters.slack.door import Rejected, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.people import People
from adapters.slack.sending import Sender
from adapters.slack.tokens import PLATFORM
from core.club import Club
from core.model import Notice
from core.strings import tell

log = logging.getLogger(__name__)


class Alarms:
    """Slack tells nobody who installed an app; who made the channel manages it and knows whom to ask."""

    def __init__(self, club: Club, host: Host, people: People, sender: Sender) -> None:
        self._daily = Daily(club, host, PLATFORM)
        self._people = people
        self._sender = sender

    async def raise_for(self, place: Where, notices: Iterable[Notice]) -> None:
        """Tell of the first of these that somebody has to mend, unless that was told today."""
        notice = await self._daily.due(notices, "" if place.private else place.channel)
        if notice is None or place.private:
            return
        creator = await self._people.creator(place.channel)
        if not creator:
            return
        reader = await self._people.reader(replace(place, user=creator))
        try:
            await self._sender.direct(creator, view.words(tell(notice, reader.locale)), reader.locale)
        except (Rejected, Unreachable) as error:
            log.info("nobody could be told", extra={"code": str(error)})
