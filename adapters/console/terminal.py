"""The device: lines in, text out, on a terminal or over a pipe. A `Page` is the output of one line heard."""

import os
import threading
from collections.abc import Sequence
from typing import TextIO

from adapters.console.text import Look
from adapters.console.view import redraw

_FALLBACK = os.terminal_size((80, 24))


class Terminal:
    """Where the dialogue is typed and shown. Over a pipe there are no prompts, no colours and no rewritten lines."""

    def __init__(self, reads: TextIO, writes: TextIO, *, locale: str, colour: bool) -> None:
        self._reads = reads
        self._writes = writes
        self._locale = locale
        self.live = reads.isatty() and writes.isatty()
        self._colour = colour and self.live
        if self.live:
            import readline  # noqa: F401  # importing it gives input() line editing and the history of this run

    def look(self) -> Look:
        """What the device can do now; a window may have changed its size since the last line."""
        # One column stays free: a line that fills the last one makes some terminals wrap.
        return Look(self._locale, self._size().columns - 1 if self.live else None, self._colour)

    @property
    def height(self) -> int:
        return self._size().lines

    def read(self) -> str | None:
        """The next line; None at the end of input."""
        if not self.live:
            line = self._reads.readline()
            return line.rstrip("\r\n") if line else None
        try:
            return input("> ")
        except EOFError:
            self.write("\n")
            return None

    def write(self, text: str) -> None:
        self._writes.write(text)
        self._writes.flush()

    def _size(self) -> os.terminal_size:
        try:
            size = os.get_terminal_size(self._writes.fileno())
        except (OSError, ValueError):
            return _FALLBACK
        return size if size.columns and size.lines else _FALLBACK


class Page:
    """What one line heard has to show: lines that stay, and lines that the next ones replace.

    Written by the event loop; the main thread may put it in the background, from when on it keeps its lines to itself.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._drawn: list[str] = []
        self._kept: list[str] = []
        self._answers: list[str] = []
        self._seen: list[str] = []
        self._background = False
        self._lock = threading.Lock()

    @property
    def look(self) -> Look:
        return self._terminal.look()

    def say(self, lines: Sequence[str], *, answer: str | None = None) -> None:
        """Lines that stay; `answer` is the id of the answer they show."""
        with self._lock:
            if answer is not None:
                (self._answers if self._background else self._seen).append(answer)
            if self._background:
                self._kept += [*lines, ""]
            else:
                self._draw([*lines, ""])
                self._drawn = []

    def progress(self, lines: Sequence[str]) -> None:
        """Lines about work under way: replaced by what comes next, or, over a pipe, simply lines."""
        with self._lock:
            if self._background:
                return
            self._draw(lines)
            if not self._terminal.live:
                self._drawn = []

    def draft(self, lines: Sequence[str]) -> None:
        """What is not final yet; over a pipe it is not shown."""
        if self._terminal.live:
            self.progress(lines)

    def withdraw(self) -> None:
        """Go on in the background; what has been drawn stays on the screen and is no longer touched."""
        with self._lock:
            self._background = True
            self._drawn = []

    def catch_up(self) -> None:
        """Show what was said in the background."""
        with self._lock:
            self._background = False
            self._draw(self._kept)
            self._kept, self._drawn = [], []
            self._seen += self._answers
            self._answers = []

    def seen(self) -> list[str]:
        """The answers that came to stand on the device since this was asked last."""
        with self._lock:
            seen, self._seen = self._seen, []
            return seen

    def _draw(self, lines: Sequence[str]) -> None:
        text, self._drawn = redraw(self._drawn, lines, self._terminal.height)
        self._terminal.write(text)
