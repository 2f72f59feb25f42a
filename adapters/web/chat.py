"""The chat page: drop a book, ask, press; what happens is sent line by line (JSON) while it happens.

The browser may leave at any time: work that was begun goes on, and what came of it stands there when it is back.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from aiohttp import web

from adapters.host import Host
from adapters.outbox import Outbox
from adapters.web import guard
from adapters.web.lines import HERE, Lines
from adapters.web.pages import Pages
from adapters.web.spots import spot_of
from adapters.web.streams import Line, Streams, read_json, receive
from core.club import Club
from core.desk import Desk
from core.errors import BadBook, LoccitError, Missing, ReaderError
from core.model import (
    Answered,
    AskEvent,
    Letter,
    LibraryEvent,
    Question,
    Reader,
    Ready,
    Refused,
    Reply,
    Unanswered,
    Upload,
)
from core.strings import say

log = logging.getLogger(__name__)

SHOWN = 5
"""Answers of earlier days on the page as it opens."""
LONGEST_QUESTION = 4_000
"""Characters; a question is not a chapter."""


_NUMBER = re.compile(r"\[?(\d{1,6})\]?", re.ASCII)


class Chat:
    """One reader's chat with the club; several windows may show it at once."""

    def __init__(self, club: Club, desk: Desk, pages: Pages, host: Host, here: guard.Here, token: guard.Token) -> None:
        self._club = club
        self._desk = desk
        self._pages = pages
        self._host = host
        self._here = here
        self._token = token
        self._lines = Lines(club, desk, pages, host.new_id)
        self._streams = Streams(host.new_id, club.questions.stop)
        self._outbox = Outbox(club.post, desk, HERE.platform, self._tell, ready=self._watched)

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/", self.show)
        app.router.add_post("/say", self.hear)
        app.router.add_post("/press", self.press)
        app.router.add_post("/fill", self.fill)
        app.router.add_post("/stop", self.stop)
        app.router.add_post("/books", self.take_book)
        app.router.add_get("/news", self._streams.news)
        app.router.add_get("/file/{id}", self.give_file)
        app.router.add_get("/export.{form:md|html}", self.export)

    async def close(self) -> None:
        """End what is under way; everything acknowledged is stored."""
        await self._streams.close()

    async def go_on(self, every: float) -> None:
        """Take up what the last run left unfinished, then, every so many seconds, the questions that wait for the
        language model. A disk or a database that fails is tried again; the page stays up meanwhile.
        """
        taken_up = told = False
        while True:
            try:
                if not taken_up:
                    await self._take_up()
                    taken_up = True
                if await self._club.questions.keeps(HERE.platform):
                    await self._tell_all(self._club.questions.answer_kept(HERE.platform))
                told = False
            except LoccitError as error:
                log.error("not gone on", exc_info=None if told else error, extra={"key": error.key})
                told = True
            await self._host.sleep(every)

    async def say_letters(self) -> None:
        """For as long as we run: what is due in the outbox, in every open window.

        While none is open it waits: what is said unasked stands nowhere else. The outbox is the shelf's, which the page
        shares with the terminal: whichever of them is open says what is due.
        """
        await self._outbox.drain(self._host.sleep)

    async def _watched(self, letter: Letter) -> bool:
        return self._streams.watched

    async def _tell(self, letter: Letter, reply: Reply) -> None:
        self._streams.tell(self._lines.reply(reply, await self._reader(None)))

    async def _take_up(self) -> None:
        async for unseen in self._club.questions.unshown(HERE.platform):
            if unseen.turn.conversation == HERE:  # the page shows it among the others
                await self._club.questions.shown(unseen.turn.id)
        await self._tell_all(self._club.resume(HERE.platform))

    async def _tell_all(self, events: AsyncIterator[LibraryEvent | AskEvent] | AsyncIterator[AskEvent]) -> None:
        """Tell every open window what came of it; the terminal's answers are the terminal's."""
        reader = await self._reader(None)
        async for event in events:
            ours = not isinstance(event, Answered) or event.turn.conversation == HERE
            if ours and isinstance(event, Answered | Ready | Refused | Unanswered):
                line = await self._lines.line(event, reader)
                if line is not None:
                    self._streams.tell(line)

    # What is shown

    async def show(self, request: web.Request) -> web.Response:
        reader = await self._reader(request)
        last = request.query.get("last", "")
        count = int(last) if last.isascii() and last.isdecimal() and len(last) < 6 else SHOWN
        turns = [
            turn for turn in await self._club.questions.history(HERE, count + 1, reader.locale) if turn.answer.document
        ]
        answers = [await self._lines.article(turn, reader) for turn in turns[-count:]]
        shelf = await self._club.shelf(HERE)
        return self._pages.page(
            "chat.html",
            reader.locale,
            token=self._token.give(),
            answers=answers,
            more=len(turns) > count,
            count=count + 50,
            books=shelf,
            kinds=".epub,.pdf,.txt,.md,.html,.htm,.fb2,.fb2.zip,.docx,.mobi,.azw,.azw3",
            longest=LONGEST_QUESTION,
        )

    async def give_file(self, request: web.Request) -> web.Response:
        """A file that a reply carried."""
        file = self._lines.file(request.match_info["id"])
        if file is None:
            raise web.HTTPNotFound
        return _download(file.name, file.data, file.media, inline=file.media.startswith("image/"))

    async def export(self, request: web.Request) -> web.Response:
        reader = await self._reader(request)
        html = request.match_info["form"] == "html"
        text = await self._club.passages.export(
            HERE,
            reader.locale,
            form="html" if html else "md",
            link=lambda passage: self._here.address + spot_of(passage).path,
        )
        name, media = ("loccit.html", "text/html") if html else ("loccit.md", "text/markdown")
        return _download(name, text.encode(), media, inline=False)

    # What is done

    async def hear(self, request: web.Request) -> web.StreamResponse:
        """A line somebody typed: a command, or a question."""
        said = await read_json(request)
        text, reader, event = str(said.get("text", "")), await self._reader(request), self._event()
        if len(text) > LONGEST_QUESTION:
            raise ReaderError("web_question_too_long", most=LONGEST_QUESTION)

        async def work() -> AsyncIterator[Line]:
            number = _NUMBER.fullmatch(text.strip())
            done: Reply | Question
            if number:  # a footnote of the latest answer, as in the terminal
                id = await self._note(int(number[1]))
                done = await self._desk.press(HERE, reader, id, event=event, private=True)
            elif text.lstrip().startswith("/"):
                name, _, words = text.strip()[1:].partition(" ")
                if name.lower() in ("all", "without"):  # as in the terminal
                    name, words = "ask", f"{name.lower()} {words}"
                done = await self._desk.command(HERE, reader, name.lower(), words, event=event, private=True)
            else:
                done = self._desk.question(HERE, reader, text, event=event, private=True)
            if isinstance(done, Question) and done.reply_to is None:
                done = replace(done, reply_to=await self._followed())
            async for line in self._answer(done, reader):
                yield line

        return await self._streams.send(request, event, work(), reader.locale)

    async def _followed(self) -> str | None:
        """The answer that a question follows up on: the latest, when it was about the book in use and no other."""
        turn = await self._desk.followed(HERE)
        shelf = await self._club.shelf(HERE)
        in_use = [card.sha256 for card in shelf if card.current] or [card.sha256 for card in shelf]
        return turn.id if turn is not None and [sha256 for sha256, _ in turn.books] == in_use else None

    async def _note(self, number: int) -> str:
        """The id of a footnote of the latest answer. Raises Missing when there is none of this number."""
        turn = await self._club.questions.latest(HERE)
        if turn is None:
            raise Missing("console_no_answer", number=number)
        notes = {note.number: note.id for note in turn.answer.footnotes}
        if not notes:
            raise Missing("console_no_notes", number=number)
        if number not in notes:
            raise Missing("console_no_such_note", count=len(notes), number=number, first=min(notes), last=max(notes))
        return notes[number]

    async def press(self, request: web.Request) -> web.StreamResponse:
        """A button of an answer, a passage or a reply."""
        said = await read_json(request)
        id, reader, event = str(said.get("id", ""))[:100], await self._reader(request), self._event()

        async def work() -> AsyncIterator[Line]:
            done = await self._desk.press(HERE, reader, id, event=event, private=True)
            if isinstance(done, Reply) and done.form is not None:
                yield self._lines.form(done.form, id, reader)
                return
            async for line in self._answer(done, reader):
                yield line

        return await self._streams.send(request, event, work(), reader.locale)

    async def fill(self, request: web.Request) -> web.StreamResponse:
        """What was written into the form that a button brought; its reply takes the place of the one with the button."""
        said = await read_json(request)
        id, text = str(said.get("id", ""))[:100], str(said.get("text", ""))
        reader, event = await self._reader(request), self._event()

        async def work() -> AsyncIterator[Line]:
            done = await self._desk.filled(HERE, reader, id, text, event=event, private=True)
            async for line in self._answer(done, reader):
                yield line

        return await self._streams.send(request, event, work(), reader.locale)

    async def stop(self, request: web.Request) -> web.Response:
        """End an answer under way."""
        await self._streams.stop(str((await read_json(request)).get("event", ""))[:100])
        return web.Response(status=204)

    async def take_book(self, request: web.Request) -> web.StreamResponse:
        """A file, as the body of the request; its name, a password and the wish to go without picture pages as headers."""
        reader = await self._reader(request)
        name = Path(unquote(request.headers.get("X-Loccit-Name", ""))[:300].replace("\\", "/")).name or "book"
        password = unquote(request.headers.get("X-Loccit-Password", ""))[:200] or None
        partly = request.headers.get("X-Loccit-Partly") == "yes"
        path, event = await receive(request, self._host.folder), self._event()

        async def work() -> AsyncIterator[Line]:
            try:
                upload = Upload(event, HERE, reader, path, name, password=password, accept_partial=partly)
                async for news in self._club.add_book(upload):
                    line = await self._lines.line(news, reader)
                    if line is not None:
                        yield line
            except BadBook as error:
                if error.key not in ("book_half_scan", "book_locked", "book_wrong_password"):
                    raise
                need = "partly" if error.key == "book_half_scan" else "password"
                yield {"do": "need", "need": need, "text": say(error.key, reader.locale, **error.params)}
            finally:
                await asyncio.to_thread(path.unlink, missing_ok=True)

        return await self._streams.send(request, event, work(), reader.locale)

    async def _answer(self, done: Reply | Question, reader: Reader) -> AsyncIterator[Line]:
        if isinstance(done, Reply):
            yield self._lines.reply(done, reader)
            self._outbox.nudge()
            return
        asked = await self._desk.asks_first(HERE, reader, done)
        if asked is not None:
            yield self._lines.reply(asked, reader)
            return
        yield {"do": "asked", "text": done.text, "event": done.event}
        try:
            async for event in self._club.questions.ask(done):
                line = await self._lines.line(event, reader)
                if line is not None:
                    yield line
        except LoccitError as error:
            failed = await self._desk.failed(done, error, private=True)
            if failed is None:
                raise
            log.error("failed", exc_info=error, extra={"key": error.key})
            yield self._lines.reply(failed, reader)

    # Who, and under which key

    def _event(self) -> str:
        return f"web:{self._host.new_id()}"

    async def _reader(self, request: web.Request | None) -> Reader:
        locale = self._host.locale if request is None else guard.locale_of(request, self._host.locale)
        return await self._desk.reader(HERE, Reader("local", locale, manages=True))


def _download(name: str, data: bytes, media: str, *, inline: bool) -> web.Response:
    kind = "inline" if inline else "attachment"
    response = web.Response(
        body=data, content_type=media, headers={"Content-Disposition": f'{kind}; filename="{name}"'}
    )
    if media.startswith("text/"):
        response.charset = "utf-8"
    return response
