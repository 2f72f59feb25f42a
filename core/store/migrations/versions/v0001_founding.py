"""The founding tables.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# SQLite numbers rows only in a plain INTEGER, which has 64 bits there anyway.
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "book",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_book")),
    )
    op.create_table(
        "channel",
        sa.Column("id", BIG, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("external", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("current", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channel")),
        sa.UniqueConstraint("platform", "external", name=op.f("uq_channel_platform_external")),
    )
    op.create_table(
        "extraction",
        sa.Column("id", BIG, nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("authors", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("chapters", sa.Integer(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("machine_read", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("structure", sa.LargeBinary(), nullable=False),
        sa.Column("structure_hash", sa.LargeBinary(), nullable=False),
        sa.Column("cover", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["book"], ["book.sha256"], name=op.f("fk_extraction_book")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extraction")),
        sa.UniqueConstraint("book", "text_version", name=op.f("uq_extraction_book_text_version")),
    )
    op.create_table(
        "footnote",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("file", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_footnote_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_footnote")),
    )
    op.create_index(op.f("ix_footnote_turn"), "footnote", ["turn"], unique=False)
    op.create_table(
        "model",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_model")),
    )
    op.create_table(
        "llm_call",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("book", sa.String(length=64), nullable=True),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_llm_call")),
    )
    op.create_index(op.f("ix_llm_call_book"), "llm_call", ["book"], unique=False)
    op.create_table(
        "place",
        sa.Column("channel", BIG, nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("limit_words", sa.Text(), nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["book"], ["book.sha256"], name=op.f("fk_place_book")),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_place_channel")),
        sa.PrimaryKeyConstraint("channel", "book", "reader", name=op.f("pk_place")),
    )
    op.create_table(
        "question",
        sa.Column("id", BIG, nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("book", sa.Text(), nullable=True),
        sa.Column("limit_words", sa.Text(), nullable=True),
        sa.Column("evidence_tokens", sa.Integer(), nullable=True),
        sa.Column("reply_to", sa.Text(), nullable=True),
        sa.Column("without_book", sa.Boolean(), nullable=False),
        sa.Column("every_book", sa.Boolean(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("go_on", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_question_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
        sa.UniqueConstraint("event", name=op.f("uq_question_event")),
    )
    op.create_index(
        "ix_question_open",
        "question",
        ["channel"],
        unique=False,
        sqlite_where=sa.text("state in ('accepted', 'kept')"),
        postgresql_where=sa.text("state in ('accepted', 'kept')"),
    )
    op.create_table(
        "rights",
        sa.Column("id", BIG, nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("book", sa.String(length=64), nullable=False),
        sa.Column("text_version", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("added_by", sa.Text(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("was_current", sa.Boolean(), nullable=False),
        sa.Column("limit_words", sa.Text(), nullable=True),
        sa.Column("limit_before", sa.Text(), nullable=True),
        sa.Column("limit_by", sa.Text(), nullable=True),
        sa.Column("limit_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["book"], ["book.sha256"], name=op.f("fk_rights_book")),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_rights_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rights")),
        sa.UniqueConstraint("channel", "book", name=op.f("uq_rights_channel_book")),
    )
    op.create_index(op.f("ix_rights_book"), "rights", ["book"], unique=False)
    op.create_table(
        "upload",
        sa.Column("id", BIG, nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("accept_partial", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_upload_channel")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload")),
        sa.UniqueConstraint("event", name=op.f("uq_upload_event")),
    )
    op.create_index(
        "ix_upload_open",
        "upload",
        ["channel"],
        unique=False,
        sqlite_where=sa.text("state in ('accepted', 'kept')"),
        postgresql_where=sa.text("state in ('accepted', 'kept')"),
    )
    op.create_table(
        "piece",
        sa.Column("extraction", BIG, nullable=False),
        sa.Column("file", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["extraction"], ["extraction.id"], name=op.f("fk_piece_extraction")),
        sa.PrimaryKeyConstraint("extraction", "file", "number", name=op.f("pk_piece")),
    )
    op.create_table(
        "segment",
        sa.Column("extraction", BIG, nullable=False),
        sa.Column("sequence", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("start_file", sa.Integer(), nullable=False),
        sa.Column("start_offset", sa.Integer(), nullable=False),
        sa.Column("end_file", sa.Integer(), nullable=False),
        sa.Column("end_offset", sa.Integer(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("stamp", sa.Text(), nullable=True),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["extraction"], ["extraction.id"], name=op.f("fk_segment_extraction")),
        sa.PrimaryKeyConstraint("extraction", "sequence", name=op.f("pk_segment")),
    )
    op.create_table(
        "spine_file",
        sa.Column("extraction", BIG, nullable=False),
        sa.Column("file", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("runs", sa.LargeBinary(), nullable=False),
        sa.Column("runs_hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["extraction"], ["extraction.id"], name=op.f("fk_spine_file_extraction")),
        sa.PrimaryKeyConstraint("extraction", "file", name=op.f("pk_spine_file")),
    )
    op.create_table(
        "turn",
        sa.Column("sequence", BIG, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("question", BIG, nullable=True),
        sa.Column("channel", BIG, nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("reply_to", sa.Text(), nullable=True),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("dropped", sa.Text(), nullable=False),
        sa.Column("notices", sa.Text(), nullable=False),
        sa.Column("books", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("stamps", sa.Text(), nullable=False),
        sa.Column("limit_words", sa.Text(), nullable=False),
        sa.Column("limit_file", sa.Integer(), nullable=True),
        sa.Column("limit_offset", sa.Integer(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["channel"], ["channel.id"], name=op.f("fk_turn_channel")),
        sa.ForeignKeyConstraint(["question"], ["question.id"], name=op.f("fk_turn_question")),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_turn")),
        sa.UniqueConstraint("id", name=op.f("uq_turn_id")),
        sa.UniqueConstraint("question", name=op.f("uq_turn_question")),
    )
    op.create_index("ix_turn_channel", "turn", ["channel", "thread", "sequence"], unique=False)
