"""How long a footnote press takes with many books stored, and how long a long novel takes to store.

    python -m tests.bench.press [--books 1000] [--presses 3000] [--url postgresql://…]

Prints p50 and p99 of `footnote` + `permitted` + `contents` + `runs` + `text` (what a press needs from the store), in milliseconds.
"""

import argparse
import asyncio
import hashlib
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from core.model import Footnote, ParsedBook, Position, Segment, Span, SpineFile
from core.store import Store
from tests.core.stores import NOON, ROOM, book_of, turn_of

_WORDS = ("the", "bear", "went", "over", "a", "mountain", "to", "see", "what", "it", "could", "and", "all", "that")


def _prose(rng: random.Random, characters: int) -> str:
    words: list[str] = []
    length = 0
    while length < characters:
        words.append(rng.choice(_WORDS))
        length += len(words[-1]) + 1
    return " ".join(words)[:characters]


def _novel(rng: random.Random) -> ParsedBook:
    """As long as War and Peace: 365 files, 3.2 million characters, 9,000 runs, 200 segments."""
    book = book_of(*(_prose(rng, 8_800) for _ in range(365)), run=360)
    half = [Segment(n, f"Part {n}", Position(n, 0), Position(n, 8_800)) for n in range(200)]
    return replace(book, segments=tuple(half))


def _percentiles(label: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    print(f"{label}: p50 {p50 * 1000:.2f} ms, p99 {p99 * 1000:.2f} ms ({len(ordered)} times)")


async def bench(url: str, folder: Path, books: int, presses: int) -> None:
    rng = random.Random(1)
    store = await Store.open(url, folder)
    print(store.engine)
    try:
        channel = await store.shelf.channel(ROOM, NOON)
        novel = _novel(rng)
        saves = []
        for number in range(5):
            start = time.perf_counter()
            await store.books.save(hashlib.sha256(b"novel %d" % number).hexdigest(), novel, NOON)
            saves.append(time.perf_counter() - start)
        print(f"War and Peace saved: {sorted(saves)[2] * 1000:.0f} ms (median of 5)")
        start = time.perf_counter()
        await store.books.parsed(hashlib.sha256(b"novel 0").hexdigest(), "1")
        print(f"War and Peace read whole: {(time.perf_counter() - start) * 1000:.0f} ms")

        notes: list[str] = []
        text = _prose(rng, 120_000)
        for number in range(books):
            sha256 = hashlib.sha256(b"%d" % number).hexdigest()
            book = book_of(text[:60_000], text[60_000:], run=360)
            book = replace(book, files=tuple(SpineFile(f.index, "", f.text) for f in book.files))
            await store.books.save(sha256, book, NOON)
            await store.shelf.grant(channel, sha256, "1", "r", "f", NOON)
            turn = turn_of(f"turn-{number}")
            spans = [rng.choice(book.runs) for _ in range(5)]
            footnotes = tuple(
                Footnote(n, f"[f{span.file}-{span.start}-{span.end}]", sha256, "1", span, f"note-{number}-{n}")
                for n, span in enumerate(spans, 1)
            )
            await store.turns.save(replace(turn, answer=replace(turn.answer, footnotes=footnotes)), channel, None)
            notes += [footnote.id for footnote in footnotes]

        taken = []
        for _ in range(presses):
            id = rng.choice(notes)
            start = time.perf_counter()
            pressed = await store.turns.footnote(id)
            assert pressed is not None
            note = pressed.footnote
            assert await store.shelf.permitted(channel, note.book)
            assert await store.books.contents(note.book, note.text_version) is not None
            runs = await store.books.runs(note.book, note.text_version, note.span.file)
            place = runs.index(note.span)
            window = Span(note.span.file, runs[max(0, place - 2)].start, runs[min(len(runs) - 1, place + 2)].end)
            await store.books.text(note.book, note.text_version, window)
            taken.append(time.perf_counter() - start)
        _percentiles(f"press with {books} books stored", taken)
        start = time.perf_counter()
        await store.shelf.shelf(channel)
        print(f"shelf of {books} books: {(time.perf_counter() - start) * 1000:.0f} ms")
    finally:
        await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=int, default=1000)
    parser.add_argument("--presses", type=int, default=3000)
    parser.add_argument("--url", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(bench(options.url, Path(folder), options.books, options.presses))
