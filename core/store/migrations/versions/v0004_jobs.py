"""Whether and how each book's summaries are made: waiting for a yes, at work, paused, stopped.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

# SQLite numbers rows only in a plain INTEGER, which has 64 bits there anyway.
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "job",
        sa.Column("id", BIG, nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("notice", sa.Text(), nullable=False),
        sa.Column("until", MOMENT, nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("seen_at", MOMENT, nullable=True),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("book", "text_version", name=op.f("uq_job_book_text_version")),
    )
    op.create_index(op.f("ix_job_state"), "job", ["state"], unique=False)
    op.create_index(op.f("ix_job_changed_at"), "job", ["changed_at"], unique=False)
