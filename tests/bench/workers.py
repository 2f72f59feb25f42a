"""One queue of books on PostgreSQL, worked off by 1, 2 and 4 worker processes: how much faster, and nothing paid twice.

    python -m tests.bench.workers [--books 20] [--parts 12]

The provider is the fake with a second of latency, so that it is the provider that is waited for. Time counts from the
moment in which the workers are up and the books are put on the shelf to the last job's end.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from core.store import Store
from tests.core.stores import Place
from tests.core.test_workers import shelve, start_worker
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import summarise
from tests.postgres import Server, running_server

LATENCY = 1.0
_IN_FLIGHT = 7
"""Requests of summaries one process has under way: one place of eight is kept for questions."""


def _slow(request: JsonObject) -> Reply:
    return Reply(summarise(request).text, timing=Timing(first=LATENCY))


async def measure(server: Server, folder: Path, workers: int, books: int, parts: int) -> tuple[float, int]:
    """Seconds, and how many requests were sent more than once."""
    place = Place(server.new_place(), folder / str(workers))
    store = await Store.open(place.url, place.folder)
    async with FakeOpenAI(_slow) as fake:
        processes = [await start_worker(place, fake) for _ in range(workers)]
        try:
            for number in range(1, books + 1):
                await shelve(store, number, parts)
            began = time.perf_counter()
            assert store.queue is not None
            await store.queue.put(await store.jobs.pending())
            while await store.jobs.pending():  # noqa: ASYNC110  # nobody tells of rows
                await asyncio.sleep(0.05)
            seconds = time.perf_counter() - began
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                await process.wait()
        times = Counter(entry.text for entry in fake.chats)
        assert len(times) == books * parts
    await store.close()
    return seconds, sum(times.values()) - len(times)


async def main(books: int, parts: int) -> int:
    bound = books * parts * LATENCY / _IN_FLIGHT
    print(f"{books} books of {parts} segments, {LATENCY:.0f} s a call, {_IN_FLIGHT} at once in a process")
    first = 0.0
    met = True
    with running_server() as server, tempfile.TemporaryDirectory() as folder:
        for workers in (1, 2, 4):
            seconds, twice = await measure(server, Path(folder), workers, books, parts)
            first = first or seconds
            print(
                f"{workers} workers: {seconds:.1f} s, {first / seconds:.2f} x as fast as one; lower bound "
                f"{bound / workers:.1f} s ({seconds * workers / bound:.2f} x); sent twice: {twice}; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            met &= twice == 0
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=int, default=20)
    parser.add_argument("--parts", type=int, default=12)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.books, given.parts)))
