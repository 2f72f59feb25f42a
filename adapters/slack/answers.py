"""A question answered in its thread: status, the text as it grows, the settled answer with its footnotes; stopping."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from adapters.kept import Kept
from adapters.outbox import Nowhere
from adapters.slack import view
from adapters.slack.alarms import Alarms
from adapters.slack.door import Door, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.sending import Sender, bringing
from adapters.slack.streaming import Draft, Streams, searching
from adapters.slack.tokens import PLATFORM
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError
from core.model import (
    Answered,
    AskEvent,
    Conversation,
    Document,
    Drafting,
    Emphasis,
    Notice,
    Paragraph,
    Question,
    Reader,
    Searching,
    Text,
    Turn,
    Unanswered,
    Waiting,
)
from core.strings import say, tell

log = logging.getLogger(__name__)


class Answers:
    """Answers questions. One that is under way can be stopped by the message it stands in."""

    def __init__(
        self, club: Club, desk: Desk, door: Door, sender: Sender, streams: Streams, alarms: Alarms, locale: str
    ) -> None:
        """`locale`: spoken where nobody in particular is spoken to."""
        self._club = club
        self._desk = desk
        self._door = door
        self._sender = sender
        self._streams = streams
        self._alarms = alarms
        self._locale = locale
        self.kept = Kept(club.questions, PLATFORM, self._bring)
        self._running: dict[str, tuple[Draft, str]] = {}
        """Event -> the draft and who asked."""

    async def answer(
        self,
        place: Where,
        reader: Reader,
        question: Question,
        *,
        whisper: bool = False,
        shown_as: str | None = None,
    ) -> None:
        """Ask the club and show what it says; `whisper` shows it to the asker alone. Raises LoccitError, Rejected.

        `shown_as`: the event whose answer this one takes the place of.
        """
        key = shown_as or question.event
        if not whisper and (first := await self._desk.asks_first(question.conversation, reader, question)):
            await self._sender.bring(place, key, view.messages(first.document, first.choices), locale=reader.locale)
            return
        draft = Draft(self._door, self._club.post, self._streams, place, key, reader.locale)
        if not whisper:
            self._running[question.event] = (draft, reader.id)
        again = bool(await self._club.post.delivered(key))
        if again:  # an answer or half of one stands there: it is replaced by the whole one, not begun anew
            draft.drop()
        try:
            if not whisper:  # others see the status, and no reply of theirs would take it away
                await draft.status(searching(reader.locale))
            done, seen = await self._follow(question, draft, whisper=whisper)
            await draft.settle()
            if done is not None:
                await self.bring(place, reader, done, key, whisper=whisper, first=draft.name)
                if done.kept:
                    self.kept.nudge()
                    await self._alarms.raise_for(place, done.turn.answer.notices)
            elif draft.stopped.is_set():
                await self._stopped(place, reader, question, key, seen, draft.name)
            if again:  # a new message takes the status away by itself, an edit does not
                await draft.status("")
        except Unreachable:
            raise  # it is Slack that failed: the event stands, and all of it is tried again
        except LoccitError as error:
            await draft.settle()
            if not whisper:
                await draft.status("")
            await self._failed(place, reader, question, key, error, whisper=whisper, first=draft.name)
        finally:
            self._running.pop(question.event, None)
            draft.drop()

    async def _follow(self, question: Question, draft: Draft, *, whisper: bool) -> tuple[Answered | None, Document]:
        seen: Document = ()
        async with (
            aclosing(self._club.questions.ask(question)) as events,
            aclosing(_until(events, draft.stopped)) as followed,
        ):
            async for event in followed:
                match event:
                    case Drafting(document):
                        seen = document
                        if not whisper:
                            draft.show(document)
                    case Answered():
                        return event, seen
                    case Waiting(filename):
                        await draft.status(say("still_reading", question.reader.locale, file=filename))
                    case Searching() | Unanswered():
                        pass
        return None, seen

    async def bring(
        self,
        place: Where,
        reader: Reader,
        done: Answered,
        key: str,
        *,
        whisper: bool = False,
        first: str | None = None,
    ) -> None:
        """Show a settled answer, in the place of what was shown of it before; then it counts as shown."""
        turn = done.turn
        messages = await self.messages(place, reader, turn)
        if whisper:
            for message in messages:
                await self._sender.whisper(place, message, reader.locale)
        else:
            await self._sender.bring(place, key, messages, turn=turn.id, locale=reader.locale, first=first)
        await self._club.questions.shown(turn.id)

    async def _failed(
        self,
        place: Where,
        reader: Reader,
        question: Question,
        key: str,
        error: LoccitError,
        *,
        whisper: bool,
        first: str | None,
    ) -> None:
        """The sentence with a way to ask again; what has to be mended is told to who can. Raises what that does not mend."""
        reply = await self._desk.failed(question, error, private=place.private)
        if reply is None:
            raise error
        log.error("failed", exc_info=error, extra={"key": error.key})
        messages = view.messages(reply.document, reply.choices, locale=reader.locale)
        if whisper:
            for message in messages:
                await self._sender.whisper(place, message, reader.locale)
        else:
            await self._sender.bring(place, key, messages, locale=reader.locale, first=first)
        await self._alarms.raise_for(place, [Notice(error.key, error.params)])

    async def messages(self, place: Where, reader: Reader, turn: Turn) -> tuple[view.Message, ...]:
        """The answer's parts, each with the buttons of its footnotes."""
        notes = await self._desk.note_choices(place.conversation, reader, turn)
        ways = await self._desk.ways_on(place.conversation, reader, turn, private=place.private)
        return view.messages(view.answer(turn.answer, reader.locale), ways, notes, reader.locale)

    async def _stopped(
        self, place: Where, reader: Reader, question: Question, key: str, seen: Document, first: str | None
    ) -> None:
        await self._club.questions.stop(question.event)
        said = Paragraph((Emphasis((Text(say("answer_stopped", reader.locale)),)),))
        await self._sender.bring(place, key, view.messages((*seen, said)), locale=reader.locale, first=first)

    def stop(self, message: str, reader: Reader) -> bool:
        """Stop the answer that stands in this message; False when there is none, or it is another's."""
        for draft, asker in self._running.values():
            if draft.name == message and (reader.id == asker or reader.manages):
                draft.stopped.set()
                return True
        return False

    async def _bring(self, event: Answered | Unanswered) -> None:
        """A late answer, as a reply where it was asked, beside what was quoted meanwhile. Raises Nowhere."""
        place = _place(event)
        if place is None:
            raise Nowhere
        reader = await self._desk.reader(place.conversation, Reader("", self._locale))
        with bringing():
            if isinstance(event, Unanswered):
                said = (view.words(tell(event.notice, reader.locale)),)
                await self._sender.bring(place, f"{event.event}:kept", said, locale=reader.locale)
                return
            if event.alone and not place.private:  # whispered to its asker, who cannot be whispered to any more
                await self._club.questions.shown(event.turn.id)
                return
            messages = await self.messages(place, reader, event.turn)
            key = f"{event.event}:kept"
            await self._sender.bring(place, key, messages, turn=event.turn.id, locale=reader.locale)
            await self._club.questions.shown(event.turn.id)


def _place(event: Answered | Unanswered) -> Where | None:
    """Where it was asked; for a question that has no answer its key says so."""
    if isinstance(event, Answered):
        talk: Conversation = event.turn.conversation
        return Where(talk.channel, talk.thread, "", talk.server or "")
    parts = event.event.split(":")
    if len(parts) < 4 or not parts[2][:1].isupper():  # a command, a press: no message of its own
        return None
    _, team, channel, ts, *_ = parts
    return Where(channel, ts, "", team)


async def _until(events: AsyncGenerator[AskEvent, None], stopped: asyncio.Event) -> AsyncGenerator[AskEvent, None]:
    """The events until the last, or until somebody stops them."""
    sign = asyncio.create_task(stopped.wait())
    step: asyncio.Future[AskEvent] | None = None
    try:
        while True:
            step = asyncio.ensure_future(anext(events))
            await asyncio.wait({step, sign}, return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                return
            try:
                event = step.result()
            except StopAsyncIteration:
                return
            yield event
    finally:
        sign.cancel()
        if step is not None and not step.done():
            step.cancel()
            await asyncio.wait({step})
