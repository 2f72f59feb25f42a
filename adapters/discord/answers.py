"""Questions: answered where they were asked, stopped, asked anew when their words change; kept ones when they can be."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from adapters.discord import deliveries, view
from adapters.discord.alarms import Alarms
from adapters.discord.connection import Connection
from adapters.discord.drafts import Draft
from adapters.discord.spots import PLATFORM, Spot, Who
from adapters.discord.view import Shown
from adapters.kept import Kept
from adapters.outbox import Nowhere
from adapters.underway import Underway
from core.errors import LoccitError, OperatorError, UpstreamError
from core.model import (
    Answered,
    Choice,
    Conversation,
    Drafting,
    Emphasis,
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


class Answers:
    """Answers. What is under way can be stopped by its asker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._alarms = Alarms(connection)
        self._running: dict[str, Underway] = {}
        self.kept = Kept(connection.club.questions, PLATFORM, self._bring)

    async def ask(self, question: Question, who: Who, spot: Spot, key: str) -> None:
        """Answer; `key` is what its messages are on record under. Raises LoccitError, whose sentence is the reply."""
        first = await self._connection.desk.asks_first(who.conversation, question.reader, question)
        if first is not None:
            await deliveries.show(self._connection, who.conversation, spot, key, view.messages(first))
            return
        running = self._running[question.event] = Underway(who.reader.id)
        try:
            await running.run(self._answer(question, who, spot, key, running))
        finally:
            self._running.pop(question.event, None)

    async def _answer(self, question: Question, who: Who, spot: Spot, key: str, running: Underway) -> None:
        connection, where, locale = self._connection, who.conversation, question.reader.locale
        stop: list[Choice] = []
        message: list[int] = []

        async def write(text: str) -> None:
            if not stop:
                [id] = await connection.club.post.buttons(where, [{"do": "stop", "event": question.event}])
                stop.append(Choice(say("stop", locale), f"stop:{id}"))
            shown = Shown(text, ((stop[0],),))
            if message:
                await connection.line.edit(spot, message[0], shown)
            else:
                message.extend(await deliveries.show(connection, where, spot, key, [shown]))

        draft = Draft(connection.host.sleep, write, view.sentence(say("looking", locale)))
        latest: Drafting | None = None
        try:
            async with aclosing(connection.club.questions.ask(question)) as events:
                async for event in events:
                    if isinstance(event, Drafting):
                        latest = event
                        draft.update(view.draft(event.document))
                    elif isinstance(event, Waiting):
                        draft.update(view.sentence(say("still_reading", locale, file=event.filename)))
                    elif isinstance(event, Answered):
                        running.settled = True
                        await draft.finish()
                        await self._show(event.turn, question.reader, who, spot, key)
                        if event.kept:
                            self.kept.nudge()
                            await self._alarms.raise_for(event.turn.answer.notices)
        except (UpstreamError, OperatorError) as error:
            await draft.finish()
            await self._failed(question, who, spot, key, error)
        except asyncio.CancelledError:
            await draft.finish()
            if not running.stopped:
                raise
            await connection.club.questions.stop(question.event)
            said = Paragraph((Emphasis((Text(say("answer_stopped", locale)),)),))
            document = (*(latest.document if latest else ()), said)
            await deliveries.show(connection, where, spot, key, [Shown(view.draft_end(document))])
        finally:
            await draft.finish()

    async def _failed(self, question: Question, who: Who, spot: Spot, key: str, error: LoccitError) -> None:
        """The sentence with a way to ask again; what has to be mended is told to who can. Raises what that does not mend."""
        reply = await self._connection.desk.failed(question, error, private=who.direct)
        if reply is None:
            raise error
        log.error("failed", exc_info=error, extra={"key": error.key})
        await deliveries.show(self._connection, who.conversation, spot, key, view.messages(reply))
        await self._alarms.raise_for([Notice(error.key, error.params)])

    async def _show(self, turn: Turn, reader: Reader, who: Who, spot: Spot, key: str) -> None:
        """Bring an answer to where it was asked, and say that it is there."""
        connection, where = self._connection, who.conversation
        notes = await connection.desk.note_choices(where, reader, turn)
        ways = await connection.desk.ways_on(where, reader, turn, private=who.direct)
        if where.thread is None and not who.direct and not spot.private and len(ways[-1]) < view.ROW:
            [id] = await connection.club.post.buttons(where, [{"do": "thread", "turn": turn.id}])
            ways = (*ways[:-1], (*ways[-1], Choice(say("discord_thread", reader.locale), f"thread:{id}")))
        parts = view.answer(turn.answer, notes, view.fitted(ways), reader.locale)
        await deliveries.show(connection, where, spot, key, parts, turn.id, locale=reader.locale)
        await connection.club.questions.shown(turn.id)

    async def stop(self, who: Who, event: str) -> str:
        """Stop the answer to a question; what to tell whoever pressed, "" for nothing. Its asker or a manager may."""
        running = self._running.get(event)
        if running is None or running.settled:
            return "discord_nothing_to_stop"
        if running.user != who.reader.id and not who.reader.manages:
            return "not_your_button"
        running.stop()
        return ""

    def drop(self, event: str) -> None:
        """The question was taken back: nobody needs its answer."""
        running = self._running.get(event)
        if running is not None and not running.settled:
            running.stop()

    # Answers that come later

    async def _bring(self, event: Answered | Unanswered) -> None:
        """A late answer, as a reply to its question; a command left no message, so its first answer is replied to.

        Raises Nowhere.
        """
        with deliveries.bringing():
            await self._bring_back(event)

    async def _bring_back(self, event: Answered | Unanswered) -> None:
        connection = self._connection
        platform, _, rest = event.event.partition(":")
        channel, asked, *_ = [*rest.split(":"), ""]
        if platform != PLATFORM or not channel.isdecimal():
            raise Nowhere
        reply_to = int(asked) if asked.isdecimal() else None
        if reply_to is None:
            interim = (await connection.club.post.delivered(event.event)).get(0)
            reply_to = int(interim.message) if interim is not None and interim.message is not None else None
        spot, key = Spot(int(channel), reply_to), f"{event.event}:late"
        if isinstance(event, Unanswered):
            where = Conversation(PLATFORM, channel)
            said = Shown(view.sentence(tell(event.notice, None)))
            await deliveries.show(connection, where, spot, key, [said])
            return
        where = event.turn.conversation
        if event.alone:
            # It was for its asker alone, whose token has ended: nobody else is shown it.
            await connection.club.questions.shown(event.turn.id)
            return
        reader = await connection.desk.reader(where, Reader(""))
        await self._show(event.turn, reader, Who(where, reader), spot, key)


def unpacked(fields: Mapping[str, Any], event: str, who: Who, reader: Reader) -> Question:
    return Question(event, who.conversation, reader, patient=True, **fields)
