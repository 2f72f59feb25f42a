"""The quote wall: passages saved for all, liked, exported; and the quote of the day from what has been read."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from core import document, hours
from core.errors import Missing, ReaderError
from core.meeting.material import LONGEST, is_whole
from core.meeting.means import Means
from core.meeting.proven import quoted
from core.meeting.sourced import Link, sourced
from core.model import (
    BookCard,
    Cite,
    Conversation,
    Footnote,
    Letter,
    Paragraph,
    Passage,
    Quote,
    Reader,
    Span,
    Text,
)
from core.retrieval import Source
from core.sentences import sentences
from core.store import QuotationRow
from core.strings import say
from core.tags import tag
from core.words import is_cjk

DAILY = "daily_quote"
"""The channel's setting: the hour of the quote of the day; absent: none."""
MORNING = 9
SHORTEST = 40
"""Characters of a quote of the day at least; a third of that in CJK."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A quotation on the wall; `note` opens it."""

    id: str
    text: str
    heading: str
    note: Footnote
    votes: int


@dataclass(frozen=True, slots=True)
class Daily:
    """The quote of a day."""

    card: BookCard
    quotation: Quote
    heading: str
    note: Footnote


class Wall:
    """Saves, lists, likes, exports. Everything by the limit of now."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def save(self, conversation: Conversation, reader: Reader, passage: Passage) -> bool:
        """Hang an opened passage up; False when it hangs there."""
        means = self._means
        row = QuotationRow(means.new_id(), passage.book, passage.text_version, passage.span, reader.id, means.now())
        return await means.store.quotations.save(await means.channel(conversation), row)

    async def all(self, conversation: Conversation, mine: Reader | None = None) -> tuple[Saved, ...]:
        """The wall as it may be seen now, the most liked first, numbered from 1. `mine`: also up to this reader's place."""
        channel = await self._means.channel(conversation)
        sources: dict[tuple[str, str], Source | None] = {}
        found: list[Saved] = []
        for row in await self._means.store.quotations.all(channel):
            source = await self._source(channel, row, sources, mine)
            if source is None or not await source.is_run(row.span):
                continue
            heading = " › ".join(source.heading_path(row.span.first))
            note = Footnote(len(found) + 1, tag(row.span), row.book, row.text_version, row.span, self._means.new_id())
            found.append(Saved(row.id, await source.text(row.span), heading, note, row.votes))
        return tuple(found)

    async def show(self, conversation: Conversation, reader: Reader, saved: tuple[Saved, ...]) -> None:
        """Let the buttons of these answer; what is shown counts as opened by the reader."""
        channel = await self._means.channel(conversation)
        for one in saved:
            note = one.note
            source = await Source.cited(self._means.store, channel, note)
            await self._means.count(conversation, reader, source, [note.span])
        await self._means.keep_notes(conversation, [one.note for one in saved])

    async def like(self, conversation: Conversation, reader: Reader, id: str) -> bool:
        """Like a quotation, or take that back; True when it is liked now."""
        channel = await self._means.channel(conversation)
        liked = await self._means.store.quotations.vote(channel, id, reader.id)
        if liked is None:
            raise Missing("quotes_gone")
        return liked

    async def take_down(
        self, conversation: Conversation, reader: Reader, number: int, mine: Reader | None = None
    ) -> None:
        """For whoever hung it up or manages the chat. `mine`: by the numbers of that list."""
        channel = await self._means.channel(conversation)
        saved = await self.all(conversation, mine)
        if not 1 <= number <= len(saved):
            raise Missing("quotes_no_such", number=number)
        rows = {row.id: row for row in await self._means.store.quotations.all(channel)}
        row = rows[saved[number - 1].id]
        if not reader.manages and row.reader != reader.id:
            raise ReaderError("managers_only")
        await self._means.store.quotations.remove(channel, row.id)

    async def export(
        self,
        conversation: Conversation,
        reader: Reader,
        locale: str | None,
        link: Link | None,
        mine: Reader | None = None,
    ) -> str:
        """The wall as Markdown, each with its exact source. Raises Missing for an empty one."""
        channel = await self._means.channel(conversation)
        saved = await self.all(conversation, mine)
        if not saved:
            raise Missing("quotes_none")
        await self.show(conversation, reader, saved)
        parts = [f"# {say('quotes_title', locale)}"]
        for one in saved:
            parts.append(await sourced(self._means, channel, conversation, one.note, locale, link))
            if one.votes:
                parts.append(document.markdown((Paragraph((Text(say("quotes_votes", locale, count=one.votes)),)),)))
        return "\n\n".join(parts) + "\n"

    # The quote of the day

    async def set_daily(self, conversation: Conversation, reader: Reader, hour: int | None) -> None:
        """From now on a quote each day at this hour of the channel's zone; None: no more."""
        if not reader.manages:
            raise ReaderError("managers_only")
        if hour is not None and not 0 <= hour <= 23:
            raise ReaderError("schedule_quiet_how")
        channel = await self._means.channel(conversation)
        await self._means.store.shelf.change_settings(channel, {DAILY: hour})
        if hour is not None:
            await self._owe_next(conversation)

    async def of_the_day(self, letter: Letter) -> Daily | None:
        """What the letter brings, the same whenever it is asked; the next one is owed. None: nothing to say today.

        A sentence comes again only when all have been, and none before somebody has said how far the club is.
        """
        means = self._means
        conversation = letter.conversation
        channel = await means.channel(conversation)
        if (await means.store.shelf.settings(channel)).get(DAILY) is None:
            return None
        await self._owe_next(conversation)
        try:
            card = await means.card(conversation, None)
        except Missing:
            return None
        if card.limit_words is None:
            return None
        source = await means.source(conversation, card)
        shown = await means.store.quotations.of_letter(letter.id)
        span = shown.span if shown is not None and shown.book == card.sha256 else None
        if span is None:
            span = await self._picked(channel, source, letter.id)
            if span is None:
                return None
            await means.store.quotations.show(channel, letter.id, card.sha256, card.text_version, span)
        run = await source.run_at(span.first)
        if run is None:
            return None
        note = Footnote(1, tag(run), card.sha256, card.text_version, run, means.new_id())
        await means.keep_notes(conversation, [note])
        heading = " › ".join(source.heading_path(span.first))
        return Daily(card, quoted(await source.text(span), Cite(1)), heading, note)

    async def _picked(self, channel: int, source: Source, letter: str) -> Span | None:
        """A sentence that was shown least often, any of those: the letter's id decides."""
        shown = await self._means.store.quotations.shown(channel, source.sha256, source.text_version)
        offered = await quotable(source)
        if not offered:
            return None
        least = min(shown.get(span, 0) for span in offered)
        fresh = [span for span in offered if shown.get(span, 0) == least]
        return fresh[int.from_bytes(hashlib.sha256(letter.encode()).digest()[:8]) % len(fresh)]

    async def _owe_next(self, conversation: Conversation) -> None:
        means = self._means
        settings = await means.store.shelf.settings(await means.channel(conversation))
        zone = hours.zone_of(settings)
        at = time(int(settings.get(DAILY, MORNING)))
        due = next_at(means.now(), at, zone, 1)
        day = f"{due.astimezone(zone):%Y-%m-%d}"
        id = f"daily:{conversation.platform}:{conversation.channel}:{conversation.thread or ''}:{day}"
        await means.post.owe(Letter(id, conversation, "quote_of_the_day", due))

    async def _source(
        self,
        channel: int,
        row: QuotationRow,
        sources: dict[tuple[str, str], Source | None],
        mine: Reader | None,
    ) -> Source | None:
        key = (row.book, row.text_version)
        if key not in sources:
            try:
                source = await Source.open(self._means.store, channel, row.book, text_version=row.text_version)
                if mine is not None:
                    source = source.within(await self._means.store.progress.place(channel, row.book, mine.id))
                sources[key] = source
            except Missing:
                sources[key] = None
        return sources[key]


def next_at(now: datetime, at: time, zone: ZoneInfo, days: int) -> datetime:
    """The next moment, after now, at which the clock there shows `at`; `days` apart from the one before (7: a Monday)."""
    here = now.astimezone(zone)
    day = here.date() + timedelta(days=(7 - here.weekday()) % 7 if days == 7 else 0)
    while (due := hours.moment(datetime.combine(day, at), zone)) <= now:
        day += timedelta(days=days)
    return due


async def quotable(source: Source) -> list[Span]:
    """Every whole sentence of the permitted text that can be read at a glance, in reading order."""
    found: list[Span] = []
    for file in range(source.files):
        for text, group in await source.stretches(await source.runs(file)):
            begin = group[0].start
            for run in group:
                for start, end in sentences(text, run.start - begin, run.end - begin):
                    sentence = text[start:end]
                    part = 3 if is_cjk(sentence[:1]) else 1
                    if SHORTEST // part <= len(sentence) <= LONGEST // part and is_whole(sentence):
                        found.append(Span(file, begin + start, begin + end))
    return found
