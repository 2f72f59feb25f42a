"""What only whoever runs the bot can mend, told to a group's administrators: privately, to those whom we may write to."""

from collections.abc import Iterable

from adapters.alarms import Daily
from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.incoming import Heard
from adapters.telegram.line import Gone, Moved, Refused, Unwritable
from adapters.telegram.payloads import Spot
from adapters.telegram.view import Shown, sentence
from core.model import Notice
from core.strings import tell


class Alarms:
    """Remembers who wrote to us privately: nobody else can be written to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._daily = Daily(connection.club, connection.host, PLATFORM)
        self._known: set[int] = set()

    async def meet(self, heard: Heard) -> None:
        """Somebody wrote to us in a private chat."""
        if heard.private and heard.user not in self._known:
            self._known.add(heard.user)
            await self._connection.club.post.remember(PLATFORM, f"private:{heard.user}", heard.locale or "en")

    async def raise_for(self, chat: int, notices: Iterable[Notice]) -> None:
        """Tell of the first of these that somebody has to mend, unless that was told today."""
        notice = await self._daily.due(notices, str(chat) if chat < 0 else "")
        if notice is None or chat > 0:
            return
        post = self._connection.club.post
        for user in await self._connection.line.administrators(chat):
            locale = await post.recall(PLATFORM, f"private:{user}")
            if locale is None:
                continue
            try:
                await self._connection.line.send(Spot(user), Shown(sentence(tell(notice, str(locale)))))
            except (Unwritable, Gone, Refused, Moved):
                continue  # blocked since
