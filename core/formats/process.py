"""A child process that waits for books: what it may use, how it is started and ended. Loaded before anything large."""

import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import core
from core.errors import OperatorError

_log = logging.getLogger(__name__)
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from core.formats.child import main; main()"


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """What one child may use."""

    memory: int = 1 << 30
    """Bytes of address space."""
    cpu: int = 30
    """Seconds, over all its jobs."""
    wall: float = 30.0
    """Seconds, for each job."""
    output: int = 200_000_000
    """Bytes of one reply: 20 M characters of the widest script, with runs and contents."""
    file_size: int = 512_000_000
    """Bytes of a file it writes (the rank table)."""


def start(limits: BoxLimits) -> Popen[bytes]:
    """A child that waits for its first job. Raises OperatorError."""
    # -I and -S: no environment, no user folder, no start-up hooks; the child gets our own module paths instead.
    paths = [str(Path(core.__file__).parents[1]), *filter(None, sys.path)]
    try:
        process = Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, *paths],
            bufsize=0,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        _log.error("box: no child process could be started: %s", error)
        raise OperatorError("box_not_started") from error
    tell(process, {name: getattr(limits, name) for name in ("memory", "cpu", "file_size")})
    return process


def tell(process: Popen[bytes], message: Mapping[str, Any]) -> None:
    """Write a message (less than a pipe holds) to a child that no Box has yet."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # it is dead, which shows when its answer is read
            process.stdin.write(line(message))


def line(message: Mapping[str, Any]) -> bytes:
    """A message as a child reads it."""
    return json.dumps(message).encode() + b"\n"


def kill(process: Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def end(process: Popen[bytes]) -> None:
    """Kill a child, wait until it is gone, close what is left of its pipes."""
    kill(process)
    with process:
        pass
