"""What only whoever runs the bot can mend, told to a group's administrators: privately, once a day, not once a question."""

from collections.abc import Iterable
from datetime import timedelta

from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.incoming import Heard
from adapters.telegram.line import Gone, Moved, Refused, Unwritable
from adapters.telegram.payloads import Spot
from adapters.telegram.view import Shown, sentence
from core.model import Notice
from core.strings import tell

_TO_MEND = frozenset({"model_key_refused", "model_quota", "model_unknown", "model_refused", "disk_full"})
_PAUSE = timedelta(days=1)


class Alarms:
    """Remembers who wrote to us privately: nobody else can be written to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: set[int] = set()

    async def meet(self, heard: Heard) -> None:
        """Somebody wrote to us in a private chat."""
        if heard.private and heard.user not in self._known:
            self._known.add(heard.user)
            await self._connection.club.post.remember(PLATFORM, f"private:{heard.user}", heard.locale or "en")

    async def raise_for(self, chat: int, notices: Iterable[Notice]) -> None:
        """Tell of the first of these that somebody has to mend, unless that was told today."""
        post, host = self._connection.club.post, self._connection.host
        notice = next((notice for notice in notices if notice.key in _TO_MEND), None)
        if notice is None:
            return
        until = host.now() + _PAUSE
        if not await post.recall(PLATFORM, f"alarm:{notice.key}"):
            await post.remember(PLATFORM, f"alarm:{notice.key}", True, until)
            host.tell(notice)
        if chat > 0 or await post.recall(PLATFORM, f"alarm:{notice.key}:{chat}"):
            return
        await post.remember(PLATFORM, f"alarm:{notice.key}:{chat}", True, until)
        for user in await self._connection.line.administrators(chat):
            locale = await post.recall(PLATFORM, f"private:{user}")
            if locale is None:
                continue
            try:
                await self._connection.line.send(Spot(user), Shown(sentence(tell(notice, str(locale)))))
            except (Unwritable, Gone, Refused, Moved):
                continue  # blocked since
