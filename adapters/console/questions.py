"""Questions in the terminal, and what stands there until they are answered."""

from collections.abc import Callable
from dataclasses import replace

from adapters.console import view
from adapters.console.here import HERE, PLATFORM
from adapters.console.notes import Notes
from adapters.console.terminal import Page
from core.club import Club
from core.errors import ReaderError
from core.model import Answered, AskEvent, Drafting, Question, Reader, Searching, Turn, Unanswered, Waiting


class Questions:
    """What is asked. `answered` is called before an answer is shown."""

    def __init__(
        self, club: Club, reader: Reader, new_id: Callable[[], str], notes: Notes, answered: Callable[[], None]
    ) -> None:
        self._club = club
        self._reader = reader
        self._new_id = new_id
        self._notes = notes
        self._answered = answered
        self._last: str | None = None
        """The answer that the next question follows up on."""
        self._cut: Turn | None = None
        """The latest answer, when the model's length limit cut it off."""
        self.keeps = False
        """True while a question waits for the provider."""

    def leave(self) -> None:
        """The next question follows up on nothing."""
        self._last = None

    def forget(self) -> None:
        """What was answered may be gone."""
        self._last = self._cut = None

    async def show(self, event: AskEvent, page: Page, *, resumed: bool = False) -> None:
        """Say how far an answer is; `resumed`: it was asked in an earlier run, so the question is said, too."""
        match event:
            case Waiting(filename):
                page.draft(view.sentence(page.look, "still_reading", file=filename))
            case Searching():
                page.draft(view.sentence(page.look, "looking"))
            case Drafting(document):
                page.draft(view.document(document, page.look))
            case Answered(turn, kept) if turn.conversation == HERE:
                self._notes.shut()
                self._answered()
                self._last = turn.id if await self._is_about_the_book_in_use(turn) else None
                self._cut = turn if turn.answer.cut else None
                self.keeps = self.keeps or kept
                asked = view.sentence(page.look, "console_resumed", question=turn.question) if resumed else []
                page.say([*asked, *view.answer(turn.answer, page.look)], answer=turn.id)
                await self.mark(page)
            case Answered():  # a command that was stopped; whoever ran it is gone
                await self._club.questions.shown(event.turn.id)
            case Unanswered(question, notice):
                page.say(view.failed(question, notice, page.look))

    async def mark(self, page: Page) -> None:
        """Record which answers were seen; what was not is shown at the next start."""
        for turn in page.seen():
            await self._club.questions.shown(turn)

    async def look(self) -> None:
        """See whether a question waits for the provider."""
        self.keeps = await self._club.questions.keeps(PLATFORM)

    async def _is_about_the_book_in_use(self, turn: Turn) -> bool:
        """A question to all books, or by another's title, counts for itself: the next one is about the book in use again."""
        shelf = await self._club.shelf(HERE)
        in_use = [card.sha256 for card in shelf if card.current] or [card.sha256 for card in shelf]
        return [sha256 for sha256, _ in turn.books] == in_use

    async def ask(self, words: str, page: Page) -> None:
        await self.put(self._question(words), page)

    async def ask_all(self, words: str, page: Page) -> None:
        await self.put(replace(self._question(words), every_book=True), page)

    async def ask_without_book(self, words: str, page: Page) -> None:
        await self.put(replace(self._question(words), without_book=True), page)

    async def go_on(self, _: str, page: Page) -> None:
        if self._cut is None:
            raise ReaderError("nothing_to_continue")
        aside = self._cut.answer.outcome == "general_knowledge"
        await self.put(
            replace(self._question("/continue"), reply_to=self._cut.id, go_on=True, without_book=aside), page
        )

    async def put(self, question: Question, page: Page) -> None:
        if not question.text:
            raise ReaderError("question_empty")
        async for event in self._club.questions.ask(question):
            await self.show(event, page)

    def _question(self, words: str) -> Question:
        event = f"{PLATFORM}:{self._new_id()}"
        return Question(event, HERE, self._reader, words, reply_to=self._last, private=True, patient=True)

    async def model(self, words: str, page: Page) -> None:
        name, offered = await self._club.questions.model(HERE, words or None)
        page.say(view.model(name, offered, page.look))
