"""Looking into an SQLite file without changing anything beside it, wherever it lies and whatever state it was left in."""

import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import OperatorError
from core.store.failures import database_failure, disk_failures_as_sentences


def look_only(path: Path, patience: float) -> tuple[str, TemporaryDirectory[str] | None]:
    """The address (`file:…`) under which the database can be read, and the folder to delete afterwards, if any.

    A process that writes keeps an index of its log in memory beside the file; where there is none and nothing can be
    written, SQLite cannot make one. Then nobody is writing either: without a log the file is read as it stands, and with
    one (left by a crash) a copy of both is. Raises OperatorError as opening does.
    """
    address = path.absolute().as_uri()
    failure = _tried(f"{address}?mode=ro", patience)
    if failure is None:
        return f"{address}?mode=ro", None
    log = path.with_name(path.name + "-wal")
    if not (log.is_file() and log.stat().st_size):
        if _tried(f"{address}?mode=ro&immutable=1", patience) is None:
            return f"{address}?mode=ro&immutable=1", None
    elif getattr(failure, "sqlite_errorcode", 0) & 0xFF in _NO_INDEX:
        with disk_failures_as_sentences():
            copy = TemporaryDirectory(prefix="loccit-")
            for file in (path, log):
                shutil.copyfile(file, Path(copy.name) / file.name)
        address = (Path(copy.name) / path.name).as_uri()
        if _tried(address, patience) is None:
            return address, copy
        copy.cleanup()
    raise (database_failure(failure) or OperatorError("database_unavailable")) from failure


_NO_INDEX = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


def _tried(address: str, patience: float) -> sqlite3.Error | None:
    try:
        connection = sqlite3.connect(address, uri=True, timeout=patience)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return error
    return None
