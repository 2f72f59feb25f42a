"""The dialogue: what a typed line means and what is done about it. Imitate this when you write another platform."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from adapters.console import view
from adapters.console.books import Books
from adapters.console.desk import COMMANDS as DESK_COMMANDS
from adapters.console.desk import AtTheDesk
from adapters.console.files import export_path, is_file, typed_path, write_new
from adapters.console.forgetting import Forgetting
from adapters.console.here import HERE, PLATFORM
from adapters.console.notes import Notes
from adapters.console.progress import Progress
from adapters.console.questions import Questions
from adapters.console.terminal import Page
from core.club import Club
from core.errors import LoccitError, Missing, ReaderError
from core.exports import Form
from core.model import (
    Accepted,
    AskEvent,
    LibraryEvent,
    Passage,
    Question,
    Reader,
    Reading,
    Ready,
    Refused,
)
from core.strings import is_word
from core.strings.counts import counted

log = logging.getLogger(__name__)

PROVIDER_CHECK = 15.0
"""Seconds between two attempts to reach a provider that was down while a question waits for it."""

_NUMBER = re.compile(r"\[?(\d{1,6})\]?", re.ASCII)


class Console:
    """One dialogue with the club. `hear` takes a line and writes on its page; nothing else speaks."""

    def __init__(
        self,
        club: Club,
        reader: Reader,
        new_id: Callable[[], str],
        folder: Path,
        password: str | None = None,
        link: Callable[[Passage], str] | None = None,
    ) -> None:
        self._club = club
        self._reader = reader
        self._new_id = new_id
        self._folder = folder
        """Where relative paths begin and exports go."""
        self._link = link
        """Where the reading view shows a passage; exports say it."""
        self._desk = AtTheDesk(club, HERE, reader, new_id, folder)
        self._notes = Notes(club, HERE, reader, self._desk.saving)
        self._questions = Questions(club, reader, new_id, self._notes, self._desk.leave)
        self._books = Books(club, reader, new_id, folder, password, self._notes, self._questions)
        self._forgetting = Forgetting(club, reader)
        progress = Progress(club, HERE, reader)
        self._commands: dict[str, Callable[[str, Page], Awaitable[None]]] = {
            "/add": self._books.add,
            "/books": self._books.shelf,
            "/use": self._books.use,
            "/toc": self._books.toc,
            "/progress": progress.progress,
            "/place": progress.place,
            "/all": self._questions.ask_all,
            "/without": self._questions.ask_without_book,
            "/continue": self._questions.go_on,
            "/more": self._more,
            "/model": self._questions.model,
            "/index": progress.index,
            "/anyway": self._books.add_anyway,
            "/replace": self._books.replace,
            "/remove": self._books.remove,
            "/undo": self._books.undo,
            "/forget": self._forgetting.forget,
            "/export": self._export,
            "/help": self._help,
        }

    @property
    def keeps(self) -> bool:
        """True while a question waits for the provider."""
        return self._questions.keeps

    async def resume(self, page: Page) -> None:
        """Take up what the last run left unfinished, and show what came of it."""
        await self._safely(self._follow(self._club.questions.unshown(PLATFORM), page), page)
        await self._safely(self._follow(self._club.resume(PLATFORM), page), page)
        await self._questions.look()

    async def answer_kept(self, page: Page) -> None:
        """Wait until the provider is back, then show the answers that were kept for it."""
        while self.keeps:
            await self._safely(self._follow(self._club.questions.answer_kept(PLATFORM), page), page)
            await self._questions.look()
            if self.keeps:
                await asyncio.sleep(PROVIDER_CHECK)

    async def greet(self, page: Page) -> None:
        """Say where the reader is: the books, and what can be typed."""
        await self._safely(self._greet(page), page)

    async def add(self, path: Path, page: Page, *, use: bool) -> None:
        """Add the book at `path`, showing how far it is; with `use`, questions are about it from now on."""
        await self._safely(self._books.add_file(path, page, use=use), page)

    async def hear(self, line: str, page: Page) -> bool:
        """Act on a line; False when the reader leaves."""
        if line.strip().lower().partition(" ")[0] in ("/quit", "/exit"):
            return False
        await self._safely(self._act(line.strip(), page), page)
        await self._safely(self._desk.letters(page), page)
        return True

    async def mark(self, page: Page) -> None:
        """Record which answers were seen; what was not is shown at the next start."""
        await self._questions.mark(page)

    async def close(self) -> None:
        await self._club.close()

    async def _safely(self, work: Awaitable[None], page: Page) -> None:
        """Every task's outer edge: a failure becomes one sentence and the dialogue goes on."""
        try:
            await work
        except BrokenPipeError:
            raise  # nobody is left to be told
        except LoccitError as error:
            if not isinstance(error, ReaderError):
                log.error("failed", exc_info=True, extra={"key": error.key})
            try:
                page.say(view.sentence(page.look, error.key, **error.params))
            except (KeyError, IndexError):  # no such sentence, or a place in it that nothing fills
                self._unexpected(page)
        except Exception:  # noqa: BLE001  # this edge: whatever else happens is ours, and the dialogue goes on
            self._unexpected(page)

    def _unexpected(self, page: Page) -> None:
        incident = self._new_id()[:8]
        log.exception("unexpected", extra={"incident": incident})
        page.say(view.sentence(page.look, "unexpected", incident=incident))

    async def _act(self, line: str, page: Page) -> None:
        name, _, words = line.partition(" ")
        if not line:
            return
        forget = self._forgetting.take()
        if forget is not None and is_word(line, "word_yes"):
            page.say(view.sentence(page.look, "forgotten", counts=counted(await forget(), self._reader.locale)))
            self._notes.shut()
            self._questions.forget()
        elif forget is not None and not line.startswith("/"):
            page.say(view.sentence(page.look, "forget_not_done"))
        elif command := self._commands.get(name.lower()):
            await command(words.strip(), page)
        elif name.startswith("/") and name[1:].lower() in DESK_COMMANDS:
            await self._at_the_desk(self._desk.command(name[1:].lower(), words.strip(), page), page)
        elif self._desk.offers(turned := self._desk.turned(line)):
            await self._at_the_desk(self._desk.choose(turned, page), page)
        elif number := _NUMBER.fullmatch(line):
            if self._desk.has_note(int(number[1])):
                await self._desk.note(int(number[1]), page)
            else:
                await self._notes.press(int(number[1]), page)
        elif line in ("<", ">") or is_word(line, "console_word_before", "console_word_after"):
            forward = line == ">" or is_word(line, "console_word_after")
            if self._desk.opened:  # it offers no step that way
                raise Missing("console_book_ends" if forward else "console_book_begins")
            await self._notes.step(page, forward=forward)
        elif "/" in line and is_file(path := typed_path(self._folder, line)):  # dragged into the window
            await self._books.add_file(path, page)
        elif line.startswith("/"):
            raise ReaderError("console_unknown_command", command=name)
        else:
            await self._questions.ask(line, page)

    async def _at_the_desk(self, done: Awaitable[Question | None], page: Page) -> None:
        self._notes.shut()
        question = await done
        if question is not None:
            await self._questions.put(question, page)

    async def _more(self, _: str, page: Page) -> None:
        await self._at_the_desk(self._desk.more(page), page)

    async def _greet(self, page: Page) -> None:
        page.say([*view.shelf(await self._club.shelf(HERE), page.look), *view.sentence(page.look, "console_hint")])

    async def _follow(
        self,
        events: AsyncIterator[LibraryEvent] | AsyncIterator[AskEvent] | AsyncIterator[LibraryEvent | AskEvent],
        page: Page,
    ) -> None:
        """Show what came of what an earlier run was told."""
        async for event in events:
            if isinstance(event, Accepted | Reading | Ready | Refused):
                await self._books.show(event, page)
            else:
                await self._questions.show(event, page, resumed=True)

    async def _export(self, words: str, page: Page) -> None:
        form: Form = "html" if words.lower().endswith((".html", ".htm")) else "md"
        text = await self._club.passages.export(
            HERE, self._reader.locale, reader=self._reader, alone=True, form=form, link=self._link
        )
        path = typed_path(self._folder, words) if words else export_path(self._folder)
        write_new(path, text)
        page.say(view.sentence(page.look, "console_exported", path=str(path)))

    async def _help(self, _: str, page: Page) -> None:
        page.say(view.sentence(page.look, "console_help"))
