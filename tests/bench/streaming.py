"""What a whole turn costs over the provider's own stream: time to the first visible words, the whole stream, answers a second.

`python -m tests.bench.streaming [profile]`. The fake provider runs in a process of its own and notes when it wrote the
first piece of each answer; both processes read the same clock. Raw (a bare client loop) and turns alternate in one run.
`profile` prints instead where one process spends its time while it answers as fast as it can.
"""

import asyncio
import cProfile
import gc
import json
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from core.llm import Line, OpenAIChat, Provider
from core.model import Answered, Conversation, Drafting, Question, Reader
from tests.clubs import TestClub, long_book, open_club
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import TAG, is_pick

STREAMS, ROUNDS, PER_ROUND = 50, 2, 100
FIRST, GAP, CLAIMS = 0.4, 0.03, 20
"""Seconds to the first piece and between pieces; sentences, each of ten words and a tag."""
STREAM = FIRST + GAP * CLAIMS * 11
"""Seconds one stream takes."""
ASKED = "Who wrote in green ink on day"
QUICK = "Say at once who left the island on day"
"""Questions that are answered without any pause between the pieces."""
WANTED_P50, WANTED_P99, WANTED_WHOLE = 15.0, 40.0, 1.05


def speak(request: JsonObject) -> Reply:
    """Plain sentences, each with a tag that was delivered; the pace is in the question."""
    if is_pick(request):
        return Reply('{"Thinking":"","answer":[]}')
    read = "\n".join(str(message.get("content") or "") for message in request["messages"])
    tags = (TAG.findall(read.partition("book text:")[2]) or ["[f1-0-42]"]) * CLAIMS
    text = " ".join(f"The log of days tells what was done that day {tag}." for tag in tags[:CLAIMS])
    return Reply(text, timing=Timing() if QUICK in read else Timing(first=FIRST, gap=GAP))


async def serve() -> None:
    """Serve until standard input ends; first line out: the address; last: when each question's answer began."""
    async with FakeOpenAI(speak) as fake:
        print(fake.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        spoke = {_asked(entry.body): fake.began + entry.spoke for entry in fake.chats if entry.spoke is not None}
        print(json.dumps(spoke), flush=True)


def _asked(body: Mapping[str, Any]) -> str:
    return next(str(m["content"]) for m in reversed(body["messages"]) if m["role"] == "user")


@dataclass
class Lap:
    """One side's streams: when the first words of each were seen, how long each took, and the answers a second."""

    seen: dict[str, float] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


class Bare:
    """The client loop anybody would write, sending what a turn sends."""

    def __init__(self, url: str, session: aiohttp.ClientSession, body: JsonObject) -> None:
        self._url, self._session, self._body = url, session, body

    async def ask(self, question: str, seat: int) -> float:
        messages = [m | {"content": question} if m["role"] == "user" else m for m in self._body["messages"]]
        first = 0.0
        async with self._session.post(
            f"{self._url}/chat/completions", json=self._body | {"messages": messages}
        ) as reply:
            async for line in reply.content:
                if line.startswith(b"data: {"):
                    choices = json.loads(line[6:])["choices"]
                    if choices and choices[0]["delta"].get("content") and not first:
                        first = time.monotonic()
        return first


class Turns:
    """The same through a club: a seat is a channel of its own, where one question is answered at a time."""

    def __init__(self, club: TestClub) -> None:
        self._club = club
        self.calls: list[int] = []

    async def ask(self, question: str, seat: int) -> float:
        first = 0.0
        place = Conversation("bench", f"seat{seat}")
        async for event in self._club.club.questions.ask(
            Question(f"event {question}", place, Reader(f"reader{seat}", "en"), question)
        ):
            match event:
                case Drafting() if not first:
                    first = time.monotonic()
                case Answered(turn):
                    assert turn.answer.outcome == "grounded", turn.answer.notices
                    self.calls.append(turn.usage.calls)
        return first or time.monotonic()


async def run(ask: Callable[[str, int], Awaitable[float]], lap: Lap, streams: int, questions: Sequence[str]) -> None:
    """Ask all questions, so many at once; seats are taken one after the other, as people come."""
    waiting = iter(questions)
    spread = 0.0 if QUICK in questions[0] else STREAM / streams

    async def sit(seat: int) -> None:
        await asyncio.sleep(seat * spread)
        for question in waiting:
            began = time.monotonic()
            lap.seen[question] = await ask(question, seat)
            lap.took.append(time.monotonic() - began)

    wall, processor = time.monotonic(), time.process_time()
    await asyncio.gather(*(sit(seat) for seat in range(streams)))
    lap.rates.append(len(questions) / (time.monotonic() - wall))
    lap.processor.append((time.process_time() - processor) / len(questions) * 1_000)


async def measure(folder: Path, *, profile: bool) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.streaming", "serve", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    provider = Provider(url, "fake", max_in_flight=STREAMS)
    # opened as bot/wiring.py does it
    chat = OpenAIChat(provider, sleep=asyncio.sleep, jitter=lambda: 0.0, line=Line(provider, opened=gc.freeze))
    numbers = count(1)

    def some(words: str, of: int) -> list[str]:
        return [f"{words} {1000 + 7 * next(numbers)}?" for _ in range(of)]

    async with (
        open_club(folder, chat) as club,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
    ):
        book = long_book()
        for seat in range(STREAMS):
            await club.shelve(book, Conversation("bench", f"seat{seat}"))
        turns = Turns(club)
        await run(turns.ask, Lap(), 1, some(QUICK, 5))
        if profile:
            profiler = cProfile.Profile()
            profiler.enable()
            await run(turns.ask, Lap(), STREAMS, some(QUICK, PER_ROUND * 2))
            profiler.disable()
            pstats.Stats(profiler).sort_stats("cumulative").print_stats(
                "core.|sqlalchemy.ext|aiosqlite|httpx2|openai", 90
            )
            process.stdin.close()
            await process.wait()
            await chat.close()
            return 0
        body = await _body(club, url, some(QUICK, 1)[0])
        bare = Bare(url, session, body)
        laps = {
            (name, streams, words): Lap()
            for name in ("raw", "turn")
            for streams in (1, STREAMS)
            for words in (ASKED, QUICK)
        }
        for _ in range(ROUNDS):
            for streams, words, of in ((1, ASKED, 2), (STREAMS, ASKED, PER_ROUND), (STREAMS, QUICK, PER_ROUND)):
                await run(bare.ask, laps["raw", streams, words], streams, some(words, of))
                await run(turns.ask, laps["turn", streams, words], streams, some(words, of))
    await chat.close()
    process.stdin.close()
    spoke: dict[str, float] = json.loads(await process.stdout.read())
    await process.wait()
    print(f"{statistics.mean(turns.calls):.2f} calls a turn")
    return _report(laps, spoke)


async def _body(club: TestClub, url: str, question: str) -> JsonObject:
    """A request as a turn sends it."""
    async with FakeOpenAI(speak) as fake:
        chat = OpenAIChat(Provider(fake.url, "fake"), sleep=asyncio.sleep, jitter=lambda: 0.0)
        with tempfile.TemporaryDirectory() as name:
            async with open_club(Path(name), chat) as other:
                await other.shelve(long_book())
                await other.ask(question)
        await chat.close()
        return fake.chats[0].body


def _report(laps: Mapping[tuple[str, int, str], Lap], spoke: Mapping[str, float]) -> int:
    missed = 0
    for streams in (1, STREAMS):
        for name in ("raw", "turn"):
            lap = laps[name, streams, ASKED]
            late = sorted((seen - spoke[question]) * 1_000 for question, seen in lap.seen.items())
            p50, p99 = late[len(late) // 2], late[len(late) * 99 // 100]
            print(f"{streams} at once, {name}: first words p50 {p50:.1f} ms, p99 {p99:.1f} ms after the provider wrote them", end="; ")  # fmt: skip
            print(
                f"whole stream {statistics.median(lap.took):.3f} s, {statistics.median(lap.processor):.1f} ms of processor"
            )
            if name == "turn" and streams == STREAMS:
                missed += (p50 > WANTED_P50) + (p99 > WANTED_P99)
        raw, turn = (statistics.median(laps[name, streams, ASKED].took) for name in ("raw", "turn"))
        print(f"{streams} at once: whole stream, turn over raw: {turn / raw:.3f} (wanted {WANTED_WHOLE})")
        missed += turn / raw > WANTED_WHOLE
    fast, slow = laps["raw", STREAMS, QUICK], laps["turn", STREAMS, QUICK]
    print(
        f"as fast as they come: raw {statistics.median(fast.rates):.0f} answers/s ({statistics.median(fast.processor):.1f} ms of "
        f"processor each), turns {statistics.median(slow.rates):.1f} answers/s ({statistics.median(slow.processor):.1f} ms): "
        f"ratio {statistics.median(a / b for a, b in zip(slow.rates, fast.rates, strict=True)):.3f}"
    )
    return missed


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        with tempfile.TemporaryDirectory() as name:
            sys.exit(asyncio.run(measure(Path(name), profile=sys.argv[1:] == ["profile"])))
