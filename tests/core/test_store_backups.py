"""A backup holds everything, is made while others write, and is restored whole or not at all, into either database."""

import asyncio
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import OperatorError
from core.model import Span
from core.store import Store, restore_backup, write_backup
from core.store.upgrade import REVISIONS
from tests import programs
from tests.core.filled import TEXT, fill, make_old, rows
from tests.core.stores import NOON, ROOM, Place, question_of, sha
from tests.parts import needs_postgres
from tests.postgres import Server

Opens = Callable[[str], Place]
BOTH = ["sqlite", pytest.param("postgres", marks=needs_postgres)]


@pytest.fixture
def places(tmp_path: Path, request: pytest.FixtureRequest) -> Opens:
    """A new empty place on the engine named."""

    def make(engine: str) -> Place:
        folder = tmp_path / f"{engine}-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        if engine == "sqlite":
            return Place("", folder)
        server = request.getfixturevalue("postgres_server")
        assert isinstance(server, Server)
        return Place(server.new_place(), folder)

    return make


async def back_up(place: Place, target: Path) -> None:
    await write_backup(place.url, place.folder, target, NOON)


async def restore(place: Place, source: Path, *, force: bool = False) -> None:
    await restore_backup(source, place.url, place.folder, force=force)


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("other", BOTH)
async def test_a_backup_of_either_database_becomes_the_same_rows_in_either(
    engine: str, other: str, places: Opens, tmp_path: Path
) -> None:
    here, there, file = places(engine), places(other), tmp_path / "saved.zip"
    original = await fill(here, tmp_path)
    before = await rows(here)
    assert all(before.values()), [name for name, found in before.items() if not found]
    told = await write_backup(here.url, here.folder, file, NOON)
    assert (told.revision, told.originals, told.lost) == (REVISIONS[-1], 1, (sha(1),))
    assert file.stat().st_mode & 0o777 == 0o600
    assert await rows(here) == before
    await restore(there, file)
    assert await rows(there) == before
    store = await there.open()
    try:
        assert (await store.originals.checked(original)).stat().st_size == 24 * 999
        assert await store.books.text(sha(1), "1", Span(0, 16_380, 16_390)) == TEXT[16_380:16_390]
        # Numbers go on after the highest.
        channel = await store.shelf.channel(ROOM, NOON)
        assert not (await store.inbox.accept_question(question_of("new"), channel, NOON)).known
        assert (await store.turns.latest(channel)) is not None
    finally:
        await store.close()


async def test_a_backup_while_others_write_is_of_one_moment(place: Place, tmp_path: Path) -> None:
    await fill(place, tmp_path)
    store = await place.open()
    done = asyncio.Event()

    async def write() -> int:
        channel, number = await store.shelf.channel(ROOM, NOON), 0
        while not done.is_set():
            await store.inbox.accept_question(question_of(f"w{number}"), channel, NOON)
            await store.shelf.change_settings(channel, {"last": number})
            number += 1
        return number

    async def save() -> list[Path]:
        files = [tmp_path / f"saved{number}.zip" for number in range(2)]
        for file in files:
            await asyncio.to_thread(asyncio.run, write_backup(place.url, place.folder, file, NOON))
        done.set()
        return files

    written, files = await asyncio.gather(write(), save())
    await store.close()
    assert written > 3
    for number, file in enumerate(files):
        there = Place("", tmp_path / f"there{number}")
        await restore(there, file)
        found = await rows(there)
        asked = [int(row["event"][1:]) for row in found["question"] if row["event"].startswith("w")]
        [channel] = [row for row in found["channel"] if row["external"] == ROOM.channel]
        last = int(channel["settings"].rpartition('"last":')[2].rstrip("}")) if "last" in channel["settings"] else -1
        assert max(asked, default=-1) - last in (0, 1)


async def test_nothing_is_put_over_data_unless_that_is_forced(place: Place, other_place: Place, tmp_path: Path) -> None:
    file = tmp_path / "saved.zip"
    await fill(place, tmp_path)
    await back_up(place, file)
    saved = await rows(place)
    other = await other_place.open()
    channel = await other.shelf.channel(ROOM, NOON)
    await other.inbox.accept_question(question_of("theirs"), channel, NOON)
    await other.close()
    theirs = await rows(other_place)
    with pytest.raises(OperatorError, match="restore_over_data"):
        await restore(other_place, file)
    assert await rows(other_place) == theirs
    await restore(other_place, file, force=True)
    assert await rows(other_place) == saved
    await restore(other_place, file, force=True)
    assert await rows(other_place) == saved


async def test_one_flipped_bit_anywhere_in_a_backup_is_a_refusal_and_changes_nothing(tmp_path: Path) -> None:
    place, file = Place("", tmp_path / "data"), tmp_path / "saved.zip"
    await fill(place, tmp_path)
    await back_up(place, file)
    data = file.read_bytes()
    members = zipfile.ZipFile(file).infolist()
    for number, member in enumerate(members):
        names = struct.unpack_from("<HH", data, member.header_offset + 26)  # the name and what stands behind it
        middle = member.header_offset + 30 + sum(names) + member.compress_size // 2
        broken = bytearray(data)
        broken[middle] ^= 1 << (number % 8)
        bad = tmp_path / "bad.zip"
        bad.write_bytes(broken)
        there = Place("", tmp_path / f"there{number}")
        with pytest.raises(OperatorError, match="backup_damaged"):
            await restore(there, bad)
        assert not there.folder.exists()
    for cut in (0, 10, len(data) // 2, len(data) - 1):
        bad.write_bytes(data[:cut])
        with pytest.raises(OperatorError, match="backup_damaged"):
            await restore(Place("", tmp_path / "never"), bad)
    assert not (tmp_path / "never").exists()


async def test_a_backup_is_not_written_over_something_else(place: Place, tmp_path: Path) -> None:
    await fill(place, tmp_path)
    precious = tmp_path / "precious.epub"
    precious.write_text("a book")
    with pytest.raises(OperatorError, match="backup_in_the_way"):
        await back_up(place, precious)
    assert precious.read_text() == "a book"
    file = tmp_path / "saved.zip"
    await back_up(place, file)
    await back_up(place, file)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
    with pytest.raises(OperatorError, match="backup_unwritable"):
        await back_up(place, tmp_path / "nowhere" / "saved.zip")


async def test_what_a_killed_backup_left_is_swept_by_the_next_one_and_nothing_else_is(tmp_path: Path) -> None:
    place = Place("", tmp_path / "data")
    await fill(place, tmp_path)
    safe = tmp_path / "safe"
    safe.mkdir()
    words = ("backup", safe / "monday.zip", "--data", place.folder)
    started = await programs.start(programs.LOCCIT, *words, environment=os.environ)
    ended = asyncio.create_task(started.wait())
    while not (left := list(safe.glob(".loccit-*.part"))) and not ended.done():  # noqa: ASYNC110  # nobody tells of files
        await asyncio.sleep(0)
    started.kill()
    await ended
    left = left or [safe / ".loccit-abc.part"]
    young = safe / ".loccit-young.part"
    others = safe / ".others.part"
    for path in (*left, young, others):
        path.touch()
    for path in (*left, others):
        os.utime(path, (0, 0))
    await back_up(place, safe / "tuesday.zip")
    assert not any(path.exists() for path in left)
    assert young.exists()
    assert others.exists()


async def test_there_is_nothing_to_back_up_in_an_empty_folder_and_nothing_is_made_there(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="backup_nothing"):
        await back_up(Place("", tmp_path / "data"), tmp_path / "saved.zip")
    assert os.listdir(tmp_path) == []
    with pytest.raises(OperatorError, match="backup_unreadable"):
        await restore(Place("", tmp_path / "data"), tmp_path / "missing.zip")


@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_a_database_of_every_released_schema_is_brought_up_to_date_with_all_it_holds(
    revision: str, place: Place, other_place: Place, tmp_path: Path
) -> None:
    """Built at that revision with rows in every table; saved before the change; read back afterwards."""
    await fill(place, tmp_path)
    file, now = tmp_path / "saved.zip", await rows(place)
    await back_up(place, file)
    await make_old(other_place, revision, file)
    old = await rows(other_place)
    assert all(old.values()), [name for name, found in old.items() if not found]
    assert all({**row, **row_then} == row for name in old for row, row_then in zip(now[name], old[name], strict=True))
    early = tmp_path / "early.zip"
    told = await write_backup(other_place.url, other_place.folder, early, NOON)
    assert told.revision == revision
    store = await other_place.open()
    try:
        await _read_back(store)
    finally:
        await store.close()
    found = await rows(other_place)
    assert {name: _columns_of(found[name], old[name]) for name in old} == old
    assert other_place.raw("SELECT version_num FROM alembic_version") == [(REVISIONS[-1],)]
    [saved] = other_place.folder.rglob(f"*before-{REVISIONS[-1]}*")
    assert saved.stat().st_mode & 0o777 == 0o600
    # A backup that was made then is restored now.
    later = Place("", tmp_path / "later")
    await restore(later, early)
    again = await rows(later)
    assert {name: _columns_of(again[name], old[name]) for name in old} == old


def _columns_of(rows: list[dict[str, object]], like: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{name: row[name] for name in other} for row, other in zip(rows, like, strict=True)]


async def _read_back(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    assert len(await store.shelf.shelf(channel)) == 2
    assert await store.shelf.current(channel) == sha(1)
    book = await store.books.parsed(sha(1), "1")
    assert book.files[0].text == TEXT
    assert book.segments[0].summary == "A summary [f0-0-40]."
    [turn] = await store.turns.history(channel)
    assert [note.id for note in turn.answer.footnotes] == ["n1", "n2"]
    assert await store.turns.unshown("console") == ()
    assert [row.question.event for row in await store.inbox.kept_questions("console")] == ["q2"]
    assert [row.question.event for row in await store.inbox.unfinished_questions("console")] == ["q3"]
    assert await store.ledger.find("a" * 64) is not None
    assert await store.progress.limit_words(channel, sha(1)) == "finished 1"
