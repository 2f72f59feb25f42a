"""The outside of the box: gives a child process jobs, and turns every way it can fail into one sentence."""

import asyncio
import json
import logging
import signal
from collections.abc import Mapping
from functools import partial
from subprocess import Popen
from typing import Any, Self

from core import errors
from core.errors import BadBook, LoccitError
from core.formats.process import BoxLimits, end, kill, line, start

__all__ = ["Box", "BoxLimits"]

_log = logging.getLogger(__name__)
_BUFFER = 1 << 20
_LOGGED = 20
"""Lines of a child's standard error that are logged; the rest is thrown away."""


class Box:
    """One child process. `async with Box(...) as box: await box.ask({...})`; leaving kills it, whatever it is doing."""

    def __init__(self, limits: BoxLimits, process: Popen[bytes] | None = None) -> None:
        """`process`: a child of these limits that `start` has started; by itself the box starts one of its own."""
        self._limits = limits
        self._process = process
        self._jobs: asyncio.WriteTransport | None = None
        self._replies: asyncio.StreamReader | None = None
        self._pipes: list[asyncio.ReadTransport] = []
        self._errors: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        process = self._process = self._process or start(self._limits)
        try:
            self._jobs, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, process.stdin)
            self._replies = await self._connect(process.stdout)
            self._errors = asyncio.create_task(_log_errors(await self._connect(process.stderr)))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _connect(self, pipe: Any) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(_BUFFER)
        protocol = partial(asyncio.StreamReaderProtocol, reader)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(protocol, pipe)
        self._pipes.append(transport)
        return reader

    async def __aexit__(self, *_: object) -> None:
        if self._process is None:
            return
        kill(self._process)
        if self._errors is not None:
            await self._errors
        if self._jobs is not None and not self._jobs.is_closing():  # it sees by itself that the child is dead
            self._jobs.abort()
        for pipe in self._pipes:
            pipe.close()
        await asyncio.to_thread(end, self._process)

    @property
    def pid(self) -> int:
        return 0 if self._process is None else self._process.pid

    async def ask(self, job: Mapping[str, Any]) -> Any:
        """What the child answers to one job. Raises the LoccitError it answers with, or BadBook for the way it failed.

        After a failure other than an answered one the child is dead.
        """
        self.tell(job)
        return await self.answer()

    def tell(self, job: Mapping[str, Any]) -> None:
        """Give it a job; it does one after the other, and each is to be followed by an `answer`."""
        if self._jobs is not None:
            self._jobs.write(line(job))

    async def answer(self) -> Any:
        """What it answers to the first job that has had no answer yet. Raises as `ask`."""
        try:
            async with asyncio.timeout(self._limits.wall):
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

    async def _receive(self) -> bytes | None:
        """One reply; None when the child ends before it is whole."""
        if self._replies is None:
            return None
        try:
            length = int(await self._replies.readuntil(b"\n"))
            if not 0 <= length <= self._limits.output:
                self._kill()
                raise BadBook("book_too_much_output")
            return await self._replies.readexactly(length)
        except asyncio.IncompleteReadError:
            return None
        except (asyncio.LimitOverrunError, ValueError):
            self._kill()
            raise BadBook("book_broken") from None

    async def _failure(self) -> BadBook:
        """The sentence for a child that ended on its own."""
        status = await asyncio.to_thread(self._process.wait) if self._process is not None else 0
        _log.info("box: the child ended with status %s", status)
        if status == -signal.SIGXCPU:
            return BadBook("book_too_slow", seconds=self._limits.cpu)
        if status == -signal.SIGKILL:  # not by us: the system ran out of memory
            return BadBook("book_too_heavy")
        return BadBook("book_broken")

    def _kill(self) -> None:
        if self._process is not None:
            kill(self._process)


async def _log_errors(said: asyncio.StreamReader) -> None:
    """What a child says on standard error goes to the log, and nowhere else. It never holds up the child."""
    lines = 0
    buffered = b""
    while chunk := await said.read(1 << 16):
        buffered = (buffered + chunk)[-(1 << 16) :]
        *whole, buffered = buffered.split(b"\n")
        for said_line in whole[: max(0, _LOGGED - lines)]:
            _log.debug("box: %s", said_line.decode("utf-8", "replace")[:300])
        lines += len(whole)


def _error(name: str, key: str, params: Mapping[str, Any]) -> LoccitError:
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, LoccitError)):
        raise ValueError("no error of ours")
    return kind(str(key), **{str(k): v if isinstance(v, int) else str(v) for k, v in params.items()})
