"""Books as they were read, and the channels that may read them."""

import sqlalchemy as sa

from core.store.schema.columns import Json, Moment, Words, metadata, number

channel = sa.Table(
    "channel",
    metadata,
    number(),
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
    number(),
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
    number(),
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

# Whether and how a book's summaries are made. How far they are, the segments say.
job = sa.Table(
    "job",
    metadata,
    number(),
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
