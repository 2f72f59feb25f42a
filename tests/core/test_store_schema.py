"""The tables come from the migrations, whoever opens first and however many do."""

import asyncio
import sys
import tomllib
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

import core.store
from core.errors import OperatorError
from core.store.engines import Engines
from core.store.schema import metadata
from core.store.upgrade import REVISIONS, bring_up_to_date, migrate
from tests.core.stores import NOON, ROOM, Place

HOME = Path(core.store.__file__).parent


def _differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata))


async def test_the_migrations_make_exactly_the_tables_the_code_uses(place: Place) -> None:
    engines = await Engines.open(place.url, place.folder)
    try:
        async with engines.write() as connection:
            await connection.run_sync(migrate)
        async with engines.read() as connection:
            assert await connection.run_sync(_differences) == []
    finally:
        await engines.close()


def _plain(found: object) -> object:
    """What an inspector found, as values that can be compared (it hands out expressions too)."""
    if isinstance(found, dict):
        return {key: _plain(value) for key, value in found.items()}
    if isinstance(found, list):
        return [_plain(value) for value in found]
    return str(found)


def _anatomy(connection: Connection) -> dict[str, object]:
    """Everything the database knows of its tables: columns in order, keys, indexes."""
    inspector = inspect(connection)
    return {
        name: (
            _plain(inspector.get_columns(name)),
            _plain(inspector.get_pk_constraint(name)),
            _plain(sorted(inspector.get_foreign_keys(name), key=str)),
            _plain(sorted(inspector.get_unique_constraints(name), key=lambda each: str(each["name"]))),
            _plain(sorted(inspector.get_indexes(name), key=lambda each: str(each["name"]))),
        )
        for name in inspector.get_table_names()
    }


async def test_a_created_database_is_a_migrated_one_column_by_column(place: Place, other_place: Place) -> None:
    created, migrated = (
        await Engines.open(place.url, place.folder),
        await Engines.open(other_place.url, other_place.folder),
    )
    try:
        await bring_up_to_date(created)
        async with migrated.write() as connection:
            await connection.run_sync(migrate)
        async with created.read() as one, migrated.read() as other:
            anatomy = await one.run_sync(_anatomy)
            assert anatomy == await other.run_sync(_anatomy)
            assert anatomy.keys() == {"alembic_version", *metadata.tables}
            for connection in (one, other):
                version = await connection.execute(text("SELECT version_num FROM alembic_version"))
                assert version.scalars().all() == [REVISIONS[-1]]
    finally:
        await created.close()
        await migrated.close()


async def test_an_empty_folder_opens_without_the_migrations(tmp_path: Path) -> None:
    """And without what speaks to a server: both take their time at every start."""
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom core.store import Store\n"
        f"async def main():\n    await (await Store.open('', Path({str(tmp_path / 'data')!r}))).close()\n"
        "asyncio.run(main())\nsys.exit(bool({'alembic', 'sqlalchemy.dialects.postgresql'} & set(sys.modules)))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=HOME.parents[1])
    assert await process.wait() == 0


def test_every_revision_is_known_to_the_code_in_order() -> None:
    script = ScriptDirectory(str(HOME / "migrations"))
    assert tuple(reversed([each.revision for each in script.walk_revisions()])) == REVISIONS


async def test_four_stores_that_open_an_empty_place_at_once_all_work(place: Place) -> None:
    stores = await asyncio.gather(*(place.open() for _ in range(4)))
    try:
        assert len({await store.shelf.channel(ROOM, NOON) for store in stores}) == 1
    finally:
        await asyncio.gather(*(store.close() for store in stores))
    assert place.raw("SELECT version_num FROM alembic_version") == [(REVISIONS[-1],)]


async def test_data_of_a_newer_version_is_refused_and_left_alone(place: Place) -> None:
    store = await place.open()
    await store.shelf.channel(ROOM, NOON)
    await store.close()
    place.raw("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(OperatorError, match="schema_newer"):
        await place.open()
    assert place.raw("SELECT version_num FROM alembic_version") == [("9999",)]
    assert place.raw("SELECT external FROM channel") == [("local",)]


async def test_something_that_is_no_database_is_one_sentence_and_left_alone(sqlite_place: Place) -> None:
    sqlite_place.folder.mkdir()
    file = sqlite_place.folder / "loccit.db"
    file.write_bytes(b"this is a letter, not a database. " * 40)
    with pytest.raises(OperatorError, match="database_damaged"):
        await sqlite_place.open()
    assert file.read_bytes().startswith(b"this is a letter")


async def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OperatorError, match="data_unwritable"):
        await Place("", tmp_path / "file" / "data").open()


def test_every_sentence_of_the_store_stands_in_every_language() -> None:
    keys = {
        "disk_full", "data_unwritable", "data_on_network", "database_unavailable", "database_damaged",
        "database_url_unknown", "schema_newer", "book_not_stored", "book_not_on_shelf", "original_missing",
        "original_damaged", "text_damaged", "turn_damaged", "event_reused", "question_not_on_record",
    }  # fmt: skip
    for file in sorted((HOME.parent / "strings").glob("*.toml")):
        assert keys <= tomllib.loads(file.read_text(encoding="utf-8")).keys(), file.name
