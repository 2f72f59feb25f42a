"""What only whoever runs the bot can mend: told to them, and to who manages a chat, once a day and not once a question."""

from collections.abc import Iterable
from datetime import timedelta

from adapters.host import Host
from core.club import Club
from core.desk import TO_MEND
from core.model import Notice

_PAUSE = timedelta(days=1)


class Daily:
    """Remembers, over restarts, what a platform's people were told today."""

    def __init__(self, club: Club, host: Host, platform: str) -> None:
        self._club = club
        self._host = host
        self._platform = platform

    async def due(self, notices: Iterable[Notice], chat: str = "") -> Notice | None:
        """The first of these that somebody has to mend, unless it was told today in this `chat` ("": anywhere).

        Whoever runs the bot is told the first of a day here; whom else to tell is the platform's to know.
        """
        notice = next((notice for notice in notices if notice.key in TO_MEND), None)
        if notice is None:
            return None
        first = await self._first(f"alarm:{notice.key}")
        if first:
            self._host.tell(notice)
        return notice if (await self._first(f"alarm:{notice.key}:{chat}") if chat else first) else None

    async def _first(self, key: str) -> bool:
        """True once in a day."""
        if await self._club.post.recall(self._platform, key):
            return False
        await self._club.post.remember(self._platform, key, True, self._host.now() + _PAUSE)
        return True
