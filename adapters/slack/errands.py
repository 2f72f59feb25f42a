"""What an event asks for, done: questions, uploads, commands, forms; failures become one sentence where it was asked."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.slack import view
from adapters.slack.answers import Answers
from adapters.slack.books import Books
from adapters.slack.door import Rejected, Unreachable
from adapters.slack.incoming import Where, where
from adapters.slack.people import People
from adapters.slack.replies import Replies
from adapters.slack.sending import Sender, failure
from adapters.slack.tokens import PLATFORM
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError, ReaderError
from core.model import Event, Question, Reader, Reply
from core.strings import say

log = logging.getLogger(__name__)

TAKES_PART = "thread:"
"""Memo: we take part in this thread, so what is written there is for us too."""
_REMEMBERED = timedelta(days=30)
_OPENLY = {"progress", "use", "remove", "undo", "model", "export", "wrap", "schedule", "next", "quotes"}
"""Commands whose effect everybody here feels: said openly. The others answer the one who asked."""


class Errands:
    """Does what events say. Raises Unreachable: then the event stands and is tried again."""

    def __init__(
        self,
        club: Club,
        desk: Desk,
        people: People,
        answers: Answers,
        books: Books,
        sender: Sender,
        replies: Replies,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._club = club
        self._desk = desk
        self._people = people
        self._answers = answers
        self._books = books
        self._sender = sender
        self._replies = replies
        self._now = now
        self._new_id = new_id

    async def run(self, event: Event) -> None:
        """Everything an event asks for."""
        place = where(event.payload)
        if await self._people.is_bot(place.user):
            return  # two bots would answer each other for ever
        reader = await self._desk.reader(place.conversation, await self._people.reader(place))
        try:
            match event.payload["kind"]:
                case "ask":
                    await self._ask(event, place, reader)
                case "upload":
                    await self._upload(event, place, reader)
                case "seen":
                    await self._seen(event, place, reader)
                case "command":
                    await self._command(event, place, reader)
                case "act":
                    await self._act(event, place, reader)
                case "joined":
                    await self._greet(place, reader)
        except Unreachable:
            raise
        except LoccitError as error:
            await self._sorry(event, place, reader, error)

    async def _ask(self, event: Event, place: Where, reader: Reader) -> None:
        told = event.payload
        if not told["text"] or told["text"].lower() == "help":
            reply = await self._desk.command(place.conversation, reader, "help", event=event.key, private=place.private)
            assert isinstance(reply, Reply)
            await self._replies.bring(place, reader, reply, event.key)
            return
        question = self._desk.question(place.conversation, reader, told["text"], event=event.key, private=place.private)
        reply_to = told.get("reply_to")
        if told.get("follows") and not reply_to:
            latest = await self._club.questions.latest(place.conversation, openly=not place.private)
            # A thread begun by a message of ours, such as a question to talk about, follows that one.
            reply_to = latest.id if latest else await self._club.post.turn_of(place.conversation, str(place.thread))
        question = replace(
            question,
            reply_to=reply_to,
            go_on=bool(told.get("go_on")),
            without_book=question.without_book or bool(told.get("without_book")),
            **told.get("pressed", {}),  # a question that a button asks is asked as it stands
        )
        if (remarked := await self._desk.remarked(question)) is not None:
            # People talk about a question that was posted: kept where that was agreed, and not answered.
            if not told.get("unasked"):
                await self._replies.bring(place, reader, remarked, event.key)
            return
        whisper = bool(told.get("whisper"))
        await self.take_part(place)
        question = replace(question, private=question.private or whisper)
        await self._answers.answer(place, reader, question, whisper=whisper, shown_as=told.get("shown_as"))

    async def _upload(self, event: Event, place: Where, reader: Reader) -> None:
        files = event.payload["files"]
        if not files:
            raise ReaderError("slack_no_file_there")
        await self.take_part(place)
        for number, file in enumerate(files):
            key = str(event.payload.get("shown_as") or f"{event.key}:{number}")
            partly = bool(event.payload.get("partly"))
            try:
                await self._books.add(
                    place, reader, event.key, file, key, number=number, partly=partly, password=event.payload["text"]
                )
            except Unreachable:
                raise
            except LoccitError as error:
                await self._sorry(replace(event, key=key), place, reader, error)
            await self._club.post.finish(key)

    async def _seen(self, event: Event, place: Where, reader: Reader) -> None:
        """Somebody shared files with nobody in particular: ask whether they are for the club."""
        for number, file in enumerate(event.payload["seen"]):
            key, name, size = f"{event.key}:{number}", str(file["name"]), int(file["size"])
            reply = await self._desk.seen(place.conversation, reader, name, size, {"id": file["id"]}, event=key)
            if reply is not None:
                await self._replies.bring(place, reader, reply, key)

    async def _command(self, event: Event, place: Where, reader: Reader) -> None:
        told = event.payload
        name, words, url = told["name"], told["text"], told.get("url")
        done = await self._desk.command(place.conversation, reader, name, words, event=event.key, private=place.private)
        if isinstance(done, Question):
            await self._ask_here(event, place, reader, done)
            return
        quiet = name not in _OPENLY or not (words or name in ("undo", "export", "wrap"))
        await self._replies.bring(place, reader, done, event.key, url=url, quiet=quiet)

    async def _ask_here(self, event: Event, place: Where, reader: Reader, question: Question) -> None:
        """A question by command has no message of its own: one is made, and the answer goes into its thread.

        What is not from the book is for the one who wanted it, as behind the button.
        """
        root = f"{event.key}:root"
        asked = view.words(say("slack_asked", reader.locale, question=question.text))
        try:
            if question.without_book and not place.private:
                await self._answers.answer(place, reader, replace(question, private=True), whisper=True)
                return
            [name] = await self._sender.bring(place, root, (asked,), locale=reader.locale)
        except Rejected as rejected:
            url = event.payload.get("url")
            if url is None or rejected.error not in ("not_in_channel", "channel_not_found"):
                raise
            await self._sender.whisper(place, view.words(say("slack_invite", reader.locale)), url=url)
            return
        thread = replace(place, thread=name)
        await self.take_part(thread)
        await self._answers.answer(thread, reader, replace(question, conversation=thread.conversation))
        await self._club.post.finish(root)

    async def _act(self, event: Event, place: Where, reader: Reader) -> None:
        """What a form stands for, done as if its button had been pressed."""
        [id] = await self._club.post.buttons(place.conversation, [event.payload["action"]], reader)
        done = await self._desk.press(place.conversation, reader, id, event=event.key, private=place.private)
        assert isinstance(done, Reply)
        await self._replies.bring(place, reader, done, event.key)

    async def _greet(self, place: Where, reader: Reader) -> None:
        """One line in the first channel of a workspace that lets us in; whoever is done with an event looks for letters."""
        await self._desk.hello(place.conversation, reader.locale)

    async def take_part(self, place: Where) -> None:
        """From now on what is written in this thread is for us too."""
        memo = f"{TAKES_PART}{place.channel}:{place.thread}"
        await self._club.post.remember(PLATFORM, memo, True, self._now() + _REMEMBERED)

    async def takes_part(self, place: Where) -> bool:
        """True in a thread where we have said something."""
        return bool(await self._club.post.recall(PLATFORM, f"{TAKES_PART}{place.channel}:{place.thread}"))

    async def answers(self, key: str) -> bool:
        """True for a message that we answered, or are about to."""
        open_ = {event.key for event in await self._club.post.unfinished(PLATFORM)}
        return key in open_ or bool(await self._club.post.delivered(key))

    async def _sorry(self, event: Event, place: Where, reader: Reader, error: LoccitError) -> None:
        incident = self._new_id()[:8]
        if not isinstance(error, ReaderError):
            log.error("failed", exc_info=error, extra={"key": error.key, "incident": incident})
        message = failure(error, reader.locale, incident)
        url = event.payload.get("url")
        if event.payload["kind"] == "command" and not place.private:
            await self._sender.whisper(place, message, reader.locale, url=url)
        else:
            key = str(event.payload.get("shown_as") or event.key)
            await self._sender.bring(place, key, (message,), locale=reader.locale)

    async def unexpected(self, event: Event, incident: str) -> None:
        """Something failed that is ours: one sentence, where it was asked."""
        place = where(event.payload)
        text = say("unexpected", None, incident=incident)
        await self._sender.bring(place, event.key, (view.words(text),))
