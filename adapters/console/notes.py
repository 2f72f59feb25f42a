"""The passage that stands open in the terminal: opened and closed by its number, grown by a step."""

from collections.abc import Callable
from dataclasses import dataclass

from adapters.console import view
from adapters.console.terminal import Page
from core.club import Club
from core.errors import Missing
from core.model import Conversation, Passage, Reader


@dataclass(frozen=True, slots=True)
class _Opened:
    """The passage that stands open, and how many steps it has grown on each side."""

    turn: str
    number: int
    passage: Passage
    before: int = 0
    after: int = 0


class Notes:
    """Footnotes of the latest answer. `conversation` is the one chat of this terminal; `saving` offers to save a passage."""

    def __init__(
        self, club: Club, conversation: Conversation, reader: Reader, saving: Callable[[str, Page], list[str]]
    ) -> None:
        self._club = club
        self._conversation = conversation
        self._reader = reader
        self._saving = saving
        self._opened: _Opened | None = None
        self._warned: tuple[str, int] | None = None
        """The turn and number of the note that was held back because it lies past the reader's own place."""

    def shut(self) -> None:
        """Something else is shown: no passage stands open."""
        self._opened = None

    async def press(self, number: int, page: Page) -> None:
        """Show the passage of a note, or close it."""
        turn = await self._club.questions.latest(self._conversation)
        if turn is None:
            raise Missing("console_no_answer", number=number)
        if self._opened and (self._opened.turn, self._opened.number) == (turn.id, number):
            self._opened = None
            page.say(view.sentence(page.look, "console_closed", number=number))
            return
        notes = {note.number: note for note in turn.answer.footnotes}
        if not notes:
            raise Missing("console_no_notes", number=number)
        if number not in notes:
            raise Missing("console_no_such_note", count=len(notes), number=number, first=min(notes), last=max(notes))
        passage = await self._club.passages.press(
            self._conversation, notes[number].id, reader=self._reader, locale=self._reader.locale
        )
        if passage.ahead and self._warned != (turn.id, number):
            self._warned = (turn.id, number)
            page.say(view.ahead(passage.ahead, number, page.look))
            return
        self._opened = _Opened(turn.id, number, passage)
        await self._club.meeting.digests.opened(self._conversation, passage)
        page.say([*view.passage(passage, page.look, number), *self._saving(notes[number].id, page)])

    async def step(self, page: Page, *, forward: bool) -> None:
        """Show the text next to what is shown already."""
        at = self._opened
        if at is None:
            raise Missing("console_nothing_open")
        if not (at.passage.more_after if forward else at.passage.more_before):
            raise Missing("console_book_ends" if forward else "console_book_begins")
        before, after = at.before + (not forward), at.after + forward
        turn = await self._club.questions.latest(self._conversation)
        note = next((note for note in turn.answer.footnotes if note.number == at.number), None) if turn else None
        if note is None:
            raise Missing("console_nothing_open")
        passage = await self._club.passages.press(
            self._conversation, note.id, reader=self._reader, before=before, after=after, locale=self._reader.locale
        )
        self._opened = _Opened(at.turn, at.number, passage, before, after)
        if forward:
            text = passage.after.removeprefix(at.passage.after)
        else:
            text = passage.before.removesuffix(at.passage.before)
        page.say(view.more(text, passage, at.number, page.look))
