"""A file read before it is asked for: while the program that is about to ask is still starting.

Nothing comes of it but time. What the child has read counts only where somebody asks for these very bytes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from subprocess import Popen

from core.errors import OperatorError
from core.formats.process import BoxLimits, end, start, tell

LIMITS = BoxLimits()
MAX_UPLOAD = 50 * 1_000_000
"""Bytes of a file that is taken in."""

Job = Mapping[str, str | bool | None]


class _Begun:
    def __init__(self, process: Popen[bytes], facts: Job) -> None:
        self.process: Popen[bytes] | None = process
        self.facts = facts


_begun: ContextVar[_Begun | None] = ContextVar("begun", default=None)


def read_job(path: Path, password: str | None, accept_partial: bool) -> dict[str, str | bool | None]:
    """What a child is told to read; the path is absolute, since it lives elsewhere."""
    return {"do": "read", "path": str(path.absolute()), "password": password, "accept_partial": accept_partial}


@contextmanager
def reading_ahead(path: Path, password: str | None, tables: Path) -> Iterator[None]:
    """A child reads the file while the block runs; the first `reading` of the same bytes in it takes the child over.

    `tables`: the folder of rank tables; a book that has one is known and not read. Nothing is read ahead, and nothing
    said, when the file or the system is not fit for it: whoever asks will see.
    """
    begun = _begin(path, password, tables)
    token = _begun.set(begun)
    try:
        yield
    finally:
        _begun.reset(token)
        if begun is not None and begun.process is not None:
            end(begun.process)


def _begin(path: Path, password: str | None, tables: Path) -> _Begun | None:
    try:
        if not path.is_file() or not 0 < path.stat().st_size <= MAX_UPLOAD:
            return None
        process = start(LIMITS)
    except (OSError, ValueError, OperatorError):
        return None
    job = read_job(path, password, accept_partial=False)
    proof = {"do": "hash", "path": job["path"]}
    for each in ({**proof, "tables": str(tables.absolute())}, job, proof):  # the same bytes before and after
        tell(process, each)
    return _Begun(process, job)


def take_over(job: Job) -> Popen[bytes] | None:
    """The child that was told the same but for the path, once: it answers with a hash, the book, and a hash."""
    begun = _begun.get()
    if begun is None or {**begun.facts, "path": ""} != {**job, "path": ""}:
        return None
    process, begun.process = begun.process, None
    return process
