"""Optical recognition by `ocrmypdf`, when it is installed and the operator allows it: picture pages get a text layer."""

import asyncio
import logging
import os
import shutil
import signal
from pathlib import Path

from core.errors import BadBook

_log = logging.getLogger(__name__)

PROGRAM = "ocrmypdf"
SECONDS = 3_600.0
"""Wall time one book may take; measured: 1.5 s a page on one core, so about 2,000 pages."""


def installed() -> bool:
    return shutil.which(PROGRAM) is not None


async def recognise(source: Path, target: Path, languages: str, seconds: float = SECONDS) -> None:
    """Write a copy of the PDF `source` whose picture pages carry recognised text to `target`.

    `languages`: tesseract's names joined by `+` ("eng+spa"). Pages that have text already keep it.
    Raises BadBook `book_not_recognised` when the program fails or takes too long.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise BadBook("book_not_recognised")
    environment = {"PATH": os.defpath, "OMP_THREAD_LIMIT": "1", "TMPDIR": str(target.parent)}
    process = await asyncio.create_subprocess_exec(
        *(program, "--skip-text", "--jobs", "1", "--output-type", "pdf", "-l", languages, str(source), str(target)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            _, complaint = await process.communicate()
    except BaseException as stopped:  # too slow, or cancelled: its own children must end with it
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if isinstance(stopped, TimeoutError):
            raise BadBook("book_not_recognised") from stopped
        raise
    if process.returncode != 0 or not await asyncio.to_thread(target.is_file):
        _log.warning(
            "recognition failed",
            extra={"code": process.returncode, "said": complaint[-500:].decode("utf-8", "replace")},
        )
        raise BadBook("book_not_recognised")
