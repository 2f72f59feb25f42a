"""`/who` on five open novels: 50 names each, counts, chapters, first and latest mention against a plain scan.

Run: python -m tests.bench.who
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from core.formats.reading import read
from tests.clubs import ROOM, open_club
from tests.names import Scan, chapters, frequent
from tests.parts import SHARED

NOVELS = (
    "pride-and-prejudice.epub",
    "war-and-peace.epub",
    "don-quijote-es.epub",
    "dom-casmurro-pt.epub",
    "mertvye-dushi-ru.epub",
)
NAMES = 50


async def _novel(path: Path, folder: Path) -> int:
    book = await read(path, rank_path=None)
    wrong, spent = [], []
    scanned = Scan(book)
    async with open_club(folder) as club:
        await club.shelve(book)
        for name in frequent(book, NAMES):
            places = scanned.places(name)
            begun = time.perf_counter()
            found = await club.club.meeting.people.who(ROOM, name, size=10_000)
            spent.append(time.perf_counter() - begun)
            right = (
                found.count == len(places)
                and [(group.chapter, group.count) for group in found.groups] == list(chapters(book, places))
                and found.first is not None
                and found.latest is not None
                and found.first.note.span.first <= places[0] < found.first.note.span.last
                and found.latest.note.span.first <= places[-1] < found.latest.note.span.last
            )
            if not right:
                wrong.append(f"{name} ({found.count} for {len(places)})")
    median = sorted(spent)[len(spent) // 2]
    print(f"{path.name}: {len(spent)} names, {len(wrong)} wrong, {1000 * median:.0f} ms a name {' '.join(wrong)}")
    return len(wrong) + (len(spent) < NAMES)


def main() -> int:
    if SHARED is None:
        print("part left out: no ../shared")
        return 0
    wrong = 0
    for name in NOVELS:
        with tempfile.TemporaryDirectory() as folder:
            wrong += asyncio.run(_novel(SHARED / "books" / name, Path(folder)))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
