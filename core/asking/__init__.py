"""Journey 2, question -> answer: recorded before work, answered from evidence, settled, stored before it is shown."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta

from core.asking.turn import Means, TurnRun
from core.errors import LoccitError, OperatorError, UpstreamError
from core.limits import told_within
from core.model import (
    Answered,
    AskEvent,
    BookCard,
    ChatModel,
    Drafting,
    Notice,
    Payer,
    Question,
    Turn,
)
from core.retrieval import Budgets, Ranks, Source
from core.spending import Paying
from core.store import QuestionRow, Store

MODEL_SETTING = "model"
"""The channel's setting that names its model."""
CLOSING_THINK = "closing_think"
"""The fact about a model that it sends its reasoning with only a closing mark (DESIGN 2.5)."""
WINDOW_FOR = 600.0
"""Seconds for which a server's word about its window is believed."""
KEPT_FOR = timedelta(hours=24)
"""How long a question waits for the provider (DESIGN section 5)."""


class Asking:
    """Answers questions, each once. `fallback` quotes while a model cannot be reached.

    `model` gives the model of a channel by its setting (None: the default); `window` tells how many tokens it reads.
    """

    def __init__(
        self,
        store: Store,
        ranks: Ranks,
        model: Callable[[str | None], ChatModel],
        fallback: ChatModel,
        window: Callable[[], Awaitable[int]] | None,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._ranks = ranks
        self._model = model
        self._fallback = fallback
        self._window = window
        self._budgets = Budgets()
        self._stale = 0.0
        self._now = now
        self._clock = clock
        self._new_id = new_id

    async def ask(
        self, question: Question, channel: int, cards: Sequence[BookCard], *, interim: bool = True
    ) -> AsyncGenerator[AskEvent, None]:
        """Yield how the answer comes about; the last event is `Answered`. A known event gives its answer again.

        Without `interim` a provider that fails raises, and the question stays as it is on record; one that was given up
        meanwhile is not answered.
        """
        row = await self._store.inbox.accept_question(question, channel, self._now())
        row = replace(row, question=replace(row.question, patient=question.patient))
        turn = await self._store.turns.get(row.turn) if row.turn else None
        if turn is not None:
            yield Answered(turn, event=question.event)
            return
        if row.state == "failed" and not interim:
            return  # it waited for the provider, and was taken back before its turn came
        try:
            async with aclosing(self._answer(row, cards, interim)) as events:
                async for event in events:
                    yield event
        except LoccitError as error:
            if interim or not isinstance(error, UpstreamError | OperatorError):
                await self._store.inbox.fail_question(question.event, Notice(error.key, error.params), self._now())
            raise

    async def keep(self, question: Question, channel: int) -> None:
        """Put a question on record that is asked later."""
        await self._store.inbox.accept_question(question, channel, self._now())

    async def give_up(self, question: Question, error: LoccitError) -> None:
        """A question on record that ends with a sentence instead of an answer."""
        await self._store.inbox.fail_question(question.event, Notice(error.key, error.params), self._now())

    async def unfinished(self, platform: str) -> tuple[QuestionRow, ...]:
        """Questions a crash left without an answer, oldest first."""
        return await self._store.inbox.unfinished_questions(platform)

    async def kept(self, platform: str) -> list[QuestionRow]:
        """Questions that wait for the provider, oldest first; those that waited too long are given up."""
        waiting = []
        for row in await self._store.inbox.kept_questions(platform):
            if self._now() - row.at > KEPT_FOR:
                await self._store.inbox.fail_question(row.question.event, Notice("question_expired"), self._now())
            else:
                waiting.append(row)
        return waiting

    async def _answer(
        self, row: QuestionRow, cards: Sequence[BookCard], interim: bool
    ) -> AsyncGenerator[AskEvent, None]:
        begun, first = self._clock(), None
        sources = [await self._source(row, card) for card in cards]
        means = await self._means(row)
        run = TurnRun(row.question, sources, await self._earlier(row, sources), means)
        async with aclosing(run.events(self._now(), interim=interim)) as events:
            async for event in events:
                if first is None and isinstance(event, Drafting | Answered):
                    first = self._clock()
                if isinstance(event, Answered) and first is not None:
                    turn = replace(event.turn, first_text_ms=round(1000 * (first - begun)))
                    event = await self._stored(row, run, Answered(turn))
                yield event
        if run.saw_closing_think and not means.closing_think:
            await self._store.models.learn(means.model.name, {CLOSING_THINK: True})

    async def _stored(self, row: QuestionRow, run: TurnRun, answered: Answered) -> Answered:
        """The answer on record; one that only quotes meanwhile leaves a patient question open."""
        if not (run.interim and row.question.patient):
            turn = await self._store.turns.save(answered.turn, row.channel, row.question.event)
            return Answered(turn, event=row.question.event)
        notices = (*answered.turn.answer.notices, Notice("question_kept"))
        turn = replace(answered.turn, answer=replace(answered.turn.answer, notices=notices))
        now = await self._store.inbox.question(row.question.event)
        if now is not None and not now.question.reader.id:  # forgotten while the book was quoted
            document = () if row.question.private else turn.answer.document
            turn = replace(turn, question="", answer=replace(turn.answer, document=document))
        await self._store.turns.save(turn, row.channel, None)
        await self._store.inbox.keep_question(row.question.event)
        return Answered(turn, kept=True, event=row.question.event)

    async def _means(self, row: QuestionRow) -> Means:
        chosen = (await self._store.shelf.settings(row.channel)).get(MODEL_SETTING)
        model = self._model(chosen)
        if model is not self._fallback:
            where = row.question.conversation
            model = Paying(model, Payer(where.platform, where.channel, row.question.reader.id, where.server))
        facts = await self._store.models.facts(model.name)
        return Means(
            self._ranks,
            model,
            self._fallback,
            await self._fitting(),
            bool(facts.get(CLOSING_THINK)),
            self._clock,
            self._new_id,
        )

    async def _fitting(self) -> Budgets:
        """The budgets that fit the model's window, which is asked for again now and then: a server may be reloaded."""
        if self._window is not None and self._clock() >= self._stale:
            self._stale = self._clock() + WINDOW_FOR
            self._budgets = Budgets.within(await self._window())
        return self._budgets

    async def _earlier(self, row: QuestionRow, sources: Sequence[Source]) -> Turn | None:
        """The exchange this question replies to, when it was in the same place and is still permitted.

        A thread's first question may follow up what the channel was told: threads hang on its messages.
        """
        turn = await self._store.turns.get(row.question.reply_to) if row.question.reply_to else None
        here = row.question.conversation
        if turn is None or turn.conversation not in (here, replace(here, thread=None)) or not turn.answer.document:
            return None
        known = {(source.sha256, source.text_version): source for source in sources}
        if not all(book in known for book in turn.books):
            return None
        alone = await self._store.turns.alone(turn.id)
        if alone is not None and not (row.question.private and row.question.reader.id == alone):
            return None  # it was for its asker alone, and stays so
        return turn if told_within(turn, [known[book].reach for book in turn.books]) else None

    async def _source(self, row: QuestionRow, card: BookCard) -> Source:
        """A book of the question: up to the channel's limit, the question's own, and, in private, the reader's place."""
        question = row.question
        source = await Source.open(self._store, row.channel, card.sha256, text_version=card.text_version)
        if question.limit_words is not None:
            source = source.up_to(question.limit_words)
        if question.private:
            source = source.within(await self._store.progress.place(row.channel, card.sha256, question.reader.id))
        return source
