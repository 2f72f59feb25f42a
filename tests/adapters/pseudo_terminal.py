"""A program on a pseudo-terminal, as its reader sees and drives it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from types import TracebackType

PATIENCE = 60.0
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# The child makes the terminal its controlling one, so that Ctrl-C reaches it as a signal; then it becomes the program.
_LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


class PseudoTerminal:
    """`enter` a line, `expect` words to appear; `raw` is everything written so far, `text` the same without sequences."""

    def __init__(
        self, command: Sequence[str], environment: dict[str, str], *, width: int = 80, height: int = 24
    ) -> None:
        self._leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *command],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environment | {"TERM": "xterm"},
            start_new_session=True,
        )
        os.close(follower)
        self.raw = ""
        self._read_to = 0

    def enter(self, line: str) -> None:
        self.send(f"{line}\n")

    def send(self, keys: str) -> None:
        os.write(self._leader, keys.encode())

    def expect(self, words: str) -> str:
        """Wait until `words` appear after what was expected last; the text up to and with them."""
        deadline = time.monotonic() + PATIENCE
        while words not in (new := self.text[self._read_to :]):
            ready, _, _ = select.select([self._leader], [], [], deadline - time.monotonic())
            assert ready, f"waited for {words!r}, saw: {new}"
            assert self._receive(), f"the program ended; waited for {words!r}, saw: {new}"
        end = new.index(words) + len(words)
        self._read_to += end
        return new[:end]

    def _receive(self) -> bool:
        try:
            data = os.read(self._leader, 65536)
        except OSError:  # Linux says EIO once the last program has left the terminal
            return False
        self.raw += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    @property
    def text(self) -> str:
        return _SEQUENCE.sub("", self.raw)

    def wait(self) -> int:
        """Read to the end; the exit code."""
        assert self._ends(PATIENCE), f"waited for the end, saw: {self.text[self._read_to :]}"
        return self._process.wait(PATIENCE)

    def interrupt(self) -> int:
        """Ctrl-C at the prompt until the program ends; the exit code. One that comes while readline puts up its prompt is
        lost: it looks for signals before that and after the next key.
        """
        for _ in range(int(PATIENCE)):
            self.send("\x03")
            if self._ends(1.0):
                break
        return self.wait()

    def _ends(self, seconds: float) -> bool:
        """Read for so long at the most; True at the end."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self._leader], [], [], left)
            if ready and not self._receive():
                return True
        return False

    def kill(self) -> None:
        """End the program as a crash would (SIGKILL)."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "PseudoTerminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._leader)
