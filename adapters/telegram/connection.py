"""What every part of the adapter works with: the club, the desk, the line, who we are; and who a reader is."""

from dataclasses import dataclass, field

from adapters.host import Host
from adapters.telegram.incoming import Heard, Me, Press
from adapters.telegram.line import Line
from adapters.telegram.payloads import Spot
from core.club import Club
from core.desk import Desk
from core.model import Conversation, Reader

PLATFORM = "telegram"

_TRUSTED = 60.0
"""Seconds for which we go by what somebody was in a group when we last asked."""


@dataclass
class Connection:
    """One bot on one server."""

    club: Club
    desk: Desk
    line: Line
    host: Host
    me: Me
    cloud: bool
    """True on Telegram's own server, which gives out files up to 20 MB."""
    _roles: dict[tuple[int, int], tuple[float, bool]] = field(default_factory=dict)

    async def manages(self, who: Heard | Press) -> bool:
        """Whether this person may change things in the chat: alone with us, or an administrator."""
        if who.private or (isinstance(who, Heard) and who.anonymous):
            return True
        return await self._administers(who.chat, who.user)

    async def may_whisper_unasked(self, chat: int) -> bool:
        """Whether the vendor lets us write for one member's eyes without a press: to administrators only."""
        return chat < 0 and await self._administers(chat, self.me.id)

    async def _administers(self, chat: int, user: int) -> bool:
        known = self._roles.get((chat, user))
        if known is None or self.host.clock() - known[0] > _TRUSTED:
            status = await self.line.status(chat, user)
            known = (self.host.clock(), status in ("creator", "administrator"))
            self._roles[chat, user] = known
        return known[1]

    async def reader(self, who: Heard | Press, *, rights: bool = True) -> Reader:
        """Who speaks, in the language to speak here; with `rights` the platform is asked what they may do."""
        reader = Reader(str(who.user), who.locale, manages=rights and await self.manages(who), name=who.by)
        return await self.desk.reader(conversation(who), reader)

    def forget_roles(self, chat: int) -> None:
        """Somebody's rights changed there."""
        self._roles = {key: value for key, value in self._roles.items() if key[0] != chat}


def conversation(who: Heard | Press) -> Conversation:
    """The chat; a topic is a thread of it."""
    return Conversation(PLATFORM, str(who.chat), None if who.topic is None else str(who.topic))


def spot(who: Heard | Press, *, reply: bool = True) -> Spot:
    """Where to answer; in groups as a reply, so that everybody sees to what."""
    return Spot(who.chat, who.topic, who.message if reply and not who.private else None)
