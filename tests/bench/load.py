"""200 channels ask at once, alone and while five books are indexed: what they wait, and whether the loop was ever blocked.

    python -m tests.bench.load [--channels 200] [--rounds 3] [--in-flight 8]

Everything is one process: the club, its store on SQLite, and the real client; the fake provider is a process of its own.
Rounds with and without indexing take turns, so that whatever else the machine does is in both. Marks: p95 within 1.3 x,
the loop never computing for more than 100 ms without a pause. On a machine that others use as well it also waits for its
turn; that is told apart, with the place.
"""

import argparse
import asyncio
import gc
import multiprocessing
import os
import random
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from bot.watchdog import MOST, watched
from core.club import Club
from core.llm import Line, OpenAIChat, Provider
from core.model import Answered, Conversation, Question, Reader
from core.offline import OfflineReader
from core.store import Store
from tests.clubs import Clock, TestClub, long_book
from tests.core.test_workers import shelve
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import Honest

LATENCY = 0.5
_PARTS = 48
_honest = Honest()
_numbers = count(time.time_ns())
_asked = count()


def _answer(request: JsonObject) -> Reply:
    return Reply([str(_honest(request).text)], timing=Timing(first=LATENCY))


def _serve(pipe: Connection) -> None:
    async def serve() -> None:
        async with FakeOpenAI(_answer) as fake:
            pipe.send(fake.url)
            await asyncio.to_thread(pipe.recv)

    asyncio.run(serve())


async def _ask(club: Club, where: Conversation) -> float:
    number = next(_numbers)
    began = time.perf_counter()
    async for event in club.questions.ask(
        Question(f"e{number}", where, Reader(f"r{number}"), f"What happened on day {_day()}?")
    ):
        if isinstance(event, Answered):
            return time.perf_counter() - began
    raise RuntimeError("no answer")


def _day() -> int:
    """A day that stands in the book, another one each time (2,880 of them): no reply is one on record."""
    at = next(_asked)
    chapter, paragraph, sentence = at % 12 + 1, at // 12 % 40 + 1, at // 480 % 6
    return chapter * 1000 + paragraph * 7 + sentence


async def _round(club: Club, channels: list[Conversation]) -> list[float]:
    return list(await asyncio.gather(*(_ask(club, where) for where in channels)))


def _percentile(waits: list[float], share: float) -> float:
    return sorted(waits)[min(len(waits) - 1, int(share * len(waits)))]


async def measure(url: str, folder: Path, channels: int, rounds: int, in_flight: int) -> bool:
    async with AsyncExitStack() as stack:
        store = await Store.open("", folder)
        provider = Provider(url, "fake", max_in_flight=in_flight, context_tokens=128_000)
        model = OpenAIChat(provider, sleep=asyncio.sleep, jitter=random.random, line=Line(provider, opened=gc.freeze))
        clock = Clock()
        club = Club(
            store, model, OfflineReader(), folder,
            now=clock, clock=time.monotonic, new_id=lambda: f"id{next(_numbers)}",
        )  # fmt: skip
        stack.push_async_callback(model.close)
        stack.push_async_callback(club.close)
        here = TestClub(club, store, clock)
        places = [Conversation("discord", f"c{number}") for number in range(channels)]
        book = long_book()
        for where in places:
            await here.shelve(book, where)
        # The books that are indexed belong to a channel that does not ask.
        shelf = Conversation("discord", "indexing")
        alone: list[float] = []
        beside: list[float] = []
        blocked: dict[bool, list[tuple[float, float, str]]] = {False: [], True: []}
        indexing = False
        for number in range(5 * rounds):
            await shelve(store, number, _PARTS, shelf)
        # The book that is asked about is summarised first: it is not among the five.
        async for _ in club.summaries.index(places[0], book.title):
            pass
        await _round(club, places[:20])  # warm
        with watched(MOST, lambda seconds, busy, place: blocked[indexing].append((busy, seconds, place))):
            for at in range(rounds):
                alone += await _round(club, places)
                indexing = True
                tasks = [asyncio.create_task(_index(club, shelf, at * 5 + more)) for more in range(5)]
                await asyncio.sleep(2 * LATENCY)
                waits = await _round(club, places)
                under_way = sum(not task.done() for task in tasks)
                beside += waits
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                indexing = False
                print(f"  round {at + 1}: {under_way} of 5 books still indexing at its end", flush=True)
    before, after = _percentile(alone, 0.95), _percentile(beside, 0.95)
    print(
        f"{channels} channels at once, {rounds} rounds each, {LATENCY} s a call, {in_flight} at once: p50 {_percentile(alone, 0.5):.2f} s, "
        f"p95 {before:.2f} s alone; p50 {_percentile(beside, 0.5):.2f} s, p95 {after:.2f} s beside ({after / before:.2f} x); "
        f"load {os.getloadavg()[0]:.1f}"
    )
    for name, found in (("alone", blocked[False]), ("beside", blocked[True])):
        ours = [one for one in found if one[0] > MOST]
        print(
            f"  loop blocked for more than 100 ms {name}: {len(found)} times, {len(ours)} of them computing for so long"
        )
        for busy, seconds, place in sorted(found, reverse=True)[:5]:
            print(f"    {busy * 1000:.0f} ms computing, {seconds * 1000:.0f} ms in all, at {place}")
    return after <= 1.3 * before and not any(one[0] > MOST for found in blocked.values() for one in found)


async def _index(club: Club, shelf: Conversation, number: int) -> None:
    async for _ in club.summaries.index(shelf, f"Book {number}"):
        pass


async def main(channels: int, rounds: int, in_flight: int) -> int:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    url = await asyncio.to_thread(ours.recv)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return 0 if await measure(url, Path(folder), channels, rounds, in_flight) else 1
    finally:
        ours.send(None)
        await asyncio.to_thread(server.join, 5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--channels", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--in-flight", type=int, default=8, help="requests the provider takes at once")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.channels, given.rounds, given.in_flight)))
