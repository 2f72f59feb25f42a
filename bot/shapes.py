"""The JSON that headless commands print: values -> plain objects, field names in the order the README gives. Pure."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from core import document
from core.model import BookCard, Limit, Notice, ParsedBook, Passage, Position, QuoteFound, Turn
from core.strings import tell

if TYPE_CHECKING:
    from core.spending.tallies import Tally
    from core.summaries import Summarised

Json = dict[str, object]


def text(card: BookCard, book: ParsedBook, locale: str) -> Json:
    return {
        "book": {
            "sha256": card.sha256,
            "title": book.title,
            "authors": list(book.authors),
            "language": book.language,
            "format": book.format,
            "text_version": book.text_version,
        },
        "files": [
            {
                "index": file.index,
                "label": file.label,
                "text": file.text,
                "sha256": sha256(file.text.encode("utf-8")).hexdigest(),
                "join": file.join,
            }
            for file in book.files
        ],
        "toc": [
            {"title": entry.title, "depth": entry.depth, "file": entry.file, "offset": entry.offset}
            for entry in book.toc
        ],
        "chapters": [
            {
                "number": chapter.number,
                "title": chapter.title,
                "start": _position(chapter.start),
                "end": _position(chapter.end),
            }
            for chapter in book.chapters
        ],
        "runs": [list(run) for run in book.runs],
        "segments": [
            {
                "sequence": segment.sequence,
                "title": segment.title,
                "start": _position(segment.start),
                "end": _position(segment.end),
                "summary": segment.summary,
            }
            for segment in book.segments
        ],
        "warnings": [_notice(warning, locale) for warning in book.warnings],
    }


def answer(turn: Turn, passages: Sequence[Passage], locale: str) -> Json:
    """`passages` are those of the footnotes, in their order."""
    return {
        "question": turn.question,
        "outcome": turn.answer.outcome,
        "text": document.plain(turn.answer.document),
        "footnotes": [
            {
                "number": note.number,
                "tag": note.tag,
                "file": note.span.file,
                "start": note.span.start,
                "end": note.span.end,
                "quote": passage.quote,
                "heading": passage.heading,
                "label": passage.label,
            }
            for note, passage in zip(turn.answer.footnotes, passages, strict=True)
        ],
        "evidence": [list(run) for window in turn.evidence for run in window],
        "dropped": [{"raw": dropped.raw, "reason": dropped.reason} for dropped in turn.answer.dropped],
        "notices": [_notice(notice, locale) for notice in turn.answer.notices],
        "usage": {
            "calls": turn.usage.calls,
            "input_tokens": turn.usage.input_tokens,
            "output_tokens": turn.usage.output_tokens,
        },
        "model": turn.model,
        "limit": _limit(turn.limit),
    }


def indexed(card: BookCard, last: "Summarised", seconds: float, state: str) -> Json:
    """`state`: done, paused (goes on with the next call) or failed (somebody has to mend something first)."""
    return {
        "book": card.sha256,
        "segments": last.total,
        "calls": last.usage.calls,
        "input_tokens": last.usage.input_tokens,
        "output_tokens": last.usage.output_tokens,
        "seconds": round(seconds, 3),
        "state": state,
    }


def passage(passage: Passage) -> Json:
    return {
        "tag": passage.tag,
        "file": passage.span.file,
        "start": passage.span.start,
        "end": passage.span.end,
        "quote": passage.quote,
        "before": passage.before,
        "after": passage.after,
        "heading": passage.heading,
        "label": passage.label,
    }


def quote(found: QuoteFound) -> Json:
    limit = _limit(found.limit)
    return {
        "match": found.match,
        "hits": [
            {
                "file": hit.span.file,
                "start": hit.span.start,
                "end": hit.span.end,
                "quote": hit.quote,
                "heading": hit.heading,
            }
            for hit in found.hits
        ],
        **({"limit": limit} if limit else {}),
    }


def _limit(limit: Limit) -> Json | None:
    """The first character not permitted; None when the whole book may be read."""
    at = limit.position
    return {"words": limit.words, "file": at.file, "offset": at.offset} if at else None


def _position(position: Position) -> list[int]:
    return [position.file, position.offset]


def _notice(notice: Notice, locale: str) -> Json:
    return {"key": notice.key, "message": tell(notice, locale)}


def tally(found: "Tally") -> Json:
    return {
        "period": found.period,
        "calls": found.calls,
        "input_tokens": found.input_tokens,
        "output_tokens": found.output_tokens,
        "money": found.amount / 1_000_000,
        "unsettled": found.unsettled,
        "answers": found.answers,
        "outcomes": dict(found.outcomes),
        "tags": found.tags,
        "dropped": found.dropped,
        "drops_per_100_tags": found.drops_per_100_tags,
        "first_text_ms": {"median": found.median_ms, "p95": found.p95_ms},
    }
