"""What platforms told us, what we showed where, what waits to be said; buttons that are no footnotes.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

# SQLite numbers rows only in a plain INTEGER, which has 64 bits there anyway.
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)
OPEN = sa.text("done_at is null")
UNSHOWN = sa.text("shown_at is null")


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("id", BIG, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("done_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("key", name=op.f("uq_event_key")),
    )
    op.create_index(op.f("ix_event_done_at"), "event", ["done_at"], unique=False)
    op.create_index("ix_event_open", "event", ["platform"], unique=False, sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_table(
        "delivery",
        sa.Column("id", BIG, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("turn", sa.Text(), nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_delivery_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("key", "part", name=op.f("uq_delivery_key_part")),
    )
    op.create_index(op.f("ix_delivery_turn"), "delivery", ["turn"], unique=False)
    op.create_index("ix_delivery_message", "delivery", ["channel", "message"], unique=False)
    op.create_table(
        "letter",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("due", MOMENT, nullable=False),
        sa.Column("done_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_letter_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_letter")),
    )
    op.create_index("ix_letter_open", "letter", ["due"], unique=False, sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_table(
        "button",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("reader", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_button_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_button")),
    )
    op.create_index(op.f("ix_button_channel"), "button", ["channel"], unique=False)
    op.create_index(op.f("ix_button_at"), "button", ["at"], unique=False)
    op.create_table(
        "memo",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("until", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("platform", "key", name=op.f("pk_memo")),
    )
    op.create_index(op.f("ix_memo_until"), "memo", ["until"], unique=False)
    op.create_table(
        "flag",
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("turn", "reader", name=op.f("pk_flag")),
    )
    op.add_column("turn", sa.Column("shown_at", MOMENT, nullable=True))
    # Whoever asked before this was kept has long seen the answer.
    op.execute("update turn set shown_at = asked_at")
    op.create_index(
        "ix_turn_unshown", "turn", ["channel"], unique=False, sqlite_where=UNSHOWN, postgresql_where=UNSHOWN
    )
