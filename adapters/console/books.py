"""The books of the terminal: added, chosen, replaced, removed, and what is said meanwhile."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from adapters.console import view
from adapters.console.files import typed_path
from adapters.console.here import HERE, local_upload
from adapters.console.notes import Notes
from adapters.console.questions import Questions
from adapters.console.terminal import Page
from core.club import Club
from core.errors import BadBook, ReaderError
from core.model import Accepted, BookCard, LibraryEvent, Reader, Reading, Ready, Refused


class Books:
    """What is said and done about books. `folder`: where relative paths begin; `password` is tried on every locked book."""

    def __init__(
        self,
        club: Club,
        reader: Reader,
        new_id: Callable[[], str],
        folder: Path,
        password: str | None,
        notes: Notes,
        questions: Questions,
    ) -> None:
        self._club = club
        self._reader = reader
        self._new_id = new_id
        self._folder = folder
        self._password = password
        self._notes = notes
        self._questions = questions
        self._refused: Path | None = None
        """The file that was not taken because some of its pages are pictures."""

    async def show(self, event: LibraryEvent, page: Page, *, use: bool = False) -> None:
        """Say what came of an upload; with `use`, questions are about the book from now on."""
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
            case Refused(filename, notice):
                page.say(view.failed(filename, notice, page.look))

    async def _say_what_is_in_use(self, card: BookCard, page: Page) -> None:
        """After a book was added beside others: which one questions are about."""
        shelf = await self._club.shelf(HERE)
        others = [other for other in shelf if other.current and other.sha256 != card.sha256]
        number = next((at for at, other in enumerate(shelf, 1) if other.sha256 == card.sha256), 0)
        if others:
            page.say(view.sentence(page.look, "console_still_using", title=others[0].title, number=number))
        elif len(shelf) > 1 and not any(other.current for other in shelf):
            page.say(view.sentence(page.look, "console_choose", number=number))

    async def add(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_add_what")
        await self.add_file(typed_path(self._folder, words), page)

    async def add_file(
        self, path: Path, page: Page, *, use: bool = False, partly: bool = False, replaces: str | None = None
    ) -> None:
        upload = local_upload(path, self._reader, self._new_id(), self._password)
        self._refused = None
        try:
            adding = self._club.add_book(replace(upload, accept_partial=partly), replaces=replaces)
            async for event in adding:
                await self.show(event, page, use=use)
        except BadBook as error:
            if error.key in ("book_locked", "book_wrong_password"):
                page.say(view.sentence(page.look, error.key, **error.params))
                page.say(view.sentence(page.look, "console_password", command="loccit chat --password …"))
                return
            if error.key != "book_half_scan":
                raise
            self._refused = path
            page.say(view.sentence(page.look, error.key, **error.params))
            page.say(view.sentence(page.look, "console_anyway"))

    async def add_anyway(self, _: str, page: Page) -> None:
        if self._refused is None:
            raise ReaderError("console_nothing_refused")
        await self.add_file(self._refused, page, partly=True)

    async def shelf(self, _: str, page: Page) -> None:
        page.say(view.shelf(await self._club.shelf(HERE), page.look))

    async def use(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_use_what")
        card = await self._club.use(HERE, self._reader, words)
        self._questions.leave()
        page.say(view.sentence(page.look, "console_using", title=card.title))

    async def toc(self, words: str, page: Page) -> None:
        card, contents = await self._club.contents(HERE, words or None)
        page.say(view.contents(card, contents, page.look))

    async def replace(self, words: str, page: Page) -> None:
        if not words:
            raise ReaderError("console_replace_what")
        old = await self._club.book(HERE)
        await self.add_file(typed_path(self._folder, words), page, replaces=old.sha256)
        if old.sha256 not in [card.sha256 for card in await self._club.shelf(HERE)]:
            self._notes.shut()
            page.say(view.sentence(page.look, "console_replaced", title=old.title))

    async def remove(self, words: str, page: Page) -> None:
        card = await self._club.remove(HERE, self._reader, words or None)
        self._notes.shut()
        page.say(view.sentence(page.look, "console_removed", title=card.title))

    async def undo(self, _: str, page: Page) -> None:
        card = await self._club.undo(HERE, self._reader)
        page.say(view.sentence(page.look, "console_undone", title=card.title))
