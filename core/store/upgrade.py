"""The schema brought up to date when the store opens; alembic is loaded only when there is something to do."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from core.errors import OperatorError
from core.store.engines import Engines

REVISIONS = ("0001",)
"""Every revision in `migrations/versions`, oldest first. A database at any other is newer than this code."""

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 5_014_716_235  # any number; held by the process that migrates a PostgreSQL database


async def bring_up_to_date(engines: Engines) -> None:
    """Create or migrate the tables in one transaction. Processes that open at the same moment wait for each other.

    Raises OperatorError `schema_newer` when the database was last opened by newer code; nothing is changed then.
    """
    async with engines.read() as connection:
        if await connection.run_sync(_up_to_date):
            return
    async with engines.write() as connection:
        if engines.postgres:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if not await connection.run_sync(_up_to_date):
            await connection.run_sync(_migrate)


def _up_to_date(connection: Connection) -> bool:
    if not inspect(connection).has_table("alembic_version"):
        return False
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    if revision is not None and revision not in REVISIONS:
        raise OperatorError("schema_newer")
    return revision == REVISIONS[-1]


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
