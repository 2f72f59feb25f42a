"""Extraction of War and Peace in the boxed child against raw zipfile + lxml parsing of the same files.

Run: python -m tests.bench.extraction [BOOK.epub]. Best of several runs, each in a fresh process; start-up excluded.
"""

import asyncio
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from lxml import etree

from core.formats.box import Box, BoxLimits
from tests.parts import SHARED

RUNS = 5
MOST_RATIO = 15.0
MOST_MEBIBYTES = 200.0


def raw(path: Path) -> float:
    """Seconds to inflate and parse every XHTML file, and nothing else."""
    started = time.perf_counter()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith((".xhtml", ".html", ".htm")):
                etree.fromstring(archive.read(name))
    return time.perf_counter() - started


async def boxed(path: Path) -> dict[str, Any]:
    """What the child says it cost."""
    async with Box(BoxLimits()) as box:
        packed = await box.ask({"do": "read", "path": str(path), "timing": True})
    timing: dict[str, Any] = packed["timing"]
    return timing


def main() -> int:
    if len(sys.argv) > 1:
        path = Path(sys.argv[1])
    elif SHARED is not None:
        path = SHARED / "books" / "war-and-peace.epub"
    else:
        print("left out: no ../shared")
        return 0
    bare = []
    costs = []
    for _ in range(RUNS):  # in turn, so that a busy machine is as unfair to one as to the other
        bare.append(raw(path))
        costs.append(asyncio.run(boxed(path.absolute())))
    base = min(bare)
    extract = min(cost["extract"] for cost in costs)
    assemble = min(cost["assemble"] for cost in costs)
    total = min(cost["extract"] + cost["assemble"] for cost in costs)
    peak = max(cost["peak_kilobytes"] for cost in costs) / 1024
    print(f"raw zipfile + lxml         {base * 1000:8.0f} ms")
    print(f"text and places            {extract * 1000:8.0f} ms {extract / base:6.1f} x")
    print(f"runs, contents, segments   {assemble * 1000:8.0f} ms {assemble / base:6.1f} x")
    print(f"together                   {total * 1000:8.0f} ms {total / base:6.1f} x  (at most {MOST_RATIO:.0f})")
    print(f"peak memory of the child   {peak:8.0f} MiB           (below {MOST_MEBIBYTES:.0f})")
    return 0 if total / base <= MOST_RATIO and peak < MOST_MEBIBYTES else 1


if __name__ == "__main__":
    sys.exit(main())
