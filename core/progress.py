"""How far the club has read, and each reader: set, taken back, told; and what of earlier answers may be told today."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from core.errors import Missing
from core.limits import Reach, told_within
from core.model import WHOLE_BOOK, BookCard, Limit, Paragraph, Reader, Text, Turn
from core.retrieval import Source
from core.store import Store
from core.strings import say

UNDO = timedelta(minutes=15)


class Progress:
    """The limits of the channels' books (hard) and of their readers (soft)."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def club(self, channel: int, card: BookCard, reader: Reader, words: str | None) -> Limit:
        """The club's limit; with `words` it is set first. Raises ReaderError for words that name no place."""
        source = await Source.open(self._store, channel, card.sha256, text_version=card.text_version)
        if words is None:
            return source.limit
        limit = source.read_limit(words)
        await self._store.progress.set_limit(channel, card.sha256, limit.words, reader.id, self._now())
        return limit

    async def take_back(self, channel: int, card: BookCard, words: str | None = None) -> Limit:
        """Undo the last change of the club's limit; with `words` only while it is this one.

        Raises Missing when there is none or it was too long ago.
        """
        if not await self._store.progress.take_back(channel, card.sha256, self._now() - UNDO, words):
            raise Missing("progress_nothing_to_undo")
        source = await Source.open(self._store, channel, card.sha256, text_version=card.text_version)
        return source.limit

    async def place(self, channel: int, card: BookCard, reader: Reader, words: str | None) -> Limit:
        """The reader's own place, the whole book when there is none; with `words` it is set first ("all" ends it)."""
        source = await Source.open(self._store, channel, card.sha256, text_version=card.text_version)
        if words is None:
            return source.kept_limit(await self._store.progress.place(channel, card.sha256, reader.id))
        limit = source.read_limit(words)
        kept = None if limit.position is None else limit.words
        await self._store.progress.set_place(channel, card.sha256, reader.id, kept, self._now())
        return limit

    async def told(self, channel: int, turn: Turn, locale: str | None = None) -> Turn:
        """An earlier answer as it may be told under the limits of now: its words, or one sentence in their place.

        Its notes stay: each opens, or says by itself why it does not.
        """
        if not turn.answer.document:  # its words are not kept any more
            key = "answer_forgotten"
        elif await self._may_be_told(channel, turn):
            return turn
        else:
            key = "beyond_limit_answer"
        sentence = (Paragraph((Text(say(key, locale)),)),)
        return replace(turn, answer=replace(turn.answer, document=sentence, notices=(), dropped=()))

    async def _may_be_told(self, channel: int, turn: Turn) -> bool:
        books = []
        for sha256, text_version in turn.books:
            try:
                source = await Source.open(self._store, channel, sha256, text_version=text_version)
            except Missing:  # taken away since; that lifts no limit
                contents = await self._store.books.contents(sha256, text_version)
                limited = await self._store.progress.limit_words(channel, sha256) not in (None, WHOLE_BOOK.words)
                if limited or contents is None:
                    return False
                books.append(Reach(len(contents.lengths), WHOLE_BOOK))
            else:
                books.append(source.reach)
        return told_within(turn, books)
