"""Questions to talk about, as a model or the book itself offers them: only what carries a proven note may stand."""

import re
from collections.abc import Sequence

from core import prompts
from core.errors import OperatorError, UpstreamError
from core.footnotes import settle
from core.footnotes.reasoning import Reasoning
from core.limits import say_limit
from core.meeting.material import read_up, telling
from core.meeting.means import Means, failed
from core.meeting.proven import Notes, Pieces, proven_line, quoted, runs_of, words_of
from core.meeting.recaps import language, titles
from core.model import ChatModel, Cite, Conversation, Document, Notice, Paragraph, Position, Quote, Reader, Span, Text
from core.retrieval import Evidence, Source
from core.strings import say

QUESTIONS = 5
CALLS = 3
"""Calls of the model for one draft at most: what is not proven by then is made up for with passages."""
RUNS = 3
"""Notes of one question."""
LONGEST = 600
"""Characters of a question."""

_ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\W{0,2}\d{1,2}[.)])\s)")
_MARK = re.compile(r"^\s*(?:[-*•]\s+)?(?:\W{0,2}\d{1,2}[.)]\s*)?")


async def offered(
    means: Means,
    conversation: Conversation,
    reader: Reader,
    source: Source,
    count: int,
    known: Sequence[str] = (),
    *,
    enough: int = QUESTIONS,
) -> tuple[list[tuple[Document, tuple[Span, ...]]], tuple[Notice, ...]]:
    """Questions with the runs that prove them; passages to talk about make up for what a model did not bring."""
    model = await means.speaker(conversation, reader)
    notices: tuple[Notice, ...] = () if model else (Notice("discuss_passages"),)
    found: list[tuple[Document, tuple[Span, ...]]] = []
    if model is not None:
        try:
            questions = await _written(means, model, source, count, known, enough, reader.locale)
            found = [_as_document(pieces, source, means) for pieces in questions]
        except (UpstreamError, OperatorError) as error:
            notices = (failed(error.key, error.params)[0], Notice("discuss_passages"))
    missing = enough - len(found)
    if missing > 0:
        asked = Text(say("discuss_what_of_this", reader.locale))
        taken = {run for _, runs in found for run in runs}
        for run, text in await telling(source, Position(0, 0), 2 * count + len(known)):
            if missing > 0 and run not in taken and not any(text in one for one in known):
                found.append(((Paragraph((asked,)), quoted(text, Cite(1))), (run,)))
                missing -= 1
    return found, notices


async def _written(
    means: Means, model: ChatModel, source: Source, count: int, known: Sequence[str], enough: int, locale: str | None
) -> list[Pieces]:
    """What a model asks: only what carries a note, and no tag that was not delivered now."""
    evidence, text = await read_up(source, Position(0, 0), means.ranks, model, await means.budgets())
    reach = say_limit(source.limit) if source.bounded else ""
    card = prompts.book_card(source.card.title, source.card.authors, reach)
    found: list[Pieces] = []
    for _ in range(CALLS):
        asked = [*known, *map(words_of, found)]
        prompt = prompts.discuss(card, text, language(locale), count - len(found), asked)
        draft, _ = await means.reply(model, prompt, "discuss", source.sha256)
        for question in accepted(draft, evidence, source):
            if len(found) < count and words_of(question) not in asked:
                found.append(question)
                asked.append(words_of(question))
        if len(found) >= enough:
            break
    return found


def accepted(draft: str, evidence: Evidence, source: Source) -> list[Pieces]:
    """The questions of a model's draft that may stand: each has a note, and none has a tag that was not delivered."""
    text, _ = Reasoning(False).feed(draft, final=True)
    found = []
    for item in _ITEM.split(text):
        line = _MARK.sub("", item, count=1).strip()
        if not line:
            continue
        settled = settle(line, evidence.texts, evidence.passages(), exempt=titles(source), language=source.language)
        pieces = proven_line(settled)
        said = words_of(pieces)
        if not settled.dropped and 1 <= len(runs_of(pieces)) <= RUNS and 10 <= len(said) <= LONGEST:
            found.append(pieces)
    return found


def _as_document(pieces: Pieces, source: Source, means: Means) -> tuple[Document, tuple[Span, ...]]:
    notes = Notes(Evidence([source]), means.new_id)
    document = (Paragraph(notes.inline(pieces)),)
    return document, tuple(note.span for note in notes.footnotes)


def plain_words(document: Document) -> str:
    """The words of a question, with what it quotes."""
    parts: list[str] = []
    for block in document:
        if isinstance(block, Quote):
            parts.append(plain_words(block.children))
        elif isinstance(block, Paragraph):
            parts.append("".join(child.text for child in block.children if isinstance(child, Text)).strip())
    return " ".join(parts)
