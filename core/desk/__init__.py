"""The desk: what readers type and press, on any platform, as documents with buttons. Stands on the club alone.

An adapter turns `Reply` into its platform's messages and `Question` into an answer by `Club.ask`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.club import Club
from core.desk import (
    arriving,
    discussing,
    editions,
    forgetting,
    house,
    indexing,
    notes,
    places,
    polling,
    quotations,
    quoting,
    remembering,
    scheduling,
    seeing,
    shelves,
    trying,
)
from core.desk.keys import COMMANDS, Action, Gather, LinkFor, Visit
from core.desk.notes import CLOSE
from core.desk.seeing import may_be_book
from core.desk.trying import TO_MEND
from core.desk.writing import sentence
from core.errors import LoccitError, ReaderError
from core.model import Check, Choice, Conversation, Letter, Question, Reader, Ready, Reply, Turn
from core.strings import LOCALES, say

__all__ = ["CLOSE", "COMMANDS", "TO_MEND", "Desk", "LinkFor", "Visit", "descriptions", "may_be_book"]

Checks = Callable[[Conversation, str | None], Awaitable[Sequence[Check]]]
_ALL = ("all", *(say("desk_word_all", locale) for locale in LOCALES))
_WITHOUT = ("without", *(say("desk_word_without", locale) for locale in LOCALES))


class Desk:
    """Commands and buttons of one platform. `spell` says how a command is typed there; `source`: where the code lies.

    `copies`: characters that a button of it can copy. `checks` looks at what the platform lets the bot do in a chat, for
    `setup`, and says so in a language. `gather` is for a platform that has polls of its own.
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
    ) -> None:
        self._club = club
        self._spell = spell
        self._source = source
        self._link_for = link_for
        self._copies = copies
        self._checks = checks
        self._gather = gather

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
        visit = await self._visit(conversation, reader, private)
        words = words.strip()
        match name:
            case "ask":
                return self._question(visit, words, event)
            case "books":
                return await shelves.books(visit)
            case "use":
                return await shelves.use(visit, words or None)
            case "add":
                return Reply(sentence("desk_add_how", visit.locale, add=self._spell("add")))
            case "remove":
                return await shelves.remove(visit, words or None)
            case "undo":
                return await shelves.undo(visit)
            case "toc":
                return await shelves.contents(visit, words or None)
            case "quote":
                if not words:
                    raise ReaderError("desk_quote_what", quote=self._spell("quote"))
                return await quoting.quote(visit, words)
            case "progress":
                return await places.progress(visit, words or None)
            case "place":
                return await places.place(visit, words or None)
            case "recap":
                return await remembering.recap(visit, words)
            case "who":
                return await remembering.who(visit, words)
            case "discuss":
                return await discussing.discuss(visit, words, event)
            case "wrap":
                return await discussing.wrap(visit)
            case "schedule":
                return await scheduling.schedule(visit, words)
            case "quotes":
                return await quotations.quotes(visit, words)
            case "next":
                return await polling.following(visit, words, event)
            case "setup":
                return await self._setup(visit)
            case "index":
                return await indexing.index(visit, words)
            case "export":
                return await quoting.export(visit)
            case "model":
                return await house.model(visit, words or None)
            case "settings":
                return await house.settings(visit)
            case "privacy":
                return await house.privacy(visit)
            case "forget":
                return await forgetting.ask(visit, words)
            case "help" | "start":
                return await house.help(visit)
            case "about":
                return house.about(visit, self._source)
            case _:
                raise ReaderError("desk_unknown_command", command=name, help=self._spell("help"))

    async def press(
        self, conversation: Conversation, reader: Reader, id: str, *, event: str, private: bool = False
    ) -> Reply | Question:
        """Do what a button says, by the id it carries. Raises LoccitError, whose sentence is the reply.

        A footnote's id gives its passage; ids of other buttons are resolved in the database and checked against this
        channel and reader.
        """
        visit = await self._visit(conversation, reader, private)
        if id.endswith(".p"):
            return await notes.pictured(visit, id)
        if id.endswith(notes.SAVE):
            return await quotations.saved(visit, id)
        if id.endswith(notes.MOVE):
            return await notes.moved(visit, id)
        if notes.is_note(id) or await self._club.passages.is_note(id):
            return await notes.opened(visit, id)
        action = await self._club.post.pressed(conversation, reader, id)
        return await self._act(visit, action, event)

    async def filled(
        self, conversation: Conversation, reader: Reader, id: str, written: str, *, event: str, private: bool = False
    ) -> Reply | Question:
        """What was written into the form (`Reply.form`) that the button with this id brought. Raises as `press` does."""
        visit = await self._visit(conversation, reader, private)
        action = await self._club.post.pressed(conversation, reader, id)
        return await self._act(visit, {**action, "written": written}, event)

    async def _act(self, visit: Visit, action: Action, event: str) -> Reply | Question:
        words, book = str(action.get("words", "")), action.get("book")
        match action["do"]:
            case "use":
                return await shelves.use(visit, book)
            case "remove":
                return await shelves.remove(visit, book)
            case "undo":
                return await shelves.undo(visit)
            case "toc":
                return await shelves.contents(visit, book, int(action["page"]))
            case "quote":
                return await quoting.quote(visit, words, book, int(action.get("page", 0)))
            case "look":
                return await shelves.look(visit, str(book))
            case "edition":
                return await editions.act(visit, action)
            case "seen":
                return await seeing.answered(visit, action)
            case "try":
                return await trying.again(visit, action, event)
            case "open":
                return await quoting.opened(visit, action)
            case "progress":
                return await places.progress(visit, None, book)
            case "reach":
                return await places.progress(visit, words, book)
            case "reaches":
                return await places.later(visit, action)
            case "undo_progress":
                return await places.undo_progress(visit, book)
            case "recap":
                return await remembering.recap(visit, words, book)
            case "who":
                return await remembering.who(visit, words, book, int(action.get("page", 0)))
            case "discuss":
                return await discussing.act(visit, action)
            case "date":
                return await scheduling.act(visit, action)
            case "quotes":
                return await quotations.quotes(visit, "", int(action["page"]))
            case "like":
                return await quotations.like(visit, action)
            case "save":
                return await quotations.saved_tag(visit, action)
            case "poll":
                return await polling.act(visit, action)
            case "setup":
                if "key" in action:
                    await arriving.switch(visit, action)
                return await self._setup(visit)
            case "settings":
                return await house.settings(visit)
            case "index":
                return await indexing.press(visit, action)
            case "model":
                return await house.model(visit, str(action["name"]))
            case "set":
                return await house.change(visit, action)
            case "forget":
                return await forgetting.forget(visit, action)
            case "keep":
                return Reply(sentence("desk_kept", visit.locale), private=True)
            case "more":
                return await notes.more(visit, action)
            case "flag":
                await self._club.questions.flag(visit.conversation, visit.reader, str(action["turn"]))
                return Reply(sentence("desk_flagged", visit.locale), private=True)
            case "delete":
                await self._club.questions.delete(visit.conversation, visit.reader, str(action["turn"]))
                return Reply(sentence("desk_deleted", visit.locale), private=True, deleted=str(action["turn"]))
            case "continue":
                question = self._question(visit, self._spell("ask"), event)
                return replace(question, reply_to=str(action["turn"]), go_on=True)
            case "again":
                wanted = say(f"desk_again_{action['how']}", visit.locale, question=words)
                return replace(self._question(visit, wanted, event), reply_to=str(action["turn"]))
            case "without":
                return replace(self._question(visit, words, event), without_book=True)
            case _:
                raise ReaderError("unknown_button")

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
        if await self.remarked(question):
            return Reply(sentence("discuss_noted", visit.locale), private=True)
        return await places.asked_first(visit, question)

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

    async def remarked(self, question: Question) -> bool:
        """Keep words that reply to a posted question of a discussion; True when they ask for no answer.

        For platforms that hear what is said in a thread without being addressed. Nothing is kept in a channel that has
        not agreed to it.
        """
        topic, discussions = question.reply_to, self._club.meeting.discussions
        if topic is None or "?" in question.text or not await discussions.is_topic(question.conversation, topic):
            return False
        await discussions.remark(question.conversation, question.reader, topic, question.text, question.event)
        return True

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

    async def _setup(self, visit: Visit) -> Reply:
        checks = () if self._checks is None else await self._checks(visit.conversation, visit.locale)
        return await arriving.setup(visit, checks)

    async def letter(self, letter: Letter) -> Reply | None:
        """What a letter of the outbox (`club.post.due`) says now; None when there is nothing to say any more.

        Every adapter drains the outbox the same way: for each letter that is due it asks here, sends the reply to the
        letter's conversation with `Post.sending` and `Post.sent` under the letter's id (with `reply.turn` as the turn, so
        that a reply to that message is known), and then calls `Post.done`, also after None. Asking twice says the same
        twice: a crash before `done` is safe.
        """
        visit = await self._visit(letter.conversation, Reader("", letter.params.get("locale")), False)
        match letter.kind:
            case "hello":
                return arriving.hello(visit, letter)
            case "discussion":
                return await discussing.letter(visit, letter)
            case "reminder" if "poll" in letter.params:
                return await polling.letter(visit, letter)
            case "reminder":
                return await scheduling.letter(visit, letter)
            case "quote_of_the_day":
                return await quotations.letter(visit, letter)
            case "digest":
                return await arriving.digest(visit, letter)
            case _:
                return None

    def question(
        self, conversation: Conversation, reader: Reader, words: str, *, event: str, private: bool
    ) -> Question:
        """What somebody asks in plain words. Raises ReaderError when there are none."""
        return self._question(Visit(self._club, conversation, reader, private, self._spell), words, event)

    def _question(self, visit: Visit, words: str, event: str) -> Question:
        first, _, rest = words.partition(" ")
        every, without = first.lower() in _ALL, first.lower() in _WITHOUT
        text = rest.strip() if (every or without) and rest.strip() else words.strip()
        if not text:
            raise ReaderError("desk_ask_what", ask=self._spell("ask"))
        return Question(
            event,
            visit.conversation,
            visit.reader,
            text,
            every_book=every and text != words.strip(),
            without_book=without and text != words.strip(),
            private=visit.private,
            patient=True,
        )

    async def _visit(self, conversation: Conversation, reader: Reader, private: bool) -> Visit:
        here = await self.reader(conversation, reader)
        return Visit(self._club, conversation, here, private, self._spell, self._link_for, self._gather, self._copies)


def descriptions(locale: str | None) -> dict[str, str]:
    """Every command with what it does in a few words, for a platform that lists them."""
    return {name: say(f"command_{name}", locale) for name in COMMANDS}
