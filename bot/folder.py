"""The data folder and who may write in it: one chat or bot, or one command at a time (a lock that dies with its process)."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Literal

from bot.config import Config
from core.errors import OperatorError

Holder = Literal["chat", "command"]

PATIENCE = 30.0
"""Seconds a command waits for another command; adding the largest book we take stays below that."""

_LOCK = "lock"
_POLL = 0.1


def make_folder(folder: Path) -> None:
    """Create the data folder, readable by its owner alone. Raises OperatorError when that cannot be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OperatorError("data_folder_unusable", path=str(folder), reason=error.strerror or "") from error


def hold_for(config: Config, holder: Holder, *, writes: bool = True) -> AbstractContextManager[None]:
    """As `hold`, where the data is in a file; on a server as many processes as wanted work side by side."""
    return nullcontext() if config.served else hold(config.data, holder, writes=writes)


@contextmanager
def hold(folder: Path, holder: Holder, *, writes: bool = True, patience: float = PATIENCE) -> Iterator[None]:
    """Keep the folder for this process while the block runs.

    What only reads may look on while a chat is open (`writes=False`). Raises OperatorError when a chat holds the folder,
    or another command still does after `patience` seconds.
    """
    try:
        file = (folder / _LOCK).open("a+b")
    except OSError as error:
        raise OperatorError("data_folder_unusable", path=str(folder), reason=error.strerror or "") from error
    with file:
        mine = _wait(file, folder, patience, writes=writes)
        if mine:
            _write_name(file, holder)
        try:
            yield
        finally:
            if mine:
                _write_name(file, "")


def _wait(file: IO[bytes], folder: Path, patience: float, *, writes: bool) -> bool:
    """True once the lock is ours; False when a chat has it and we only read."""
    deadline = time.monotonic() + patience
    before = ""
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            return True
        name = os.pread(file.fileno(), 16, 0).decode("ascii", "replace")
        # Read twice: the name of a chat that was killed stays until the next holder has written its own.
        if name == before == "chat":
            if writes:
                raise OperatorError("folder_in_chat", path=str(folder))
            return False
        if time.monotonic() >= deadline:
            raise OperatorError("folder_busy", path=str(folder))
        before = name
        time.sleep(_POLL)


def _write_name(file: IO[bytes], holder: str) -> None:
    os.ftruncate(file.fileno(), 0)
    os.pwrite(file.fileno(), holder.encode("ascii"), 0)
