"""The one object adapters see: rights, order within a channel, which book is meant; errors leave as keys with a sentence."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from datetime import datetime
from pathlib import Path

from core.asking import Asking
from core.club.channels import Channels
from core.club.editions import Editions
from core.club.passages import Passages
from core.club.questions import Questions
from core.club.summaries import Summarising
from core.errors import BrokenPromise, Missing, ReaderError
from core.formats.pictures import Pictures
from core.ledgered import Ledgered
from core.library import Library
from core.lifecycle import Keeping, Lifecycle
from core.meeting import Meeting
from core.model import (
    AskEvent,
    BookCard,
    ChatModel,
    Contents,
    Conversation,
    Forgotten,
    LibraryEvent,
    Limit,
    ParsedBook,
    Reader,
    Ready,
    Upload,
)
from core.post import Post
from core.progress import UNDO, Progress
from core.retrieval import Ranks
from core.rights import check_change
from core.spending import Metered, Purse, Terms
from core.store import Store
from core.summaries import Indexing, Jobs, Summaries


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
        if model is not fallback:
            model = Ledgered(Metered(model, self._purse), store.ledger, now)
        others = {
            name: Ledgered(Metered(other, self._purse), store.ledger, now) for name, other in (models or {}).items()
        }
        asking = Asking(
            store,
            self._ranks,
            lambda name: others.get(name or "", model),
            fallback,
            window,
            now=now,
            clock=clock,
            new_id=new_id,
        )
        self._progress = Progress(store, now)
        self._channels = Channels(store, now)
        self.passages = Passages(store, self._channels, self._pictures, self._progress, self._purse)
        """What a press shows, and every other way to a passage."""
        self.questions = Questions(
            store, self._channels, asking, self._library, self._progress, self._terms, model, others, now
        )
        """Questions, answered in their turn."""
        self.post = Post(store, now=now, new_id=new_id)
        """What adapters keep over a restart: events, messages, letters, buttons."""
        self.meeting = Meeting(
            store,
            self.post,
            self._ranks,
            lambda name: others.get(name or "", model),
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
        jobs, behind = None, None
        if model is not fallback:
            jobs = Jobs(store, Summaries(store, model, window), self._terms, now=now, new_id=new_id, sleep=sleep)
            behind = Indexing(store, jobs, now=now, sleep=sleep, works=works)
        self.summaries = Summarising(self._channels, jobs, behind)
        """What summaries of the books take, and how far they are."""
        self.editions = Editions(store, self._channels, self._library, self.summaries, self._terms, now)
        """Who may bring books; reading one anew, replacing one by another."""

    async def close(self) -> None:
        """End what is at work and close every door, also when one of them fails."""
        async with AsyncExitStack() as doors:
            doors.push_async_callback(self._store.close)
            doors.callback(self._ranks.close)
            doors.push_async_callback(self._pictures.close)
            doors.push_async_callback(self.summaries.close)
            doors.push_async_callback(self._lifecycle.close)

    # Books

    async def add_book(self, upload: Upload, *, replaces: str | None = None) -> AsyncGenerator[LibraryEvent, None]:
        """Take a file in and yield how it goes; the last event is `Ready`.

        A new edition `replaces` a book of this channel (`choice`): it takes its place, its use and the club's limit, and
        the old one can be brought back for UNDO. Raises BadBook, OperatorError, and ReaderError for somebody who may not add books.
        """
        await self.editions.admit(upload.conversation, upload.reader)
        old = None
        if replaces is not None:
            card = await self._channels.chosen(upload.conversation, replaces)
            check_change(upload.reader, card.added_by)
            old = card.sha256
        async with aclosing(self._library.add(upload, old)) as events:
            async for event in events:
                yield await self.summaries.enlist(event, upload.conversation) if isinstance(event, Ready) else event

    async def settings(self, conversation: Conversation) -> Mapping[str, object]:
        """What was set for the channel: `locale`, `uploads` (everyone, managers), `ask_first`; what was not is absent."""
        return await self._store.shelf.settings(await self._channels.number(conversation))

    async def change_settings(
        self, conversation: Conversation, reader: Reader, changes: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Set what `settings` names; None brings the default back. Raises ReaderError for who does not manage it."""
        if not reader.manages:
            raise ReaderError("managers_only")
        unknown = changes.keys() - {"locale", "uploads", "ask_first"}
        if unknown:
            raise BrokenPromise("setting_unknown")
        return await self._store.shelf.change_settings(await self._channels.number(conversation), changes)

    async def move(self, conversation: Conversation, channel: str) -> bool:
        """The platform gave a channel another id: books, settings, answers and buttons go along. False when unknown."""
        return await self._store.shelf.move(conversation.platform, conversation.channel, channel)

    async def shelf(self, conversation: Conversation) -> tuple[BookCard, ...]:
        """The channel's books in the order they came; `current` marks the one chosen by `use`."""
        return await self._channels.shelf(conversation)

    async def book(self, conversation: Conversation, choice: str | None = None) -> BookCard:
        """The book that words name; None: the one in use or the only one. Raises Missing as `choosing.chosen` does."""
        return await self._channels.chosen(conversation, choice)

    async def use(self, conversation: Conversation, reader: Reader, choice: str) -> BookCard:
        """Make a book the one that questions without a name are about. Raises ReaderError for who may not change it."""
        card = await self._channels.chosen(conversation, choice)
        check_change(reader, card.added_by)
        await self._store.shelf.use(await self._channels.number(conversation), card.sha256)
        return card

    async def remove(self, conversation: Conversation, reader: Reader, choice: str | None = None) -> BookCard:
        """Take a book from the channel; it can be brought back for UNDO. Raises ReaderError for who may not change it."""
        card = await self._channels.chosen(conversation, choice)
        check_change(reader, card.added_by)
        await self._store.shelf.withdraw(await self._channels.number(conversation), card.sha256, self._now())
        return card

    async def undo(self, conversation: Conversation, reader: Reader, book: str | None = None) -> BookCard:
        """Bring back the book removed last, or this one (its sha256). Raises Missing when there is none or it was too long ago, ReaderError for who
        may not change it.
        """
        channel = await self._channels.number(conversation)
        added_by = await self._store.shelf.withdrawn(channel, self._now() - UNDO, book)
        if added_by is not None:
            check_change(reader, added_by)
        restored = await self._store.shelf.restore(channel, self._now() - UNDO, book)
        if restored is None:
            raise Missing("nothing_to_undo")
        return await self._channels.chosen(conversation, restored)

    async def contents(self, conversation: Conversation, choice: str | None = None) -> tuple[BookCard, Contents]:
        """The structure of a book, up to the channel's limit."""
        card = await self._channels.chosen(conversation, choice)
        return card, (await self._channels.source(conversation, card)).contents()

    async def dump(self, conversation: Conversation, choice: str) -> ParsedBook:
        """Everything stored of a book: the operator's view, not limited."""
        card = await self._channels.chosen(conversation, choice)
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
        channel = await self._channels.number(conversation)
        async with self.questions.turn(channel):  # an answer under way ends first
            return await self._lifecycle.forget_channel(channel)

    async def forget_book(self, conversation: Conversation, reader: Reader, choice: str) -> tuple[BookCard, Forgotten]:
        """A book of a channel, at once and without undo. Raises ReaderError for somebody who does not manage it."""
        _managing(reader)
        card = await self._channels.chosen(conversation, choice)
        channel = await self._channels.number(conversation)
        async with self.questions.turn(channel):
            return card, await self._lifecycle.forget_book(channel, card.sha256)

    async def forget_everywhere(self, sha256: str) -> Forgotten:
        """A book of all channels: for whoever runs the bot and must not keep it."""
        return await self._lifecycle.forget_everywhere(sha256)

    # Questions

    # How far the club has read

    async def progress(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, words: str | None = None
    ) -> tuple[BookCard, Limit]:
        """The club's limit for a book; `words` ("finished 3", "page 120", "all") set it for everybody here.

        Raises ReaderError for words that name no place or more than one, and for who may not change it.
        """
        card = await self._channels.chosen(conversation, choice)
        if words is not None:
            check_change(reader, card.added_by)
        return card, await self._progress.club(await self._channels.number(conversation), card, reader, words)

    async def undo_progress(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, words: str | None = None
    ) -> tuple[BookCard, Limit]:
        """Take back the last change of the club's limit, for UNDO; with `words` only the one to this limit.

        Raises Missing when there is none.
        """
        card = await self._channels.chosen(conversation, choice)
        check_change(reader, card.added_by)
        return card, await self._progress.take_back(await self._channels.number(conversation), card, words)

    async def place(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, words: str | None = None
    ) -> tuple[BookCard, Limit]:
        """The reader's own place; `words` set it, "all" ends it. It bounds what is private and warns on a press."""
        card = await self._channels.chosen(conversation, choice)
        return card, await self._progress.place(await self._channels.number(conversation), card, reader, words)

    # Passages

    # After a restart

    async def resume(self, platform: str) -> AsyncGenerator[LibraryEvent | AskEvent, None]:
        """Take up what a crash left unfinished on this platform: uploads, then questions."""
        async for event in self._library.resume(platform):
            yield await self.summaries.enlist(event) if isinstance(event, Ready) else event
        async for answer in self.questions.resume(platform):
            yield answer

    # Which book, how far


def _managing(reader: Reader) -> None:
    if not reader.manages:
        raise ReaderError("managers_only")
