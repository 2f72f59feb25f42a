"""How long the program takes to start, alone and with everything a chat needs, and `loccit text` on a very long novel.

Run: python -m tests.bench.startup. Prints the best of several runs and ratios to a bare Python start, in one run; beside the
wall time the processor time of the command and its children, which says more on a busy machine.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.parts import SHARED

RUNS = 7
BOOK_RUNS = 5
MOST_RATIO = 12.0
MOST_CHAT = 1.0
MOST_SECONDS = 2.0


class Cost(NamedTuple):
    """Seconds of wall and of processor time; the smaller wall time is the smaller cost."""

    wall: float
    processor: float


def cost(*command: str) -> Cost:
    """What one command takes in a clean environment, its children included."""
    used, began = _used(), time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": "/"},
    )
    return Cost(time.perf_counter() - began, _used() - used)


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    bare, helped = [], []
    for _ in range(RUNS):
        bare.append(cost("-c", "pass").wall)
        helped.append(cost("-m", "bot", "--help").wall)
    ratio = min(helped) / min(bare)
    print(f"bare Python        {min(bare) * 1000:7.0f} ms")
    print(f"loccit --help      {min(helped) * 1000:7.0f} ms {ratio:5.1f} x  (at most {MOST_RATIO:.0f})")
    with tempfile.TemporaryDirectory() as data:
        chat = min(cost("-m", "bot", "chat", "--data", data) for _ in range(RUNS)).wall
    print(f"loccit chat, no input {chat * 1000:4.0f} ms {chat / min(bare):5.1f} x  (under {MOST_CHAT * 1000:.0f} ms)")
    missed = ratio > MOST_RATIO or chat >= MOST_CHAT
    if SHARED is not None:
        book = str(SHARED / "books" / "war-and-peace.epub")
        new, known = [], []
        for _ in range(BOOK_RUNS):
            with tempfile.TemporaryDirectory() as data:
                new.append(cost("-m", "bot", "text", book, "--json", "--data", str(Path(data) / "loccit")))
                known.append(cost("-m", "bot", "text", book, "--json", "--data", str(Path(data) / "loccit")))
        for what, best in (("fresh folder", min(new)), ("known book", min(known))):
            print(f"loccit text, War and Peace, {what} {best.wall:5.2f} s, processor {best.processor:.2f} s")
        print(f"(fresh folder: under {MOST_SECONDS:.0f} s)")
        missed = missed or min(new).wall >= MOST_SECONDS
    print(json.dumps({"ratio": round(ratio, 1)}))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
