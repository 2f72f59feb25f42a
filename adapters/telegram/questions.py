"""Questions: asked, answered where they were asked, stopped, asked anew when their words change; kept ones when they can be."""

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Any

from adapters.kept import Kept
from adapters.outbox import Nowhere
from adapters.telegram import deliveries, view
from adapters.telegram.alarms import Alarms
from adapters.telegram.connection import PLATFORM, Connection, conversation, spot
from adapters.telegram.group import Groups
from adapters.telegram.incoming import Heard, Press
from adapters.telegram.payloads import Spot
from adapters.telegram.writing import Writing, question_key
from adapters.underway import Underway
from core.errors import LoccitError, OperatorError, UpstreamError
from core.model import (
    Answered,
    Conversation,
    Drafting,
    Notice,
    Paragraph,
    Question,
    Reader,
    Text,
    Turn,
    Unanswered,
    Waiting,
)
from core.strings import say, tell

log = logging.getLogger(__name__)

_EDITABLE = timedelta(hours=48)
"""How long Telegram lets people change what they wrote."""


class Questions:
    """Answers. What is under way can be stopped by its asker."""

    def __init__(self, connection: Connection, alarms: Alarms, groups: Groups) -> None:
        self._connection = connection
        self._alarms = alarms
        self._groups = groups
        self._running: dict[tuple[int, int], Underway] = {}
        self.kept = Kept(connection.club.questions, PLATFORM, self._bring)

    # Asking

    async def ask(self, heard: Heard, question: Question, reader: Reader) -> None:
        """Answer, and keep nothing of the question but its mark, by which a change of its words is noticed."""
        if not await self._new_words(heard, question.text):
            return
        where, place = conversation(heard), spot(heard)
        if heard.edited and await self._connection.club.post.delivered(question_key(heard)) == {}:
            place = replace(place, reply_to=heard.message)  # nothing stands there yet that could be changed in place
        first = await self._connection.desk.asks_first(where, reader, question)
        if first is not None:
            await deliveries.show(self._connection, where, place, question_key(heard), view.messages(first))
            return
        running = self._running[heard.chat, heard.message] = Underway(str(heard.user))
        try:
            await running.run(self._answer(heard, question, reader, where, place, running))
        finally:
            self._running.pop((heard.chat, heard.message), None)

    async def _answer(
        self,
        heard: Heard,
        question: Question,
        reader: Reader,
        where: Conversation,
        place: Spot,
        running: Underway,
    ) -> None:
        writing = Writing(self._connection, heard, where, place, reader.locale)
        try:
            async with aclosing(self._connection.club.questions.ask(question)) as events:
                async for event in events:
                    if isinstance(event, Drafting):
                        writing.update(event.document)
                    elif isinstance(event, Waiting):
                        writing.update((Paragraph((Text(say("still_reading", reader.locale, file=event.filename)),)),))
                    elif isinstance(event, Answered):
                        await writing.finish()
                        running.settled = True
                        await self._show(event.turn, reader, where, place, question_key(heard), heard.private)
                        if event.kept:
                            self.kept.nudge()
                            await self._alarms.raise_for(heard.chat, event.turn.answer.notices)
        except (UpstreamError, OperatorError) as error:
            await writing.finish()
            await self._failed(heard, question, where, place, error)
        except asyncio.CancelledError:
            await writing.finish()
            if not running.stopped:
                raise
            await self._stopped(question, reader, where, place, question_key(heard), writing)
        finally:
            await writing.finish()

    async def _failed(
        self, heard: Heard, question: Question, where: Conversation, place: Spot, error: LoccitError
    ) -> None:
        """The sentence with a way to ask again; what has to be mended is told to who can. Raises what that does not mend."""
        reply = await self._connection.desk.failed(question, error, private=heard.private)
        if reply is None:
            raise error
        log.error("failed", exc_info=error, extra={"key": error.key})
        await deliveries.show(self._connection, where, place, question_key(heard), view.messages(reply))
        await self._alarms.raise_for(heard.chat, [Notice(error.key, error.params)])

    async def _stopped(
        self, question: Question, reader: Reader, where: Conversation, place: Spot, key: str, writing: Writing
    ) -> None:
        await self._connection.club.questions.stop(question.event)
        plain = view.draft(writing.text, say("answer_stopped", reader.locale))
        await deliveries.show(self._connection, where, place, key, [view.Shown(plain)])

    async def _show(
        self, turn: Turn, reader: Reader, where: Conversation, place: Spot, key: str, private: bool
    ) -> None:
        """Bring an answer to where it was asked, and say that it is there."""
        desk = self._connection.desk
        notes = await desk.note_choices(where, reader, turn)
        ways = await desk.ways_on(where, reader, turn, private=private)
        parts = view.answer(turn.answer, notes, ways, reader.locale)
        await deliveries.show(self._connection, where, place, key, parts, turn.id)
        await self._connection.club.questions.shown(turn.id)

    async def _new_words(self, heard: Heard, text: str) -> bool:
        """False for an edit that changed nothing of the question (a preview that came, a picture exchanged)."""
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        key = f"asked:{heard.chat}:{heard.message}"
        post = self._connection.club.post
        before = await post.recall(PLATFORM, key)
        if heard.edited and before in (mark, f"{mark}+{heard.key}"):
            # the same edit after a crash goes on; the same words again do not
            return bool(before != mark)
        until = self._connection.host.now() + _EDITABLE
        await post.remember(PLATFORM, key, f"{mark}+{heard.key}" if heard.edited else mark, until)
        return True

    # Stopping

    async def stop(self, press: Press, message: int) -> str:
        """Stop the answer to a question; the sentence for who pressed. Only its asker or an administrator may."""
        running = self._running.get((press.chat, message))
        if running is None or running.settled:
            return say("telegram_nothing_to_stop", press.locale)
        if running.user != str(press.user) and not await self._connection.manages(press):
            return say("not_your_button", press.locale)
        running.stop()
        return ""

    def stop_all_of(self, heard: Heard) -> bool:
        """Stop what this person asked in this chat; False when nothing is under way."""
        mine = [
            running
            for (chat, _), running in self._running.items()
            if (chat, running.user) == (heard.chat, str(heard.user)) and not running.settled
        ]
        for running in mine:
            running.stop()
        return bool(mine)

    # Answers that come later

    async def _bring(self, event: Answered | Unanswered) -> None:
        """A late answer, as a reply to its question. Raises Nowhere."""
        parts = event.event.split(":")
        if len(parts) < 3 or parts[0] != PLATFORM or not parts[2].isdecimal():
            raise Nowhere
        chat, message = self._groups.now(int(parts[1])), int(parts[2])
        async with self._groups.bringing(chat):
            if isinstance(event, Unanswered):
                where, place = Conversation(PLATFORM, str(chat)), Spot(chat, None, message)
                plain = view.sentence(tell(event.notice, None))
                await deliveries.show(self._connection, where, place, f"{event.event}:kept", [view.Shown(plain)])
                return
            where = event.turn.conversation
            place = Spot(chat, int(where.thread) if where.thread else None, message)
            reader = await self._connection.desk.reader(where, Reader(""))
            await self._show(event.turn, reader, where, place, f"{event.event}:kept", chat > 0)


def unpacked(fields: Mapping[str, Any], heard: Heard, reader: Reader) -> Question:
    return Question(heard.key, conversation(heard), reader, private=heard.private, patient=True, **fields)
