"""Passages and other replies for the one who pressed: private where the API allows it, else one shared reply under the answer.

Which messages show what is remembered over restarts, so that the same press closes what it opened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from adapters.telegram import view
from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.incoming import Heard, Press
from adapters.telegram.line import Gone, Refused, Unwritable
from adapters.telegram.payloads import Sent, Spot
from adapters.telegram.view import Shown
from core.errors import ReaderError
from core.model import Reply

_RETRIED = timedelta(days=1)
"""For so long a chat that refused words for one member's eyes is not tried again; an older server never is."""
_REMEMBERED = timedelta(days=30)
"""How long an open passage is known as open; Telegram lets a bot delete its messages for 48 hours."""


@dataclass(frozen=True, slots=True)
class _Open:
    """What stands open under a memo's `key`: its messages, what it shows, who opened it."""

    key: str
    what: str
    messages: tuple[Sent, ...]
    openers: tuple[int, ...]


class Passages:
    """Opens, widens and closes. Each method ends with the press acknowledged by whoever calls it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def toggle(self, press: Press, note: str) -> bool:
        """Close what this press opened earlier; True when that was all. Others who press join those who opened it."""
        whispered = await self._recall(_whisper_key(press, note))
        if whispered is not None:
            await self._close(press.chat, whispered, press.user)
            return True
        shared = await self._recall(_shared_key(press))
        if shared is None or shared.what != note:
            return False
        if press.user in shared.openers:
            await self._close(press.chat, shared)
        else:
            await self._remember(_Open(shared.key, note, shared.messages, (*shared.openers, press.user)), press.chat)
        return True

    async def close(self, press: Press) -> None:
        """The Close button inside. Raises ReaderError for somebody who did not open it."""
        found = await self._around(press)
        if press.whispered or found is None:
            shown = found.messages if found else (Sent(press.message, whispered=press.whispered),)
            if (
                found is None
                and not press.whispered
                and not press.private
                and not await self._connection.manages(press)
            ):
                raise ReaderError("not_your_button")
            await self._close(press.chat, found or _Open("", "", shown, ()), press.user)
        elif press.user in found.openers or await self._connection.manages(press):
            await self._close(press.chat, found)
        else:
            raise ReaderError("not_your_button")

    async def open(self, press: Press, reply: Reply, what: str) -> None:
        """Show a reply to who pressed; `what` names what a second press of the same button closes."""
        parts = view.messages(reply)
        if not press.private and await self.may_whisper(press.chat):
            sent = await self._whispered(press, parts, press.query)
            if sent is not None:
                if sent:
                    await self._remember(_Open(_whisper_key(press, what), what, sent, (press.user,)), press.chat)
                return
        shared = await self._recall(_shared_key(press))
        before = shared.messages if shared is not None else ()
        sent = await self._laid_out(press.chat, press.topic, press.message, before, parts, None)
        await self._remember(_Open(_shared_key(press), what, sent, (press.user,)), press.chat)

    async def whisper(self, heard: Heard, reply: Reply) -> bool:
        """Answer a typed command for this member's eyes; False when that cannot be."""
        if not await self.may_whisper(heard.chat):
            return False
        return await self._whispered(heard, view.messages(reply), None) is not None

    async def replace(self, press: Press, reply: Reply) -> None:
        """Other text in place of what the button stands in: before, after, another page, a setting changed."""
        parts = view.messages(reply)
        found = await self._around(press)
        if found is None:
            messages: tuple[Sent, ...] = (Sent(press.message, whispered=press.whispered),)
            found = _Open(f"open:{press.chat}:r{press.message}", "", messages, (press.user,))
            if not press.whispered:
                await self._laid_out(press.chat, press.topic, None, messages, parts, None)
                return
        whisper = (press.user, press.query) if press.whispered else None
        sent = await self._laid_out(press.chat, press.topic, None, found.messages, parts, whisper)
        await self._remember(_Open(found.key, found.what, sent, found.openers), press.chat)

    # Private messages in groups

    async def may_whisper(self, chat: int) -> bool:
        """Whether this chat shows what is for one member's eyes, as far as we know."""
        post = self._connection.club.post
        return not (await post.recall(PLATFORM, "whisper:never") or await post.recall(PLATFORM, f"whisper:not:{chat}"))

    async def _whispered(
        self, who: Press | Heard, parts: Sequence[Shown], query: str | None
    ) -> tuple[Sent, ...] | None:
        """The messages, for this member's eyes; None when the server cannot: that is found out once and remembered."""
        post, line = self._connection.club.post, self._connection.line
        sent: list[Sent] = []
        for part in parts:
            place = Spot(who.chat, who.topic, whisper=(who.user, query))
            try:
                message = await line.send(place, part)
            except (Refused, Gone) as error:
                if sent or "query" in str(error).lower():
                    break  # the press grew too old: within 15 seconds only, and nobody waits for it any more
                until = self._connection.host.now() + _RETRIED
                await post.remember(PLATFORM, f"whisper:not:{who.chat}", True, until)
                return None
            if not message.whispered:
                # An older server does not know the parameter: everybody can read it now.
                await line.delete(who.chat, message)
                await post.remember(PLATFORM, "whisper:never", True)
                return None
            sent.append(message)
        return tuple(sent)

    async def _laid_out(
        self,
        chat: int,
        topic: int | None,
        reply_to: int | None,
        before: Sequence[Sent],
        parts: Sequence[Shown],
        whisper: tuple[int, str | None] | None,
    ) -> tuple[Sent, ...]:
        """Make the messages `before` show `parts`: edited in place, what lacks sent, what is left over deleted."""
        line = self._connection.line
        reader = whisper[0] if whisper else None
        now: list[Sent] = []
        for at, part in enumerate(parts):
            old = before[at] if at < len(before) else None
            new = None
            if old is not None and (old.picture, part.picture is not None) in ((False, False), (True, True)):
                new = await self._edited(chat, old, part, reader)
            elif old is not None and part.picture is not None and not old.whispered:
                new = await self._edited(chat, old, part, reader)  # a text may become a picture, not the other way
            elif old is not None:
                await line.delete(chat, old, reader=reader)
            if new is None:
                new = await line.send(Spot(chat, topic, reply_to if at == 0 else None, whisper), part)
            now.append(new)
        for old in before[len(parts) :]:
            await line.delete(chat, old, reader=reader)
        return tuple(now)

    async def _edited(self, chat: int, old: Sent, part: Shown, reader: int | None) -> Sent | None:
        try:
            return await self._connection.line.edit(chat, old, part, reader=reader)
        except (Gone, Refused, Unwritable):  # a group may take words alone
            return None

    # What stands open

    async def _close(self, chat: int, shown: _Open, reader: int | None = None) -> None:
        for message in shown.messages:
            await self._connection.line.delete(chat, message, reader=reader)
            await self._connection.club.post.forget(PLATFORM, _at(chat, message))
        if shown.key:
            await self._connection.club.post.forget(PLATFORM, shown.key)

    async def _around(self, press: Press) -> _Open | None:
        key = await self._connection.club.post.recall(
            PLATFORM, _at(press.chat, Sent(press.message, whispered=press.whispered))
        )
        return None if key is None else await self._recall(str(key))

    async def _recall(self, key: str) -> _Open | None:
        found = await self._connection.club.post.recall(PLATFORM, key)
        if found is None:
            return None
        messages = tuple(Sent(id, whispered, picture) for id, whispered, picture in found["messages"])
        return _Open(key, found["what"], messages, tuple(found["openers"]))

    async def _remember(self, shown: _Open, chat: int) -> None:
        post, until = self._connection.club.post, self._connection.host.now() + _REMEMBERED
        value: dict[str, Any] = {
            "what": shown.what,
            "messages": [[sent.id, sent.whispered, sent.picture] for sent in shown.messages],
            "openers": list(shown.openers),
        }
        await post.remember(PLATFORM, shown.key, value, until)
        for sent in shown.messages:
            await post.remember(PLATFORM, _at(chat, sent), shown.key, until)


def _whisper_key(press: Press, what: str) -> str:
    return f"open:{press.chat}:{what}:{press.user}"


def _shared_key(press: Press) -> str:
    """One shared reply under each answer."""
    return f"open:{press.chat}:a{press.message}"


def _at(chat: int, sent: Sent) -> str:
    return f"at:{chat}:{'w' if sent.whispered else 'm'}{sent.id}"
