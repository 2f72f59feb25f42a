"""aiosqlite connections on which a statement costs one trip to the connection's thread instead of four.

aiosqlite goes there to make a cursor, to execute, to fetch and to close. Each trip waits for the scheduler twice, and
while books are being read on all cores that came to 4 ms a statement against 0.2 ms for one trip.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self

import aiosqlite


class Cursor:
    """What SQLAlchemy needs of a cursor. All rows are fetched in the trip that executes."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._rows: Sequence[Any] = ()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Iterable[Any] = ()) -> Self:
        await self._connection.run(partial(self._take, sqlite3.Connection.execute, sql, parameters))
        return self

    async def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> Self:
        await self._connection.run(partial(self._take, sqlite3.Connection.executemany, sql, parameters))
        return self

    def _take(self, execute: Callable[..., sqlite3.Cursor], *arguments: Any) -> None:
        cursor = execute(self._connection.driver_connection, *arguments)
        try:
            self.description = cursor.description
            self._rows = cursor.fetchall() if cursor.description else ()
            self.rowcount = cursor.rowcount
            self.lastrowid = cursor.lastrowid
        finally:
            cursor.close()

    async def fetchall(self) -> Sequence[Any]:
        rows, self._rows = self._rows, ()
        return rows

    async def setinputsizes(self, *sizes: Any) -> None:
        """SQLite has no use for them."""

    async def close(self) -> None:
        """Closed already, in the trip that executed."""


class Connection(aiosqlite.Connection):
    """An aiosqlite connection whose cursors make one trip."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(self._opened, iter_chunk_size=64)
        self._open = connector
        self._raw: sqlite3.Connection | None = None
        """Known before whoever asked for it is told, who may have been cancelled meanwhile."""
        # As SQLAlchemy does it: a process that forgets to close the store still ends.
        self._thread.daemon = True
        self._begins = False
        self._flushes = True
        self._level = ""
        self._ended = True
        """Whether the last trip ended a transaction: there is nothing to roll back then."""

    @property
    def driver_connection(self) -> sqlite3.Connection:
        return self._conn

    def stop(self) -> asyncio.Future[Any] | None:
        """End the thread; what it has opened is closed, whoever was told of it."""
        self._tx.put_nowait((None, self._shut))
        return super().stop()

    def _opened(self) -> sqlite3.Connection:
        self._raw = self._open()
        return self._raw

    def _shut(self) -> None:
        if self._raw is not None:
            self._raw.close()

    def begin(self, *, flushes: bool) -> None:
        """Begin a transaction with the next statement, in its trip; without one there is none.

        Unless it `flushes`, its commit does not wait for the disk: a crash of this process loses nothing of it, a power
        cut may, until a later one has flushed.
        """
        self._begins = True
        self._flushes = flushes

    async def run(self, work: Callable[[], None]) -> None:
        """Run in the connection's thread, in turn."""
        begins, self._begins, self._ended = self._begins, False, False
        await self._execute(partial(self._begin, work) if begins else work)  # type: ignore[no-untyped-call]  # aiosqlite types its public part only

    def _begin(self, work: Callable[[], None]) -> None:
        level = "FULL" if self._flushes else "NORMAL"
        if level != self._level:
            self.driver_connection.execute(f"PRAGMA synchronous = {level}")
            self._level = level
        self.driver_connection.execute("BEGIN IMMEDIATE")
        work()

    async def commit(self) -> None:
        """No trip when nothing was done."""
        self._begins = False
        if not self._ended:
            await super().commit()
            self._ended = True

    async def rollback(self) -> None:
        """No trip when nothing was done, as when SQLAlchemy takes back a connection whose transaction has ended."""
        self._begins = False
        if not self._ended:
            await super().rollback()
            self._ended = True

    def cursor(self) -> Cursor:  # type: ignore[override]  # the same to SQLAlchemy: it enters and uses it
        return Cursor(self)


def connect(database: str, **options: Any) -> Connection:
    """What `async_creator_fn` of an engine takes; the arguments of `sqlite3.connect`."""
    return Connection(partial(sqlite3.connect, database, **options))
