"""What every part of the adapter works with: the club, the desk, the line; and how a failure is said."""

import asyncio
import logging
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

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

_TRUSTED = 60.0
"""Seconds for which a channel's language is taken to be what it was; another process may change it."""
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

    _met: dict[str, str] = field(default_factory=dict)
    _spoken: dict[str, tuple[float, str | None]] = field(default_factory=dict)
    _alone: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def alone(self, key: str) -> asyncio.Lock:
        """What is done under it happens one by one for the same key, in this process."""
        return self._alone.setdefault(key, asyncio.Lock())

    async def reader(self, who: Who) -> Reader:
        """Who speaks, in the language to speak here; the channel's is looked up once in a while."""
        channel, clock = who.conversation.channel, self.host.clock()
        known = self._spoken.get(channel)
        if known is None or clock - known[0] > _TRUSTED:
            set_ = (await self.club.settings(who.conversation)).get("locale")
            known = self._spoken[channel] = (clock, str(set_) if set_ else None)
        return replace(who.reader, locale=known[1] or who.reader.locale)

    def forget_language(self, who: Who) -> None:
        """Somebody may have set another language for the channel."""
        self._spoken.pop(who.conversation.channel, None)

    def met(self, who: Who) -> Who:
        """The same; their language is known from now on: their messages do not tell it."""
        if who.reader.locale is not None:
            self._met[who.reader.id] = who.reader.locale
        return who

    async def keep_locale(self, who: Who) -> None:
        """Keep the language of somebody who used a command over a restart."""
        key, locale = f"locale:{who.reader.id}", who.reader.locale
        if locale is not None and await self.club.post.recall(PLATFORM, key) != locale:
            await self.club.post.remember(PLATFORM, key, locale)

    async def locale_of(self, user: int) -> str | None:
        """The language of somebody who writes, when they have used a command before."""
        if (known := self._met.get(str(user))) is not None:
            return known
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
