"""What has happened so far: three to six sentences, each with its note, never past the limit; and how much comes next."""

from dataclasses import dataclass

from core import prompts
from core.errors import OperatorError, ReaderError, UpstreamError
from core.footnotes import settle
from core.limits import say_limit
from core.meeting.material import read_up, telling
from core.meeting.means import Means, failed
from core.meeting.outline import PACE, PACE_CJK, outline
from core.meeting.proven import Notes, Pieces, proven_sentences, quoted
from core.model import (
    Answer,
    Block,
    BookCard,
    ChatModel,
    Conversation,
    Inline,
    Limit,
    Notice,
    Paragraph,
    Position,
    Reader,
    Text,
)
from core.retrieval import Evidence, Source
from core.strings import say

LEAST, MOST = 3, 6
"""Sentences of a recap."""


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The chapter to be read next. `title` is empty where the limit does not permit it."""

    number: int
    title: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Recap:
    card: BookCard
    limit: Limit
    answer: Answer
    upcoming: Upcoming | None
    """None when the whole book has been read."""


class Recaps:
    """Recaps for a reader or for the club."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def recap(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, *, mine: bool = False
    ) -> Recap:
        """What has been read, by the club or (`mine`) by the reader, who is never told more than the club.

        Raises ReaderError when nothing has been read yet, Missing for a book that is not here.
        """
        means = self._means
        card = await means.card(conversation, choice)
        source = await means.source(conversation, card, reader if mine else None)
        if not await source.runs_between(Position(0, 0), source.end):
            raise ReaderError("recap_nothing_read", title=card.title)
        answer = await self._told(conversation, reader, source)
        now = await means.source(conversation, card, reader if mine else None)
        if not all(now.permits(note.span) for note in answer.footnotes):
            # The limit moved back while the model was at work: what it wrote is not shown.
            source, answer = now, await self._quoted(now, ())
        await means.keep_notes(conversation, answer.footnotes)
        return Recap(card, source.limit, answer, await self._upcoming(source))

    async def _told(self, conversation: Conversation, reader: Reader, source: Source) -> Answer:
        model = await self._means.speaker(conversation, reader)
        if model is None:
            return await self._quoted(source, (Notice("quotes_only"),))
        try:
            found = await self._written(model, source, reader.locale)
        except (UpstreamError, OperatorError) as error:
            return await self._quoted(source, failed(error.key, error.params))
        return found or await self._quoted(source, ())

    async def _written(self, model: ChatModel, source: Source, locale: str | None) -> Answer | None:
        """The model's sentences that are proven; None when they are too few after a second attempt."""
        evidence, text = await read_up(source, Position(0, 0), self._means.ranks, model, await self._means.budgets())
        reach = say_limit(source.limit) if source.bounded else ""
        card = prompts.book_card(source.card.title, source.card.authors, reach)
        for attempt in (1, 2):
            prompt = prompts.recap(card, text, language(locale), again=attempt > 1)
            draft, reason = await self._means.reply(model, prompt, "recap", source.sha256)
            settled = settle(
                draft,
                evidence.texts,
                evidence.passages(),
                exempt=titles(source),
                language=source.language,
                reason=reason,
            )
            sentences = proven_sentences(settled)[:MOST]
            if len(sentences) >= LEAST:
                return self._answer(sentences, evidence)
        return None

    def _answer(self, sentences: list[Pieces], evidence: Evidence) -> Answer:
        notes = Notes(evidence, self._means.new_id)
        line: list[Inline] = []
        for pieces in sentences:
            line += [*([Text(" ")] if line else []), *notes.inline(pieces)]
        return Answer((Paragraph(tuple(line)),), notes.footnotes, "grounded")

    async def _quoted(self, source: Source, notices: tuple[Notice, ...]) -> Answer:
        """The book in its own words."""
        notes = Notes(Evidence([source]), self._means.new_id)
        found = await telling(source, Position(0, 0), MOST)
        blocks: tuple[Block, ...] = tuple(quoted(text, notes.cite(run)) for run, text in found)
        return Answer(blocks, notes.footnotes, "grounded", notices=notices)

    async def _upcoming(self, source: Source) -> Upcoming | None:
        contents = await self._means.store.books.contents(source.sha256, source.text_version)
        following = [one for one in outline(contents) if one.end > source.end] if contents and source.bounded else []
        if not following:
            return None
        one = following[0]
        title = next((chapter.title for chapter in source.chapters if chapter.number == one.number), "")
        left = one.characters if one.start >= source.end else source.place_of(one.end) - source.place_of(source.end)
        pace = PACE_CJK if source.language in ("zh", "ja", "ko") else PACE
        return Upcoming(one.number, title, max(1, round(left / pace)))


def titles(source: Source) -> list[str]:
    """What may stand in quotation marks beside the book's own words."""
    return [source.card.title, *(chapter.title for chapter in source.chapters)]


def language(locale: str | None) -> str:
    """What a model is told to write in: the reader's language, where it is known."""
    return say("language_name", locale) if locale else "the language of the book"
