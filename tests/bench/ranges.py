"""Ten thousand random ranges over fifty books, stored and read back: each must be exactly what was extracted.

    python -m tests.bench.ranges [--books 50] [--ranges 10000] [--url postgresql://…]

The books are those of ../shared first, then made-up ones in several scripts. Ranges lie anywhere in a file, a third of
them across the seam of two stored pieces. Prints how many were read and how many differed.
"""

import argparse
import asyncio
import hashlib
import random
import sys
import tempfile
import time
from pathlib import Path

from core.errors import LoccitError
from core.formats.reading import read
from core.model import ParsedBook, Span
from core.store import Store
from core.store.structure import PIECE
from tests.core.stores import NOON, book_of
from tests.parts import SHARED

_ALPHABETS = ("abc déf ", "雨の音が聞こえる。", "война и мир ", "שלום עולם ", "🧥🐻👩‍👩‍👧 é ", "ﬁ ß İ ")
_LONGEST = 3_000


async def _shared(most: int) -> list[ParsedBook]:
    books: list[ParsedBook] = []
    found = sorted((SHARED / "books").iterdir()) if SHARED is not None else []
    for path in found:
        if len(books) < most and path.suffix in {".epub", ".pdf", ".txt", ".html", ".fb2", ".docx", ".md"}:
            try:
                books.append(await read(path, rank_path=None, accept_partial=True))
            except LoccitError:
                continue
    return books


def _made_up(rng: random.Random) -> ParsedBook:
    letters = rng.choice(_ALPHABETS)
    texts = ["".join(rng.choices(letters, k=rng.randrange(1, 5 * PIECE))) for _ in range(rng.randrange(1, 9))]
    return book_of(*texts, run=360)


def _range(rng: random.Random, length: int) -> tuple[int, int]:
    if length > PIECE and not rng.randrange(3):
        seam = PIECE * rng.randrange(1, (length - 1) // PIECE + 1)
        start = max(0, seam - rng.randrange(1, 200))
        return start, min(length, seam + rng.randrange(1, 200))
    start = rng.randrange(length)
    return start, min(length, start + rng.randrange(1, _LONGEST))


async def bench(url: str, folder: Path, number: int, ranges: int, seed: int) -> int:
    rng = random.Random(seed)
    books = await _shared(number)
    real = len(books)
    books += [_made_up(rng) for _ in range(number - len(books))]
    store = await Store.open(url, folder)
    try:
        keys = [hashlib.sha256(b"%d" % at).hexdigest() for at in range(len(books))]
        for key, book in zip(keys, books, strict=True):
            await store.books.save(key, book, NOON)
        wrong = read = 0
        begun = time.perf_counter()
        while read < ranges:
            at = rng.randrange(len(books))
            file = rng.choice(books[at].files)
            if not file.text:
                continue
            start, end = _range(rng, len(file.text))
            got = await store.books.text(keys[at], books[at].text_version, Span(file.index, start, end))
            wrong += got != file.text[start:end]
            read += 1
        spent = time.perf_counter() - begun
        print(f"{store.engine}: {len(books)} books ({real} of ../shared), seed {seed}")
        print(f"{read} ranges, {wrong} differ, {1000 * spent / read:.2f} ms each")
        return 1 if wrong else 0
    finally:
        await store.close()


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--books", type=int, default=50)
    options.add_argument("--ranges", type=int, default=10_000)
    options.add_argument("--url", default="")
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(bench(given.url, Path(folder), given.books, given.ranges, given.seed))


if __name__ == "__main__":
    sys.exit(main())
