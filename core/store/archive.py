"""Rows of our tables as lines of text and back, whichever database they are in: what a backup holds of a database.

The tables are read as they stand there, not as this code knows them: so a database of an older schema can be saved before
it is changed, and a backup of one restored and then migrated.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, Any
from zipfile import ZipFile

import sqlalchemy as sa
from sqlalchemy import Connection, Table, insert, inspect, select, text, tuple_

from core.store.schema import metadata

_ROWS = 200
"""Rows read at once: two hundred pieces of text are 13 MB."""


def our_tables(connection: Connection) -> list[Table]:
    """The tables of ours that are there, as they stand, parents before children."""
    there = [name for name in inspect(connection).get_table_names() if name in metadata.tables]
    found = sa.MetaData()
    found.reflect(connection, only=there)
    return [table for table in found.sorted_tables if table.name in there]


def save_tables(connection: Connection, archive: ZipFile) -> dict[str, dict[str, Any]]:
    """Write each table as `tables/NAME.jsonl`, one row a line; for the manifest: columns, number of rows, SHA-256."""
    facts: dict[str, dict[str, Any]] = {}
    for table in our_tables(connection):
        hashed, rows = hashlib.sha256(), 0
        with archive.open(_member(table.name), "w", force_zip64=True) as member:
            for row in _rows(connection, table):
                line = json.dumps([_plain(value) for value in row], separators=(",", ":")).encode("ascii") + b"\n"
                hashed.update(line)
                member.write(line)
                rows += 1
        columns = [column.name for column in table.columns]
        facts[table.name] = {"columns": columns, "rows": rows, "sha256": hashed.hexdigest()}
    return facts


def table_intact(archive: ZipFile, name: str, facts: dict[str, Any]) -> bool:
    """Whether a table's lines are those that were written."""
    hashed = hashlib.sha256()
    with archive.open(_member(name)) as member:
        while chunk := member.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest() == str(facts["sha256"])


def load_tables(connection: Connection, archive: ZipFile, facts: dict[str, dict[str, Any]]) -> None:
    """Fill empty tables of the revision the backup was made at."""
    for table in our_tables(connection):
        if table.name not in facts:
            continue
        names = facts[table.name]["columns"]
        columns = [table.columns[name] for name in names]
        with archive.open(_member(table.name)) as member:
            for lines in _chunks(member):
                values = [
                    {
                        column.name: _typed(column, value, connection)
                        for column, value in zip(columns, json.loads(line), strict=True)
                    }
                    for line in lines
                ]
                connection.execute(insert(table), values)
        _count_on(connection, table)


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """While open, every statement sees the same moment; nobody is kept from writing."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")
        try:
            yield
        finally:
            connection.exec_driver_sql("ROLLBACK")
    else:
        connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            connection.exec_driver_sql("ROLLBACK")


def _member(name: str) -> str:
    return f"tables/{name}.jsonl"


def _rows(connection: Connection, table: Table) -> Iterator[Any]:
    """All rows by their key, a few at a time: a large table is never in memory whole."""
    key = list(table.primary_key.columns)
    query = select(table).order_by(*key).limit(_ROWS)
    places = [list(table.columns).index(column) for column in key]
    last: list[Any] | None = None
    while True:
        after = query if last is None else query.where(tuple_(*key) > tuple_(*map(sa.literal, last)))
        rows = connection.execute(after).all()
        yield from rows
        if len(rows) < _ROWS:
            return
        last = [rows[-1][place] for place in places]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)).isoformat()
    return value


def _typed(column: sa.Column[Any], value: Any, connection: Connection) -> Any:
    if value is None:
        return None
    if isinstance(column.type, sa.LargeBinary):
        return base64.b64decode(value)
    if isinstance(column.type, sa.DateTime):
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=None) if connection.dialect.name == "sqlite" else moment
    return value


def _chunks(member: IO[bytes]) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    for line in member:
        lines.append(line)
        if len(lines) == _ROWS:
            yield lines
            lines = []
    if lines:
        yield lines


def _count_on(connection: Connection, table: Table) -> None:
    """On PostgreSQL numbers come from a counter beside the table: it goes on after the highest."""
    if connection.dialect.name == "sqlite":
        return
    for column in table.primary_key.columns:
        if not isinstance(column.type, sa.Integer) or column.server_default is None:
            continue
        highest = f'SELECT coalesce(max("{column.name}"), 0) + 1 FROM "{table.name}"'
        sequence = "pg_get_serial_sequence(:table, :column)"
        connection.execute(
            text(f"SELECT setval({sequence}, ({highest}), false) WHERE {sequence} IS NOT NULL"),
            {"table": table.name, "column": column.name},
        )
