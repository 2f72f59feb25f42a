"""How a data folder is: its database, what waits, what failed lately, the room left; read without changing anything."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Table, func, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import OperatorError
from core.store import schema
from core.store.engines import Engines
from core.store.mounts import mount_kind
from core.store.upgrade import REVISIONS, revision_of


@dataclass(frozen=True, slots=True)
class Room:
    """Where the data folder lies. `kind` is that of the mount, "" where the system does not tell."""

    kind: str
    free: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Health:
    """A database. `pending` and `failed`: how many uploads, questions, books by kind of work; only what is not nought."""

    engine: str
    revision: str
    newest: bool
    """False when it is brought up to date at the next start, or when it is newer than this code."""
    known: bool
    """False for a schema of newer code: nothing else was looked at."""
    pending: Mapping[str, int]
    failed: Mapping[str, int]


def read_room(folder: Path) -> Room:
    """Raises OSError for a folder that is not there."""
    mountinfo = Path("/proc/self/mountinfo")
    kind = mount_kind(folder.resolve(), mountinfo.read_text()) if mountinfo.exists() else ""
    return Room(kind, shutil.disk_usage(folder).free)


async def read_health(url: str, folder: Path, since: datetime) -> Health | None:
    """None when there is no database yet. `since`: failures from then on are counted. Raises what opening a store raises.

    Every page of an SQLite file is read: a damaged one is `database_damaged`, whatever it holds.
    """
    if Engines.missing(url, folder):
        return None
    engines = await Engines.open(url, folder, prepare=False)
    try:
        async with engines.read() as connection:
            revision = await connection.run_sync(revision_of)
            if revision is None:
                return None
            if connection.dialect.name == "sqlite" and await _damaged(connection):
                raise OperatorError("database_damaged")
            known = revision in REVISIONS
            pending, failed = await connection.run_sync(_counts, since) if known else ({}, {})
        return Health(engines.version, revision, revision == REVISIONS[-1], known, pending, failed)
    finally:
        await engines.close()


async def _damaged(connection: AsyncConnection) -> bool:
    """Whether a page of the file holds what no page can: whoever does not happen to read it would never be told."""
    found: str = (await connection.execute(text("PRAGMA quick_check(1)"))).scalar_one()
    return found != "ok"


def _counts(connection: Connection, since: datetime) -> tuple[dict[str, int], dict[str, int]]:
    """The columns asked for are there since the first schema; tables that came later are left out when they are not."""
    pending: dict[str, int] = {}
    failed: dict[str, int] = {}

    def count(into: dict[str, int], name: str, table: Table, *which: ColumnElement[bool]) -> None:
        number = connection.execute(select(func.count()).select_from(table).where(*which)).scalar_one()
        if number:
            into[name] = number

    upload, question = schema.upload, schema.question
    count(pending, "uploads", upload, upload.c.state == "accepted")
    count(pending, "questions", question, question.c.state == "accepted")
    count(pending, "kept", question, question.c.state == "kept")
    count(failed, "uploads", upload, upload.c.state == "failed", upload.c.ended_at >= since)
    count(failed, "questions", question, question.c.state == "failed", question.c.ended_at >= since)
    there = inspect(connection).get_table_names()
    if schema.letter.name in there:
        count(pending, "letters", schema.letter, schema.letter.c.done_at.is_(None))
    if schema.job.name in there:
        state = schema.job.c.state
        for name in ("waiting", "queued", "running", "paused"):
            count(pending, f"jobs_{name}", schema.job, state == name)
        count(failed, "jobs", schema.job, state == "failed")
    return pending, failed
