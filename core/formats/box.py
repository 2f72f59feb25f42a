"""The outside of the box: starts a child process for a book, gives it jobs, and turns every way it can fail into one sentence."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import core
from core import errors
from core.errors import BadBook, LoccitError, OperatorError

_log = logging.getLogger(__name__)
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from core.formats.child import main; main()"
_BUFFER = 1 << 20
_LOGGED = 20
"""Lines of a child's standard error that are logged; the rest is thrown away."""


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


class Box:
    """One child process. `async with Box(...) as box: await box.ask({...})`; leaving kills it, whatever it is doing."""

    def __init__(self, limits: BoxLimits) -> None:
        self._limits = limits
        self._process: asyncio.subprocess.Process | None = None
        self._errors: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        # -I and -S: no environment, no user folder, no start-up hooks; the child gets our own module paths instead.
        paths = [str(Path(core.__file__).parents[1]), *filter(None, sys.path)]
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, *paths,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={},
                cwd="/",
                limit=_BUFFER,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            _log.error("box: no child process could be started: %s", error)
            raise OperatorError("box_not_started") from error
        self._errors = asyncio.create_task(_log_errors(self._process))
        limits = asdict(self._limits)
        self._write({name: limits[name] for name in ("memory", "cpu", "file_size")})
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            while await self._process.stdout.read(1 << 16):
                pass  # a pipe is only closed once it has been read to its end
        await self._process.wait()
        if self._errors is not None:
            await self._errors

    @property
    def pid(self) -> int:
        return 0 if self._process is None else self._process.pid

    async def ask(self, job: Mapping[str, Any]) -> Any:
        """What the child answers to one job. Raises the LoccitError it answers with, or BadBook for the way it failed.

        After a failure other than an answered one the child is dead.
        """
        try:
            async with asyncio.timeout(self._limits.wall):
                self._write(job)
                data = await self._receive()
        except TimeoutError:
            self._kill()
            raise BadBook("book_too_slow", seconds=round(self._limits.wall)) from None
        if data is None:
            raise await self._failure()
        try:
            answer = await asyncio.to_thread(json.loads, data)
            if "error" in answer:
                name, key, params = answer["error"]
                raise _error(name, key, params)
            return answer["done"]
        except (ValueError, KeyError, TypeError):
            _log.warning("box: the child's reply makes no sense")
            raise BadBook("book_broken") from None

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _receive(self) -> bytes | None:
        """One reply; None when the child ends before it is whole."""
        stream = self._process.stdout if self._process is not None else None
        if stream is None:
            return None
        try:
            length = int(await stream.readuntil(b"\n"))
            if not 0 <= length <= self._limits.output:
                self._kill()
                raise BadBook("book_too_much_output")
            return await stream.readexactly(length)
        except asyncio.IncompleteReadError:
            return None
        except (asyncio.LimitOverrunError, ValueError):
            self._kill()
            raise BadBook("book_broken") from None

    async def _failure(self) -> BadBook:
        """The sentence for a child that ended on its own."""
        status = await self._process.wait() if self._process is not None else 0
        _log.info("box: the child ended with status %s", status)
        if status == -signal.SIGXCPU:
            return BadBook("book_too_slow", seconds=self._limits.cpu)
        if status == -signal.SIGKILL:  # not by us: the system ran out of memory
            return BadBook("book_too_heavy")
        return BadBook("book_broken")

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


async def _log_errors(process: asyncio.subprocess.Process) -> None:
    """What a child says on standard error goes to the log, and nowhere else. It never holds up the child."""
    if process.stderr is None:
        return
    lines = 0
    buffered = b""
    while chunk := await process.stderr.read(1 << 16):
        buffered = (buffered + chunk)[-(1 << 16) :]
        *whole, buffered = buffered.split(b"\n")
        for line in whole[: max(0, _LOGGED - lines)]:
            _log.debug("box: %s", line.decode("utf-8", "replace")[:300])
        lines += len(whole)


def _error(name: str, key: str, params: Mapping[str, Any]) -> LoccitError:
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, LoccitError)):
        raise ValueError("no error of ours")
    return kind(str(key), **{str(k): v if isinstance(v, int) else str(v) for k, v in params.items()})
