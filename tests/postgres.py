"""A throw-away PostgreSQL server for one test run, reached by a Unix socket only; one schema a test."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg

from tests.parts import POSTGRES

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # the server outlives the processes that tests kill; power cuts are not tested
    "max_connections": "100",
    "shared_buffers": "32MB",
}


@dataclass(frozen=True)
class Server:
    """A running server. `folder` holds its data and its socket."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def new_place(self) -> str:
        """Make an empty schema and return a URL whose connections see nothing else."""
        name = f"loccit_{next(self._numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode("ascii"))
        return f"{self.url}&options=-csearch_path%3D{name}"

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def connected(self) -> list[tuple[str, str]]:
        """State and last statement of every connection but the one that asks."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(
                "SELECT coalesce(state, ''), query FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server and stop it at the end. The server refuses to run as root; then it runs as `postgres`."""
    assert POSTGRES is not None
    folder = Path(tempfile.mkdtemp(prefix="loccit-pg-"))
    as_user: list[str] = []
    if os.getuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = ["runuser", "-u", "postgres", "--"]

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, str(POSTGRES / program), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

    data = folder / "data"
    try:
        run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            for name, value in {**_SETTINGS, "unix_socket_directories": str(folder)}.items():
                settings.write(f"{name} = '{value}'\n")
        run("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "start")
        try:
            yield Server(folder)
        finally:
            run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
