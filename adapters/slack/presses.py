"""Buttons pressed: passages for one person, widened and closed in place; everything else the desk knows to do."""

from collections.abc import Awaitable, Callable
from typing import Any

from adapters.slack import view
from adapters.slack.answers import Answers
from adapters.slack.incoming import Press, Where
from adapters.slack.replies import Replies
from adapters.slack.sending import Sender
from core.club import Club
from core.desk import Desk
from core.errors import Missing
from core.model import Event, Question, Reader, Reply
from core.strings import say


class Presses:
    """Does what buttons say. `keep` takes an event in as if the platform had told it."""

    def __init__(
        self,
        club: Club,
        desk: Desk,
        sender: Sender,
        answers: Answers,
        replies: Replies,
        keep: Callable[[Event], Awaitable[None]],
    ) -> None:
        self._club = club
        self._desk = desk
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
                await self._keep(self._partly(press, str(action["file"])))
            case _:
                done = await self._desk.press(
                    place.conversation, reader, press.id, event=press.key, private=place.private
                )
                if isinstance(done, Question):
                    await self._keep(_asked(press, done))
                else:
                    await self._show(press, reader, done)

    async def _own(self, press: Press, reader: Reader) -> Any:
        """What a button of this adapter's own does; None for one the desk knows."""
        if press.kind != "act":
            return None
        action = await self._club.post.pressed(press.place.conversation, reader, press.id)
        return action if action.get("do") == "slack_read_partly" else None

    def _partly(self, press: Press, file: str) -> Event:
        payload = {**press.place.payload, "kind": "upload", "text": "", "ts": press.ts, "files": [file], "partly": True}
        return Event(press.key, "slack", f"{press.place.team}:{press.place.channel}", payload)

    async def _show(self, press: Press, reader: Reader, reply: Reply) -> None:
        """In place of an ephemeral message or a picker; else as the reply's kind asks."""
        place = press.place
        if reply.deleted is not None:
            for name in await self._club.post.messages(place.conversation, reply.deleted):
                await self._sender.delete(place.channel, name)
        messages = view.messages(reply.document, self._rows(press, reader, reply), locale=reader.locale)
        steps = press.kind == "step" or reply.passage is None
        if press.ephemeral and press.url and steps and len(messages) == 1 and not reply.attachments:
            await self._sender.replace(press.url, messages[0], reader.locale)
        elif press.kind == "step" and (place.private or not reply.private) and len(messages) == 1 and not reply.picture:
            await self._sender.edit(place.channel, press.ts, messages[0], reader.locale)
        else:
            await self._replies.show(place, reader, reply, messages, press.key, url=press.url)

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
        # What is not from the book is for the one who wanted it, unless nobody else is there.
        "whisper": question.without_book and not place.private,
    }
    return Event(press.key, "slack", f"{place.team}:{place.channel}", payload)
