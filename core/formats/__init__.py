"""Files in: every format becomes a `ParsedBook`, read in a boxed child process of its own."""

import asyncio
import logging
from pathlib import Path

from core.errors import BadBook
from core.formats.box import Box, BoxLimits
from core.formats.wire import unpack
from core.model import ParsedBook

__all__ = ["MAX_UPLOAD", "Box", "BoxLimits", "read"]

MAX_UPLOAD = 50 * 1_000_000
"""Bytes of a file that is taken in."""
_log = logging.getLogger(__name__)


async def read(
    path: Path,
    *,
    rank_path: Path | None,
    password: str | None = None,
    accept_partial: bool = False,
    box: BoxLimits = BoxLimits(),  # noqa: B008  (frozen)
) -> ParsedBook:
    """Read a book in a box of its own, and write its rank table to `rank_path` when given.

    A cancelled call kills the child and leaves no rank table. How many run at once is the caller's business.
    Raises BadBook (the file) or OperatorError (the disk does not take the table).
    """
    job: dict[str, str | bool | None] = {"do": "read", "password": password, "accept_partial": accept_partial}
    job |= await asyncio.to_thread(_checked, path, rank_path)
    child = Box(box)
    try:
        async with child:
            packed = await child.ask(job)
    except BaseException:
        if rank_path is not None:  # half a table of a killed child
            rank_path.with_name(f"{rank_path.name}.{child.pid}.new").unlink(missing_ok=True)
        raise
    try:
        return await asyncio.to_thread(unpack, packed)
    except ValueError as error:
        _log.warning("box: %s", error)
        raise BadBook("book_broken") from None


def _checked(path: Path, rank_path: Path | None) -> dict[str, str | None]:
    """The child's paths, absolute since it lives elsewhere."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise BadBook("file_not_found", name=path.name) from None
    if size > MAX_UPLOAD:
        raise BadBook("book_too_large", size=-(-size // 1_000_000), limit=MAX_UPLOAD // 1_000_000)
    return {"path": str(path.absolute()), "rank_path": None if rank_path is None else str(rank_path.absolute())}
