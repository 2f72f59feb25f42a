"""A book read in a box of its own: its text first, and while the caller stores that, its rank table."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from core.errors import BadBook
from core.formats.ahead import LIMITS, MAX_UPLOAD, Job, read_job, take_over
from core.formats.box import Box, BoxLimits
from core.formats.wire import unpack
from core.model import ParsedBook

__all__ = ["MAX_UPLOAD", "Read", "read", "reading"]

_log = logging.getLogger(__name__)


class Read:
    """A book that has been read, while its child is still at its rank table."""

    def __init__(self, book: ParsedBook, child: Box | None) -> None:
        """`child` is None when no rank table was asked for."""
        self.book = book
        self._child = child

    async def ranked(self) -> None:
        """Wait for the rank table: once this returns, it is written whole. To be called once.

        Raises BadBook (the file) or OperatorError (the disk does not take the table).
        """
        if self._child is not None:
            await self._child.answer()


@asynccontextmanager
async def reading(
    path: Path,
    *,
    rank_path: Path | None,
    password: str | None = None,
    accept_partial: bool = False,
    sha256: str | None = None,
    box: BoxLimits = LIMITS,
) -> AsyncIterator[Read]:
    """Read a book in a box of its own, which meanwhile writes the book's rank table to `rank_path` when given.

    `sha256`: what the file is known to hold; a child that has read these bytes ahead is taken over. Leaving the block
    ends the child, and half a table goes with it: `ranked` waits for the whole. How many run at once is the caller's
    business. Raises BadBook (the file).
    """
    await asyncio.to_thread(_check, path)
    job = read_job(path, password, accept_partial)
    child: Box | None = None
    try:
        async with AsyncExitStack() as boxes:
            child, packed = await _read_ahead(boxes, job, sha256, box) or await _read_now(boxes, job, box)
            if rank_path is not None:
                child.tell(_rank_job(rank_path))
            book = await asyncio.to_thread(_unpacked, packed)
            yield Read(book, child if rank_path is not None else None)
    finally:
        if rank_path is not None and child is not None:
            rank_path.with_name(f"{rank_path.name}.{child.pid}.new").unlink(missing_ok=True)


def _rank_job(path: Path) -> Job:
    return {"do": "rank", "path": str(path.absolute())}


async def _read_now(boxes: AsyncExitStack, job: Job, limits: BoxLimits) -> tuple[Box, Any]:
    child = await boxes.enter_async_context(Box(limits))
    return child, await child.ask(job)


async def _read_ahead(boxes: AsyncExitStack, job: Job, sha256: str | None, limits: BoxLimits) -> tuple[Box, Any] | None:
    """The child that has begun with this job, and what it has read of the bytes that are meant; else None."""
    process = take_over(job) if sha256 is not None and limits == LIMITS else None
    if process is None:
        return None
    child = await boxes.enter_async_context(Box(limits, process))
    packed = await of_these_bytes(child, sha256)
    if packed is None:
        await boxes.aclose()
        return None
    return child, packed


async def of_these_bytes(child: Box, sha256: str | None) -> Any:
    """What a child that was taken over has read, when the file held these bytes before and after; else None."""
    try:
        meant = await child.answer() == sha256
    except BadBook:  # it has ended: there was a table, though nothing is stored
        return None
    packed = await child.answer() if meant else None
    return packed if meant and await child.answer() == sha256 else None


async def read(
    path: Path,
    *,
    rank_path: Path | None,
    password: str | None = None,
    accept_partial: bool = False,
    box: BoxLimits = LIMITS,
) -> ParsedBook:
    """As `reading`, with the rank table waited for. A cancelled call kills the child and leaves no rank table."""
    how = reading(path, rank_path=rank_path, password=password, accept_partial=accept_partial, box=box)
    async with how as found:
        await found.ranked()
        return found.book


def _unpacked(packed: Any) -> ParsedBook:
    try:
        return unpack(packed)
    except ValueError as error:
        _log.warning("box: %s", error)
        raise BadBook("book_broken") from None


def _check(path: Path) -> None:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise BadBook("file_not_found", name=path.name) from None
    if size > MAX_UPLOAD:
        raise BadBook("book_too_large", size=-(-size // 1_000_000), limit=MAX_UPLOAD // 1_000_000)
