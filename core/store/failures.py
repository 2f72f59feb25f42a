"""What a disk or a database says when it fails, turned into an OperatorError with a sentence."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core.errors import LoccitError, OperatorError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

# Primary result codes (the low byte of the extended code), https://sqlite.org/rescode.html
_SQLITE = {
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_READONLY: "data_unwritable",
    sqlite3.SQLITE_CANTOPEN: "data_unwritable",
    sqlite3.SQLITE_PERM: "data_unwritable",
    sqlite3.SQLITE_AUTH: "data_unwritable",
    sqlite3.SQLITE_BUSY: "database_unavailable",
    sqlite3.SQLITE_LOCKED: "database_unavailable",
    sqlite3.SQLITE_CORRUPT: "database_damaged",
    sqlite3.SQLITE_NOTADB: "database_damaged",
}

# A failed write is how SQLite reports a quota or a file size limit; a full disk proper is SQLITE_FULL.
_SQLITE_WRITE_FAILED = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMSIZE}

# The first two characters are the class, https://www.postgresql.org/docs/current/errcodes-appendix.html
_POSTGRES = {"53100": "disk_full", "25006": "data_unwritable", "XX001": "database_damaged", "XX002": "database_damaged"}


def disk_failure(error: OSError) -> OperatorError:
    """The sentence for a file operation in the data folder that failed."""
    return OperatorError("disk_full" if error.errno in _FULL else "data_unwritable")


def database_failure(error: BaseException) -> OperatorError | None:
    """The sentence for what a driver raised; None when the statement was at fault, which is our bug."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            return OperatorError("database_unavailable") if isinstance(error, sqlite3.OperationalError) else None
        if code in _SQLITE_WRITE_FAILED:
            return OperatorError("disk_full")
        if code & 0xFF == sqlite3.SQLITE_IOERR:
            return OperatorError("database_unavailable")
        key = _SQLITE.get(code & 0xFF)
        return OperatorError(key) if key else None
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        if state in _POSTGRES:
            return OperatorError(_POSTGRES[state])
        # connection, authorisation, rolled back (two waited for each other), resources, operator intervention, system error
        ours = {"08", "28", "3D", "40", "53", "57", "58"}
        return OperatorError("database_unavailable") if state[:2] in ours else None
    return None


@contextmanager
def disk_failures_as_sentences() -> Iterator[None]:
    """Raise OperatorError in place of an OSError met in the data folder."""
    try:
        yield
    except OSError as error:
        raise disk_failure(error) from error


@contextmanager
def failures_as_sentences() -> Iterator[None]:
    """Raise OperatorError in place of what the database layer raises; our own errors and bugs pass through."""
    try:
        yield
    except LoccitError:
        raise
    except PoolTimeout as error:
        raise OperatorError("database_unavailable") from error
    except DBAPIError as error:
        sentence = database_failure(error.orig) if error.orig is not None else None
        lost = error.connection_invalidated or (
            # a server that cannot be reached has no SQLSTATE to give
            isinstance(error, OperationalError | InterfaceError)
            and not isinstance(error.orig, sqlite3.Error)
            and getattr(error.orig, "sqlstate", None) is None
        )
        if sentence is None and lost:
            sentence = OperatorError("database_unavailable")
        if sentence is None:
            raise
        raise sentence from error
