"""How long the program takes to start, alone and with everything a chat needs, and `loccit text` on a very long novel.

Run: python -m tests.bench.startup. Prints the best of several runs and ratios to a bare Python start, in one run.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.parts import SHARED

RUNS = 7
MOST_RATIO = 12.0
MOST_CHAT = 1.0
MOST_SECONDS = 2.0


def seconds(*command: str) -> float:
    """Wall time of one command, in a clean environment."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": "/"},
    )
    return time.perf_counter() - began


def main() -> int:
    bare, helped = [], []
    for _ in range(RUNS):
        bare.append(seconds("-c", "pass"))
        helped.append(seconds("-m", "bot", "--help"))
    ratio = min(helped) / min(bare)
    print(f"bare Python        {min(bare) * 1000:7.0f} ms")
    print(f"loccit --help      {min(helped) * 1000:7.0f} ms {ratio:5.1f} x  (at most {MOST_RATIO:.0f})")
    with tempfile.TemporaryDirectory() as data:
        chat = min(seconds("-m", "bot", "chat", "--data", data) for _ in range(RUNS))
    print(f"loccit chat, no input {chat * 1000:4.0f} ms {chat / min(bare):5.1f} x  (under {MOST_CHAT * 1000:.0f} ms)")
    missed = ratio > MOST_RATIO or chat >= MOST_CHAT
    if SHARED is not None:
        book = str(SHARED / "books" / "war-and-peace.epub")
        whole = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as data:
                whole.append(seconds("-m", "bot", "text", book, "--json", "--data", str(Path(data) / "loccit")))
        print(f"loccit text, War and Peace, fresh folder {min(whole):5.2f} s  (under {MOST_SECONDS:.0f})")
        missed = missed or min(whole) >= MOST_SECONDS
    print(json.dumps({"ratio": round(ratio, 1)}))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
