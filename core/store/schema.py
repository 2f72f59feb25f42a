"""The tables. A change here needs a new file in `migrations/versions` (a test compares the two)."""

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


class Moment(TypeDecorator[datetime]):
    """A time with a zone going in, UTC coming out; SQLite has no zones and keeps the bare UTC time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def clean(words: str) -> str:
    """The words as a text column gives them back: NUL and lone surrogates, which PostgreSQL refuses, as U+FFFD."""
    return words.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Words(TypeDecorator[str]):
    """Text from people and from books' title pages, put through `clean`."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


class Json(TypeDecorator[Any]):
    """A JSON value as ASCII text: every character survives on both databases."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


# SQLite numbers rows only in a plain INTEGER (64 bits there); elsewhere turns outgrow 32 bits within years.
_big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _number() -> sa.Column[int]:
    return sa.Column("id", _big, primary_key=True)


channel = sa.Table(
    "channel",
    metadata,
    _number(),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("external", sa.Text, nullable=False),
    sa.Column("settings", Json, nullable=False),
    sa.Column("current", sa.String(64), nullable=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.UniqueConstraint("platform", "external"),
)

book = sa.Table(
    "book",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("created_at", Moment, nullable=False),
)

# What one version of the extractor made of one book. Never changed; a new extractor adds a row.
extraction = sa.Table(
    "extraction",
    metadata,
    _number(),
    sa.Column("book", sa.ForeignKey("book.sha256"), nullable=False),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("title", Words, nullable=False),
    sa.Column("authors", Json, nullable=False),
    sa.Column("language", Words, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("characters", sa.Integer, nullable=False),
    sa.Column("files", sa.Integer, nullable=False),
    sa.Column("chapters", sa.Integer, nullable=False),
    sa.Column("warnings", Json, nullable=False),
    sa.Column("machine_read", sa.Boolean, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("structure", sa.LargeBinary, nullable=False),
    sa.Column("structure_hash", sa.LargeBinary, nullable=False),
    # last: whole pages lie behind it, and rows are read from the front
    sa.Column("cover", sa.LargeBinary, nullable=True),
    sa.UniqueConstraint("book", "text_version"),
)

spine_file = sa.Table(
    "spine_file",
    metadata,
    sa.Column("extraction", sa.ForeignKey("extraction.id"), primary_key=True),
    sa.Column("file", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("runs", sa.LargeBinary, nullable=False),
    sa.Column("runs_hash", sa.LargeBinary, nullable=False),
)

piece = sa.Table(
    "piece",
    metadata,
    sa.Column("extraction", sa.ForeignKey("extraction.id"), primary_key=True),
    sa.Column("file", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("text", sa.LargeBinary, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)

segment = sa.Table(
    "segment",
    metadata,
    sa.Column("extraction", sa.ForeignKey("extraction.id"), primary_key=True),
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("title", Words, nullable=False),
    sa.Column("start_file", sa.Integer, nullable=False),
    sa.Column("start_offset", sa.Integer, nullable=False),
    sa.Column("end_file", sa.Integer, nullable=False),
    sa.Column("end_offset", sa.Integer, nullable=False),
    sa.Column("summary", Words, nullable=True),
    sa.Column("stamp", sa.Text, nullable=True),
    sa.Column("flags", Json, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)

# "right" is a word of SQL's own.
rights = sa.Table(
    "rights",
    metadata,
    _number(),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("book", sa.ForeignKey("book.sha256"), nullable=False, index=True),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("filename", Words, nullable=False),
    sa.Column("added_by", sa.Text, nullable=False),
    sa.Column("added_at", Moment, nullable=False),
    sa.Column("removed_at", Moment, nullable=True),
    sa.Column("was_current", sa.Boolean, nullable=False),
    # how far the club has read; stays when the book is taken away and comes back
    sa.Column("limit_words", Words, nullable=True),
    sa.Column("limit_before", Words, nullable=True),
    sa.Column("limit_by", sa.Text, nullable=True),
    sa.Column("limit_at", Moment, nullable=True),
    sa.UniqueConstraint("channel", "book"),
)

# How far one reader says to have read, where it differs from the club.
place = sa.Table(
    "place",
    metadata,
    sa.Column("channel", sa.ForeignKey("channel.id"), primary_key=True),
    sa.Column("book", sa.ForeignKey("book.sha256"), primary_key=True),
    sa.Column("reader", sa.Text, primary_key=True),
    sa.Column("limit_words", Words, nullable=False),
    sa.Column("set_at", Moment, nullable=False),
)

_open = sa.text("state in ('accepted', 'kept')")
_unshown = sa.text("shown_at is null")

upload = sa.Table(
    "upload",
    metadata,
    _number(),
    sa.Column("event", sa.Text, nullable=False, unique=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("locale", sa.Text, nullable=True),
    sa.Column("filename", Words, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("accept_partial", sa.Boolean, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("error", Json, nullable=False),
    sa.Column("accepted_at", Moment, nullable=False),
    sa.Column("ended_at", Moment, nullable=True),
    sa.Index("ix_upload_open", "channel", sqlite_where=_open, postgresql_where=_open),
)

question = sa.Table(
    "question",
    metadata,
    _number(),
    sa.Column("event", sa.Text, nullable=False, unique=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("locale", sa.Text, nullable=True),
    sa.Column("text", Words, nullable=False),
    sa.Column("book", Words, nullable=True),
    sa.Column("limit_words", Words, nullable=True),
    sa.Column("evidence_tokens", sa.Integer, nullable=True),
    sa.Column("reply_to", sa.Text, nullable=True),
    sa.Column("without_book", sa.Boolean, nullable=False),
    sa.Column("every_book", sa.Boolean, nullable=False),
    sa.Column("private", sa.Boolean, nullable=False),
    sa.Column("go_on", sa.Boolean, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("error", Json, nullable=False),
    sa.Column("accepted_at", Moment, nullable=False),
    sa.Column("ended_at", Moment, nullable=True),
    # what a question that is taken up after a restart still counts against
    sa.Column("server", sa.Text, nullable=True),
    sa.Index("ix_question_open", "channel", sqlite_where=_open, postgresql_where=_open),
)

turn = sa.Table(
    "turn",
    metadata,
    sa.Column("sequence", _big, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("question", sa.ForeignKey("question.id"), nullable=True, unique=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("reply_to", sa.Text, nullable=True),
    sa.Column("asked", Words, nullable=False),
    sa.Column("document", Json, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("dropped", Json, nullable=False),
    sa.Column("notices", Json, nullable=False),
    sa.Column("books", Json, nullable=False),
    sa.Column("evidence", Json, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("stamps", Json, nullable=False),
    sa.Column("limit_words", Words, nullable=False),
    sa.Column("limit_file", sa.Integer, nullable=True),
    sa.Column("limit_offset", sa.Integer, nullable=True),
    sa.Column("asked_at", Moment, nullable=False),
    sa.Column("first_text_ms", sa.Integer, nullable=True),
    # when somebody saw it; empty while it waits for whoever can show it
    sa.Column("shown_at", Moment, nullable=True),
    sa.Index("ix_turn_unshown", "channel", sqlite_where=_unshown, postgresql_where=_unshown),
    sa.Index("ix_turn_channel", "channel", "thread", "sequence"),
)

# Complete replies of models by the exact request: what was paid for once is never asked again.
llm_call = sa.Table(
    "llm_call",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("book", sa.String(64), nullable=True, index=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("stamp", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("result", Json, nullable=False),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("at", Moment, nullable=False),
)

# What one reader, channel, server or all spent in one day or month, calls under way included.
spent = sa.Table(
    "spent",
    metadata,
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("period", sa.String(10), primary_key=True),
    sa.Column("amount", sa.BigInteger, nullable=False),
)

# One call of a model: its estimate while it is under way (or was when the process died), then what it cost.
charge = sa.Table(
    "charge",
    metadata,
    _number(),
    sa.Column("day", sa.String(10), nullable=False, index=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("settled", sa.Boolean, nullable=False),
)

# Which stretches of a book a reader opened on a day; offsets count through all its files.
opened = sa.Table(
    "opened",
    metadata,
    _number(),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("book", sa.String(64), nullable=False),
    sa.Column("day", sa.String(10), nullable=False),
    sa.Column("start", sa.BigInteger, nullable=False),
    sa.Column("end", sa.BigInteger, nullable=False),
    sa.Index("ix_opened_reader", "reader", "book", "day"),
)

# What is known of a model by its name: what `doctor` found out, whether it sends reasoning without an opening mark.
model = sa.Table(
    "model",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("facts", Json, nullable=False),
)

# Kept longer than the prose of a turn, so that old buttons still answer: it stands on its own.
footnote = sa.Table(
    "footnote",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("turn", sa.Text, nullable=False, index=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("book", sa.String(64), nullable=False),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("file", sa.Integer, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("tag", sa.Text, nullable=False),
)

# What a platform told us, as it came, until it has been dealt with: written before the platform hears that it arrived.
event = sa.Table(
    "event",
    metadata,
    _number(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("platform", sa.Text, nullable=False),
    # what is dealt with in the order it came: one chat
    sa.Column("lane", sa.Text, nullable=False),
    # emptied when it is done: the question has a row of its own by then
    sa.Column("payload", Json, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("done_at", Moment, nullable=True, index=True),
    sa.Index(
        "ix_event_open",
        "platform",
        sqlite_where=sa.text("done_at is null"),
        postgresql_where=sa.text("done_at is null"),
    ),
)

# Which message of a platform shows which part of what we had to say: a restart goes on there instead of posting again.
delivery = sa.Table(
    "delivery",
    metadata,
    _number(),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("part", sa.Integer, nullable=False),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    # empty while it is not known whether the platform took it
    sa.Column("message", sa.Text, nullable=True),
    sa.Column("turn", sa.Text, nullable=True, index=True),
    sa.Column("at", Moment, nullable=False),
    sa.UniqueConstraint("key", "part"),
    sa.Index("ix_delivery_message", "channel", "message"),
)

# What has to be said unasked, and from when on.
letter = sa.Table(
    "letter",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("params", Json, nullable=False),
    sa.Column("due", Moment, nullable=False),
    sa.Column("done_at", Moment, nullable=True),
    sa.Index(
        "ix_letter_open", "due", sqlite_where=sa.text("done_at is null"), postgresql_where=sa.text("done_at is null")
    ),
)

# What a button that is no footnote does; the button carries the id alone.
button = sa.Table(
    "button",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    # who alone may press it; empty = everybody here
    sa.Column("reader", sa.Text, nullable=True),
    sa.Column("action", Json, nullable=False),
    sa.Column("at", Moment, nullable=False, index=True),
)

# Small things a platform's adapter keeps over a restart: what a server cannot do, which passage stands open where.
memo = sa.Table(
    "memo",
    metadata,
    sa.Column("platform", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", Json, nullable=False),
    sa.Column("until", Moment, nullable=True, index=True),
)

# Answers a reader called wrong, for whoever runs the bot to look at.
flag = sa.Table(
    "flag",
    metadata,
    sa.Column("turn", sa.Text, primary_key=True),
    sa.Column("reader", sa.Text, primary_key=True),
    sa.Column("at", Moment, nullable=False),
)

# Whether and how a book's summaries are made. How far they are, the segments say.
job = sa.Table(
    "job",
    metadata,
    _number(),
    sa.Column("book", sa.String(64), nullable=False),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, index=True),
    # how many unfinished books its channel had before it: channels take turns
    sa.Column("rank", sa.Integer, nullable=False),
    # failures in a row
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("notice", Json, nullable=False),
    sa.Column("until", Moment, nullable=True),
    # the run that is at it, and its last sign of life by the database's clock
    sa.Column("owner", sa.Text, nullable=True),
    sa.Column("seen_at", Moment, nullable=True),
    sa.Column("changed_at", Moment, nullable=False, index=True),
    sa.UniqueConstraint("book", "text_version"),
)

# --- meeting: what a club plans, says and keeps together. Every table has `channel`: it is forgotten with it. ---

# Questions to talk about, drafted for one book up to one place; `reader` prepares them.
discussion = sa.Table(
    "discussion",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("book", sa.String(64), nullable=False, index=True),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("limit_words", Words, nullable=False),
    sa.Column("posted_at", Moment, nullable=True),
    sa.Column("at", Moment, nullable=False),
)

# One question of a discussion. Its id is that of the turn that shows it once it is posted.
topic = sa.Table(
    "topic",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("discussion", sa.ForeignKey("discussion.id"), nullable=False, index=True),
    # its place among the others; empty while it is only in reserve
    sa.Column("place", sa.Integer, nullable=True),
    sa.Column("document", Json, nullable=False),
    sa.Column("runs", Json, nullable=False),
    sa.Column("kept", sa.Boolean, nullable=False),
)

# What somebody answered to a posted question, where the channel agreed to that being kept.
remark = sa.Table(
    "remark",
    metadata,
    sa.Column("event", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("topic", sa.Text, nullable=False, index=True),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("words", Words, nullable=False),
    sa.Column("at", Moment, nullable=False),
)

# When the club wants to be how far. `local` is the wall clock in `zone`; `due` the moment that is.
appointment = sa.Table(
    "appointment",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("book", sa.String(64), nullable=False),
    sa.Column("limit_words", Words, nullable=False),
    sa.Column("local", sa.Text, nullable=False),
    sa.Column("zone", sa.Text, nullable=False),
    sa.Column("due", Moment, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
)

# Passages somebody saved for all, and who likes them.
quotation = sa.Table(
    "quotation",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False),
    sa.Column("book", sa.String(64), nullable=False),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("file", sa.Integer, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.UniqueConstraint("channel", "book", "text_version", "file", "start"),
)

approval = sa.Table(
    "approval",
    metadata,
    sa.Column("quotation", sa.ForeignKey("quotation.id"), primary_key=True),
    sa.Column("reader", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
)

# The sentences that were quotes of a day, by the letter that brought them.
daily = sa.Table(
    "daily",
    metadata,
    sa.Column("letter", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("book", sa.String(64), nullable=False),
    sa.Column("text_version", sa.Text, nullable=False),
    sa.Column("file", sa.Integer, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
)

# How often a passage was opened in a week ("2026-W09"), where the channel wants a digest.
popular = sa.Table(
    "popular",
    metadata,
    sa.Column("channel", sa.ForeignKey("channel.id"), primary_key=True),
    sa.Column("week", sa.String(8), primary_key=True),
    sa.Column("book", sa.String(64), primary_key=True),
    sa.Column("text_version", sa.Text, primary_key=True),
    sa.Column("file", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("start", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("presses", sa.Integer, nullable=False),
)

# Books somebody proposed to read next. Those of no poll wait for one.
nomination = sa.Table(
    "nomination",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("poll", sa.Text, nullable=True),
    sa.Column("title", Words, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
)

poll = sa.Table(
    "poll",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("thread", sa.Text, nullable=True),
    sa.Column("ranked", sa.Boolean, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("closes_at", Moment, nullable=True),
    sa.Column("closed_at", Moment, nullable=True),
)

# One reader's choice: ids of nominations, the best first.
ballot = sa.Table(
    "ballot",
    metadata,
    sa.Column("poll", sa.ForeignKey("poll.id"), primary_key=True),
    sa.Column("reader", sa.Text, primary_key=True),
    sa.Column("channel", sa.ForeignKey("channel.id"), nullable=False, index=True),
    sa.Column("choices", Json, nullable=False),
    sa.Column("at", Moment, nullable=False),
)
