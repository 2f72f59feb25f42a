"""The queue of books to summarise on a PostgreSQL server, shared by as many processes as wanted: procrastinate.

What it holds can be made anew from the table of jobs at any time, and is: the queue only hands work out. A run that
lost its job to another writes nothing (`Jobs`), so a row handed out twice costs a look, no call.
"""

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, text

from core.errors import OperatorError
from core.store.engines import Engines
from core.store.jobs import Pending

if TYPE_CHECKING:
    from procrastinate import App

log = logging.getLogger(__name__)

NAME = "index"
_TASK = "summarise"
HEARTBEAT, STALLED = 2.0, 10.0
"""Seconds between two signs of life of a process, and after which it counts as dead."""
_AGAIN = 5.0
"""Seconds until a worker whose database went away begins again."""
_LOCK = 7_203_118_442  # any number; held by the process that makes or migrates procrastinate's tables
_CONNECTIONS = 2

Handler = Callable[[str, str], Awaitable[None]]
"""Summarises (content, text version); must not raise."""


class Queue:
    """One process's part in the queue. Raises OperatorError `database_unavailable` where the server is away."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._app: App | None = None
        self._opening = asyncio.Lock()
        self._handler: Handler | None = None

    async def put(self, books: Sequence[Pending]) -> None:
        """Queue books that are not queued yet, best rank first."""
        if not books:
            return
        app = await self._open()
        with _failures():
            waiting = {job.queueing_lock for job in await app.job_manager.list_jobs_async(queue=NAME, status="todo")}
            for sha256, text_version, rank in books:
                key = f"{NAME}:{sha256}:{text_version}"
                if key in waiting:
                    continue
                one = app.configure_task(_TASK, lock=key, queueing_lock=key, queue=NAME, priority=-rank)
                try:
                    await one.defer_async(sha256=sha256, text_version=text_version)
                except _of("exceptions").AlreadyEnqueued:
                    continue

    async def work(self, handler: Handler, at_once: int) -> None:
        """Hand books to `handler`, so many at once, until cancelled; then the ones at work are cut off."""
        self._handler = handler
        while True:
            try:
                app = await self._open()
                with _failures():
                    await app.run_worker_async(
                        queues=[NAME],
                        name=NAME,
                        concurrency=at_once,
                        install_signal_handlers=False,
                        shutdown_graceful_timeout=0.01,
                        update_heartbeat_interval=HEARTBEAT,
                        stalled_worker_timeout=STALLED,
                        delete_jobs="always",
                    )
                log.warning("queue: the worker stopped, again in %.0f s", _AGAIN)
            except OperatorError as error:
                log.warning("queue: %s, again in %.0f s", error.key, _AGAIN)
            await asyncio.sleep(_AGAIN)

    async def drop_dead(self) -> int:
        """Take from the queue what dead or frozen processes were at, so that it can be queued again."""
        app = await self._open()
        dropped = 0
        with _failures():
            for job in await app.job_manager.get_stalled_jobs(queue=NAME, seconds_since_heartbeat=STALLED):
                try:
                    await app.job_manager.finish_job(job, _of("jobs").Status.FAILED, delete_job=True)
                    dropped += 1
                except _of("exceptions").ConnectorException:  # another process was faster
                    continue
        return dropped

    async def close(self) -> None:
        """Let go of the server. Closing twice is harmless."""
        if self._app is not None:
            app, self._app = self._app, None
            await app.close_async()

    async def _open(self) -> "App":
        async with self._opening:
            if self._app is None:
                await self._bring_up_to_date()
                for name in ("procrastinate", "procrastinate.periodic"):
                    logging.getLogger(name).setLevel(logging.WARNING)
                procrastinate = importlib.import_module("procrastinate")
                connector = procrastinate.PsycopgConnector(
                    conninfo=conninfo(self._engines.url), min_size=1, max_size=_CONNECTIONS
                )
                app: App = procrastinate.App(connector=connector)
                app.task(name=_TASK, queue=NAME)(self._summarise)
                try:
                    with _failures():
                        await app.open_async()
                except BaseException:  # cancelled: what it has begun would go on connecting
                    await app.close_async()
                    raise
                self._app = app
            return self._app

    async def _summarise(self, sha256: str, text_version: str) -> None:
        if self._handler is not None:
            await self._handler(sha256, text_version)

    async def _bring_up_to_date(self) -> None:
        """Make procrastinate's tables, or migrate them; processes that start at the same moment wait for each other.

        Its own tables do not tell their version, so a comment on them does.
        """
        schema, migrations = await asyncio.to_thread(_scripts)
        newest = max(migrations)
        async with self._engines.write() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            there = await connection.execute(text("SELECT to_regclass('procrastinate_jobs') IS NOT NULL"))
            if not there.scalar_one():
                scripts = [schema]
            else:
                comment = "SELECT obj_description(to_regclass('procrastinate_jobs'), 'pg_class')"
                version = (await connection.execute(text(comment))).scalar_one_or_none() or newest
                scripts = [migrations[name] for name in sorted(migrations) if name > version]
            raw = (await connection.get_raw_connection()).driver_connection
            assert raw is not None
            for script in scripts:
                await raw.execute(script)
            await connection.execute(text(f"COMMENT ON TABLE procrastinate_jobs IS '{newest}'"))


def _scripts() -> tuple[str, dict[str, str]]:
    """procrastinate's tables, and its migrations by name, which sort by age."""
    manager = _of("schema").SchemaManager
    files = Path(manager.get_migrations_path()).glob("*.sql")
    return manager.get_schema(), {file.stem: file.read_text(encoding="utf-8") for file in files}


def conninfo(url: URL) -> str:
    """The address as PostgreSQL's own library reads it."""
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _of(module: str) -> Any:
    return importlib.import_module(f"procrastinate.{module}")


@contextmanager
def _failures() -> Iterator[None]:
    """Raise OperatorError in place of what procrastinate raises when the server is away."""
    away = (_of("exceptions").ConnectorException, importlib.import_module("psycopg_pool").PoolTimeout)
    try:
        yield
    except away as error:
        raise OperatorError("database_unavailable") from error
