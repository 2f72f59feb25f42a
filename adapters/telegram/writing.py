"""An answer while it is written: typing kept alive, drafts in private chats, few edits of one message in groups, Stop."""

import asyncio
import zlib
from contextlib import suppress

from adapters.ending import end
from adapters.telegram import deliveries
from adapters.telegram.connection import Connection
from adapters.telegram.incoming import Heard
from adapters.telegram.line import Gone, Refused, Unwritable
from adapters.telegram.payloads import Sent, Spot
from adapters.telegram.view import Keyboard, Shown, draft, sentence
from core.model import Choice, Conversation, Document
from core.strings import say

TYPING = 4.0
"""Seconds between two "typing": it shows for five."""
PATIENCE = 4.0
"""Seconds until somebody who waits is told that we are looking; sooner there would be two messages for nothing."""
DRAFT_GAP = 0.7
"""Seconds between two drafts in a private chat."""
EDIT_GAP = 3.0
"""Seconds between two edits in a group, where everything counts against 20 a minute."""
EDITS = 5
"""Edits on the way for one answer in a group."""

STOP = "stop-"


class Typing:
    """ "Typing" in a chat while at least one thing is being worked on there; never longer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._open: dict[tuple[int, int | None], int] = {}
        self._tasks: dict[tuple[int, int | None], asyncio.Task[None]] = {}

    def begin(self, chat: int, topic: int | None) -> None:
        key = (chat, topic)
        self._open[key] = self._open.get(key, 0) + 1
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._keep(chat, topic))

    def end(self, chat: int, topic: int | None) -> None:
        key = (chat, topic)
        self._open[key] = self._open.get(key, 1) - 1
        if self._open[key] <= 0:
            del self._open[key]
            if task := self._tasks.pop(key, None):
                task.cancel()

    async def _keep(self, chat: int, topic: int | None) -> None:
        while True:
            await self._connection.line.typing(chat, topic)
            await self._connection.host.sleep(TYPING)

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()


class Writing:
    """Shows one answer as it grows. The latest text wins; there is never a queue of edits."""

    def __init__(
        self, connection: Connection, heard: Heard, where: Conversation, place: Spot, locale: str | None
    ) -> None:
        self._connection = connection
        self._heard = heard
        self._where = where
        self._place = place
        self._locale = locale
        self._latest: Document | None = None
        self._news = asyncio.Event()
        self._edits = 0
        self.placeholder: Sent | None = None
        self._task = asyncio.create_task(self._write())

    def update(self, document: Document) -> None:
        self._latest = document
        self._news.set()

    async def finish(self) -> None:
        """End it; a message about to be sent is waited for, so that what stands there is on record."""
        await end(self._task)
        if self._heard.private and self.placeholder is not None:
            # In a private chat the answer comes as a message of its own behind the draft.
            placeholder, self.placeholder = self.placeholder, None
            await self._connection.line.delete(self._place.chat, placeholder)
            await self._connection.club.post.withdrawn(self._key, 0)

    @property
    def _key(self) -> str:
        return f"{self._heard.key}:wait" if self._heard.private else question_key(self._heard)

    @property
    def text(self) -> Document:
        """What was shown last."""
        return self._latest or ()

    async def _write(self) -> None:
        sleep = self._connection.host.sleep
        began = self._connection.host.clock()
        if self._heard.private:
            # not gather, whose end does not wait for a message about to be sent
            async with asyncio.TaskGroup() as both:
                both.create_task(self._drafts())
                both.create_task(self._wait_notice(began))
            return
        # A group: nothing for a moment, then one message that is edited a few times.
        await self._news_or(PATIENCE)
        await sleep(max(0.0, began + EDIT_GAP / 2 - self._connection.host.clock()))
        self._news.clear()  # shown with it
        await self._place_holder()
        while self._edits < EDITS:
            await sleep(EDIT_GAP)
            await self._news.wait()
            self._news.clear()
            if self.placeholder is not None and self._latest is not None:
                self._edits += await self._connection.line.edit_soon(self._place.chat, self.placeholder, self._shown())

    async def _news_or(self, seconds: float) -> None:
        """Wait for something to show, so long at most."""
        waits = (asyncio.ensure_future(self._news.wait()), asyncio.ensure_future(self._connection.host.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _drafts(self) -> None:
        number = zlib.crc32(self._heard.key.encode()) or 1
        while True:
            await self._news.wait()
            self._news.clear()
            if self._latest is not None:
                await self._connection.line.draft(self._place.chat, number, draft(self._latest))
            await self._connection.host.sleep(DRAFT_GAP)

    async def _wait_notice(self, began: float) -> None:
        await self._connection.host.sleep(PATIENCE)
        await self._place_holder()

    async def _place_holder(self) -> None:
        """One message that says we are looking, or shows what there is, with Stop. Cancelling waits until it is on record."""
        with suppress(Unwritable, Gone, Refused):
            work = asyncio.ensure_future(
                deliveries.show(self._connection, self._where, self._place, self._key, [self._shown()])
            )
            try:
                [self.placeholder] = await asyncio.shield(work)
            except asyncio.CancelledError:
                [self.placeholder] = await work
                raise

    def _shown(self) -> Shown:
        looking = say("looking", self._locale)
        plain = sentence(looking)
        if self._latest is not None and not self._heard.private:
            plain = draft(self._latest, "…")
        return Shown(plain, stop_button(self._heard, self._locale))


def stop_button(heard: Heard, locale: str | None) -> Keyboard:
    return ((Choice(say("stop", locale), f"{STOP}{heard.message}"),),)


def question_key(heard: Heard) -> str:
    """What the messages of an answer are on record under: an edited question's answer takes their place."""
    return heard.key.rsplit(":", 1)[0] if heard.edited else heard.key
