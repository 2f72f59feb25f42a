"""Buttons pressed: passages for one person, widened and closed in place; everything else the desk knows to do."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from adapters.slack import view, writing
from adapters.slack.answers import Answers
from adapters.slack.door import Door, Rejected, Unreachable
from adapters.slack.incoming import Press, Where
from adapters.slack.replies import Replies
from adapters.slack.sending import Sender
from core.club import Club
from core.desk import SAVE, Desk
from core.errors import Missing
from core.model import Arrival, Event, Form, Question, Reader, Reply
from core.strings import say

log = logging.getLogger(__name__)


class Presses:
    """Does what buttons say. `keep` takes an event in as if the platform had told it."""

    def __init__(
        self,
        club: Club,
        desk: Desk,
        door: Door,
        sender: Sender,
        answers: Answers,
        replies: Replies,
        keep: Callable[[Event], Awaitable[None]],
    ) -> None:
        self._club = club
        self._desk = desk
        self._door = door
        self._sender = sender
        self._answers = answers
        self._replies = replies
        self._keep = keep

    async def press(self, press: Press, reader: Reader) -> None:
        """Raises LoccitError, whose sentence is for the one who pressed."""
        place = press.place
        match press.kind:
            case "close":
                await self._close(press)
            case "stop":
                if not self._answers.stop(press.ts, reader):
                    raise Missing("slack_nothing_to_stop")
            case "link":
                pass  # the browser has opened it
            case "share":
                await self._share(press, reader)
            case _ if (action := await self._own(press, reader)) is not None:
                await self._keep(self._partly(press, str(action["file"]), str(action.get("password", ""))))
            case _:
                done = await self._desk.press(
                    place.conversation, reader, press.id, event=press.key, private=place.private
                )
                if isinstance(done, Question):
                    await self._keep(_asked(press, done))
                elif done.arrival is not None:
                    await self._arrived(press, done.arrival)
                elif done.form is None or not await self._opened(press, reader, done.form):
                    await self.show(press, reader, done)

    async def _arrived(self, press: Press, arrival: Arrival) -> None:
        """The file that was asked about, taken in where the question stands; or the question is taken away."""
        place = press.place
        if not arrival.wanted:
            for part, found in (await self._club.post.delivered(arrival.event)).items():
                if found.message is not None:
                    await self._sender.delete(place.channel, found.message)
                await self._club.post.withdrawn(arrival.event, part)
            return
        payload = {
            **place.payload,
            "kind": "upload",
            "text": "",
            "ts": press.ts,
            "files": [arrival.file["id"]],
            "shown_as": arrival.event,
        }
        await self._keep(Event(arrival.key, "slack", f"{place.team}:{place.channel}", payload))

    async def _opened(self, press: Press, reader: Reader, form: Form) -> bool:
        """Open a form; False when it is too late for one, or Slack will not."""
        try:
            await self._door.call(
                "views.open", hasty=True, trigger_id=press.trigger, view=writing.drawn(form, press, reader.locale)
            )
        except (Rejected, Unreachable) as error:
            log.info("no form", extra={"code": str(error)})
            return False
        return True

    async def filled(self, sent: writing.Sent, reader: Reader) -> Reply | None:
        """Do what was written into a form; what then stands in the message's place (`show`). Raises LoccitError."""
        press = sent.press
        done = await self._desk.filled(
            press.place.conversation, reader, press.id, sent.text, event=press.key, private=press.place.private
        )
        if isinstance(done, Question):
            await self._keep(_asked(press, done))
            return None
        return done

    async def _own(self, press: Press, reader: Reader) -> Any:
        """What a button of this adapter's own does; None for one the desk knows."""
        if press.kind != "act" or press.id.endswith(SAVE):  # that one is a footnote's, and stands in no table
            return None
        action = await self._club.post.pressed(press.place.conversation, reader, press.id)
        return action if action.get("do") == "add_anyway" else None

    def _partly(self, press: Press, file: str, password: str) -> Event:
        payload = {
            **press.place.payload,
            "kind": "upload",
            "text": password,
            "ts": press.ts,
            "files": [file],
            "partly": True,
        }
        return Event(press.key, "slack", f"{press.place.team}:{press.place.channel}", payload)

    async def show(self, press: Press, reader: Reader, reply: Reply) -> None:
        """In place of an ephemeral message or a picker; else, or where that is gone, as the reply's kind asks."""
        place = press.place
        if reply.deleted is not None:
            for name in await self._club.post.messages(place.conversation, reply.deleted):
                await self._sender.delete(place.channel, name)
        messages = view.messages(reply.document, self._rows(press, reader, reply), locale=reader.locale)
        url = press.url
        steps = press.kind == "step" or reply.passage is None
        if press.ephemeral and url and steps and not reply.beside and len(messages) == 1 and not reply.attachments:
            if await self._sender.replace(url, messages[0], reader.locale):
                return
            url = None  # half an hour old, or used up
        step = press.kind == "step" and not press.ephemeral and (place.private or not reply.private)
        step = step and len(messages) == 1 and not reply.picture
        if step and await self._sender.edit(place.channel, press.ts, messages[0], reader.locale):
            return
        await self._replies.show(place, reader, reply, messages, press.key, url=url)

    def _rows(self, press: Press, reader: Reader, reply: Reply) -> list[list[view.Button]]:
        """A passage with Share beside its own buttons; page pictures only where they stay private."""
        rows: list[list[view.Button]] = [list(row) for row in reply.choices]
        if not press.place.private:
            # A file in Slack is seen by everybody in the channel, and an ephemeral message can hold none.
            rows = [[choice for choice in row if not choice.id.endswith(".p")] for row in rows]
        if reply.passage is not None and rows and not press.place.private:
            rows[-1] = [view.Own(say("slack_share", reader.locale), press.id, "share"), *rows[-1]]
        return [row for row in rows if row]

    async def _share(self, press: Press, reader: Reader) -> None:
        """The passage for everybody in this thread; what lies past the club's limit cannot be opened, so not shared."""
        reply = await self._desk.press(
            press.place.conversation, reader, press.id, event=press.key, private=press.place.private
        )
        if isinstance(reply, Question) or reply.passage is None:
            raise Missing("unknown_button")
        messages = view.messages(reply.document, locale=reader.locale)
        await self._sender.bring(press.place, press.key, messages, locale=reader.locale)

    async def _close(self, press: Press) -> None:
        if press.ephemeral and press.url:
            await self._sender.close(press.url)
        elif press.place.private:  # there the passage is a message like any other
            await self._sender.delete(press.place.channel, press.ts)


def _asked(press: Press, question: Question) -> Event:
    """The question a button stands for, as an event that survives a crash like any other."""
    place = Where(press.place.channel, press.place.thread or press.ts, press.place.user, press.place.team)
    payload = {
        **place.payload,
        "kind": "ask",
        "text": question.text,
        "ts": press.ts,
        "follows": False,
        "reply_to": question.reply_to,
        "go_on": question.go_on,
        "without_book": question.without_book,
        "pressed": {"text": question.text, "book": question.book, "every_book": question.every_book},
        # What is not from the book is for the one who wanted it, unless nobody else is there.
        "whisper": question.without_book and not place.private,
    }
    return Event(question.event, "slack", f"{place.team}:{place.channel}", payload)
