"""Where statements go: one writer and a few readers, one transaction at a time where the database wants it so."""

import asyncio
import importlib
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import URL, Executable, Table, make_url, text
from sqlalchemy.exc import ArgumentError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import OperatorError
from core.store import connections
from core.store.connections import FLUSHES, Connections
from core.store.failures import database_failure, disk_failure, failures_as_sentences
from core.store.looking import look_only
from core.store.mounts import network_mount

_log = logging.getLogger(__name__)

DATABASE_FILE = "loccit.db"


class Engines:
    """Where statements go: `async with engines.write()` is one transaction, `read()` sees what is committed.

    Inside `read()` every statement stands alone (autocommit): nothing holds an old snapshot, so the log can always
    be checkpointed. Ask in one statement for what must fit together.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._writer = connections.writer
        self._hasty = connections.writer.execution_options(**{FLUSHES: False})
        self._reader = connections.reader
        # As wide as the pools: whoever waits, waits here, without a time limit.
        self._writing = asyncio.Semaphore(connections.writers)
        self._reading = asyncio.Semaphore(connections.readers)
        self._copy: TemporaryDirectory[str] | None = None
        self.version = ""

    @classmethod
    async def open(cls, url: str, folder: Path, patience: float = 30.0, *, prepare: bool = True) -> "Engines":
        """Connect once to each side. `patience`: seconds to wait while another process writes or does not answer.

        Without `prepare` the file of an SQLite database is neither made nor changed; it must be there (`missing`). It
        may lie where nothing can be written.

        Raises OperatorError: `database_url_unknown`, `data_unwritable`, `data_on_network`, `disk_full`,
        `database_unavailable`, `database_damaged`.
        """
        target = _target(url, folder)
        if target.get_backend_name() == "sqlite":
            path = Path(target.database or "")
            copy = None
            if prepare:
                await asyncio.to_thread(_prepare_file, path, patience)
                address = str(path)
            else:
                address, copy = await asyncio.to_thread(look_only, path, patience)
            engines = cls(connections.sqlite(target, address, patience))
            engines._copy = copy
        else:
            engines = cls(connections.postgres(target, patience))
        try:
            async with engines.read() as connection:
                engines.version = await _version(connection)
        except ProgrammingError as error:
            # No statement of ours yet: a part of the address that the driver does not know.
            await engines.close()
            raise OperatorError("database_url_unknown") from error
        except BaseException:
            await engines.close()
            raise
        _log.info("data lies in %s", engines.version)
        return engines

    @staticmethod
    def file(url: str, folder: Path) -> Path | None:
        """The file the database is, there or not; None for a server. Raises OperatorError `database_url_unknown`."""
        target = _target(url, folder)
        return Path(target.database or "") if target.get_backend_name() == "sqlite" else None

    @staticmethod
    def missing(url: str, folder: Path) -> bool:
        """True when the database is a file that does not exist. Raises OperatorError `database_url_unknown`."""
        path = Engines.file(url, folder)
        return path is not None and not path.is_file()

    @property
    def url(self) -> URL:
        """The address, with password."""
        return self._writer.url

    @property
    def postgres(self) -> bool:
        return self._writer.dialect.name == "postgresql"

    @asynccontextmanager
    async def write(self, *, flushes: bool = True) -> AsyncIterator[AsyncConnection]:
        """One transaction, committed when the block ends well and rolled back when it does not (or is cancelled).

        One that does not flush is over in a fraction of the time. It outlives this process, but a power cut may undo it
        as long as no later one has flushed.
        """
        async with self._writing:
            with failures_as_sentences():
                async with (self._writer if flushes else self._hasty).begin() as connection:
                    if self.postgres and not flushes:
                        await connection.execute(text("SET LOCAL synchronous_commit = off"))
                    yield connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection that cannot write."""
        async with self._reading:
            with failures_as_sentences():
                async with self._reader.connect() as connection:
                    yield connection

    async def close(self) -> None:
        """Wait for what is under way, and close."""
        taken: list[asyncio.Semaphore] = []
        try:
            for gate, wide in ((self._writing, self._connections.writers), (self._reading, self._connections.readers)):
                for _ in range(wide):
                    await gate.acquire()
                    taken.append(gate)
        finally:
            try:
                await self._connections.close()
            finally:
                if self._copy is not None:
                    self._copy.cleanup()
                for gate in taken:
                    gate.release()


async def insert_new(connection: AsyncConnection, table: Table, values: Mapping[str, Any]) -> Any:
    """Insert a row unless one with the same unique key exists: the new row's (first) primary key, else None."""
    made = await connection.execute(_new_in(table, connection.dialect.name), values)
    return made.scalar_one_or_none()


@cache
def _new_in(table: Table, dialect: str) -> Executable:
    # The dialect that is spoken has been imported; the other one would cost 40 ms of every start.
    spoken = importlib.import_module(f"sqlalchemy.dialects.{dialect}")
    (key, *_) = table.primary_key
    statement: Executable = spoken.insert(table).on_conflict_do_nothing().returning(key)
    return statement


async def lock_content(connection: AsyncConnection, sha256: str) -> None:
    """Until this transaction ends, no other one takes in or deletes these bytes. On SQLite one writes at a time anyway."""
    if connection.dialect.name == "postgresql":
        number = int(sha256[:15], 16)
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": number})


async def take_time(connection: AsyncConnection) -> None:
    """Let this transaction wait for files between its statements, for as long as that takes."""
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def _target(url: str, folder: Path) -> URL:
    """The address with our driver in it; a file's path absolute, whatever folder the process moves to."""
    if not url:
        return URL.create("sqlite+aiosqlite", database=str((folder / DATABASE_FILE).absolute()))
    try:
        target = make_url(url)
    except (ArgumentError, ValueError) as error:  # the latter: a port that is no number
        # the text of the error may repeat a password
        raise OperatorError("database_url_unknown") from error
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
    driver = drivers.get(target.drivername.partition("+")[0])
    if driver is None:
        raise OperatorError("database_url_unknown")
    if driver.startswith("sqlite"):
        if target.database in (None, "", ":memory:"):
            raise OperatorError("database_url_unknown")
        target = target.set(database=os.path.abspath(target.database))
    return target.set(drivername=driver)


def _prepare_file(path: Path, patience: float) -> None:
    """Make the database file and put it into WAL mode; two processes may do this at the same moment."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        mountinfo = Path("/proc/self/mountinfo")
        kind = network_mount(path.parent.resolve(), mountinfo.read_text()) if mountinfo.exists() else None
    except OSError as error:
        raise disk_failure(error) from error
    if kind is not None:
        raise OperatorError("data_on_network", kind=kind)
    give_up = time.monotonic() + patience
    while True:
        try:
            connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
            try:
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    connection.execute("PRAGMA journal_mode = WAL")
                return
            finally:
                connection.close()
        except sqlite3.Error as error:
            # Switching the mode does not wait for locks as other statements do.
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if busy and time.monotonic() < give_up:
                time.sleep(0.02)
                continue
            raise (database_failure(error) or OperatorError("database_unavailable")) from error


async def _version(connection: AsyncConnection) -> str:
    if connection.dialect.name == "sqlite":
        return f"SQLite {(await connection.execute(text('SELECT sqlite_version()'))).scalar_one()}"
    return f"PostgreSQL {(await connection.execute(text('SHOW server_version'))).scalar_one()}"
