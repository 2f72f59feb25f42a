"""A store with rows in every table, and what its tables hold, as values that can be compared across databases."""

import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import sqlalchemy as sa
from sqlalchemy import Connection, Table, insert, select

from core.model import Event, Letter, Notice, Usage
from core.store import Store, Summary
from core.store.archive import load_tables, our_tables
from core.store.engines import Engines
from core.store.spending import Pot
from core.store.upgrade import migrate, revision_of
from tests.core.stores import NOON, READER, ROOM, Place, book_of, question_of, sha, turn_of, upload_of

TEXT = "Grüße, 雨 and a bear 🐻 with “quotes”. " * 900
"""Long enough for three pieces."""

Rows = dict[str, list[dict[str, Any]]]


async def fill(place: Place, source: Path) -> str:
    """Put something into every table; the sha256 of an original. `source`: a folder for the file that is uploaded."""
    file = source / "tale.epub"
    file.write_bytes(b"PK\x03\x04 the bytes of a book" * 999)
    store = await place.open()
    try:
        original = await store.originals.put(file)
        await _fill(store, original)
    finally:
        await store.close()
    engines = await Engines.open(place.url, place.folder)
    try:
        async with engines.write() as connection:
            await connection.run_sync(_fill_the_rest)
    finally:
        await engines.close()
    return original


async def _fill(store: Store, original: str) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    for number, sha256 in enumerate((original, sha(1))):
        await store.books.save(sha256, book_of(TEXT, "", f"A short file {number}."), NOON)
        await store.shelf.grant(channel, sha256, "1", READER.id, "tale.epub", NOON + timedelta(seconds=number))
        made = {0: Summary("A summary [f0-0-40].", "summarise@1 m"), 1: Summary("", "extractive", ("empty",))}
        await store.books.save_summaries(sha256, "1", made)
    await store.shelf.use(channel, sha(1))
    await store.shelf.change_settings(channel, {"model": "m", "locale": "pt"})
    await store.progress.set_limit(channel, sha(1), "finished 1", READER.id, NOON)
    await store.progress.set_place(channel, sha(1), READER.id, "in 2", NOON)
    await store.inbox.accept_upload(upload_of("u1"), channel, original, 23, NOON)
    await store.inbox.accept_upload(upload_of("u2"), channel, sha(2), 23, NOON)
    await store.inbox.fail_upload("u2", Notice("book_empty", {"count": 2}), NOON)
    for event in ("q1", "q2", "q3"):
        await store.inbox.accept_question(question_of(event, f"Who came 熊 {event}?"), channel, NOON)
    await store.turns.save(turn_of("t1", ["n1", "n2"]), channel, "q1")
    await store.turns.shown("t1", NOON + timedelta(seconds=9))
    await store.inbox.keep_question("q2")
    await store.ledger.record(
        "a" * 64,
        purpose="summarise",
        stamp="s@1",
        model="m",
        book=sha(1),
        result={"text": "雨", "calls": [["1", "find", "{}"]], "reason": "stop"},
        usage=Usage(1, 900, 80),
        at=NOON,
    )
    pots = (Pot("reader:console:reader-1", "2026-03-01"), Pot("total", "2026-03"))
    await store.spending.reserve(pots, 2_500_000_000, purpose="answer", model="m", usage=Usage(1, 5, 6), at=NOON)
    await store.spending.open(pots[0], "console:reader-1", sha(1), (3, 90), lambda stretch, _: stretch[1] - stretch[0])
    await store.models.learn("m", {"tools": True, "context_tokens": 32_000})
    await store.events.receive(Event("console:e1", "console", "local", {"text": "hey 熊"}), NOON)
    await store.deliveries.record(channel, "q1", 0, "message-9", "t1", NOON)
    await store.letters.owe(channel, Letter("l1", ROOM, "remind", NOON, {"count": 3}))
    await store.buttons.make(channel, {"b1": {"do": "undo"}}, READER.id, NOON)
    await store.memos.keep("console", "k", [1, "zwei", None], NOON + timedelta(days=1))
    await store.turns.flag("t1", READER.id, NOON)


def _fill_the_rest(connection: Connection) -> None:
    """A row for each table that no call above has reached: tables come faster than this file is changed."""
    for table in our_tables(connection):
        if connection.execute(select(table).limit(1)).first() is None:
            values = {
                column.name: _something(connection, column)
                for column in table.columns
                if column.primary_key or column.foreign_keys or not column.nullable
            }
            connection.execute(insert(table), values)


def _something(connection: Connection, column: sa.Column[Any]) -> Any:
    for key in column.foreign_keys:
        parent = key.column
        return connection.execute(select(parent).limit(1)).scalar_one()
    if isinstance(column.type, sa.DateTime):
        return NOON.replace(tzinfo=None) if connection.dialect.name == "sqlite" else NOON
    if isinstance(column.type, sa.LargeBinary):
        return b"\0bytes"
    return {sa.Integer: 7, sa.Boolean: True}.get(_kind(column), sha(1) if column.name == "book" else "1")


def _kind(column: sa.Column[Any]) -> type:
    return sa.Boolean if isinstance(column.type, sa.Boolean) else sa.Integer if _is_number(column) else sa.Text


def _is_number(column: sa.Column[Any]) -> bool:
    return isinstance(column.type, sa.Integer)


async def make_old(place: Place, revision: str, file: Path) -> None:
    """Make an empty place a database of an earlier revision, with what a backup's tables and columns had then."""
    engines = await Engines.open(place.url, place.folder)
    try:
        async with engines.write() as connection:
            await connection.run_sync(_make_old, revision, file)
    finally:
        await engines.close()


def _make_old(connection: Connection, revision: str, file: Path) -> None:
    migrate(connection, revision)
    with ZipFile(file) as archive, ZipFile(BytesIO(), "w") as old:
        facts = json.loads(archive.read("manifest.json"))["tables"]
        for table in our_tables(connection):
            names = facts[table.name]["columns"]
            kept = [at for at, name in enumerate(names) if name in table.columns]
            facts[table.name]["columns"] = [names[at] for at in kept]
            lines = [json.loads(line) for line in archive.read(f"tables/{table.name}.jsonl").splitlines()]
            cut = [json.dumps([line[at] for at in kept]) + "\n" for line in lines]
            old.writestr(f"tables/{table.name}.jsonl", "".join(cut))
        load_tables(connection, old, facts)


async def rows(place: Place) -> Rows:
    """Every row of every table, by table, in the order of the keys; times in UTC."""
    engines = await Engines.open(place.url, place.folder, prepare=False)
    try:
        async with engines.read() as connection:
            return await connection.run_sync(all_rows)
    finally:
        await engines.close()


def all_rows(connection: Connection) -> Rows:
    # Looking at how the tables stand takes longer than reading them; at one revision they all stand alike.
    revision = connection.dialect.name, revision_of(connection)
    if revision not in _standing:
        _standing[revision] = our_tables(connection)
    return {table.name: _rows(connection, table) for table in _standing[revision]}


_standing: dict[tuple[str, str | None], list[Table]] = {}


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    found = connection.execute(select(table).order_by(*table.primary_key.columns)).mappings()
    return [{name: _compared(value) for name, value in row.items()} for row in found]


def _compared(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return bytes(value) if isinstance(value, memoryview) else value
