"""The kinds of columns, and the one list of tables."""

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
big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number() -> sa.Column[int]:
    return sa.Column("id", big, primary_key=True)


def partial_index(name: str, column: str, where: str) -> sa.Index:
    """An index of the rows for which something holds, on either database.

    Only one is named here: naming PostgreSQL would have every start import what speaks to it, which takes 30 ms.
    """
    return sa.Index(name, column, sqlite_where=sa.text(where))
