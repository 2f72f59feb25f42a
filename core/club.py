"""The one object adapters see: rights, order within a channel, which book is meant; errors leave as keys with a sentence."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from core import choosing, exports, passages, reading, tags
from core.asking import MODEL_SETTING, Asking
from core.errors import BrokenPromise, Missing, OperatorError, ReaderError, UpstreamError
from core.formats.pictures import Pictures
from core.ledgered import Ledgered
from core.library import Library
from core.lifecycle import Keeping, Lifecycle
from core.meeting import Meeting
from core.model import (
    Answered,
    AskEvent,
    BookCard,
    BookPage,
    ChatModel,
    Contents,
    Conversation,
    Estimate,
    Footnote,
    Forgotten,
    Indexed,
    IndexNews,
    LibraryEvent,
    Limit,
    Notice,
    PagePicture,
    ParsedBook,
    Passage,
    Position,
    Question,
    QuoteFound,
    QuoteHit,
    Reader,
    Ready,
    Span,
    Turn,
    Unanswered,
    Upload,
    Waiting,
)
from core.post import Post
from core.progress import UNDO, Progress
from core.retrieval import Ranks, Source
from core.rights import check_change
from core.spending import Metered, Purse, Terms
from core.store import Store
from core.summaries import Indexing, Jobs, Summaries, Summarised

WAITING = 5
"""Questions of one reader that may be open at once: whoever asks faster than that keeps others from their turn."""


class Club:
    """Everything a reading group can do, without a word about platforms.

    `fallback` quotes while `model` cannot be reached; `folder` holds the disposable rank tables; `clock` counts
    seconds steadily; `new_id` gives opaque ids of at most 40 bytes; `children` bounds the books read at once; `window`
    tells how many tokens the model reads at once; `models` are others a channel may choose, by name;
    `works`: on a server, whether this process takes part in summarising (`summarise_behind`) or leaves it to others;
    `terms` say what may be spent, and by whom; `recognise` names the languages of optical recognition ("" = off); `sleep` waits (seconds) while a provider is down.
    """

    def __init__(
        self,
        store: Store,
        model: ChatModel,
        fallback: ChatModel,
        folder: Path,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        new_id: Callable[[], str],
        children: int = 1,
        models: Mapping[str, ChatModel] | None = None,
        recognise: str = "",
        window: Callable[[], Awaitable[int]] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        terms: Terms | None = None,
        keeping: Keeping | None = None,
        works: bool = True,
    ) -> None:
        self._store = store
        self._now = now
        self._ranks = Ranks(store, folder / "ranks")
        self._library = Library(store, self._ranks, now, children, recognise)
        self._pictures = Pictures(folder / "pictures")
        self._terms = terms or Terms()
        self._purse = Purse(store.spending, self._terms, now)
        self._open_questions: dict[tuple[str, str], Counter[str]] = {}
        if model is not fallback:
            model = Ledgered(Metered(model, self._purse), store.ledger, now)
        self._default = model
        self._models = {
            name: Ledgered(Metered(other, self._purse), store.ledger, now) for name, other in (models or {}).items()
        }
        self._asking = Asking(
            store,
            self._ranks,
            lambda name: self._models.get(name or "", model),
            fallback,
            window,
            now=now,
            clock=clock,
            new_id=new_id,
        )
        self._progress = Progress(store, now)
        self.post = Post(store, now=now, new_id=new_id)
        """What adapters keep over a restart: events, messages, letters, buttons."""
        self.meeting = Meeting(
            store,
            self.post,
            self._ranks,
            lambda name: self._models.get(name or "", model),
            fallback,
            window,
            self._purse,
            now=now,
            new_id=new_id,
        )
        """Reading together: recaps, people, discussions, dates, quotations, the next book."""
        self._lifecycle = Lifecycle(
            store, self._ranks, self._pictures, now=now, sleep=sleep, keeping=keeping or Keeping()
        )
        self._turns: dict[int, asyncio.Lock] = {}
        self._jobs: Jobs | None = None
        self._indexing: Indexing | None = None
        if model is not fallback:
            summaries = Summaries(store, model, window)
            self._jobs = Jobs(store, summaries, self._terms, now=now, new_id=new_id, sleep=sleep)
            self._indexing = Indexing(store, self._jobs, now=now, sleep=sleep, works=works)

    async def close(self) -> None:
        await self._lifecycle.close()
        if self._indexing is not None:
            await self._indexing.close()
        await self._pictures.close()
        self._ranks.close()
        await self._store.close()

    # Books

    async def add_book(self, upload: Upload, *, replaces: str | None = None) -> AsyncGenerator[LibraryEvent, None]:
        """Take a file in and yield how it goes; the last event is `Ready`.

        A new edition `replaces` a book of this channel (`choice`): it takes its place, its use and the club's limit, and
        the old one can be brought back for UNDO. Raises BadBook, OperatorError, and ReaderError for somebody who may not add books.
        """
        self._terms.admit_upload(upload.conversation, upload.reader)
        uploads = (await self.settings(upload.conversation)).get("uploads")
        if uploads == "managers" and not upload.reader.manages:
            raise ReaderError("uploads_managers_only")
        old = None
        if replaces is not None:
            card = await self._chosen(upload.conversation, replaces)
            check_change(upload.reader, card.added_by)
            old = card.sha256
        async with aclosing(self._library.add(upload, old)) as events:
            async for event in events:
                yield await self._enlisted(event, upload.conversation) if isinstance(event, Ready) else event

    async def _enlisted(self, ready: Ready, conversation: Conversation | None = None) -> Ready:
        """What summarising the book will take; it begins, or waits for a yes."""
        if self._jobs is None or self._indexing is None:
            return ready
        channel = None if conversation is None else await self._channel(conversation)
        found = await self._jobs.enlist(ready.card.sha256, ready.card.text_version, channel)
        self._indexing.notice()
        return replace(ready, estimate=found)

    def summarise_behind(self) -> None:
        """From now on, until `close`, write the summaries that books lack, while people ask. Nothing without a model."""
        if self._indexing is not None:
            self._indexing.start()

    async def index(
        self, conversation: Conversation, choice: str, *, refresh: bool = False
    ) -> AsyncGenerator[Summarised, None]:
        """Summarise a book and yield how it goes; `refresh` also redoes what is flagged or outdated.

        Raises OperatorError `index_no_model`, and what the provider raises: what is done stays, another call goes on.
        """
        card = await self._chosen(conversation, choice)
        async with aclosing(self._work().finish(card, refresh=refresh)) as steps:
            async for step in steps:
                yield step

    async def estimate(self, conversation: Conversation, choice: str | None = None) -> Estimate:
        """What summarising a book will still take. Raises OperatorError `index_no_model`."""
        card = await self._chosen(conversation, choice)
        return await self._work().estimate(card.sha256, card.text_version)

    async def indexing(self, conversation: Conversation, choice: str | None = None) -> tuple[BookCard, Indexed]:
        """How far a book's summaries are; it is answered from all the while. Raises OperatorError `index_no_model`."""
        card = await self._chosen(conversation, choice)
        return card, await self._work().indexed(card)

    async def approve(self, conversation: Conversation, reader: Reader, choice: str | None = None) -> BookCard:
        """The yes to what summarising a book costs; what was stopped or has failed goes on too.

        Raises ReaderError for who does not manage the channel, OperatorError `index_no_model`.
        """
        card = await self._manages(conversation, reader, choice)
        await self._work().approve(card)
        if self._indexing is not None:
            self._indexing.notice()
        return card

    async def cancel_indexing(self, conversation: Conversation, reader: Reader, choice: str | None = None) -> BookCard:
        """Stop summarising a book, for all who have it: what is made stays and is used. `approve` goes on.

        Raises ReaderError for who does not manage the channel, OperatorError `index_no_model`.
        """
        card = await self._manages(conversation, reader, choice)
        await self._work().cancel(card)
        return card

    async def watch_indexing(self, platform: str) -> AsyncGenerator[IndexNews, None]:
        """How far the books of a platform's channels are: first the unfinished ones, then every change, without end.

        Without a model there is nothing to tell, and it ends.
        """
        if self._jobs is not None:
            async with aclosing(self._jobs.watch(platform)) as news:
                async for each in news:
                    yield each

    def _work(self) -> Jobs:
        if self._jobs is None:
            raise OperatorError("index_no_model")
        return self._jobs

    async def _manages(self, conversation: Conversation, reader: Reader, choice: str | None) -> BookCard:
        if not reader.manages:
            raise ReaderError("managers_only")
        return await self._chosen(conversation, choice)

    async def settings(self, conversation: Conversation) -> Mapping[str, object]:
        """What was set for the channel: `locale`, `uploads` (everyone, managers), `ask_first`; what was not is absent."""
        return await self._store.shelf.settings(await self._channel(conversation))

    async def change_settings(
        self, conversation: Conversation, reader: Reader, changes: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Set what `settings` names; None brings the default back. Raises ReaderError for who does not manage it."""
        if not reader.manages:
            raise ReaderError("managers_only")
        unknown = changes.keys() - {"locale", "uploads", "ask_first"}
        if unknown:
            raise BrokenPromise("setting_unknown")
        return await self._store.shelf.change_settings(await self._channel(conversation), changes)

    async def move(self, conversation: Conversation, channel: str) -> bool:
        """The platform gave a channel another id: books, settings, answers and buttons go along. False when unknown."""
        return await self._store.shelf.move(conversation.platform, conversation.channel, channel)

    async def shelf(self, conversation: Conversation) -> tuple[BookCard, ...]:
        """The channel's books in the order they came; `current` marks the one chosen by `use`."""
        return await self._store.shelf.shelf(await self._channel(conversation))

    async def book(self, conversation: Conversation, choice: str | None = None) -> BookCard:
        """The book that words name; None: the one in use or the only one. Raises Missing as `choosing.chosen` does."""
        return await self._chosen(conversation, choice)

    async def about(self, question: Question) -> BookCard | None:
        """The book a question is about; None for several, and for a question that wants none."""
        if question.without_book or await self._awaited(question) is not None:
            return None
        cards = await self._meant(question)
        return cards[0] if len(cards) == 1 else None

    async def use(self, conversation: Conversation, reader: Reader, choice: str) -> BookCard:
        """Make a book the one that questions without a name are about. Raises ReaderError for who may not change it."""
        card = await self._chosen(conversation, choice)
        check_change(reader, card.added_by)
        await self._store.shelf.use(await self._channel(conversation), card.sha256)
        return card

    async def remove(self, conversation: Conversation, reader: Reader, choice: str | None = None) -> BookCard:
        """Take a book from the channel; it can be brought back for UNDO. Raises ReaderError for who may not change it."""
        card = await self._chosen(conversation, choice)
        check_change(reader, card.added_by)
        await self._store.shelf.withdraw(await self._channel(conversation), card.sha256, self._now())
        return card

    async def undo(self, conversation: Conversation, reader: Reader) -> BookCard:
        """Bring back the book removed last. Raises Missing when there is none or it was too long ago, ReaderError for who
        may not change it.
        """
        channel = await self._channel(conversation)
        added_by = await self._store.shelf.withdrawn(channel, self._now() - UNDO)
        if added_by is not None:
            check_change(reader, added_by)
        restored = await self._store.shelf.restore(channel, self._now() - UNDO)
        if restored is None:
            raise Missing("nothing_to_undo")
        return await self._chosen(conversation, restored)

    async def contents(self, conversation: Conversation, choice: str | None = None) -> tuple[BookCard, Contents]:
        """The structure of a book, up to the channel's limit."""
        card = await self._chosen(conversation, choice)
        return card, (await self._source(conversation, card)).contents()

    async def dump(self, conversation: Conversation, choice: str) -> ParsedBook:
        """Everything stored of a book: the operator's view, not limited."""
        card = await self._chosen(conversation, choice)
        return await self._store.books.parsed(card.sha256, card.text_version)

    # What is forgotten, for good

    def tidy_behind(self) -> None:
        """From now on, until `close`, delete behind the conversation what nobody has a right to and what is past its time."""
        self._lifecycle.start()

    async def sweep(self) -> Forgotten:
        """One such round."""
        return await self._lifecycle.sweep()

    async def forget_reader(self, platform: str, reader: str) -> Forgotten:
        """Everything about a reader of a platform: questions, private answers, places, what was opened."""
        return await self._lifecycle.forget_reader(platform, reader)

    async def forget_channel(self, conversation: Conversation, reader: Reader) -> Forgotten:
        """Everything of a channel, at once. Raises ReaderError for somebody who does not manage it."""
        _managing(reader)
        channel = await self._channel(conversation)
        async with self._turns.setdefault(channel, asyncio.Lock()):  # an answer under way ends first
            return await self._lifecycle.forget_channel(channel)

    async def forget_book(self, conversation: Conversation, reader: Reader, choice: str) -> tuple[BookCard, Forgotten]:
        """A book of a channel, at once and without undo. Raises ReaderError for somebody who does not manage it."""
        _managing(reader)
        card = await self._chosen(conversation, choice)
        channel = await self._channel(conversation)
        async with self._turns.setdefault(channel, asyncio.Lock()):
            return card, await self._lifecycle.forget_book(channel, card.sha256)

    async def forget_everywhere(self, sha256: str) -> Forgotten:
        """A book of all channels: for whoever runs the bot and must not keep it."""
        return await self._lifecycle.forget_everywhere(sha256)

    # Questions

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
        channel = await self._channel(question.conversation)
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
        turn = self._turns.setdefault(channel, asyncio.Lock())
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
        for event, turn in await self._store.turns.unshown(platform):
            channel = await self._channel(turn.conversation)
            yield Answered(await self._progress.told(channel, turn), event=event)

    async def flag(self, conversation: Conversation, reader: Reader, turn: str) -> None:
        """A reader calls an answer wrong: kept for whoever runs the bot. Raises Missing for another channel's."""
        await self._turn_here(conversation, turn)
        await self._store.turns.flag(turn, reader.id, self._now())

    async def delete_answer(self, conversation: Conversation, reader: Reader, turn: str) -> None:
        """Forget an answer with its notes. Raises Missing for another channel's, ReaderError for another's question."""
        await self._turn_here(conversation, turn)
        if not reader.manages and await self._store.turns.asker(turn) != reader.id:
            raise ReaderError("not_your_answer")
        await self._store.turns.delete(turn)

    async def _turn_here(self, conversation: Conversation, turn: str) -> Turn:
        found = await self._store.turns.get(turn)
        if found is None or await self._channel(found.conversation) != await self._channel(conversation):
            raise Missing("no_such_answer")
        return found

    async def latest(self, conversation: Conversation) -> Turn | None:
        """The channel's latest answer: what a bare footnote number means, also after a restart."""
        channel = await self._channel(conversation)
        turn = await self._store.turns.latest(channel, conversation.thread)
        return None if turn is None else await self._progress.told(channel, turn)

    async def model(self, conversation: Conversation, choice: str | None = None) -> tuple[str, tuple[str, ...]]:
        """The channel's model and those it may choose from; `choice` sets it. No index is rebuilt.

        Raises ReaderError for a name the operator does not offer.
        """
        channel = await self._channel(conversation)
        if choice is not None:
            if choice not in self._models:
                raise ReaderError("no_such_model", choice=choice, offered=" · ".join(self._models) or "–")
            await self._store.shelf.change_settings(channel, {MODEL_SETTING: choice})
        chosen = (await self._store.shelf.settings(channel)).get(MODEL_SETTING)
        return (chosen if chosen in self._models else self._default.name), tuple(self._models)

    # How far the club has read

    async def progress(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, words: str | None = None
    ) -> tuple[BookCard, Limit]:
        """The club's limit for a book; `words` ("finished 3", "page 120", "all") set it for everybody here.

        Raises ReaderError for words that name no place or more than one, and for who may not change it.
        """
        card = await self._chosen(conversation, choice)
        if words is not None:
            check_change(reader, card.added_by)
        return card, await self._progress.club(await self._channel(conversation), card, reader, words)

    async def undo_progress(
        self, conversation: Conversation, reader: Reader, choice: str | None = None
    ) -> tuple[BookCard, Limit]:
        """Take back the last change of the club's limit, for UNDO. Raises Missing when there is none."""
        card = await self._chosen(conversation, choice)
        check_change(reader, card.added_by)
        return card, await self._progress.take_back(await self._channel(conversation), card)

    async def place(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, words: str | None = None
    ) -> tuple[BookCard, Limit]:
        """The reader's own place; `words` set it, "all" ends it. It bounds what is private and warns on a press."""
        card = await self._chosen(conversation, choice)
        return card, await self._progress.place(await self._channel(conversation), card, reader, words)

    # Passages

    async def press(
        self,
        conversation: Conversation,
        note: str,
        *,
        reader: Reader | None = None,
        before: int = 0,
        after: int = 0,
        locale: str | None = None,
    ) -> Passage:
        """The passage behind a note's opaque id; `ahead` is set when it lies past the `reader`'s own place.

        Raises Missing for a foreign, unknown or no longer permitted note, ReaderError when the `reader` has opened as
        much of the book today as one may.
        """
        channel = await self._channel(conversation)
        pressed = await self._store.turns.footnote(note)
        if pressed is None or pressed.channel != channel:
            raise Missing("unknown_note")
        passage = await self._open(conversation, pressed.footnote, before, after, locale, reader)
        await self._count_passage(conversation, reader, passage)
        return passage

    async def is_note(self, id: str) -> bool:
        """True when a footnote's button carries this id, in whatever channel."""
        return await self._store.turns.footnote(id) is not None

    async def picture(
        self, conversation: Conversation, note: str, *, reader: Reader | None = None
    ) -> tuple[PagePicture, ...]:
        """The page picture(s) behind a note of a PDF, its range marked; empty when there is none to be had.

        What lies past the channel's limit is painted over; what a `reader` sees counts. Raises as `press` does.
        """
        channel = await self._channel(conversation)
        pressed = await self._store.turns.footnote(note)
        if pressed is None or pressed.channel != channel:
            raise Missing("unknown_note")
        drawn = await passages.draw(self._store, self._pictures, channel, pressed.footnote)
        if drawn:
            note_of = pressed.footnote
            source = await Source.open(self._store, channel, note_of.book, text_version=note_of.text_version)
            for picture in drawn:
                await self._count(conversation, reader, source, *reading.whole_file(source, picture.page))
        return drawn

    async def page(
        self,
        conversation: Conversation,
        book: str,
        at: Position,
        *,
        marked: Span | None = None,
        text_version: str | None = None,
        reader: Reader | None = None,
        locale: str | None = None,
    ) -> BookPage:
        """The stretch of a book (its sha256) around a place, as the reading view shows it; what a `reader` sees counts.

        Raises Missing for a book that is not here (any more) and for a place past the limit or not in the book;
        ReaderError as `press` does.
        """
        channel = await self._channel(conversation)
        source = await Source.open(self._store, channel, book, text_version=text_version)
        page = await reading.open_page(source, at, marked, locale)
        await self._count(conversation, reader, source, *reading.reach_of(source, page))
        return page

    async def page_picture(
        self,
        conversation: Conversation,
        book: str,
        file: int,
        *,
        marked: Span | None = None,
        text_version: str | None = None,
        reader: Reader | None = None,
        zoom: int = 1,
    ) -> PagePicture | None:
        """The picture of a page of a PDF, a range marked on it, what lies past the limit painted over; None when there
        is none to be had. Counts and raises as `page` does.
        """
        channel = await self._channel(conversation)
        source = await Source.open(self._store, channel, book, text_version=text_version)
        drawn = await reading.draw_page(self._store, self._pictures, source, file, marked, zoom)
        if drawn is not None:
            await self._count(conversation, reader, source, *reading.whole_file(source, file))
        return drawn

    async def _count(
        self, conversation: Conversation, reader: Reader | None, source: Source, start: int, end: int
    ) -> None:
        """Count what a reader opens of a book against what one may in a day; nobody in particular is the whole chat."""
        who = f"{conversation.platform}:{reader.id}" if reader else f"{conversation.platform}#{conversation.channel}"
        await self._purse.press(who, source.sha256, source.card.title, source.characters, start, end)

    async def _count_passage(
        self, conversation: Conversation, reader: Reader | None, passage: Passage, *, alone: bool = False
    ) -> None:
        """Count a passage with its surroundings, or the quoted run `alone`."""
        channel = await self._channel(conversation)
        source = await Source.open(self._store, channel, passage.book, text_version=passage.text_version)
        first, last = (passage.span.first, passage.span.last) if alone else (passage.first, passage.last)
        await self._count(conversation, reader, source, source.place_of(first), source.place_of(last))

    async def cover(self, conversation: Conversation, choice: str | None = None) -> bytes | None:
        """The cover picture as the book stores it, when it has one."""
        card = await self._chosen(conversation, choice)
        return await self._store.books.cover(card.sha256, card.text_version)

    async def open_tag(
        self,
        conversation: Conversation,
        choice: str | None,
        tag: str,
        *,
        reader: Reader | None = None,
        before: int = 0,
        after: int = 0,
        locale: str | None = None,
    ) -> Passage:
        """The passage of a tag such as `[f5-123-165]` in a book of this channel; it must be a run. Counts as `press` does."""
        card = await self._chosen(conversation, choice)
        read = tags.references(tag.strip().strip("[]"))
        span = read[0].span if read and len(read) == 1 else None
        if span is None:
            raise Missing("not_a_run", tag=tag)
        note = Footnote(0, tags.tag(span), card.sha256, card.text_version, span)
        passage = await self._open(conversation, note, before, after, locale, None)
        await self._count_passage(conversation, reader, passage)
        return passage

    async def find_quote(
        self,
        conversation: Conversation,
        wanted: str,
        choice: str | None = None,
        *,
        limit_words: str | None = None,
        reader: Reader | None = None,
        private: bool = False,
    ) -> tuple[BookCard, QuoteFound]:
        """Where these words stand, word for word or nearly. No model.

        Looked for up to the club's limit, `limit_words`, and, when only the `reader` sees the result (`private`), this
        one's own place. What it shows counts as a press does, and it raises ReaderError as that does.
        """
        if not wanted.strip():
            raise ReaderError("quote_empty")
        card = await self._chosen(conversation, choice)
        source = await self._source(conversation, card)
        if limit_words is not None:
            source = source.up_to(limit_words)
        if reader is not None and private:
            channel = await self._channel(conversation)
            source = source.within(await self._store.progress.place(channel, card.sha256, reader.id))
        match, found = await source.find(wanted)
        hits = []
        for spans in found:
            for span in spans:
                heading = " › ".join(source.heading_path(span.first))
                await self._count(conversation, reader, source, source.place_of(span.first), source.place_of(span.last))
                hits.append(QuoteHit(span, await source.text(span), heading, await source.run_at(span.first)))
        return card, QuoteFound(match, tuple(hits), source.limit)

    async def history(
        self, conversation: Conversation, last: int | None = None, locale: str | None = None
    ) -> tuple[Turn, ...]:
        """The chat's answers as they may be told today, oldest first; the `last` ones when given."""
        channel = await self._channel(conversation)
        turns = await self._store.turns.history(channel, conversation.thread, last)
        return tuple([await self._progress.told(channel, turn, locale) for turn in turns])

    async def export(
        self,
        conversation: Conversation,
        locale: str | None = None,
        *,
        form: exports.Form = "md",
        link: Callable[[Passage], str] | None = None,
        reader: Reader | None = None,
    ) -> str:
        """The channel's chat with its threads, or one thread, as one file: each note with its exact passage, its position
        and, given a `link`, the address where the reading view shows it. Each passage counts as a press does; one too
        many says so in its place. With a `reader`, what others asked in private is left out.
        """
        channel = await self._channel(conversation)
        if conversation.thread is None:
            kept_turns = await self._store.turns.whole(channel, None if reader is None else reader.id)
        else:
            kept_turns = await self._store.turns.history(channel, conversation.thread)
        turns = [turn for turn in kept_turns if turn.answer.document]
        if not turns:
            raise Missing("nothing_to_export")
        chat = []
        for kept in turns:
            turn = await self._progress.told(channel, kept, locale)
            notes = []
            for note in turn.answer.footnotes:
                try:
                    passage = await self._open(conversation, note, 0, 0, locale, None)
                    await self._count_passage(conversation, reader, passage, alone=True)
                    notes.append(exports.Opened(note.number, passage, None if link is None else link(passage)))
                except (Missing, BrokenPromise, ReaderError) as error:
                    notes.append(exports.Opened(note.number, error))
            chat.append(exports.Told(turn, notes))
        return exports.as_html(chat, locale) if form == "html" else exports.as_markdown(chat, locale)

    # After a restart

    async def resume(self, platform: str) -> AsyncGenerator[LibraryEvent | AskEvent, None]:
        """Take up what a crash left unfinished on this platform: uploads, then questions."""
        async for event in self._library.resume(platform):
            yield await self._enlisted(event) if isinstance(event, Ready) else event
        for row in await self._asking.unfinished(platform):
            async for answer in self._take_up(replace(row.question, patient=True)):
                yield answer

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

    async def _take_up(self, question: Question, *, interim: bool = True) -> AsyncGenerator[AskEvent, None]:
        """Answer a question on record; one that cannot be answered any more (its book is gone) holds up no other."""
        try:
            async with aclosing(self.ask(question, interim=interim)) as events:
                async for event in events:
                    yield event
        except ReaderError as error:
            await self._asking.give_up(question, error)
            yield Unanswered(question.text, Notice(error.key, error.params), question.event)

    # Which book, how far

    async def _channel(self, conversation: Conversation) -> int:
        return await self._store.shelf.channel(conversation, self._now())

    async def _source(self, conversation: Conversation, card: BookCard) -> Source:
        channel = await self._channel(conversation)
        return await Source.open(self._store, channel, card.sha256, text_version=card.text_version)

    async def _open(
        self,
        conversation: Conversation,
        note: Footnote,
        before: int,
        after: int,
        locale: str | None,
        reader: Reader | None,
    ) -> Passage:
        channel = await self._channel(conversation)
        place = None if reader is None else await self._store.progress.place(channel, note.book, reader.id)
        return await passages.open_passage(
            self._store,
            channel,
            note.book,
            note.text_version,
            note.span,
            note.tag,
            place=place,
            before=before,
            after=after,
            locale=locale,
        )

    async def _awaited(self, question: Question) -> str | None:
        """The file a question has to wait for: one that is being taken in where there is no book yet."""
        filename = self._library.arrivals.first(await self._channel(question.conversation))
        return None if filename is None or await self.shelf(question.conversation) else filename

    async def _meant(self, question: Question) -> list[BookCard]:
        earlier = await self._store.turns.get(question.reply_to) if question.reply_to else None
        replied_to = {sha256 for sha256, _ in earlier.books} if earlier else set()
        return choosing.meant(await self.shelf(question.conversation), question, replied_to)

    async def _chosen(self, conversation: Conversation, choice: str | None) -> BookCard:
        return choosing.chosen(await self.shelf(conversation), choice)


def _managing(reader: Reader) -> None:
    if not reader.manages:
        raise ReaderError("managers_only")
