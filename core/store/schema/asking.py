"""Uploads, questions and their answers, what they cost and what was opened of them."""

import sqlalchemy as sa

from core.store.schema.columns import Json, Moment, Words, big, metadata, number, partial_index

_OPEN = "state in ('accepted', 'kept')"

upload = sa.Table(
    "upload",
    metadata,
    number(),
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
    partial_index("ix_upload_open", "channel", _OPEN),
)

question = sa.Table(
    "question",
    metadata,
    number(),
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
    partial_index("ix_question_open", "channel", _OPEN),
)

turn = sa.Table(
    "turn",
    metadata,
    sa.Column("sequence", big, primary_key=True),
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
    partial_index("ix_turn_unshown", "channel", "shown_at is null"),
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
    number(),
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
    number(),
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

# Answers a reader called wrong, for whoever runs the bot to look at.
flag = sa.Table(
    "flag",
    metadata,
    sa.Column("turn", sa.Text, primary_key=True),
    sa.Column("reader", sa.Text, primary_key=True),
    sa.Column("at", Moment, nullable=False),
)
