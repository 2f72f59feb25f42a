"""How connections are made: on SQLite one writer and a few readers, on PostgreSQL two pools; and that none stays open.

What SQLite needs to lose nothing, each found by losing something:
- The driver opens no transaction before a SELECT, so read-modify-writes were lost without an error: transactions
  are opened by us, with BEGIN IMMEDIATE (a plain BEGIN fails with "database is locked" when two upgrade at once).
- Coroutines that share a connection interleave inside one transaction: a semaphore hands it to one at a time.
- Up to 3.51.2 two connections that checkpoint at the same instant can corrupt the log: one connection writes, and
  it alone checkpoints. Memory mapping stays off.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from core.store.onetrip import connect

if TYPE_CHECKING:
    from psycopg import AsyncConnection

_READERS = 4
_POSTGRES_CONNECTIONS = 8
_FROZEN = 15
"""Seconds between two statements of a transaction after which a server ends it: its process was stopped or hangs, and
everybody else waits for the rows it holds."""
FLUSHES = "flushes"
"""The option of a writer's connection that is False where a commit need not wait for the disk."""
_JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024  # bytes the log file may keep after a checkpoint


@dataclass(frozen=True, slots=True)
class Connections:
    """Two engines, and how many may use each at once."""

    writer: AsyncEngine
    reader: AsyncEngine
    writers: int
    readers: int
    made: list[Any]
    """The drivers' connections."""

    async def close(self) -> None:
        """Readers first: the last one to leave folds up the log.

        Whoever is cancelled gives a connection back a little later, to a pool that is gone: so all are closed by hand.
        """
        try:
            await self.reader.dispose()
            await self.writer.dispose()
        finally:
            for connection in self.made:
                await connection.close()


def sqlite(url: URL, address: str, patience: float) -> Connections:
    """To a file. `address`: what is opened, a path or a `file:` address; `patience`: seconds to wait for a lock."""
    made: list[Any] = []

    def creator(*_: Any, **options: Any) -> Any:
        made.append(connect(address, uri=address.startswith("file:"), **options))
        return made[-1]

    writer = create_async_engine(
        url,
        pool_size=1,
        max_overflow=0,
        connect_args={"async_creator_fn": creator, "isolation_level": None, "timeout": patience},
    )
    reader = create_async_engine(
        url,
        pool_size=_READERS,
        max_overflow=0,
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
        connect_args={"async_creator_fn": creator, "timeout": patience},
    )

    @event.listens_for(writer.sync_engine, "begin")
    def begin(connection: Any) -> None:
        flushes = connection.get_execution_options().get(FLUSHES, True)
        connection.connection.driver_connection.begin(flushes=flushes)

    @event.listens_for(writer.sync_engine, "connect")
    def set_up_writer(connection: Any, record: Any) -> None:
        _pragmas(
            connection,
            foreign_keys=1,
            mmap_size=0,
            wal_autocheckpoint=1000,
            journal_size_limit=_JOURNAL_SIZE_LIMIT,
        )

    @event.listens_for(reader.sync_engine, "connect")
    def set_up_reader(connection: Any, record: Any) -> None:
        _pragmas(connection, query_only=1, mmap_size=0, wal_autocheckpoint=0)

    return Connections(writer, reader, 1, _READERS, made)


def _pragmas(connection: Any, **settings: int) -> None:
    cursor = connection.cursor()
    for name, value in settings.items():
        cursor.execute(f"PRAGMA {name} = {value}")
    cursor.close()


def postgres(url: URL, patience: float) -> Connections:
    """To a server. `patience`: seconds to wait until it answers."""
    from psycopg import AsyncConnection

    made: list[Any] = []

    async def creator(*arguments: Any, **options: Any) -> Any:
        connecting = asyncio.ensure_future(AsyncConnection.connect(*arguments, **options))
        try:
            connection = await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close_unwanted)
            raise
        made[:] = [one for one in made if not one.closed]  # a server that was restarted closed them
        made.append(connection)
        return connection

    options: dict[str, Any] = {
        "pool_size": _POSTGRES_CONNECTIONS,
        "max_overflow": 0,
        # a server that was restarted costs nobody an error
        "pool_pre_ping": True,
        "connect_args": {"async_creator_fn": creator, "connect_timeout": max(2, int(patience))},
    }
    writer = create_async_engine(url, **options)
    reader = create_async_engine(url, isolation_level="AUTOCOMMIT", skip_autocommit_rollback=True, **options)

    @event.listens_for(writer.sync_engine, "connect")
    def set_up_writer(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_FROZEN}s'")
        cursor.close()
        connection.commit()

    @event.listens_for(reader.sync_engine, "connect")
    def set_up_reader(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        cursor.close()

    return Connections(writer, reader, _POSTGRES_CONNECTIONS, _POSTGRES_CONNECTIONS, made)


def _close_unwanted(connecting: "asyncio.Future[AsyncConnection]") -> None:
    """Whoever asked for it was cancelled. Cancelled half way, a connection stays open until the collector comes by."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().pgconn.finish()
