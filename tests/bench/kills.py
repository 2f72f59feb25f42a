"""kill -9 in the midst of indexing, again and again: what is paid twice, and whether the result is the same.

    python -m tests.bench.kills [--kills 50] [--parts 300] [--engine sqlite|postgres]

`loccit index` runs in a process of its own against the fake and is killed at a random moment, until it has been killed so
often; then it may end. A request is identified by its text. Marks: no request whose full response left the fake more than
1 s before a kill is sent again, requests in all <= N + kills x requests in flight, and the hash over segments and summaries
equals that of a run nobody disturbed.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from core.store.jobs import LEASE
from tests.books.long_text import write_long_text
from tests.bot.running import CHECKOUT, command, environment
from tests.core.stores import Place
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import summarise
from tests.postgres import running_server

_IN_FLIGHT = 8
_GRACE = 1.0


_LATENCY = 0.8
_LONGEST = 3 * _LATENCY
"""Seconds from a run's first request to its kill, at most: up to three waves of requests, so that many have ended before."""


def _slow(request: JsonObject) -> Reply:
    return Reply(summarise(request).text, timing=Timing(first=_LATENCY))


@dataclass
class Tally:
    """What the fake saw over all runs."""

    asked: Counter[str] = field(default_factory=Counter)
    paid: set[str] = field(default_factory=set)
    """Requests whose full response had left long before a kill."""
    twice: int = 0
    """Of those, how many were sent again."""

    def add(self, fake: FakeOpenAI, killed_at: float) -> int:
        texts = [entry.text for entry in fake.chats]
        self.twice += sum(text in self.paid for text in texts)
        self.asked.update(texts)
        for entry in fake.chats:
            if entry.ended is not None and not entry.left_early and entry.ended < killed_at - _GRACE:
                self.paid.add(entry.text)
        return len(texts)


async def _start(book: Path, place: Place, fake: FakeOpenAI) -> asyncio.subprocess.Process:
    settings = {
        "LOCCIT_DATA": str(place.folder),
        "LOCCIT_DATABASE_URL": place.url,
        "LOCCIT_LLM_BASE_URL": fake.url,
        "LOCCIT_LLM_MODEL": "fake",
    }
    return await asyncio.create_subprocess_exec(
        *command("index", book, "--json"),
        stdout=asyncio.subprocess.PIPE, cwd=CHECKOUT, env=environment(**settings),
    )  # fmt: skip


async def _digest(place: Place, sha256: str) -> str:
    store = await place.open()
    try:
        contents = await store.books.contents(sha256)
        assert contents is not None
        return hashlib.sha256(repr(await store.books.segments(sha256, contents.text_version)).encode()).hexdigest()
    finally:
        await store.close()


async def _whole(book: Path, place: Place, fake: FakeOpenAI) -> JsonObject:
    process = await _start(book, place, fake)
    out, _ = await process.communicate()
    assert process.returncode == 0, out
    shape: JsonObject = json.loads(out)
    return shape


async def measure(folder: Path, urls: tuple[str, str], kills: int, parts: int) -> bool:
    rng = random.Random(6)
    book = await asyncio.to_thread(write_long_text, folder / "long.md", parts, 11_000)
    calm, place = Place(urls[0], folder / "calm"), Place(urls[1], folder / "killed")
    async with FakeOpenAI(_slow) as fake:
        undisturbed = await _whole(book, calm, fake)
    number = undisturbed["segments"]
    tally = Tally()
    done = idle = 0
    while done < kills:
        async with FakeOpenAI(_slow) as fake:
            process = await _start(book, place, fake)
            began = time.monotonic()
            try:
                async with asyncio.timeout(LEASE + 30):
                    await fake.wait_for_chats(1)  # its start may take long on a busy machine, and is killed too then
                await asyncio.sleep(rng.random() * _LONGEST)
            except TimeoutError:
                idle += 1
            killed_at = time.monotonic() - fake.began
            if process.returncode is None:
                process.kill()
            await process.wait()
            came = tally.add(fake, killed_at)
        done += 1
        print(f"  kill {done}: {came} requests, {time.monotonic() - began:.1f} s", flush=True)
    async with FakeOpenAI(_slow) as fake:
        last = await _whole(book, place, fake)
        tally.add(fake, 0.0)
    total = sum(tally.asked.values())
    same = await _digest(place, last["book"]) == await _digest(calm, undisturbed["book"])
    engine = "PostgreSQL" if urls[0] else "SQLite"
    print(
        f"{engine}: {kills} kills over {number} segments ({idle} while nothing was asked): {total} requests "
        f"(at most {number + kills * _IN_FLIGHT} wanted), {total - number} more than undisturbed\n"
        f"  sent again though the response had left {_GRACE:.0f} s before: {tally.twice}; "
        f"hash {'equal' if same else 'DIFFERENT'}; state {last['state']}; load {os.getloadavg()[0]:.1f}"
    )
    return tally.twice == 0 and same and total <= number + kills * _IN_FLIGHT and last["state"] == "done"


async def main(engines: list[str], kills: int, parts: int) -> int:
    met = True
    for engine in engines:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            urls = ("", "")
            if engine == "postgres":
                server = stack.enter_context(running_server())
                urls = (server.new_place(), server.new_place())
            met &= await measure(folder, urls, kills, parts)
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--parts", type=int, default=300)
    parser.add_argument("--engine", choices=("sqlite", "postgres"))
    given = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # the killed leave in the middle of a reply
    chosen = [given.engine] if given.engine else ["sqlite", "postgres"]
    sys.exit(asyncio.run(main(chosen, given.kills, given.parts)))
