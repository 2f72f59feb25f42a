"""What the tests of the store share: where a store lies, raw access behind its back, and small books."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from core.model import (
    Answer,
    Chapter,
    Cite,
    Conversation,
    Footnote,
    Limit,
    Notice,
    PageMark,
    Paragraph,
    ParsedBook,
    Position,
    Question,
    Reader,
    Segment,
    Span,
    SpineFile,
    Text,
    TocEntry,
    Turn,
    Upload,
    Usage,
)
from core.store import Store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROOM = Conversation("console", "local")
READER = Reader("reader-1", "en")


def minute(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


@dataclass(frozen=True)
class Place:
    """Where a store lies: SQLite inside `folder` when `url` is empty."""

    url: str
    folder: Path

    async def open(self) -> Store:
        return await Store.open(self.url, self.folder)

    def raw(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement on a connection of our own, committed: what a flipped bit or another program does."""
        if not self.url:
            connection = sqlite3.connect(self.folder / "loccit.db")
            try:
                with connection:
                    return connection.execute(statement, values).fetchall()
            finally:
                connection.close()
        with psycopg.connect(self.url) as served:
            cursor = served.execute(statement.replace("?", "%s").encode("utf-8"), values)
            return cursor.fetchall() if cursor.description else []


def book_of(*texts: str, title: str = "A Tale", text_version: str = "1", run: int = 40) -> ParsedBook:
    """A book with these spine files; runs of `run` characters, a chapter and a segment a file that has text."""
    full = [index for index, text in enumerate(texts) if text]
    spans = [(Position(index, 0), Position(index, len(texts[index]))) for index in full]
    return ParsedBook(
        title=title,
        authors=("Ann Author", "Bo Beiträger"),
        language="en",
        format="epub",
        text_version=text_version,
        files=tuple(
            SpineFile(index, f"p{index}", text, " " if index == 0 else None) for index, text in enumerate(texts)
        ),
        runs=tuple(
            Span(index, start, min(start + run, len(text)))
            for index, text in enumerate(texts)
            for start in range(0, len(text), run)
        ),
        toc=tuple(TocEntry(f"Chapter {index}", 1, index, 0) for index in full),
        chapters=tuple(Chapter(n, f"Chapter {n}", *span) for n, span in enumerate(spans, 1)),
        segments=tuple(Segment(n, f"Part {n}", *span) for n, span in enumerate(spans)),
        pages=(PageMark("iv", 0, 0),),
        warnings=(Notice("pages_without_text", {"count": 2}),),
        blind=tuple(index for index, text in enumerate(texts) if not text),
        cover=b"\x89PNG\0picture",
    )


def sha(number: int) -> str:
    return f"{number:064x}"


def upload_of(event: str, path: Path = Path("/nowhere"), conversation: Conversation = ROOM) -> Upload:
    return Upload(event, conversation, READER, path, "tale.epub", password="secret", accept_partial=True)


def question_of(event: str, text: str = "Who came?", conversation: Conversation = ROOM) -> Question:
    return Question(
        event, conversation, READER, text, "tale", "in 3", 4000, "t0", without_book=True, every_book=True, private=True
    )


def turn_of(id: str, notes: Iterable[str] = (), conversation: Conversation = ROOM, question: str = "Who came?") -> Turn:
    footnotes = tuple(
        Footnote(number, f"[f0-{number}-{number + 9}]", sha(1), "1", Span(0, number, number + 9), note)
        for number, note in enumerate(notes, 1)
    )
    document = (Paragraph((Text("The bear"), *(Cite(footnote.number) for footnote in footnotes))),)
    return Turn(
        id=id,
        conversation=conversation,
        question=question,
        answer=Answer(document, footnotes, "grounded"),
        books=((sha(1), "1"),),
        evidence=((Span(0, 1, 10), Span(0, 10, 20)), (Span(1, 0, 5),)),
        usage=Usage(2, 1000, 50),
        model="offline",
        limit=Limit("in 3", Position(2, 7)),
        asked_at=NOON,
        stamps={"answer": "3:abc"},
        reply_to="t0",
    )
