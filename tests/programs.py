"""Our programs in processes of their own, forked from one that has imported them: imports are most of what a start costs.

The tests start hundreds. All else is as in a program started from nothing: words, environment, folder, standard streams,
signals, the way it ends. `python -m tests.programs` is the process that forks; it ends when standard input does.
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
LOCCIT = "bot.__main__"
"""What `loccit` runs."""

_ALWAYS = tuple(
    f"bot.commands.{name}"
    for name in ("backup", "books", "chat", "doctor", "forget", "indexing", "questions", "run", "stats", "worker")
)
_USED_WITH = {
    "TELEGRAM_BOT_TOKEN": ("adapters.telegram.app",),
    "DISCORD_TOKEN": ("adapters.discord.app",),
    "SLACK_BOT_TOKEN": ("adapters.slack.app",),
    "LOCCIT_LLM_BASE_URL": ("core.llm", "openai", "openai.resources.chat.completions"),
    "LOCCIT_DATABASE_URL": ("psycopg", "sqlalchemy.dialects.postgresql.psycopg", "procrastinate"),
}
"""A setting, and what a program imports when it is set. Imported before the first program that has it is forked."""
_LONGEST = 1 << 20
"""Bytes of a request; a system takes no longer arguments."""


class Program:
    """A running program, used like an `asyncio.subprocess.Process`."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._ended = asyncio.create_task(self._end(status))

    def send_signal(self, sign: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sign)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """The exit code; negative: the signal that ended it."""
        return await asyncio.shield(self._ended)

    async def communicate(self) -> tuple[bytes, bytes]:
        """What it writes until it ends."""
        if self.stdin is not None:
            self.stdin.close()
        out, err = await asyncio.gather(_rest(self.stdout), _rest(self.stderr))
        await self.wait()
        return out, err

    async def _end(self, status: int) -> int:
        self.returncode = int(await (await _reader(status)).read())
        if self.stdin is not None:
            self.stdin.close()
        return self.returncode


async def start(
    module: str,
    *words: str | Path,
    environment: Mapping[str, str],
    folder: Path = CHECKOUT,
    stdin: int | None = DEVNULL,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Program:
    """Start `python -m module words…`; a stream is DEVNULL, PIPE, or None for ours."""
    loop = asyncio.get_running_loop()
    ours: list[int | None] = []
    theirs: list[int] = []
    for number, kind in enumerate((stdin, stdout, stderr)):
        if kind == PIPE:
            read, write = os.pipe()
            theirs.append(write if number else read)
            ours.append(read if number else write)
        else:
            theirs.append(os.dup(number) if kind is None else os.open(os.devnull, os.O_RDWR))
            ours.append(None)
    try:
        program = Program(*await asyncio.to_thread(_fork, module, words, environment, folder, theirs))
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    if ours[0] is not None:
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(ours[0], "wb"))
        program.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
    program.stdout, program.stderr = [None if end is None else await _reader(end) for end in ours[1:]]
    return program


def run(
    module: str,
    *words: str | Path,
    environment: Mapping[str, str],
    folder: Path = CHECKOUT,
    stdin: bytes = b"",
    patience: float,
) -> tuple[int, bytes, bytes]:
    """Run a program to its end: exit code, standard output, standard error. Raises TimeoutError after `patience` seconds."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        pid, status = _fork(module, words, environment, folder, [file.fileno() for file in (given, out, err)])
        with open(status, "rb") as ended:
            if not select.select([ended], [], [], patience)[0]:
                os.kill(pid, signal.SIGKILL)
                raise TimeoutError(words)
            code = int(ended.read())
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


async def _rest(stream: asyncio.StreamReader | None) -> bytes:
    return b"" if stream is None else await stream.read()


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), open(descriptor, "rb"))  # noqa: SIM115, ASYNC230  # a pipe, closed by the loop
    return reader


@cache
def _forker() -> socket.socket:
    """The line to the process that forks."""
    ours, theirs = socket.socketpair()
    with theirs:
        environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.programs"], stdin=theirs.fileno(), env=environment, cwd=CHECKOUT
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


_asking = threading.Lock()


def _fork(
    module: str, words: Sequence[str | Path], environment: Mapping[str, str], folder: Path, streams: Sequence[int]
) -> tuple[int, int]:
    """Have a program forked. Its process id, and where its exit code can be read once it has ended."""
    job = {"module": module, "words": [*map(str, words)], "environment": {**environment}, "folder": str(folder)}
    status, theirs = os.pipe()
    try:
        with _asking:
            line = _forker()
            socket.send_fds(line, [json.dumps(job).encode() + b"\n"], [*streams, theirs])
            return int(line.recv(32)), status
    finally:
        os.close(theirs)


def _serve() -> tuple[dict[str, Any], Sequence[int]] | None:
    """Fork for every request. Returns in each program, with what it shall be, and at the end, with None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for keepers
    for name in _ALWAYS:
        importlib.import_module(name)
    line = socket.socket(fileno=0)
    while True:
        request, descriptors, _, _ = socket.recv_fds(line, _LONGEST, 4)
        if not request:
            return None
        while not request.endswith(b"\n"):
            request += line.recv(_LONGEST)
        job = json.loads(request)
        for setting, names in _USED_WITH.items():
            if job["environment"].get(setting):
                for name in names:
                    importlib.import_module(name)
        gc.freeze()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            pid = os.fork()
            if not pid:
                line.detach()
                return job, descriptors
            # The keeper: waits for the program and passes on how it ended.
            line.send(b"%d" % pid)
            for descriptor in descriptors[:3]:
                os.close(descriptor)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os.write(descriptors[3], b"%d" % code)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)


def _become(job: dict[str, Any], descriptors: Sequence[int]) -> int:
    """Be the program; its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.closerange(3, max(descriptors) + 1)
    # As Python opens them where the locale is C.UTF-8.
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    program = importlib.import_module(job["module"])
    sys.argv = [str(program.__file__), *job["words"]]
    code: int = program.main(job["words"])
    return code


if __name__ == "__main__":
    job = _serve()
    sys.exit(0 if job is None else _become(*job))
