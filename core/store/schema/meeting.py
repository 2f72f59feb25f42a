"""What a club plans, says and keeps together. Every table has `channel`: it is forgotten with it."""

import sqlalchemy as sa

from core.store.schema.columns import Json, Moment, Words, metadata

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
