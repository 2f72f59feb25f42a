"""The schema brought up to date when the store opens: an empty database gets the tables at once, an older one migrates.

alembic takes longer to load than everything else a start does, so it is loaded only to migrate.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, inspect, text

from core.errors import OperatorError
from core.store.engines import Engines, take_time
from core.store.schema import metadata

_log = logging.getLogger(__name__)

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
"""Every revision in `migrations/versions`, oldest first. A database at any other is newer than this code."""

_MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 5_014_716_235  # any number; held by the process that migrates a PostgreSQL database

version_table = sa.Table(
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table alembic keeps its revision in, as it makes it."""


async def bring_up_to_date(engines: Engines, save: Callable[[], Awaitable[Path]] | None = None) -> None:
    """Create or migrate the tables in one transaction. Processes that open at the same moment wait for each other.

    `save` is awaited before tables with something in them are changed; when it fails, nothing is changed.
    Raises OperatorError `schema_newer` when the database was last opened by newer code; nothing is changed then.
    """
    if await is_up_to_date(engines):
        return
    async with engines.write() as connection:
        if engines.postgres:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        if await connection.run_sync(_up_to_date):
            return
        if await connection.run_sync(_untouched):
            await connection.run_sync(_create)
            return
        if save is not None and await connection.run_sync(revision_of) is not None:
            await take_time(connection)
            _log.info("the schema is about to be changed; saved in %s", (await save()).name)
        await connection.run_sync(migrate)


async def is_up_to_date(engines: Engines) -> bool:
    """Whether the tables are those of this code; changes nothing. Raises OperatorError `schema_newer`."""
    async with engines.read() as connection:
        return await connection.run_sync(_up_to_date)


def _up_to_date(connection: Connection) -> bool:
    revision = revision_of(connection)
    if revision is not None and revision not in REVISIONS:
        raise OperatorError("schema_newer")
    return revision == REVISIONS[-1]


def revision_of(connection: Connection) -> str | None:
    """The revision of the tables as the database says; None before there are any."""
    if not inspect(connection).has_table(version_table.name):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return revision


def _untouched(connection: Connection) -> bool:
    """None of our tables is there; other programs may have theirs in the same database."""
    return not {version_table.name, *metadata.tables}.intersection(inspect(connection).get_table_names())


def _create(connection: Connection) -> None:
    """What all migrations together make; tests/core/test_store_schema.py compares the two."""
    for statement in _statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    connection.execute(version_table.insert().values(version_num=REVISIONS[-1]))


@cache
def _statements(dialect: str) -> Sequence[str]:
    """What makes our tables, as this database wants it. Spelling it takes longer than doing it, and tests do it a lot."""
    statements: list[str] = []
    if dialect == "postgresql":  # its partial indexes are named for SQLite alone: see `partial_index`
        for index in (index for table in metadata.sorted_tables for index in table.indexes):
            index.dialect_options[dialect]["where"] = index.dialect_options["sqlite"]["where"]

    def write(statement: Any, *_: Any, **__: Any) -> None:
        statements.append(str(statement.compile(dialect=engine.dialect)))

    engine = sa.create_mock_engine(f"{dialect}://", write)
    metadata.create_all(engine, checkfirst=False)
    version_table.create(engine, checkfirst=False)
    return statements


def migrate(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that are missing up to a revision, all of them on an empty database."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
