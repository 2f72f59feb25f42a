"""The weekly digest, off until somebody wants it: what was opened most, what stayed open, where everybody is. By the limit of now."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from core import hours
from core.errors import Missing
from core.meeting.means import Means, manages
from core.meeting.outline import spelled
from core.meeting.proven import quoted
from core.meeting.wall import next_at
from core.model import BookCard, Cite, Conversation, Footnote, Letter, Limit, Passage, Quote, Reader
from core.progress import Progress
from core.tags import tag

DIGEST = "digest"
"""The channel's setting: True when it wants one."""
HOUR = time(9)
"""Mondays at nine, by the channel's clock."""
PASSAGES = QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class Opened:
    """A passage that was opened so often; `note` opens it."""

    mention: Quote
    note: Footnote
    presses: int


@dataclass(frozen=True, slots=True)
class Digest:
    opened: tuple[Opened, ...]
    questions: tuple[str, ...]
    """What was asked and not found."""
    card: BookCard | None
    limit: Limit | None
    """How far the club is, when it has said so."""
    places: tuple[tuple[Limit, int], ...]
    """How many readers are where, of those who said so and are behind the club; nobody is named."""


class Digests:
    """Counts what is opened, where that is wanted, and tells it once a week."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._progress = Progress(means.store, means.now)

    async def set(self, conversation: Conversation, reader: Reader, wanted: bool) -> None:
        """For whoever manages the chat."""
        manages(reader)
        channel = await self._means.channel(conversation)
        await self._means.store.shelf.change_settings(channel, {DIGEST: True if wanted else None})
        if wanted:
            await self._owe_next(conversation)

    async def opened(self, conversation: Conversation, passage: Passage) -> None:
        """Somebody opened a passage; counted only where the channel wants a digest, and without a name."""
        means = self._means
        channel = await means.channel(conversation)
        settings = await means.store.shelf.settings(channel)
        if settings.get(DIGEST):
            week = _week(means.now().astimezone(hours.zone_of(settings)).date())
            await means.store.quotations.opened(channel, week, passage.book, passage.text_version, passage.span)

    async def of_week(self, letter: Letter) -> Digest | None:
        """What a letter tells of the week before it; the next one is owed. None when there is nothing to tell."""
        means = self._means
        conversation = letter.conversation
        channel = await means.channel(conversation)
        settings = await means.store.shelf.settings(channel)
        if not settings.get(DIGEST):
            return None
        await self._owe_next(conversation)
        day = letter.due.astimezone(hours.zone_of(settings)).date() - timedelta(days=1)
        week = _week(day)
        await means.store.quotations.forget_opened(channel, week)
        passages = await self._passages(conversation, channel, week)
        questions = await self._questions(channel, letter.due - timedelta(days=7))
        card, limit, places = await self._places(conversation, channel)
        if not passages and not questions and not places:
            return None
        await means.keep_notes(conversation, [one.note for one in passages])
        return Digest(passages, questions, card, limit, places)

    async def _passages(self, conversation: Conversation, channel: int, week: str) -> tuple[Opened, ...]:
        means = self._means
        found: list[Opened] = []
        for row in await means.store.quotations.most_opened(channel, (week,)):
            card = await means.store.shelf.card(channel, row.book)
            # Unasked nothing is told of a book whose readers have not said how far they are.
            if card is None or card.limit_words is None or card.text_version != row.text_version:
                continue
            source = await means.source(conversation, card)
            if not await source.is_run(row.span):
                continue
            number = len(found) + 1
            note = Footnote(number, tag(row.span), row.book, row.text_version, row.span, means.new_id())
            found.append(Opened(quoted(await source.text(row.span), Cite(number)), note, row.presses))
            if len(found) == PASSAGES:
                break
        return tuple(found)

    async def _questions(self, channel: int, since: datetime) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for turn in reversed(await self._means.store.turns.whole(channel, since=since)):  # threads as well
            if turn.answer.outcome != "not_in_book" or not turn.question:
                continue
            if any(notice.key == "quotes_at_limit" for notice in turn.answer.notices):
                continue  # nothing was asked of a model, perhaps not even of the book: it is no open question
            told = await self._progress.told(channel, turn)
            if told.answer.document == turn.answer.document:
                found[" ".join(turn.question.split())] = None
        return tuple(found)[:QUESTIONS]

    async def _places(
        self, conversation: Conversation, channel: int
    ) -> tuple[BookCard | None, Limit | None, tuple[tuple[Limit, int], ...]]:
        means = self._means
        try:
            card = await means.card(conversation, None)
        except Missing:
            return None, None, ()
        if card.limit_words is None:
            return card, None, ()
        source = await means.source(conversation, card)
        contents = await means.store.books.contents(card.sha256, card.text_version)
        counts: Counter[str] = Counter()
        for words in await means.store.progress.places(channel, card.sha256):
            position = source.kept_limit(words).position
            behind = position is not None and (source.limit.position is None or position < source.limit.position)
            if contents is not None and behind:
                counts[spelled(contents, position)] += 1
        ordered = sorted(
            ((source.kept_limit(words), count) for words, count in counts.items()),
            key=lambda one: one[0].position or source.end,
        )
        return card, source.limit, tuple(ordered)

    async def _owe_next(self, conversation: Conversation) -> None:
        means = self._means
        zone = hours.zone_of(await means.store.shelf.settings(await means.channel(conversation)))
        due = next_at(means.now(), HOUR, zone, 7)
        id = f"digest:{conversation.platform}:{conversation.channel}:{conversation.thread or ''}:{due:%Y-%m-%d}"
        await means.post.owe(Letter(id, conversation, "digest", due))


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"
