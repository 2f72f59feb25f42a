"""A whole club in one process for tests of the journeys: real store, real ranking, a model of the test's choosing."""

import asyncio
import hashlib
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from core.club import Club
from core.document import plain
from core.formats.runs import cut_runs
from core.lifecycle import Keeping
from core.model import (
    Answered,
    AskEvent,
    Chapter,
    ChatModel,
    Conversation,
    Drafting,
    ParsedBook,
    Position,
    Question,
    Reader,
    Segment,
    Span,
    SpineFile,
    TocEntry,
    Turn,
)
from core.offline import OfflineReader
from core.spending import Terms
from core.store import Store
from tests.books import lantern
from tests.books.long_text import chapter
from tests.empty import make_empty

ROOM = Conversation("console", "local")
ELSEWHERE = Conversation("console", "elsewhere")
MEMBER = Reader("member", "en")


def lantern_house(*, dial: bool = False) -> ParsedBook:
    """*The Lantern House* with the very runs of the cases; `dial` adds file 4 of case C23."""
    files = list(lantern.FILES)
    runs = dict(lantern.RUNS)
    if dial:
        files.append(SpineFile(4, "", lantern.DIAL_TEXT))
        runs[lantern.DIAL] = lantern.DIAL_TEXT
    return book_of(files, sorted(runs), lantern.CHAPTERS, "The Lantern House")


def long_book(chapters: int = 12, characters: int = 16_000) -> ParsedBook:
    """A book that is never given whole: chapters of made-up days, no sentence like another."""
    texts = ["The Log of Days", *("\n\n".join(chapter(number, characters)) for number in range(1, chapters + 1))]
    files = [SpineFile(number, "", text) for number, text in enumerate(texts)]
    titles = [f"Part {number}" for number in range(1, chapters + 1)]
    return book_of(files, [run for file in files for run in cut_runs(file)], titles, "The Log of Days")


def book_of(
    files: Sequence[SpineFile], runs: Sequence[Span], titles: Sequence[str], title: str, language: str = "en"
) -> ParsedBook:
    """A book whose chapters are the files after the first (the title page)."""
    places = [(Position(number, 0), name) for number, name in enumerate(titles, 1)]
    ends = [*(place for place, _ in places[1:]), Position(len(files) - 1, len(files[-1].text))]
    return ParsedBook(
        title=title,
        authors=("A. Keeper",),
        language=language,
        format="epub",
        text_version="test-1",
        files=tuple(files),
        runs=tuple(runs),
        toc=tuple(TocEntry(name, 1, place.file, place.offset) for place, name in places),
        chapters=tuple(
            Chapter(number, name, place, end)
            for number, ((place, name), end) in enumerate(zip(places, ends, strict=True), 1)
        ),
        segments=tuple(
            Segment(number, name, place, end)
            for number, ((place, name), end) in enumerate(zip(places, ends, strict=True))
        ),
    )


@dataclass
class Clock:
    """A day that moves only when told to."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


@dataclass
class TestClub:
    """A club, its store and clock, and the words a test says to it."""

    __test__ = False

    club: Club
    store: Store
    clock: Clock
    events: list[AskEvent] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(time.time_ns()))

    async def shelve(self, book: ParsedBook, conversation: Conversation = ROOM) -> str:
        """Put a book on the shelf as if it had been uploaded and read; its id."""
        sha256 = hashlib.sha256(book.title.encode()).hexdigest()
        await self.store.books.save(sha256, book, self.clock())
        channel = await self.store.shelf.channel(conversation, self.clock())
        await self.store.shelf.grant(channel, sha256, book.text_version, "member", f"{book.title}.epub", self.clock())
        return sha256

    async def ask(
        self,
        text: str,
        *,
        event: str | None = None,
        conversation: Conversation = ROOM,
        reader: Reader = MEMBER,
        book: str | None = None,
        evidence_tokens: int | None = 4_000,
        reply_to: str | None = None,
        without_book: bool = False,
        every_book: bool = False,
        go_on: bool = False,
        patient: bool = False,
    ) -> Turn:
        """The answered turn; what was yielded on the way stands in `events`. A book is not given whole by default."""
        question = Question(
            event or f"event-{next(self._numbers)}",
            conversation,
            reader,
            text,
            book,
            evidence_tokens=evidence_tokens,
            reply_to=reply_to,
            without_book=without_book,
            every_book=every_book,
            go_on=go_on,
            patient=patient,
        )
        self.events = [event async for event in self.club.questions.ask(question)]
        last = self.events[-1]
        assert isinstance(last, Answered)
        return last.turn

    def drafts(self) -> list[str]:
        """Every draft of the last answer as plain text."""
        return [plain(event.document) for event in self.events if isinstance(event, Drafting)]


def said(turn: Turn) -> str:
    return plain(turn.answer.document)


@asynccontextmanager
async def held(folder: Path) -> AsyncIterator[None]:
    """Nothing can be written meanwhile: what the club in this folder puts on record takes its time."""
    with closing(sqlite3.connect(folder / "loccit.db", timeout=0)) as database:

        def free() -> bool:
            try:
                database.execute("begin immediate")
            except sqlite3.OperationalError:
                return False
            return True

        async with asyncio.timeout(10):
            while not free():  # noqa: ASYNC110  # a lock of the database
                await asyncio.sleep(0.02)
        yield


@asynccontextmanager
async def open_club(
    folder: Path,
    model: ChatModel | None = None,
    *,
    steady: bool = False,
    recognise: str = "",
    models: Mapping[str, ChatModel] | None = None,
    window: Callable[[], Awaitable[int]] | None = None,
    terms: Terms | None = None,
    keeping: Keeping | None = None,
    clock: Clock | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[TestClub]:
    """A club on a folder; opening the same folder again is a restart. `steady` stops the clock that spaces drafts."""
    clock = clock or Clock()
    ids = count(int(time.time_ns()))
    make_empty(folder)
    store = await Store.open("", folder)
    offline = OfflineReader()
    club = Club(
        store,
        model or offline,
        offline,
        folder,
        now=clock,
        clock=time.monotonic if not steady else count(0, 1).__next__,
        new_id=lambda: f"id{next(ids)}",
        recognise=recognise,
        models=models,
        window=window,
        terms=terms,
        keeping=keeping,
        sleep=sleep,
    )
    try:
        yield TestClub(club, store, clock)
    finally:
        await club.close()
