"""What calls cost, what readers opened, how soon answers began.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# SQLite numbers rows only in a plain INTEGER, which has 64 bits there anyway.
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "spent",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("period", sa.String(length=10), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "period", name=op.f("pk_spent")),
    )
    op.create_table(
        "charge",
        sa.Column("id", BIG, nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_charge")),
    )
    op.create_index(op.f("ix_charge_day"), "charge", ["day"], unique=False)
    op.create_table(
        "opened",
        sa.Column("id", BIG, nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_opened")),
    )
    op.create_index("ix_opened_reader", "opened", ["reader", "book", "day"], unique=False)
    op.add_column("question", sa.Column("server", sa.Text(), nullable=True))
    op.add_column("turn", sa.Column("first_text_ms", sa.Integer(), nullable=True))
