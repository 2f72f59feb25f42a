"""The life of a group: moved to a supergroup, joined, left, muted; and what privacy mode keeps from us there."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adapters.outbox import Nowhere
from adapters.telegram.connection import PLATFORM, Connection, conversation
from adapters.telegram.incoming import Heard
from adapters.telegram.line import Gone, Moved, Refused, Unwritable
from adapters.telegram.payloads import Spot
from adapters.telegram.view import messages
from core.model import Check, Conversation, Document, Notice, Paragraph, Reader, Reply, Text
from core.strings import say

log = logging.getLogger(__name__)

_OUT = ("left", "kicked")
_NEEDED = ("can_send_messages", "can_send_polls", "can_send_documents", "can_send_photos")
"""What the bot has to be allowed in a group, as the vendor calls it."""


class Groups:
    """Goes along with what happens to chats."""

    def __init__(self, connection: Connection, reads_all: bool) -> None:
        self._connection = connection
        self._reads_all = reads_all
        self._new_ids: dict[int, int] = {}

    async def recall(self) -> None:
        """Which chats moved before this start."""
        moved = await self._connection.club.post.recall_all(PLATFORM, "moved:")
        self._new_ids = {int(key.removeprefix("moved:")): int(new) for key, new in moved.items()}

    def now(self, chat: int) -> int:
        """The id a chat has now."""
        return self._new_ids.get(chat, chat)

    async def moved(self, old: int, new: int) -> None:
        """A group became a supergroup: books, settings, limits, answers and their buttons go with it."""
        if self._new_ids.get(old) == new:
            return
        await self._connection.club.move(Conversation(PLATFORM, str(old)), str(new))
        await self._connection.club.post.remember(PLATFORM, f"moved:{old}", new)
        self._new_ids[old] = new
        self._connection.forget_roles(old)
        log.info("moved", extra={"chat": old, "to": new})

    async def changed(self, heard: Heard) -> None:
        """We were added, removed, promoted or muted."""
        self._connection.forget_roles(heard.chat)
        if heard.private or heard.name in _OUT:
            return
        post = self._connection.club.post
        await post.forget(PLATFORM, f"mute:{heard.chat}")
        if heard.other:
            return  # we were there before: only our rights changed
        reader = await self._connection.reader(heard, rights=False)
        where, more = conversation(heard), ""
        if not self._reads_all and heard.name != "administrator":
            more = "telegram_privacy_here"
        if not await self._connection.club.shelf(where):
            await self._connection.desk.hello(where, reader.locale, more=more)
            return
        document = _line("telegram_welcome_back", reader) + (_line(more, reader) if more else ())
        try:
            for shown in messages(Reply(document)):
                await self._connection.line.send(Spot(heard.chat), shown)
        except (Unwritable, Gone, Refused, Moved):
            log.info("no welcome", extra={"chat": heard.chat})

    async def checks(self, where: Conversation, locale: str | None) -> Sequence[Check]:
        """What we may do in a group and what we hear there, as the vendor tells it now."""
        found = await self._connection.line.denied(int(where.channel), self._connection.me.id, _NEEDED)
        if int(where.channel) > 0 or found is None:
            return ()
        status, lacks = found
        missing = ", ".join(say(f"telegram_{right}", locale) for right in lacks)
        text = say("telegram_setup_missing" if lacks else "telegram_setup_rights", locale, missing=missing)
        hears = self._reads_all or status == "administrator"
        heard = say("telegram_setup_hears" if hears else "telegram_privacy_here", locale)
        return (Check(not lacks, text), Check(hears, heard))

    @asynccontextmanager
    async def bringing(self, chat: int) -> AsyncIterator[None]:
        """For what is said unasked there: Nowhere in place of a refusal that will stay one; a move passes on."""
        try:
            yield
        except Moved as moved:
            await self.moved(chat, moved.chat)
            raise  # the next round finds it in the new chat
        except Unwritable as error:
            await self.unwritable(chat)
            raise Nowhere from error
        except (Gone, Refused) as error:
            raise Nowhere from error

    async def unwritable(self, chat: int) -> None:
        """We may not write there: whoever runs the bot is told once, until our rights change."""
        post = self._connection.club.post
        if await post.recall(PLATFORM, f"mute:{chat}"):
            return
        await post.remember(PLATFORM, f"mute:{chat}", True)
        log.warning("may not write", extra={"chat": chat})
        self._connection.host.tell(Notice("telegram_unwritable", {"chat": f"{PLATFORM}:{chat}"}))


def _line(key: str, reader: Reader) -> Document:
    return (Paragraph((Text(say(key, reader.locale)),)),)
