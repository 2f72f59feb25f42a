"""Who reads where, what they ask, and what they get back: conversations, turns, passages, events. Stdlib only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.model.book import Chapter, Foretold, Notice, PageMark, Position, Span, TocEntry
from core.model.chat import Usage
from core.model.document import Document

if TYPE_CHECKING:
    from core.model.indexing import Estimate

Outcome = Literal["grounded", "not_in_book", "general_knowledge", "chat"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where people talk. Threads inherit the books of their channel; rights hang on (platform, channel)."""

    platform: str
    channel: str
    thread: str | None = None
    server: str | None = field(default=None, compare=False)
    """The server, workspace or community the channel is part of, where the platform has such: spending is capped on it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who speaks. `id` is the platform's."""

    id: str
    locale: str | None = None
    manages: bool = False
    """True when the platform says that this person may change things in this channel."""
    name: str = field(default="", compare=False, repr=False)
    """What others here call them, where a reply may have to say who did something: never stored, never sent to a model."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file somebody dropped. `event` is the unique key of the platform's event (P7)."""

    event: str
    conversation: Conversation
    reader: Reader
    path: Path
    filename: str
    password: str | None = None
    accept_partial: bool = False
    """True once the reader chose to go on with a book some of whose pages are pictures."""


@dataclass(frozen=True, slots=True)
class Question:
    event: str
    conversation: Conversation
    reader: Reader
    text: str
    book: str | None = None
    """What the reader wrote to name a book (title, number, id); None = the channel's current one."""
    limit_words: str | None = None
    evidence_tokens: int | None = None
    reply_to: str | None = None
    """The id of the turn whose message this one replies to."""
    without_book: bool = False
    """True on the explicit wish for general knowledge."""
    every_book: bool = False
    """True when all books of the channel are meant."""
    private: bool = False
    """True when nobody else reads the answer: then the reader's own place bounds it too."""
    go_on: bool = False
    """True when the answer `reply_to`, cut off by its length, is to be continued."""
    patient: bool = False
    """True in chats: while the provider is down the question is quoted to, kept, and answered when it is back."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How far the club has read. `position` is the first character not permitted; None = the whole book."""

    words: str = "all"
    position: Position | None = None

    def permits(self, span: Span) -> bool:
        """True when the whole span lies before the limit."""
        return self.position is None or span.last <= self.position


WHOLE_BOOK = Limit()


@dataclass(frozen=True, slots=True)
class BookCard:
    """What a shelf shows of a book."""

    sha256: str
    text_version: str
    title: str
    authors: tuple[str, ...]
    language: str
    format: str
    characters: int
    files: int
    chapters: int
    added_at: datetime
    current: bool = False
    warnings: tuple[Notice, ...] = ()
    machine_read: bool = False
    limit_words: str | None = None
    """How far the club has read; None while nobody has said."""
    added_by: str = ""
    """The platform's id of who added it; "" once that was forgotten."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The structure of a stored book without its text."""

    sha256: str
    text_version: str
    lengths: tuple[int, ...]
    """Characters of each spine file."""
    labels: tuple[str, ...]
    joins: tuple[str | None, ...]
    toc: tuple[TocEntry, ...]
    chapters: tuple[Chapter, ...]
    pages: tuple[PageMark, ...]
    blind: tuple[int, ...] = ()
    foretold: tuple[Foretold, ...] = ()
    """What the text lists of its own later places, in reading order."""


@dataclass(frozen=True, slots=True)
class Footnote:
    """A note of an answer: proven to be a run that was delivered to the model in this turn.

    `file` inside `tag` counts through all books of the turn; `span` is the place in `book`.
    """

    number: int
    tag: str
    book: str
    text_version: str
    span: Span
    id: str = ""
    """The opaque id a button carries; set when the turn is stored."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something tag-shaped that did not become a note, and why."""

    raw: str
    reason: Literal["malformed", "not_in_evidence", "general_knowledge"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader sees: a document whose `Cite(n)` point at `footnotes`."""

    document: Document
    footnotes: tuple[Footnote, ...]
    outcome: Outcome
    dropped: tuple[Dropped, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def cut(self) -> bool:
        """True when the model's length limit ended it, and there is something to go on with."""
        told = any(notice.key == "answer_cut" for notice in self.notices)
        return told and self.outcome in ("grounded", "general_knowledge")


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer, stored before it is shown."""

    id: str
    conversation: Conversation
    question: str
    answer: Answer
    books: tuple[tuple[str, str], ...]
    """(sha256, text_version) of each book the turn spans, in the order their files are numbered."""
    evidence: tuple[tuple[Span, ...], ...]
    """Delivered windows, best first; the runs inside one in reading order."""
    usage: Usage
    model: str
    limit: Limit
    asked_at: datetime
    stamps: Mapping[str, str] = field(default_factory=dict)
    """Prompt name -> version and hash."""
    reply_to: str | None = None
    """The id of the turn this one followed up."""
    further_limits: tuple[Limit, ...] = ()
    """How far each further book of the turn was permitted; `limit` is that of the first."""
    first_text_ms: int | None = None
    """Milliseconds from the beginning of work to the first text shown; None for turns from before this was kept."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The exact text behind a note, in its surroundings. No model, no search: a slice."""

    book: str
    title: str
    tag: str
    span: Span
    quote: str
    before: str
    after: str
    heading: str
    """The chapter or contents titles around it, outermost first, joined by " › "."""
    label: str
    """Position words: printed page, percent; in the locale asked for."""
    opening: str
    """The first words of the quote: what finds the place in another edition."""
    first: Position
    """Where `before` begins: what stepping back starts from."""
    last: Position
    more_before: bool
    more_after: bool
    machine_read: bool = False
    pictured: bool = False
    """True when the book has pages, so that a picture of this one may be had."""
    ahead: Limit | None = None
    """The reader's own place, when the passage lies past it: an adapter says so first, with a way to go on."""
    text_version: str = ""
    """With `book` and `span` it names the place for good."""


@dataclass(frozen=True, slots=True)
class BookPage:
    """A stretch of one spine file as the reading view shows it, cut at the club's limit."""

    book: str
    text_version: str
    title: str
    language: str
    file: int
    start: int
    """Where `text` begins in the file."""
    text: str
    marked: Span | None
    """What the reader came for; it may begin in the file before, where a word runs over a page break."""
    heading: str
    label: str
    """Position words, as in a passage."""
    toc: tuple[TocEntry, ...]
    """The contents up to the limit."""
    previous: Position | None
    following: Position | None
    """A place in the stretch before and after; None at the ends of what may be read."""
    cut: bool
    """True when the club's limit ends the text here."""
    paged: bool
    """True when the file is a page that has a picture."""
    machine_read: bool = False


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page of a PDF (from 0) with the range drawn on it."""

    page: int
    png: bytes = field(repr=False)
    top: float | None = None
    """Where on the page the range begins: 0 at its top, 1 at its bottom; None without one."""


@dataclass(frozen=True, slots=True)
class QuoteHit:
    span: Span
    quote: str
    heading: str
    run: Span | None = None
    """The tagged unit it begins in: what opens it in its surroundings."""


@dataclass(frozen=True, slots=True)
class QuoteFound:
    """`verbatim` folds typography only; one changed word is `near`."""

    match: Literal["verbatim", "near", "none"]
    hits: tuple[QuoteHit, ...]
    limit: Limit = WHOLE_BOOK
    """How far was looked."""
    full: bool = False
    """True when there are as many hits as are ever given: the words may stand in more places."""

    @property
    def told_by(self) -> str:
        """The key of the sentence that says how they were found."""
        if self.match == "none" and self.limit.position is not None:
            return "console_quote_none_so_far"
        return "console_quote_first" if self.full and self.match == "verbatim" else f"console_quote_{self.match}"


# Events of the journeys, in the order they may arrive.


@dataclass(frozen=True, slots=True)
class Accepted:
    """The upload is on disk and in the database: it survives a crash from here on."""

    filename: str
    size: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Extraction is under way in the boxed child."""

    stage: Literal["extract", "store"]


@dataclass(frozen=True, slots=True)
class Ready:
    """The book can be asked about. `known` is True when nothing had to be read again."""

    card: BookCard
    known: bool
    estimate: "Estimate | None" = None
    """What summarising it will take; None without a model. Where it `asks`, that waits for a yes."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An upload taken up after a restart could not become a book."""

    filename: str
    notice: Notice


LibraryEvent = Accepted | Reading | Ready | Refused


@dataclass(frozen=True, slots=True)
class Searching:
    """A tool is at work on these words."""

    words: str


@dataclass(frozen=True, slots=True)
class Drafting:
    """The answer so far: safe to show, numbers final, no piece of a tag."""

    document: Document
    footnotes: tuple[Footnote, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """The settled answer, already stored. `kept`: quoted meanwhile; the answer itself follows."""

    turn: Turn
    kept: bool = False
    event: str = ""
    """The key of the question's event."""
    alone: bool = False
    """Of one brought late: it was asked in private and without the book, and where others are, they are not shown it."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question taken up after a restart or an outage can no longer be answered."""

    question: str
    notice: Notice
    event: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The only book is still being read. The question is on record and answered as soon as that is done."""

    filename: str


AskEvent = Waiting | Searching | Drafting | Answered | Unanswered
