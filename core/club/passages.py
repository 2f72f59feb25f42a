"""Passages of the club: what a press, a tag, a quotation, the reading view and an export show; each counts for its reader."""

from collections.abc import Callable

from core import exports, passages, reading, tags
from core.club.channels import Channels
from core.errors import BrokenPromise, Missing, ReaderError
from core.formats.pictures import Pictures
from core.model import (
    BookCard,
    BookPage,
    Conversation,
    Footnote,
    PagePicture,
    Passage,
    Position,
    QuoteFound,
    QuoteHit,
    Reader,
    Span,
)
from core.progress import Progress
from core.quotes import MOST_HITS
from core.retrieval import Source
from core.spending import Purse
from core.store import Store


class Passages:
    """Lookups, within the channel's rights and limit and the reader's allowance of the day. No model."""

    def __init__(self, store: Store, channels: Channels, pictures: Pictures, progress: Progress, purse: Purse) -> None:
        self._store = store
        self._channels = channels
        self._pictures = pictures
        self._progress = progress
        self._purse = purse

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
        channel, footnote = await self._pressed(conversation, note)
        source = await Source.cited(self._store, channel, footnote)
        place = await self._place(channel, footnote.book, reader)
        passage = await passages.open_passage(
            source, footnote.span, footnote.tag, place=place, before=before, after=after, locale=locale
        )
        await self._count_passage(conversation, reader, source, passage)
        return passage

    async def is_note(self, id: str) -> bool:
        """True when a footnote's button carries this id, in whatever channel."""
        return await self._store.turns.footnote(id) is not None

    async def picture(
        self, conversation: Conversation, note: str, *, reader: Reader | None = None
    ) -> tuple[PagePicture, ...]:
        """The page picture(s) behind a note of a PDF, its range marked; empty when there is none to be had.

        What lies past the channel's limit is painted over, and what lies past the `reader`'s own place where the note does
        not; what a `reader` sees counts. Raises as `press` does.
        """
        channel, footnote = await self._pressed(conversation, note)
        source = await Source.cited(self._store, channel, footnote)
        nearer = source.within(await self._place(channel, footnote.book, reader))
        source = nearer if nearer.permits(footnote.span) else source
        drawn = await passages.draw(self._store, self._pictures, source, footnote)
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
        channel = await self._channels.number(conversation)
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
        channel = await self._channels.number(conversation)
        source = await Source.open(self._store, channel, book, text_version=text_version)
        drawn = await reading.draw_page(self._store, self._pictures, source, file, marked, zoom)
        if drawn is not None:
            await self._count(conversation, reader, source, *reading.whole_file(source, file))
        return drawn

    async def cover(self, conversation: Conversation, choice: str | None = None) -> bytes | None:
        """The cover picture as the book stores it, when it has one."""
        card = await self._channels.chosen(conversation, choice)
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
        """The passage of a tag such as `[f5-123-165]` in a book of this channel; it must be a run.

        Counts as `press` does, and is `ahead` as there.
        """
        card = await self._channels.chosen(conversation, choice)
        read = tags.references(tag.strip().strip("[]"))
        span = read[0].span if read and len(read) == 1 else None
        if span is None:
            raise Missing("not_a_run", tag=tag)
        source = await self._channels.source(conversation, card)
        place = await self._place(await self._channels.number(conversation), card.sha256, reader)
        passage = await passages.open_passage(
            source, span, tags.tag(span), place=place, before=before, after=after, locale=locale
        )
        await self._count_passage(conversation, reader, source, passage)
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
        card = await self._channels.chosen(conversation, choice)
        source = await self._channels.source(conversation, card)
        if limit_words is not None:
            source = source.up_to(limit_words)
        if reader is not None and private:
            channel = await self._channels.number(conversation)
            source = source.within(await self._store.progress.place(channel, card.sha256, reader.id))
        match, found = await source.find(wanted)
        hits = []
        for spans in found:
            for span in spans:
                heading = " › ".join(source.heading_path(span.first))
                await self._count(conversation, reader, source, source.place_of(span.first), source.place_of(span.last))
                hits.append(QuoteHit(span, await source.text(span), heading, await source.run_at(span.first)))
        return card, QuoteFound(match, tuple(hits), source.limit, full=len(found) >= MOST_HITS)

    async def export(
        self,
        conversation: Conversation,
        locale: str | None = None,
        *,
        form: exports.Form = "md",
        link: Callable[[Passage], str] | None = None,
        reader: Reader | None = None,
        alone: bool = False,
    ) -> str:
        """The channel's chat with its threads, or one thread, as one file: each note with its exact passage, its position
        and, given a `link`, the address where the reading view shows it. Each passage counts as a press does; one too
        many says so in its place. With a `reader`, what was asked in private is left out, but for their own where nobody else
        is (`alone`).
        """
        channel = await self._channels.number(conversation)
        mine = None if reader is None else reader.id if alone else ""
        if conversation.thread is None:
            kept_turns = await self._store.turns.whole(channel, mine)
        else:
            kept_turns = await self._store.turns.history(channel, conversation.thread, reader=mine)
        turns = [turn for turn in kept_turns if turn.answer.document]
        if not turns:
            raise Missing("nothing_to_export")
        chat = []
        for kept in turns:
            turn = await self._progress.told(channel, kept, locale)
            notes = []
            for note in turn.answer.footnotes:
                try:
                    source = await Source.cited(self._store, channel, note)
                    passage = await passages.open_passage(source, note.span, note.tag, locale=locale)
                    await self._count(
                        conversation, reader, source, source.place_of(note.span.first), source.place_of(note.span.last)
                    )
                    notes.append(exports.Opened(note.number, passage, None if link is None else link(passage)))
                except (Missing, BrokenPromise, ReaderError) as error:
                    notes.append(exports.Opened(note.number, error))
            chat.append(exports.Told(turn, notes))
        return exports.as_html(chat, locale) if form == "html" else exports.as_markdown(chat, locale)

    async def _place(self, channel: int, book: str, reader: Reader | None) -> str | None:
        """The reader's own place, in words."""
        return None if reader is None else await self._store.progress.place(channel, book, reader.id)

    async def _count(
        self, conversation: Conversation, reader: Reader | None, source: Source, start: int, end: int
    ) -> None:
        """Count what a reader opens of a book against what one may in a day; nobody in particular is the whole chat."""
        who = f"{conversation.platform}:{reader.id}" if reader else f"{conversation.platform}#{conversation.channel}"
        await self._purse.press(who, source.sha256, source.card.title, source.characters, start, end)

    async def _count_passage(
        self, conversation: Conversation, reader: Reader | None, source: Source, passage: Passage
    ) -> None:
        """Count a passage with its surroundings."""
        start, end = source.place_of(passage.first), source.place_of(passage.last)
        await self._count(conversation, reader, source, start, end)

    async def _pressed(self, conversation: Conversation, note: str) -> tuple[int, Footnote]:
        """The channel's number and the note with this id. Raises Missing for one that is not of this channel."""
        channel = await self._channels.number(conversation)
        pressed = await self._store.turns.footnote(note)
        if pressed is None or pressed.channel != channel:
            raise Missing("unknown_note")
        return channel, pressed.footnote
