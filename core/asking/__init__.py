"""Journey 2, question -> answer: recorded before work, answered from evidence, settled, stored before it is shown."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import datetime

from core.asking.turn import TurnRun
from core.errors import LoccitError
from core.limits import told_within
from core.model import (
    Answered,
    AskEvent,
    BookCard,
    ChatModel,
    Notice,
    Question,
    Turn,
)
from core.retrieval import Ranks, Source
from core.store import QuestionRow, Store


class Asking:
    """Answers questions, each once. `fallback` quotes while `model` cannot be reached."""

    def __init__(
        self,
        store: Store,
        ranks: Ranks,
        model: ChatModel,
        fallback: ChatModel,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._ranks = ranks
        self._model = model
        self._fallback = fallback
        self._now = now
        self._clock = clock
        self._new_id = new_id

    async def ask(self, question: Question, channel: int, cards: Sequence[BookCard]) -> AsyncGenerator[AskEvent, None]:
        """Yield how the answer comes about; the last event is `Answered`. A known event gives its answer again."""
        row = await self._store.inbox.accept_question(question, channel, self._now())
        turn = await self._store.turns.get(row.turn) if row.turn else None
        if turn is not None:
            yield Answered(turn)
            return
        async with aclosing(self._answer(row, cards)) as events:
            async for event in events:
                yield event

    async def unfinished(self, platform: str) -> tuple[QuestionRow, ...]:
        """Questions a crash left without an answer, oldest first."""
        return await self._store.inbox.unfinished_questions(platform)

    async def _earlier(self, row: QuestionRow, sources: Sequence[Source]) -> Turn | None:
        """The exchange this question replies to, when it was in the same place and is still permitted."""
        turn = await self._store.turns.get(row.question.reply_to) if row.question.reply_to else None
        if turn is None or turn.conversation != row.question.conversation:
            return None
        known = {(source.sha256, source.text_version): source for source in sources}
        if not all(book in known for book in turn.books):
            return None
        books = [(known[book].files, known[book].limit) for book in turn.books]
        return turn if told_within(turn, books) else None

    async def _source(self, row: QuestionRow, card: BookCard) -> Source:
        """A book of the question: up to the channel's limit, the question's own, and, in private, the reader's place."""
        question = row.question
        source = await Source.open(self._store, row.channel, card.sha256, text_version=card.text_version)
        if question.limit_words is not None:
            source = source.up_to(question.limit_words)
        if question.private:
            source = source.within(await self._store.progress.place(row.channel, card.sha256, question.reader.id))
        return source

    async def _answer(self, row: QuestionRow, cards: Sequence[BookCard]) -> AsyncGenerator[AskEvent, None]:
        question = row.question
        try:
            sources = [await self._source(row, card) for card in cards]
            run = TurnRun(
                question,
                sources,
                await self._earlier(row, sources),
                self._ranks,
                self._model,
                self._fallback,
                self._clock,
                self._new_id,
            )
            async with aclosing(run.events(self._now())) as events:
                async for event in events:
                    if isinstance(event, Answered):
                        event = Answered(await self._store.turns.save(event.turn, row.channel, question.event))
                    yield event
        except LoccitError as error:
            await self._store.inbox.fail_question(question.event, Notice(error.key, error.params), self._now())
            raise
