"""Says in the log when the event loop was blocked: for how long, and where the program stood when it was noticed."""

import asyncio
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, thread_time
from types import FrameType

log = logging.getLogger(__name__)

MOST = 0.1
"""Seconds the loop may be kept from everybody else's work (issue 6)."""
_EVERY = 0.02


def _report(seconds: float, busy: float, place: str) -> None:
    log.warning("event loop blocked for %.0f ms (%.0f ms of them computing) at %s", seconds * 1000, busy * 1000, place)


@contextmanager
def watched(most: float = MOST, report: Callable[[float, float, str], None] = _report) -> Iterator[None]:
    """Watch the running loop while the block runs; `report` is told, in the loop, for how many seconds, how many of
    them its thread was computing (the rest it waited for the machine), and where it stood."""
    loop = asyncio.get_running_loop()
    watchdog = _Watchdog(most, threading.get_ident())
    thread = threading.Thread(target=watchdog.look, name="watchdog", daemon=True)

    timer: asyncio.Handle | None = None

    def beat() -> None:
        nonlocal timer
        late = monotonic() - watchdog.beaten - _EVERY
        if late > most:
            report(late, thread_time() - watchdog.computed, watchdog.place or "a place that was left too soon")
        watchdog.beaten, watchdog.computed, watchdog.place = monotonic(), thread_time(), ""
        timer = loop.call_later(_EVERY, beat)

    timer = loop.call_soon(beat)
    thread.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        watchdog.over.set()
        thread.join()


class _Watchdog:
    """Looks from a thread of its own whether the loop still beats."""

    def __init__(self, most: float, loop_thread: int) -> None:
        self.beaten = monotonic()
        self.computed = thread_time()
        self.place = ""
        self.over = threading.Event()
        self._most = most
        self._loop_thread = loop_thread

    def look(self) -> None:
        while not self.over.wait(self._most / 2):
            if not self.place and monotonic() - self.beaten - _EVERY > self._most / 2:
                frame = sys._current_frames().get(self._loop_thread)
                if frame is not None and monotonic() - self.beaten - _EVERY > self._most / 2:
                    self.place = _place(frame)


def _place(frame: FrameType) -> str:
    """The innermost lines, file and function; never a value, for those may be a reader's words."""
    stack = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=6, lookup_lines=False)
    return " < ".join(f"{Path(entry.filename).name}:{entry.lineno} {entry.name}" for entry in stack)
