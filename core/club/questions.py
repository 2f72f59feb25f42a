"""Questions of the club: each answered once and in its turn, stopped, kept for the provider, brought, called wrong."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from core import choosing
from core.asking import MODEL_SETTING, Asking
from core.club.channels import Channels
from core.errors import Missing, OperatorError, ReaderError, UpstreamError
from core.library import Library
from core.model import (
    Answered,
    AskEvent,
    BookCard,
    ChatModel,
    Conversation,
    Notice,
    Question,
    Reader,
    Turn,
    Unanswered,
    Waiting,
)
from core.progress import Progress
from core.spending import Terms
from core.store import Store

WAITING = 5
"""Questions of one reader that may be open at once: whoever asks faster than that keeps others from their turn."""


class Questions:
    """One at a time in a channel. `model` is the default one; `models` are those a channel may choose, by name."""

    def __init__(
        self,
        store: Store,
        channels: Channels,
        asking: Asking,
        library: Library,
        progress: Progress,
        terms: Terms,
        model: ChatModel,
        models: Mapping[str, ChatModel],
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._channels = channels
        self._asking = asking
        self._library = library
        self._progress = progress
        self._terms = terms
        self._default = model
        self._models = models
        self._now = now
        self._open_questions: dict[tuple[str, str], Counter[str]] = {}
        self._turns: dict[int, asyncio.Lock] = {}

    def turn(self, channel: int) -> asyncio.Lock:
        """Held while a question of the channel is answered."""
        return self._turns.setdefault(channel, asyncio.Lock())

    async def resume(self, platform: str) -> AsyncGenerator[AskEvent, None]:
        """Answer what a crash left without an answer, oldest first."""
        for row in await self._asking.unfinished(platform):
            async for answer in self._take_up(replace(row.question, patient=True)):
                yield answer

    async def ask(self, question: Question, *, interim: bool = True) -> AsyncGenerator[AskEvent, None]:
        """Answer a question; the last event is `Answered`. One at a time in a channel, in the order they came.

        While the provider is down the book is quoted (`interim`); without it UpstreamError or OperatorError is raised.
        At a cap on spending it is quoted too, and that is the answer. Raises ReaderError for a chat that is not served
        and for a reader who has WAITING questions open.
        """
        self._terms.admit(question.conversation)
        who = (question.conversation.platform, question.reader.id)
        mine = self._open_questions.setdefault(who, Counter())
        if question.event not in mine and len(mine) >= WAITING:  # an event told twice is one question
            raise ReaderError("too_many_questions", count=WAITING)
        mine[question.event] += 1
        try:
            async with aclosing(self._in_turn(question, interim)) as events:
                async for event in events:
                    yield event
        finally:
            mine[question.event] -= 1
            if not mine[question.event]:
                del mine[question.event]
            if not mine:
                self._open_questions.pop(who, None)

    async def _in_turn(self, question: Question, interim: bool) -> AsyncGenerator[AskEvent, None]:
        channel = await self._channels.number(question.conversation)
        if (filename := await self._awaited(question)) is not None:
            await self._asking.keep(question, channel)
            yield Waiting(filename)
            await self._library.arrivals.settle(channel)
        try:
            cards = await self._meant(question)
        except ReaderError as error:
            if filename is not None:  # on record since it had to wait
                await self._asking.give_up(question, error)
            raise
        if len(cards) == 1 and not question.every_book:
            # Kept with the question: after a crash it means this book, whatever was added or chosen meanwhile.
            question = replace(question, book=cards[0].sha256)
        turn = self.turn(channel)
        async with turn, aclosing(self._asking.ask(question, channel, cards, interim=interim)) as events:
            async for event in events:
                if isinstance(event, Answered):  # the limit may have moved back while the answer was made
                    told = await self._progress.told(channel, event.turn, question.reader.locale)
                    event = replace(event, turn=told)
                yield event

    async def stop(self, event: str) -> None:
        """A reader stopped the answer to this question: it is not taken up again."""
        await self._store.inbox.fail_question(event, Notice("answer_stopped"), self._now())

    async def shown(self, turn: str) -> None:
        """The answer is where its readers see it; until this is said, `unshown` brings it again."""
        await self._store.turns.shown(turn, self._now())

    async def unshown(self, platform: str) -> AsyncGenerator[Answered, None]:
        """The answers that were made but that nobody saw: a stop or a crash came in between. Oldest first."""
        for event, turn, alone in await self._store.turns.unshown(platform):
            channel = await self._channels.number(turn.conversation)
            yield Answered(await self._progress.told(channel, turn), event=event, alone=alone)

    async def flag(self, conversation: Conversation, reader: Reader, turn: str) -> None:
        """A reader calls an answer wrong: kept for whoever runs the bot. Raises Missing for another channel's."""
        await self._turn_here(conversation, turn)
        await self._store.turns.flag(turn, reader.id, self._now())

    async def delete(self, conversation: Conversation, reader: Reader, turn: str) -> None:
        """Forget an answer with its notes. Raises Missing for another channel's, ReaderError for another's question."""
        await self._turn_here(conversation, turn)
        if not reader.manages and await self._store.turns.asker(turn) != reader.id:
            raise ReaderError("not_your_answer")
        await self._store.turns.delete(turn)

    async def asked(self, conversation: Conversation, turn: str) -> Turn:
        """An answer with the words of its question, for what is asked about it anew.

        Raises Missing for another channel's, and when the words are forgotten.
        """
        found = await self._turn_here(conversation, turn)
        if not found.question:
            raise Missing("answer_forgotten")
        return found

    async def on_record(self, conversation: Conversation, event: str) -> Question | None:
        """What was asked under an event here; None when nothing was. Raises Missing when the words are forgotten."""
        row = await self._store.inbox.question(event)
        if row is None or row.channel != await self._channels.number(conversation):
            return None
        if not row.question.text:
            raise Missing("answer_forgotten")
        return row.question

    async def _turn_here(self, conversation: Conversation, turn: str) -> Turn:
        found = await self._store.turns.get(turn)
        if found is None or await self._channels.number(found.conversation) != await self._channels.number(
            conversation
        ):
            raise Missing("no_such_answer")
        return found

    async def latest(self, conversation: Conversation, *, openly: bool = False) -> Turn | None:
        """The channel's latest answer: what a bare footnote number means, also after a restart. `openly`: the latest one that
        was not for its asker alone.
        """
        channel = await self._channels.number(conversation)
        turn = await self._store.turns.latest(channel, conversation.thread, reader="" if openly else None)
        return None if turn is None else await self._progress.told(channel, turn)

    async def history(
        self, conversation: Conversation, last: int | None = None, locale: str | None = None
    ) -> tuple[Turn, ...]:
        """The chat's answers as they may be told today, oldest first; the `last` ones when given."""
        channel = await self._channels.number(conversation)
        turns = await self._store.turns.history(channel, conversation.thread, last)
        return tuple([await self._progress.told(channel, turn, locale) for turn in turns])

    async def model(self, conversation: Conversation, choice: str | None = None) -> tuple[str, tuple[str, ...]]:
        """The channel's model and those it may choose from; `choice` sets it. No index is rebuilt.

        Raises ReaderError for a name the operator does not offer.
        """
        channel = await self._channels.number(conversation)
        if choice is not None:
            if choice not in self._models:
                raise ReaderError("no_such_model", choice=choice[:80], offered=" · ".join(self._models) or "–")
            await self._store.shelf.change_settings(channel, {MODEL_SETTING: choice})
        chosen = (await self._store.shelf.settings(channel)).get(MODEL_SETTING)
        return (str(chosen) if chosen in self._models else self._default.name), tuple(self._models)

    async def about(self, question: Question) -> BookCard | None:
        """The book a question is about; None for several, and for a question that wants none."""
        if question.without_book or await self._awaited(question) is not None:
            return None
        cards = await self._meant(question)
        return cards[0] if len(cards) == 1 else None

    async def keeps(self, platform: str) -> bool:
        """True while a question waits for the provider."""
        return bool(await self._asking.kept(platform))

    async def answer_kept(self, platform: str) -> AsyncGenerator[AskEvent, None]:
        """Try the questions that wait for the provider; ends quietly while it is still down."""
        for row in await self._asking.kept(platform):
            try:
                async for event in self._take_up(row.question, interim=False):
                    yield event
            except (UpstreamError, OperatorError):
                return

    async def take_back(self, conversation: Conversation, turn: str, reader: Reader) -> Question:
        """The question that this answer only quoted to, and that waits for the provider: from now on it waits no more.

        For whoever asks it anew under another event; of the same words asked twice, those of that thread and `reader`. Raises Missing when it does not wait (any more).
        """
        quoted = await self._turn_here(conversation, turn)
        channel = await self._channels.number(conversation)
        async with self.turn(channel):
            waiting = [row.question for row in await self._asking.kept(conversation.platform) if row.channel == channel]
            same = [asked for asked in waiting if asked.text == quoted.question]
            if not same:
                raise Missing("question_not_kept")
            found = min(same, key=lambda one: (one.conversation != quoted.conversation, one.reader.id != reader.id))
            await self._asking.give_up(found, Missing("question_not_kept"))
            return found

    async def _take_up(self, question: Question, *, interim: bool = True) -> AsyncGenerator[AskEvent, None]:
        """Answer a question on record; one that cannot be answered any more (its book is gone) holds up no other."""
        try:
            async with aclosing(self.ask(question, interim=interim)) as events:
                async for event in events:
                    yield event
        except ReaderError as error:
            await self._asking.give_up(question, error)
            yield Unanswered(question.text, Notice(error.key, error.params), question.event)

    async def _awaited(self, question: Question) -> str | None:
        """The file a question has to wait for: one that is being taken in where there is no book yet."""
        filename = self._library.arrivals.first(await self._channels.number(question.conversation))
        return None if filename is None or await self._channels.shelf(question.conversation) else filename

    async def _meant(self, question: Question) -> list[BookCard]:
        earlier = await self._store.turns.get(question.reply_to) if question.reply_to else None
        replied_to = {sha256 for sha256, _ in earlier.books} if earlier else set()
        return choosing.meant(await self._channels.shelf(question.conversation), question, replied_to)
