"""The desk: what readers type and press, on any platform, as documents with buttons. Stands on the club alone.

An adapter turns `Reply` into its platform's messages and `Question` into an answer by `Club.ask`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from core.club import Club
from core.desk import discussing, notes, owed, places, pressed, seeing, shelves, trying, typed
from core.desk.asking import aimed, asked, packed
from core.desk.keys import COMMANDS, Checks, Gather, LinkFor, Stands, Visit
from core.desk.notes import CLOSE, SAVE, lead
from core.desk.seeing import may_be_book
from core.desk.trying import TO_MEND
from core.errors import LoccitError
from core.model import Choice, Conversation, Letter, Question, Reader, Ready, Reply, Turn
from core.strings import say

__all__ = [
    "CLOSE",
    "COMMANDS",
    "SAVE",
    "TO_MEND",
    "Desk",
    "LinkFor",
    "Visit",
    "descriptions",
    "lead",
    "may_be_book",
    "packed",
]


class Desk:
    """Commands and buttons of one platform. `spell` says how a command is typed there; `source`: where the code lies.

    `copies`: characters that a button of it can copy. `checks` looks at what the platform lets the bot do in a chat, for
    `setup`, and says so in a language. `gather` and `stands` are for a platform that has polls of its own.
    """

    def __init__(
        self,
        club: Club,
        spell: Callable[[str], str],
        *,
        source: str = "",
        link_for: LinkFor | None = None,
        copies: int = 0,
        checks: Checks | None = None,
        gather: Gather | None = None,
        stands: Stands | None = None,
    ) -> None:
        self._club = club
        self._at = partial(
            Visit,
            club,
            spell=spell,
            source=source,
            link_for=link_for,
            copies=copies,
            checks=checks,
            gather=gather,
            stands=stands,
        )

    async def reader(self, conversation: Conversation, reader: Reader) -> Reader:
        """The reader with the language to speak here: the channel's setting, else their own."""
        locale = (await self._club.settings(conversation)).get("locale")
        return replace(reader, locale=str(locale)) if locale else reader

    async def command(
        self,
        conversation: Conversation,
        reader: Reader,
        name: str,
        words: str = "",
        *,
        event: str,
        private: bool = False,
    ) -> Reply | Question:
        """Do what a typed command says. `event` is the key of the platform's event: a question is asked under it.

        `private`: nobody else is in this chat. Raises LoccitError, whose sentence is the reply.
        """
        return await typed.command(await self._visit(conversation, reader, private), name, words.strip(), event)

    async def press(
        self, conversation: Conversation, reader: Reader, id: str, *, event: str, private: bool = False
    ) -> Reply | Question:
        """Do what a button says, by the id it carries. Raises LoccitError, whose sentence is the reply.

        A footnote's id gives its passage; ids of other buttons are resolved in the database and checked against this
        channel and reader.
        """
        return await pressed.press(await self._visit(conversation, reader, private), id, event)

    async def filled(
        self, conversation: Conversation, reader: Reader, id: str, written: str, *, event: str, private: bool = False
    ) -> Reply | Question:
        """What was written into the form (`Reply.form`) that the button with this id brought. Raises as `press` does."""
        return await pressed.fill(await self._visit(conversation, reader, private), id, written, event)

    async def note_choices(self, conversation: Conversation, reader: Reader, turn: Turn) -> tuple[Choice, ...]:
        """A button for each footnote of an answer, in order; the adapter puts them under the part that cites them."""
        return await notes.note_choices(await self._visit(conversation, reader, False), turn)

    async def ways_on(
        self, conversation: Conversation, reader: Reader, turn: Turn, *, private: bool = False
    ) -> tuple[tuple[Choice, ...], ...]:
        """Rows of what else can be done with an answer; under its last part."""
        return await notes.ways_on(await self._visit(conversation, reader, private), turn)

    async def ready(self, conversation: Conversation, reader: Reader, event: Ready, *, private: bool = False) -> Reply:
        """The card of a book that can be asked about."""
        return await shelves.ready(await self._visit(conversation, reader, private), event)

    async def asks_first(self, conversation: Conversation, reader: Reader, question: Question) -> Reply | None:
        """What is said instead of an answer; None: answer.

        Where the club is, when the channel wants to be asked before its first answer about a book. And what somebody says
        in reply to a posted question of a discussion is kept for its wrap-up, unless it is a question in turn.
        """
        visit = await self._visit(conversation, reader, False)
        return await self.remarked(question) or await places.asked_first(visit, question)

    async def seen(
        self, conversation: Conversation, reader: Reader, name: str, size: int, file: Mapping[str, Any], *, event: str
    ) -> Reply | None:
        """The question whether a file that was sent to nobody in particular is a book for this chat; None: say nothing.

        For files that `may_be_book`. `file` is what the adapter needs to fetch it, as JSON values; the reply belongs where
        the file is, on record under `event`. A press brings `Reply.arrival`.
        """
        return await seeing.seen(await self._visit(conversation, reader, False), name, size, file, event)

    async def failed(self, question: Question, error: LoccitError, *, private: bool = False) -> Reply | None:
        """What stands in the place of an answer that the language model's failure kept from being made; a button asks again.

        None for an error that asking again does not mend: its sentence is all there is to say.
        """
        return await trying.failed(await self._visit(question.conversation, question.reader, private), question, error)

    async def remarked(self, question: Question) -> Reply | None:
        """Keep words that reply to a posted question of a discussion; what their author is told, None: they ask something.

        For platforms that hear what is said in a thread: to people who did not address the bot, nothing is said. Nothing is
        kept in a channel that has not agreed to it.
        """
        topic, discussions = question.reply_to, self._club.meeting.discussions
        if topic is None or "?" in question.text or not await discussions.is_topic(question.conversation, topic):
            return None
        visit = await self._visit(question.conversation, question.reader, False)
        return await discussing.answered(visit, topic, question.text, question.event)

    async def followed(self, conversation: Conversation, *, openly: bool = False) -> Turn | None:
        """The latest answer here, which words that reply to nothing may follow up on; a question for all is none.

        `openly`: others are here, and what one of them was told alone is none either.
        """
        turn = await self._club.questions.latest(conversation, openly=openly)
        if turn is None or await self._club.meeting.discussions.is_topic(conversation, turn.id):
            return None
        return turn

    async def hello(self, conversation: Conversation, locale: str | None = None, *, more: str = "") -> None:
        """Owe a new server or group one line, once; for adapters when they are let in. The outbox says it.

        `locale`: the language spoken there, as far as the platform tells. `more`: the key of a sentence that belongs to it.
        """
        await self._club.meeting.arriving.greet(conversation, {"locale": locale, "more": more})

    async def vote(
        self, conversation: Conversation, reader: Reader, poll: str, choice: str | None, *, back: bool = False
    ) -> None:
        """A vote in a poll that the platform shows in its own way (`Reply.ballot`); None takes it back.

        `back`: this choice is taken back, unless the reader has changed it since; for a platform that tells a change as two
        votes. Raises ReaderError `next_late` when the poll's closing is on record, Missing for a poll that is not of this
        channel.
        """
        await self._club.meeting.polls.vote(conversation, reader, poll, choice, native=True, back=back)

    async def letter(self, letter: Letter) -> Reply | None:
        """What a letter of the outbox (`club.post.due`) says now; None when there is nothing to say any more.

        Every adapter drains the outbox the same way: for each letter that is due it asks here, sends the reply to the
        letter's conversation with `Post.sending` and `Post.sent` under the letter's id (with `reply.turn` as the turn, so
        that a reply to that message is known), and then calls `Post.done`, also after None. Asking twice says the same
        twice: a crash before `done` is safe.
        """
        visit = await self._visit(letter.conversation, Reader("", letter.params.get("locale")), False)
        return await owed.letter(visit, letter)

    def question(
        self,
        conversation: Conversation,
        reader: Reader,
        words: str,
        *,
        event: str,
        private: bool,
        by_command: bool = False,
    ) -> Question:
        """What somebody asks in plain words; `by_command`: behind the command that asks. Raises ReaderError when there are none."""
        return (aimed if by_command else asked)(self._at(conversation, reader, private), words, event)

    async def _visit(self, conversation: Conversation, reader: Reader, private: bool) -> Visit:
        return self._at(conversation, await self.reader(conversation, reader), private)


def descriptions(locale: str | None) -> dict[str, str]:
    """Every command with what it does in a few words, for a platform that lists them."""
    return {name: say(f"command_{name}", locale) for name in COMMANDS}
