"""The dialogue: what a typed line means and what is done about it. Imitate this when you write another platform."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from adapters.console import view
from adapters.console.desk import COMMANDS as DESK_COMMANDS
from adapters.console.desk import AtTheDesk
from adapters.console.files import export_path, is_file, typed_path, write_new
from adapters.console.notes import Notes
from adapters.console.progress import Progress
from adapters.console.terminal import Page
from core.club import Club
from core.errors import BadBook, LoccitError, ReaderError
from core.exports import Form
from core.model import (
    Accepted,
    Answered,
    AskEvent,
    BookCard,
    Conversation,
    Drafting,
    Forgotten,
    LibraryEvent,
    Passage,
    Question,
    Reader,
    Reading,
    Ready,
    Refused,
    Searching,
    Turn,
    Unanswered,
    Upload,
    Waiting,
)
from core.strings import LOCALES, say
from core.strings.counts import counted

log = logging.getLogger(__name__)

PLATFORM = "console"
HERE = Conversation(PLATFORM, "local")
"""The one channel of this machine's data folder; headless commands share its books."""

PROVIDER_CHECK = 15.0
"""Seconds between two attempts to reach a provider that was down while a question waits for it."""

_NUMBER = re.compile(r"\[?(\d{1,6})\]?", re.ASCII)
_BEFORE = {"<", *(say("console_word_before", locale) for locale in LOCALES)}
_AFTER = {">", *(say("console_word_after", locale) for locale in LOCALES)}
_YES = {say("word_yes", locale) for locale in LOCALES}


def local_reader(locale: str) -> Reader:
    """Whoever sits at this machine; the folder is theirs, so they manage it."""
    return Reader("local", locale, manages=True)


def local_upload(path: Path, reader: Reader, id: str, password: str | None) -> Upload:
    """The upload of a file of this machine; bytes of its name that are no text become "?".

    Raises ReaderError for a folder or a device: opening one may never come back.
    """
    if path.exists() and not path.is_file():
        raise ReaderError("console_not_a_file", path=str(path))
    name = path.name.encode("utf-8", "replace").decode("utf-8")
    return Upload(f"{PLATFORM}:{id}", HERE, reader, path, name, password=password)


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
        self._last: str | None = None
        """The answer that the next question follows up on."""
        self._cut: str | None = None
        """The latest answer, when the model's length limit cut it off."""
        self._refused: Path | None = None
        """The file that was not taken because some of its pages are pictures."""
        self.keeps = False
        """True while a question waits for the provider."""
        self._password = password
        """Tried on every locked book of this run."""
        self._unsure: Callable[[], Awaitable[Forgotten]] | None = None
        """What is forgotten when the next line says yes."""
        self._notes = Notes(club, HERE, reader)
        progress = Progress(club, HERE, reader)
        self._desk = AtTheDesk(club, HERE, reader, new_id, folder)
        self._commands: dict[str, Callable[[str, Page], Awaitable[None]]] = {
            "/add": self._add,
            "/books": self._books,
            "/use": self._use,
            "/toc": self._toc,
            "/progress": progress.progress,
            "/place": progress.place,
            "/quote": self._quote,
            "/all": self._ask_all,
            "/without": self._ask_without_book,
            "/continue": self._go_on,
            "/model": self._model,
            "/index": progress.index,
            "/anyway": self._add_anyway,
            "/replace": self._replace,
            "/remove": self._remove,
            "/undo": self._undo,
            "/forget": self._forget,
            "/export": self._export,
            "/help": self._help,
        }

    async def resume(self, page: Page) -> None:
        """Take up what the last run left unfinished, and show what came of it."""
        await self._safely(self._follow(self._club.questions.unshown(PLATFORM), page, resumed=True), page)
        await self._safely(self._follow(self._club.resume(PLATFORM), page, resumed=True), page)
        self.keeps = await self._club.questions.keeps(PLATFORM)

    async def answer_kept(self, page: Page) -> None:
        """Wait until the provider is back, then show the answers that were kept for it."""
        while self.keeps:
            await self._safely(self._follow(self._club.questions.answer_kept(PLATFORM), page, resumed=True), page)
            self.keeps = await self._club.questions.keeps(PLATFORM)
            if self.keeps:
                await asyncio.sleep(PROVIDER_CHECK)

    async def greet(self, page: Page) -> None:
        """Say where the reader is: the books, and what can be typed."""
        await self._safely(self._greet(page), page)

    async def add(self, path: Path, page: Page, *, use: bool) -> None:
        """Add the book at `path`, showing how far it is; with `use`, questions are about it from now on."""
        await self._safely(self._add_file(path, page, use=use), page)

    async def hear(self, line: str, page: Page) -> bool:
        """Act on a line; False when the reader leaves."""
        if line.strip().lower().partition(" ")[0] in ("/quit", "/exit"):
            return False
        await self._safely(self._act(line.strip(), page), page)
        await self._safely(self._desk.letters(page), page)
        return True

    async def mark(self, page: Page) -> None:
        """Record which answers were seen; what was not is shown at the next start."""
        for turn in page.seen():
            await self._club.questions.shown(turn)

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
        forget, self._unsure = self._unsure, None
        if forget is not None and line.lower() in _YES:
            page.say(view.sentence(page.look, "forgotten", counts=counted(await forget(), self._reader.locale)))
            self._notes.shut()
            self._last = self._cut = None
        elif forget is not None and not line.startswith("/"):
            page.say(view.sentence(page.look, "forget_not_done"))
        elif command := self._commands.get(name.lower()):
            await command(words.strip(), page)
        elif name.startswith("/") and name[1:].lower() in DESK_COMMANDS:
            await self._at_the_desk(self._desk.command(name[1:].lower(), words.strip(), page), page)
        elif self._desk.offers(line):
            await self._at_the_desk(self._desk.choose(line, page), page)
        elif number := _NUMBER.fullmatch(line):
            if self._desk.has_note(int(number[1])):
                await self._desk.note(int(number[1]), page)
            else:
                await self._notes.press(int(number[1]), page)
        elif line.lower() in _BEFORE or line.lower() in _AFTER:
            await self._notes.step(page, forward=line.lower() in _AFTER)
        elif "/" in line and is_file(path := typed_path(self._folder, line)):  # dragged into the window
            await self._add_file(path, page)
        elif line.startswith("/"):
            raise ReaderError("console_unknown_command", command=name)
        else:
            await self._ask(line, page)

    async def _at_the_desk(self, done: Awaitable[Question | None], page: Page) -> None:
        self._notes.shut()
        question = await done
        if question is not None:
            await self._put(question, page)

    async def _greet(self, page: Page) -> None:
        page.say([*view.shelf(await self._club.shelf(HERE), page.look), *view.sentence(page.look, "console_hint")])

    # Books

    async def _add(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_add_what")
        await self._add_file(typed_path(self._folder, words), page)

    async def _add_file(
        self, path: Path, page: Page, *, use: bool = False, partly: bool = False, replaces: str | None = None
    ) -> None:
        upload = local_upload(path, self._reader, self._new_id(), self._password)
        self._refused = None
        try:
            adding = self._club.add_book(replace(upload, accept_partial=partly), replaces=replaces)
            await self._follow(adding, page, use=use)
        except BadBook as error:
            if error.key != "book_half_scan":
                raise
            self._refused = path
            page.say(view.sentence(page.look, error.key, **error.params))
            page.say(view.sentence(page.look, "console_anyway"))

    async def _add_anyway(self, _: str, page: Page) -> None:
        if self._refused is None:
            raise ReaderError("console_nothing_refused")
        await self._add_file(self._refused, page, partly=True)

    async def _books(self, _: str, page: Page) -> None:
        page.say(view.shelf(await self._club.shelf(HERE), page.look))

    async def _use(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_use_what")
        card = await self._club.use(HERE, self._reader, words)
        self._last = None
        page.say(view.sentence(page.look, "console_using", title=card.title))

    async def _toc(self, words: str, page: Page) -> None:
        card, contents = await self._club.contents(HERE, words or None)
        page.say(view.contents(card, contents, page.look))

    async def _quote(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_quote_what")
        card, found = await self._club.passages.find_quote(HERE, words, reader=self._reader, private=True)
        page.say(view.quotes(card, found, page.look))
        if await self._club.questions.keeps(PLATFORM):
            page.say(view.sentence(page.look, "desk_model_away"))

    async def _replace(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_replace_what")
        old = await self._club.book(HERE)
        await self._add_file(typed_path(self._folder, words), page, replaces=old.sha256)
        if old.sha256 not in [card.sha256 for card in await self._club.shelf(HERE)]:
            self._notes.shut()
            page.say(view.sentence(page.look, "console_replaced", title=old.title))

    async def _forget(self, words: str, page: Page) -> None:
        """Say what would go and wait for a yes; any other line keeps it."""
        what, _, choice = words.partition(" ")
        match what.lower():
            case "me":
                self._unsure = partial(self._club.forget_reader, PLATFORM, self._reader.id)
                page.say(view.sentence(page.look, "console_forget_me"))
            case "channel":
                self._unsure = partial(self._club.forget_channel, HERE, self._reader)
                page.say(view.sentence(page.look, "console_forget_channel"))
            case "book" if choice.strip():
                card = await self._club.book(HERE, choice.strip())
                self._unsure = partial(self._forget_book, card.sha256)
                page.say(view.sentence(page.look, "console_forget_book", title=card.title))
            case _:
                raise ReaderError("console_forget_what")

    async def _forget_book(self, sha256: str) -> Forgotten:
        return (await self._club.forget_book(HERE, self._reader, sha256))[1]

    async def _remove(self, words: str, page: Page) -> None:
        card = await self._club.remove(HERE, self._reader, words or None)
        self._notes.shut()
        page.say(view.sentence(page.look, "console_removed", title=card.title))

    async def _undo(self, _: str, page: Page) -> None:
        card = await self._club.undo(HERE, self._reader)
        page.say(view.sentence(page.look, "console_undone", title=card.title))

    # Questions

    async def _ask(self, words: str, page: Page) -> None:
        await self._put(self._question(words), page)

    async def _ask_all(self, words: str, page: Page) -> None:
        await self._put(replace(self._question(words), every_book=True), page)

    async def _ask_without_book(self, words: str, page: Page) -> None:
        await self._put(replace(self._question(words), without_book=True), page)

    async def _go_on(self, _: str, page: Page) -> None:
        if self._cut is None:
            raise ReaderError("nothing_to_continue")
        await self._put(replace(self._question("/continue"), reply_to=self._cut, go_on=True), page)

    async def _put(self, question: Question, page: Page) -> None:
        if not question.text:
            raise ReaderError("question_empty")
        await self._follow(self._club.questions.ask(question), page)

    def _question(self, words: str) -> Question:
        event = f"{PLATFORM}:{self._new_id()}"
        return Question(event, HERE, self._reader, words, reply_to=self._last, private=True, patient=True)

    async def _model(self, words: str, page: Page) -> None:
        name, offered = await self._club.questions.model(HERE, words or None)
        page.say(view.model(name, offered, page.look))

    async def _follow(
        self,
        events: AsyncIterator[LibraryEvent] | AsyncIterator[AskEvent] | AsyncIterator[LibraryEvent | AskEvent],
        page: Page,
        *,
        resumed: bool = False,
        use: bool = False,
    ) -> None:
        async for event in events:
            match event:
                case Accepted(filename):
                    page.progress(view.sentence(page.look, "console_accepted", file=filename))
                case Reading():
                    page.progress(view.sentence(page.look, f"console_reading_{event.stage}"))
                case Ready(card, known, estimate):
                    if use:
                        await self._club.use(HERE, self._reader, card.sha256)
                    page.say(view.ready(card, known, page.look))
                    if estimate is not None:
                        page.say(view.estimate(card.title, estimate, page.look))
                    if not use:
                        await self._say_what_is_in_use(card, page)
                case Waiting(filename):
                    page.draft(view.sentence(page.look, "still_reading", file=filename))
                case Searching():
                    page.draft(view.sentence(page.look, "looking"))
                case Drafting(document):
                    page.draft(view.document(document, page.look))
                case Answered(turn, kept) if turn.conversation == HERE:
                    self._notes.shut()
                    self._desk.leave()
                    self._last = turn.id if await self._is_about_the_book_in_use(turn) else None
                    self._cut = turn.id if view.is_cut(turn.answer) else None
                    self.keeps = self.keeps or kept
                    asked = view.sentence(page.look, "console_resumed", question=turn.question) if resumed else []
                    page.say([*asked, *view.answer(turn.answer, page.look)], answer=turn.id)
                    await self.mark(page)
                case Refused(filename, notice):
                    page.say(view.failed(filename, notice, page.look))
                case Unanswered(question, notice):
                    page.say(view.failed(question, notice, page.look))
                case Answered():
                    await self._club.questions.shown(
                        event.turn.id
                    )  # a command that was stopped; whoever ran it is gone

    async def _is_about_the_book_in_use(self, turn: Turn) -> bool:
        """A question to all books, or by another's title, counts for itself: the next one is about the book in use again."""
        shelf = await self._club.shelf(HERE)
        in_use = [card.sha256 for card in shelf if card.current] or [card.sha256 for card in shelf]
        return [sha256 for sha256, _ in turn.books] == in_use

    async def _say_what_is_in_use(self, card: BookCard, page: Page) -> None:
        """After a book was added beside others: which one questions are about."""
        shelf = await self._club.shelf(HERE)
        others = [other for other in shelf if other.current and other.sha256 != card.sha256]
        number = next((at for at, other in enumerate(shelf, 1) if other.sha256 == card.sha256), 0)
        if others:
            page.say(view.sentence(page.look, "console_still_using", title=others[0].title, number=number))
        elif len(shelf) > 1 and not any(other.current for other in shelf):
            page.say(view.sentence(page.look, "console_choose", number=number))

    # The rest

    async def _export(self, words: str, page: Page) -> None:
        form: Form = "html" if words.lower().endswith((".html", ".htm")) else "md"
        text = await self._club.passages.export(
            HERE, self._reader.locale, reader=self._reader, form=form, link=self._link
        )
        path = typed_path(self._folder, words) if words else export_path(self._folder)
        write_new(path, text)
        page.say(view.sentence(page.look, "console_exported", path=str(path)))

    async def _help(self, _: str, page: Page) -> None:
        page.say(view.sentence(page.look, "console_help"))
