"""Commands that the desk knows for every platform, in the terminal: replies as lines, buttons typed by the words on them."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

from adapters.console import view
from adapters.console.files import free_path, write_bytes
from adapters.console.terminal import Page
from adapters.outbox import Outbox
from core.club import Club
from core.desk import SAVE, Desk, lead
from core.errors import Missing
from core.model import Choice, Conversation, Letter, Question, Reader, Reply
from core.strings import LOCALES, is_word, say

COMMANDS = ("quote", "recap", "who", "discuss", "wrap", "schedule", "quotes", "next", "setup")
"""Those that are the desk's alone; the others have a screen of their own here."""
_TURNED = {"<": ("desk_before", "desk_previous"), ">": ("desk_after", "desk_next")}
_WORDS = {"<": "console_word_before", ">": "console_word_after"}
"""What is typed for a step -> the buttons that the desk has for it, and the word it may be typed by."""


class AtTheDesk:
    """What stands open at the desk. `conversation` is the one chat of this terminal."""

    def __init__(
        self, club: Club, conversation: Conversation, reader: Reader, new_id: Callable[[], str], folder: Path
    ) -> None:
        self._club = club
        self._desk = Desk(club, lambda name: f"/{name}")
        self._conversation = conversation
        self._reader = reader
        self._new_id = new_id
        self._folder = folder
        self._choices: dict[str, Choice] = {}
        """Buttons by the words on them, folded."""
        self._notes: dict[int, Choice] = {}
        self._open: int | None = None
        """The number of the note whose passage stands open."""

    def leave(self) -> None:
        """An answer was shown: numbers are its own from now on."""
        self._notes, self._open = {}, None
        self._stand()

    def _stand(self) -> None:
        """What `<` and `>` turn is not of the desk any more."""
        for key in chain(*_TURNED.values()):
            for locale in LOCALES:  # a reply speaks the channel's language
                self._choices.pop(_folded(say(key, locale)), None)

    @property
    def opened(self) -> bool:
        """True while the passage of a note stands open."""
        return self._open is not None

    def turned(self, line: str) -> str:
        """The button that a step is, where one was shown; else the line as it is."""
        keys = next((keys for word, keys in _TURNED.items() if line == word or is_word(line, _WORDS[word])), ())
        labels = [say(key, locale) for key in keys for locale in LOCALES]
        return next(filter(self.offers, labels), line)

    def has_note(self, number: int) -> bool:
        return number in self._notes

    def offers(self, line: str) -> bool:
        """True for the words of a button that was shown."""
        return _folded(line) in self._choices

    async def command(self, name: str, words: str, page: Page) -> Question | None:
        """Do what a typed command says. A question is to be asked by whoever called."""
        event = f"{self._conversation.platform}:{self._new_id()}"
        done = await self._desk.command(self._conversation, self._reader, name, words, event=event, private=True)
        self._choices = {}
        return await self._shown(done, page)

    async def more(self, page: Page) -> Question | None:
        """What else can be done with the latest answer. Raises Missing when there is none."""
        turn = await self._club.questions.latest(self._conversation)
        if turn is None:
            raise Missing("console_no_answer_yet")
        *_, last = await self._desk.ways_on(self._conversation, self._reader, turn, private=True)
        self._choices = {}
        return await self._press(last[-1], page)

    async def choose(self, line: str, page: Page) -> Question | None:
        """Press the button with these words on it."""
        return await self._press(self._choices[_folded(line)], page)

    def saving(self, note: str, page: Page) -> list[str]:
        """The way to save the passage of a note of an answer, for under it."""
        self._stand()
        choice = Choice(say("quotes_save", page.look.locale), f"{note}{SAVE}", "act")
        self._choices[_folded(choice.label)] = choice
        return view.buttons([choice.label], [], page.look)

    async def note(self, number: int, page: Page) -> None:
        """Show the passage of a note, or close it."""
        if self._open == number:
            self._open = None
            page.say(view.sentence(page.look, "console_closed", number=number))
            return
        await self._press(self._notes[number], page)
        self._open = number

    async def letters(self, page: Page) -> None:
        """Say what waits in the outbox; what was left there on the page of this machine too: they share the shelf."""

        async def show(letter: Letter, reply: Reply) -> None:
            if letter.conversation.channel == self._conversation.channel:
                await self._shown(reply, page)

        await Outbox(self._club.post, self._desk, self._conversation.platform, show).look()

    async def _press(self, choice: Choice, page: Page) -> Question | None:
        if choice.kind == "close":
            self._open = None
            page.say(view.sentence(page.look, "console_shut"))
            return None
        event = f"{self._conversation.platform}:{self._new_id()}"
        done = await self._desk.press(self._conversation, self._reader, choice.id, event=event, private=True)
        return await self._shown(done, page)

    async def _shown(self, done: Reply | Question, page: Page) -> Question | None:
        if isinstance(done, Question):
            return done
        choices = [choice for row in done.choices for choice in row]
        notes = [choice for choice in choices if choice.kind == "note"]
        if notes:
            self._notes = {int(choice.label.split(" ")[0]): choice for choice in notes}
        self._stand()
        acts = [choice for choice in choices if choice.kind in ("act", "step", "close")]
        self._choices.update({_folded(choice.label): choice for choice in acts})
        lines = view.document(lead(done, self._reader.locale), page.look)
        if done.passage is not None:
            lines += [*([""] if lines else []), *view.passage(done.passage, page.look)]
        for attachment in done.attachments:
            path = free_path(self._folder, attachment.name)
            write_bytes(path, attachment.data)
            lines += ["", *view.sentence(page.look, "console_written", path=str(path))]
        lines += view.buttons([choice.label for choice in acts], sorted(self._notes) if notes else [], page.look)
        page.say(lines)
        return None


def _folded(words: str) -> str:
    return " ".join(words.split()).casefold()
