"""From an upload to the first offline answer: where the time goes. Run: python -m tests.bench.first_answer [BOOK]

Extraction and the rank table are timed inside the boxed child, the rest from outside; start-up of the child is what remains.
"""

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from core.formats.box import Box, BoxLimits
from core.model import Accepted, Answered, LibraryEvent, Question, Reading, Ready, Upload
from tests.clubs import MEMBER, ROOM, open_club
from tests.parts import SHARED

QUESTION = "Where does Lady Catherine live?"
RUNS = 3


async def child(path: Path, rank: Path) -> dict[str, float]:
    """What one reading of the book costs inside the child, in seconds."""
    async with Box(BoxLimits()) as box:
        read = await box.ask({"do": "read", "path": str(path), "timing": True})
        ranked = await box.ask({"do": "rank", "path": str(rank)})
    timing: dict[str, float] = read["timing"] | ranked["timing"]
    return timing


async def whole(path: Path, folder: Path) -> dict[str, float]:
    marks: dict[str, float] = {}
    async with open_club(folder) as club:
        began = time.perf_counter()
        upload = Upload("bench", ROOM, MEMBER, path, path.name)

        def mark(event: LibraryEvent) -> None:
            name = event.stage if isinstance(event, Reading) else type(event).__name__
            marks[name] = time.perf_counter() - began

        async for event in club.club.add_book(upload):
            mark(event)
        async for answer in club.club.questions.ask(Question("bench-question", ROOM, MEMBER, QUESTION)):
            if isinstance(answer, Answered):
                marks["first answer"] = time.perf_counter() - began
        again = time.perf_counter()
        async for answer in club.club.questions.ask(Question("bench-again", ROOM, MEMBER, QUESTION)):
            if isinstance(answer, Answered):
                marks["second answer alone"] = time.perf_counter() - again
    assert {Accepted.__name__, Ready.__name__} <= set(marks)
    return marks


def main() -> int:
    if SHARED is None and len(sys.argv) < 2:
        print("left out: no ../shared")
        return 0
    path = (
        Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else Path(str(SHARED)) / "books" / "pride-and-prejudice.epub"
    )
    runs, inside = [], []
    for _ in range(RUNS):
        folder = Path(tempfile.mkdtemp())
        try:
            runs.append(asyncio.run(whole(path, folder)))
            inside.append(asyncio.run(child(path, folder / "bench.rank")))
        finally:
            shutil.rmtree(folder)
    best = min(runs, key=lambda marks: marks["first answer"])
    costs = min(inside, key=lambda timing: sum(timing.values()))
    print(
        "inside the child:", ", ".join(f"{name} {value * 1000:.0f} ms" for name, value in costs.items() if value < 1e3)
    )
    print(f"accepted (on disk and on record)  {best['Accepted'] * 1000:6.0f} ms")
    print(f"ready to be asked                 {best['Ready'] * 1000:6.0f} ms")
    print(f"first answer                      {best['first answer'] * 1000:6.0f} ms")
    print(f"an answer, everything loaded      {best['second answer alone'] * 1000:6.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
