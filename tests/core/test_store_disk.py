"""A full disk is one sentence, leaves nothing half written, and works again when there is room."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from core.errors import OperatorError
from core.store import Originals, Store
from core.store.books import Books
from core.store.engines import Engines
from core.store.upgrade import bring_up_to_date
from tests.core.stores import NOON, ROOM, Place, book_of, question_of, sha, turn_of
from tests.parts import needs_postgres

BIG = book_of("熊" * 1_000_000, run=400)


@contextmanager
def _no_file_over(size: int) -> Iterator[None]:
    """While open, the kernel refuses to let any file of this process grow past `size` bytes (EFBIG)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


async def _saving_fails_cleanly_then_works(store: Store, place: Place) -> None:
    assert await store.books.contents(sha(1)) is None
    assert place.raw("SELECT count(*) FROM book") == [(0,)]
    assert place.raw("SELECT count(*) FROM piece") == [(0,)]
    await store.books.save(sha(1), BIG, NOON)
    assert await store.books.parsed(sha(1), "1") == BIG


async def test_a_write_that_the_disk_refuses_stores_nothing_of_a_book(sqlite_place: Place) -> None:
    store = await sqlite_place.open()
    try:
        with _no_file_over(1_000_000), pytest.raises(OperatorError, match="disk_full"):
            await store.books.save(sha(1), BIG, NOON)
        await _saving_fails_cleanly_then_works(store, sqlite_place)
    finally:
        await store.close()


async def test_a_full_database_stores_nothing_of_a_book(sqlite_place: Place) -> None:
    """SQLite is told that no more pages are to be had, which is what it says when a disk is full."""
    await (await sqlite_place.open()).close()
    engines = await Engines.open("", sqlite_place.folder)
    books = Books(engines)
    try:
        async with engines.write() as connection:
            await connection.execute(text("PRAGMA max_page_count = 200"))
        with pytest.raises(OperatorError, match="disk_full"):
            await books.save(sha(1), BIG, NOON)
        assert await books.contents(sha(1)) is None
        assert sqlite_place.raw("SELECT count(*) FROM piece") == [(0,)]
        async with engines.write() as connection:
            await connection.execute(text("PRAGMA max_page_count = 1000000"))
        await books.save(sha(1), BIG, NOON)
    finally:
        await engines.close()


@needs_postgres
async def test_a_server_whose_disk_is_full_stores_nothing_of_a_book(postgres_place: Place) -> None:
    engines = await Engines.open(postgres_place.url, postgres_place.folder)
    books = Books(engines)
    try:
        await bring_up_to_date(engines)
        postgres_place.raw(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'"
        )
        postgres_place.raw(
            "CREATE TRIGGER full_disk BEFORE INSERT ON piece FOR EACH ROW"
            " WHEN (NEW.number = 9) EXECUTE FUNCTION refuse()"
        )
        with pytest.raises(OperatorError, match="disk_full"):
            await books.save(sha(1), BIG, NOON)
        assert await books.contents(sha(1)) is None
        assert postgres_place.raw("SELECT count(*) FROM piece") == [(0,)]
    finally:
        await engines.close()


async def test_an_answer_that_cannot_be_stored_leaves_its_question_open(sqlite_place: Place) -> None:
    store = await sqlite_place.open()
    try:
        channel = await store.shelf.channel(ROOM, NOON)
        await store.inbox.accept_question(question_of("console:1"), channel, NOON)
        turn = turn_of("turn-1", ["note-a"], question="why " * 500_000)
        with _no_file_over(1_000_000), pytest.raises(OperatorError, match="disk_full"):
            await store.turns.save(turn, channel, "console:1")
        assert len(await store.inbox.unfinished_questions("console")) == 1
        assert await store.turns.footnote("note-a") is None
        await store.turns.save(turn, channel, "console:1")
        assert await store.inbox.unfinished_questions("console") == ()
    finally:
        await store.close()


async def test_an_original_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    originals = await Originals.open(tmp_path / "originals")
    source = tmp_path / "tale.epub"
    source.write_bytes(b"bear" * 1_000_000)
    with _no_file_over(1_000_000), pytest.raises(OperatorError, match="disk_full"):
        await originals.put(source)
    assert list((tmp_path / "originals").iterdir()) == []
    sha256 = await originals.put(source)
    assert (await originals.checked(sha256)).stat().st_size == 4_000_000
