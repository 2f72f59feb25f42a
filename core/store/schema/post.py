"""What passes between platforms and the club."""

import sqlalchemy as sa

from core.store.schema.columns import Json, Moment, metadata, number, partial_index

# What a platform told us, as it came, until it has been dealt with: written before the platform hears that it arrived.
event = sa.Table(
    "event",
    metadata,
    number(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("platform", sa.Text, nullable=False),
    # what is dealt with in the order it came: one chat
    sa.Column("lane", sa.Text, nullable=False),
    # emptied when it is done: the question has a row of its own by then
    sa.Column("payload", Json, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("done_at", Moment, nullable=True, index=True),
    partial_index("ix_event_open", "platform", "done_at is null"),
)

# Which message of a platform shows which part of what we had to say: a restart goes on there instead of posting again.
delivery = sa.Table(
    "delivery",
    metadata,
    number(),
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
    partial_index("ix_letter_open", "due", "done_at is null"),
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
