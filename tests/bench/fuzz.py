"""Mutated real files through the boxed child: each becomes a book or one sentence; nothing crashes or hangs.

Run: python -m tests.bench.fuzz [COUNT] [SEED]
"""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from core.errors import LoccitError
from core.formats.reading import read
from core.strings import say
from tests.books.mutations import mutate
from tests.parts import SHARED

SMALL = 700_000
"""Bytes: larger books only make the run longer."""
AT_ONCE = 2


async def run(count: int, seed: int, folder: Path, sources: list[Path]) -> int:
    dice = random.Random(seed)
    gate = asyncio.Semaphore(AT_ONCE)
    ends: Counter[str] = Counter()
    slowest = 0.0

    async def one(number: int, source: Path, data: bytes) -> None:
        nonlocal slowest
        path = folder / str(number)
        path.write_bytes(data)
        async with gate:
            started = time.perf_counter()
            try:
                book = await read(path, rank_path=folder / f"{number}.ranks")
            except LoccitError as error:
                say(error.key, "en", **error.params)
                ends[error.key] += 1
                if error.key in ("book_broken", "book_too_heavy", "book_too_slow"):
                    print(f"{source.name}, file {number} of seed {seed}: {error}")
            else:
                ends["a book" if any(file.text.strip() for file in book.files) else "AN EMPTY BOOK"] += 1
            slowest = max(slowest, time.perf_counter() - started)
        path.unlink()

    jobs = []
    for number in range(count):
        source = dice.choice(sources)
        jobs.append(one(number, source, mutate(source.read_bytes(), dice)))
    results = await asyncio.gather(*jobs, return_exceptions=True)
    crashes = [result for result in results if result is not None]
    for key, times in ends.most_common():
        print(f"{times:5}  {key}")
    print(f"{count} files, {len(crashes)} crashes of the parent {crashes[:3]}, slowest {slowest:.1f} s")
    return 1 if crashes or ends["AN EMPTY BOOK"] else 0


def main() -> int:
    if SHARED is None:
        print("left out: no ../shared")
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    books = SHARED / "books"
    sources = sorted(path for path in books.iterdir() if path.suffix != ".json" and path.is_file())
    with tempfile.TemporaryDirectory() as folder:
        small = [path for path in sources if path.stat().st_size <= SMALL]
        return asyncio.run(run(count, seed, Path(folder), small))


if __name__ == "__main__":
    sys.exit(main())
