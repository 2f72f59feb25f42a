"""What every part of the adapter works with: the club, the desk, the line; and how a failure is said."""

import logging
from dataclasses import dataclass

import discord

from adapters.discord.line import Line
from adapters.discord.spots import PLATFORM, Who
from adapters.host import Host
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError, ReaderError
from core.model import Reader
from core.strings import say

log = logging.getLogger(__name__)

SPELLED = {
    "books": "/book list",
    "use": "/book use",
    "add": "/book add",
    "remove": "/book remove",
    "undo": "/book undo",
    "settings": "/book settings",
    "forget": "/book forget",
    "privacy": "/book privacy",
    "model": "/book model",
    "start": "/help",
}


def spell(name: str) -> str:
    """How a command is typed here."""
    return SPELLED.get(name, f"/{name}")


@dataclass
class Connection:
    """One bot on Discord."""

    club: Club
    desk: Desk
    client: discord.Client
    line: Line
    host: Host

    async def reader(self, who: Who) -> Reader:
        """Who speaks, in the language to speak here."""
        return await self.desk.reader(who.conversation, who.reader)

    async def learn_locale(self, who: Who) -> None:
        """Keep the language of somebody who used a command: their messages do not tell it."""
        key, locale = f"locale:{who.reader.id}", who.reader.locale
        if locale is not None and await self.club.post.recall(PLATFORM, key) != locale:
            await self.club.post.remember(PLATFORM, key, locale)

    async def locale_of(self, user: int) -> str | None:
        found = await self.club.post.recall(PLATFORM, f"locale:{user}")
        return str(found) if found is not None else None

    def sentence(self, error: Exception, locale: str | None) -> str:
        """What people are told about `error`; ours are logged with a reference."""
        if isinstance(error, LoccitError):
            if not isinstance(error, ReaderError):
                log.error("failed", exc_info=error, extra={"key": error.key})
            try:
                return say(error.key, locale, **error.params)
            except (KeyError, IndexError):  # no such sentence, or a place in it that nothing fills
                pass
        incident = self.host.new_id()[:8]
        log.error("unexpected", exc_info=error, extra={"incident": incident})
        return say("unexpected", locale, incident=incident)
