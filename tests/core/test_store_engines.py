"""The traps of the two databases, each sprung on purpose."""

import asyncio
import os
import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core.errors import OperatorError
from core.model import Conversation, Span
from core.store import Store
from core.store.engines import Engines, take_time
from tests.core.stores import NOON, ROOM, Place, book_of, sha
from tests.parts import needs_postgres


async def test_five_hundred_read_modify_writes_at_once_lose_none(place: Place, store: Store) -> None:
    """Two sets of connections on one database; the counter is read, and written back one higher."""
    await store.shelf.channel(ROOM, NOON)
    first, second = [await Engines.open(place.url, place.folder) for _ in range(2)]
    lock = " FOR UPDATE" if first.postgres else ""

    async def add_one(engines: Engines) -> None:
        async with engines.write() as connection:
            counter = (await connection.execute(text(f"SELECT settings FROM channel{lock}"))).scalar_one()
            await asyncio.sleep(0)
            number = 0 if counter == "{}" else int(counter)
            await connection.execute(text("UPDATE channel SET settings = :next"), {"next": str(number + 1)})

    try:
        await asyncio.gather(*(add_one(engines) for _ in range(250) for engines in (first, second)))
    finally:
        await first.close()
        await second.close()
    assert place.raw("SELECT settings FROM channel") == [("500",)]


async def test_five_hundred_coroutines_share_one_store(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.books.save(sha(1), book_of("some text"), NOON)

    async def use(number: int) -> None:
        assert await store.books.text(sha(1), "1", Span(0, 0, 4)) == "some"
        await store.shelf.change_settings(channel, {str(number): number})
        assert (await store.shelf.settings(channel))[str(number)] == number

    await asyncio.gather(*(use(number) for number in range(500)))
    assert len(await store.shelf.settings(channel)) == 500


async def test_cancelled_work_leaves_no_transaction_open_and_nothing_half_done(place: Place, store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    engines = await Engines.open(place.url, place.folder)
    rng = random.Random(3)
    here, back = ("UPDATE channel SET current = :word", "UPDATE channel SET external = :word")

    async def write_both(word: str) -> None:
        async with engines.write() as connection:
            await connection.execute(text(here), {"word": word})
            await connection.execute(text(back), {"word": word})

    try:
        tasks = []
        for number in range(150):
            tasks.append(asyncio.create_task(write_both(f"w{number}")))
            await asyncio.sleep(rng.random() * 0.004)
            rng.choice(tasks).cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() or task.exception() is None for task in tasks)
        ((current, external),) = place.raw("SELECT current, external FROM channel")
        assert current == external
        await write_both("last")
    finally:
        await engines.close()
    assert place.raw("SELECT current, external FROM channel") == [("last", "last")]
    assert await store.shelf.settings(channel) == {}


async def test_a_failed_block_rolls_everything_back(place: Place, store: Store) -> None:
    await store.shelf.channel(ROOM, NOON)
    engines = await Engines.open(place.url, place.folder)

    async def fail_halfway() -> None:
        async with engines.write() as connection:
            await connection.execute(text("UPDATE channel SET external = 'changed'"))
            raise KeyError("halfway")

    try:
        with pytest.raises(KeyError):
            await fail_halfway()
    finally:
        await engines.close()
    assert place.raw("SELECT external FROM channel") == [("local",)]


async def test_readers_cannot_write(place: Place, store: Store) -> None:
    await store.shelf.channel(ROOM, NOON)
    engines = await Engines.open(place.url, place.folder)
    try:
        with pytest.raises(OperatorError, match="data_unwritable"):
            async with engines.read() as connection:
                await connection.execute(text("UPDATE channel SET external = 'changed'"))
    finally:
        await engines.close()
    assert place.raw("SELECT external FROM channel") == [("local",)]


async def test_the_writer_alone_checkpoints_and_waits_for_the_disk(sqlite_place: Place) -> None:
    engines = await Engines.open("", sqlite_place.folder)
    try:
        writer = {}
        async with engines.write() as connection:
            for name in ("wal_autocheckpoint", "synchronous", "foreign_keys", "journal_mode", "mmap_size"):
                writer[name] = (await connection.execute(text(f"PRAGMA {name}"))).scalar()
        full = 2
        assert writer == {
            "wal_autocheckpoint": 1000, "synchronous": full, "foreign_keys": 1, "journal_mode": "wal", "mmap_size": 0,
        }  # fmt: skip

        async def reader(together: asyncio.Barrier) -> tuple[int, int]:
            async with engines.read() as connection:
                await together.wait()
                pragmas = [text("PRAGMA wal_autocheckpoint"), text("PRAGMA query_only")]
                checkpoint, query_only = [(await connection.execute(pragma)).scalar_one() for pragma in pragmas]
                return checkpoint, query_only

        barrier = asyncio.Barrier(4)
        assert await asyncio.gather(*(reader(barrier) for _ in range(4))) == [(0, 1)] * 4
    finally:
        await engines.close()


async def test_only_what_says_so_does_not_wait_for_the_disk_and_all_see_it_all_the_same(place: Place) -> None:
    store = await place.open()
    await store.shelf.channel(ROOM, NOON)
    await store.close()
    engines = await Engines.open(place.url, place.folder)
    level, waits = ("SHOW synchronous_commit", "on") if place.url else ("PRAGMA synchronous", 2)
    hastes = "off" if place.url else 1
    try:
        found = []
        for number, flushes in enumerate((True, False, True, False, False, True)):
            async with engines.write(flushes=flushes) as connection:
                await connection.execute(text("UPDATE channel SET external = :name"), {"name": f"name {number}"})
                found.append((await connection.execute(text(level))).scalar())
            assert place.raw("SELECT external FROM channel") == [(f"name {number}",)]
        assert found == [waits, hastes, waits, hastes, hastes, waits]
    finally:
        await engines.close()


async def test_the_log_stays_bounded_while_readers_read(sqlite_place: Place) -> None:
    store = await sqlite_place.open()
    try:
        stop = asyncio.Event()
        await store.books.save(sha(0), book_of("some text"), NOON)

        async def read_on() -> None:
            while not stop.is_set():
                await store.books.text(sha(0), "1", Span(0, 0, 4))

        readers = [asyncio.create_task(read_on()) for _ in range(4)]
        largest = 0
        for number in range(1, 13):
            await store.books.save(sha(number), book_of("熊" * 1_000_000, run=400), NOON)
            largest = max(largest, (sqlite_place.folder / "loccit.db-wal").stat().st_size)
        stop.set()
        await asyncio.gather(*readers)
    finally:
        await store.close()
    assert (sqlite_place.folder / "loccit.db").stat().st_size > 36_000_000
    assert largest < 20_000_000
    assert not (sqlite_place.folder / "loccit.db-wal").exists()


async def test_two_writers_at_once_wait_for_each_other(sqlite_place: Place) -> None:
    """Another program holds the database for a moment: nobody sees an error."""
    store = await sqlite_place.open()
    try:
        with closing(sqlite3.connect(sqlite_place.folder / "loccit.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(store.shelf.channel(ROOM, NOON))
            await asyncio.sleep(0.3)
            assert not task.done()
            other.execute("COMMIT")
            assert await task == 1
    finally:
        await store.close()


async def test_a_database_that_another_program_keeps_locked_is_one_sentence(sqlite_place: Place) -> None:
    await (await sqlite_place.open()).close()
    engines = await Engines.open("", sqlite_place.folder, patience=0.2)
    try:
        with closing(sqlite3.connect(sqlite_place.folder / "loccit.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(OperatorError, match="database_unavailable"):
                async with engines.write() as connection:
                    await connection.execute(text("SELECT 1"))
            other.execute("COMMIT")
        async with engines.write() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM channel"))).scalar_one() == 0
    finally:
        await engines.close()


async def test_a_mistake_in_a_statement_stays_visible_as_ours(place: Place) -> None:
    engines = await Engines.open(place.url, place.folder)
    try:
        with pytest.raises(DBAPIError):
            async with engines.read() as connection:
                await connection.execute(text("SELECT nothing FROM nowhere"))
    finally:
        await engines.close()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://root@localhost/x",
        "no address",
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql://h:abc/x",
        "postgresql://u:hunter2@127.0.0.1:1/x?sslmod=require",
    ],
)
async def test_an_address_we_do_not_understand_is_one_sentence_without_the_address(tmp_path: Path, url: str) -> None:
    with pytest.raises(OperatorError, match=r"database_url_unknown\(\)"):
        await Store.open(url, tmp_path)


async def test_a_sqlite_address_names_another_file(tmp_path: Path) -> None:
    store = await Store.open(f"sqlite:///{tmp_path}/elsewhere/books.db", tmp_path / "data")
    await store.close()
    assert (tmp_path / "elsewhere" / "books.db").exists()
    assert store.engine.startswith("SQLite 3.")


async def test_closing_twice_is_harmless(place: Place) -> None:
    store = await place.open()
    await store.close()
    await store.close()


@needs_postgres
async def test_what_is_cancelled_just_before_closing_leaves_no_connection_behind(place: Place) -> None:
    """Whoever is cancelled gives its connection back a little later: to a pool that may be gone by then."""
    rng = random.Random(5)
    await (await place.open()).close()

    async def use(engines: Engines, reads: bool) -> None:
        async with engines.read() if reads else engines.write() as connection:
            while True:
                await connection.execute(text("SELECT count(*) FROM channel"))

    for _ in range(25):
        engines = await Engines.open(place.url, place.folder)
        tasks = [asyncio.create_task(use(engines, number > 0)) for number in range(4)]
        await asyncio.sleep(rng.random() / 100)
        for task in tasks:
            task.cancel()
        if rng.random() < 0.5:
            await asyncio.gather(*tasks, return_exceptions=True)
        await engines.close()
        async with asyncio.timeout(10):
            while _open_connections(place):  # noqa: ASYNC110  # a server notices a little later
                await asyncio.sleep(0.01)
        await asyncio.gather(*tasks, return_exceptions=True)


def _open_connections(place: Place) -> int:
    """Of ours to the database."""
    if place.url:
        ours = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
        return int(place.raw(ours)[0][0])
    files = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one we look through
            files.append(os.readlink(link))
    return sum(file.startswith(str(place.folder)) for file in files)


async def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="database_unavailable"):
        await Store.open(f"postgresql://postgres:secret@/x?host={tmp_path}", tmp_path / "data")


@needs_postgres
async def test_connections_cut_while_idle_cost_nobody_an_error(postgres_place: Place) -> None:
    store = await postgres_place.open()
    try:
        channel = await store.shelf.channel(ROOM, NOON)
        _cut(postgres_place)
        assert await store.shelf.settings(channel) == {}
        await store.shelf.change_settings(channel, {"a": 1})
    finally:
        await store.close()


@needs_postgres
async def test_a_connection_cut_in_mid_transaction_is_one_sentence_and_nothing_is_written(
    postgres_place: Place,
) -> None:
    store = await postgres_place.open()
    engines = await Engines.open(postgres_place.url, postgres_place.folder)

    async def write_and_be_cut() -> None:
        async with engines.write() as connection:
            await connection.execute(text("UPDATE channel SET external = 'changed'"))
            _cut(postgres_place)
            await connection.execute(text("SELECT 1"))

    try:
        await store.shelf.channel(ROOM, NOON)
        with pytest.raises(OperatorError, match="database_unavailable"):
            await write_and_be_cut()
    finally:
        await engines.close()
        await store.close()
    assert postgres_place.raw("SELECT external FROM channel") == [("local",)]


@needs_postgres
async def test_a_frozen_process_holds_up_no_other_but_one_that_reads_a_file_may_take_its_time(
    postgres_place: Place,
) -> None:
    """The server ends a transaction in which nothing is said any more. Waiting for that here would take too long."""
    store = await postgres_place.open()
    engines = await Engines.open(postgres_place.url, postgres_place.folder)
    try:
        waits = text("SELECT extract(epoch FROM current_setting('idle_in_transaction_session_timeout')::interval)")
        for _ in range(2):
            async with engines.write() as connection:
                assert 0 < (await connection.execute(waits)).scalar_one() <= 30
                await take_time(connection)
                assert (await connection.execute(waits)).scalar_one() == 0
    finally:
        await engines.close()
        await store.close()


@needs_postgres
async def test_two_that_wait_for_each_other_cost_one_of_them_a_sentence(postgres_place: Place) -> None:
    store = await postgres_place.open()
    engines = await Engines.open(postgres_place.url, postgres_place.folder)
    rows = [await store.shelf.channel(Conversation("console", name), NOON) for name in "ab"]
    both = asyncio.Barrier(2)
    lock = text("SELECT id FROM channel WHERE id = :id FOR UPDATE")

    async def take(order: list[int]) -> None:
        async with engines.write() as connection:
            await connection.execute(lock, {"id": order[0]})
            await both.wait()
            await connection.execute(lock, {"id": order[1]})

    try:
        done = await asyncio.gather(take(rows), take(rows[::-1]), return_exceptions=True)
    finally:
        await engines.close()
        await store.close()
    assert [one.key for one in done if isinstance(one, OperatorError)] == ["database_unavailable"]
    assert done.count(None) == 1


def _cut(place: Place) -> None:
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
