"""What a club plans, says and keeps together: discussions, dates, saved quotations, the next book.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# SQLite numbers rows only in a plain INTEGER, which has 64 bits there anyway.
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "appointment",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("limit_words", sa.Text(), nullable=False),
        sa.Column("local", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("due", MOMENT, nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_appointment_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_appointment")),
    )
    op.create_index(op.f("ix_appointment_channel"), "appointment", ["channel"], unique=False)
    op.create_table(
        "daily",
        sa.Column("letter", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("file", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_daily_channel")),
        sa.PrimaryKeyConstraint("letter", name=op.f("pk_daily")),
    )
    op.create_index(op.f("ix_daily_channel"), "daily", ["channel"], unique=False)
    op.create_table(
        "discussion",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("limit_words", sa.Text(), nullable=False),
        sa.Column("posted_at", MOMENT, nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_discussion_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discussion")),
    )
    op.create_index(op.f("ix_discussion_book"), "discussion", ["book"], unique=False)
    op.create_index(op.f("ix_discussion_channel"), "discussion", ["channel"], unique=False)
    op.create_table(
        "nomination",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("poll", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_nomination_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_nomination")),
    )
    op.create_index(op.f("ix_nomination_channel"), "nomination", ["channel"], unique=False)
    op.create_table(
        "poll",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("ranked", sa.Boolean(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("closes_at", MOMENT, nullable=True),
        sa.Column("closed_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_poll_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_poll")),
    )
    op.create_index(op.f("ix_poll_channel"), "poll", ["channel"], unique=False)
    op.create_table(
        "popular",
        sa.Column("channel", BIG, nullable=False),
        sa.Column("week", sa.String(length=8), nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("file", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("presses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_popular_channel")),
        sa.PrimaryKeyConstraint("channel", "week", "book", "text_version", "file", "start", name=op.f("pk_popular")),
    )
    op.create_table(
        "quotation",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("file", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_quotation_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quotation")),
        sa.UniqueConstraint(
            "channel",
            "book",
            "text_version",
            "file",
            "start",
            name=op.f("uq_quotation_channel_book_text_version_file_start"),
        ),
    )
    op.create_table(
        "remark",
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_remark_channel")),
        sa.PrimaryKeyConstraint("event", name=op.f("pk_remark")),
    )
    op.create_index(op.f("ix_remark_channel"), "remark", ["channel"], unique=False)
    op.create_index(op.f("ix_remark_topic"), "remark", ["topic"], unique=False)
    op.create_table(
        "approval",
        sa.Column("quotation", sa.Text(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_approval_channel")),
        sa.ForeignKeyConstraint(["quotation"], ["quotation.id"], name=op.f("fk_approval_quotation")),
        sa.PrimaryKeyConstraint("quotation", "reader", name=op.f("pk_approval")),
    )
    op.create_index(op.f("ix_approval_channel"), "approval", ["channel"], unique=False)
    op.create_table(
        "ballot",
        sa.Column("poll", sa.Text(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("choices", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_ballot_channel")),
        sa.ForeignKeyConstraint(["poll"], ["poll.id"], name=op.f("fk_ballot_poll")),
        sa.PrimaryKeyConstraint("poll", "reader", name=op.f("pk_ballot")),
    )
    op.create_index(op.f("ix_ballot_channel"), "ballot", ["channel"], unique=False)
    op.create_table(
        "topic",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("discussion", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("runs", sa.Text(), nullable=False),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_topic_channel")),
        sa.ForeignKeyConstraint(["discussion"], ["discussion.id"], name=op.f("fk_topic_discussion")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic")),
    )
    op.create_index(op.f("ix_topic_channel"), "topic", ["channel"], unique=False)
    op.create_index(op.f("ix_topic_discussion"), "topic", ["discussion"], unique=False)
