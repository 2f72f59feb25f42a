"""What the provider door costs over a bare client loop: answers a second, time to the first text, processor time.

Run with `python -m tests.bench.provider`. The fake provider runs in a process of its own; bare and door alternate, so
that both see the same machine. Reported: the medians of the ratios.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp

from core.llm import OpenAIChat, Provider
from core.model.chat import ChatRequest, Message, Said
from tests.fakes.openai import FakeOpenAI, Reply, Timing

WORDS = " ".join(["Mara kept the log in green ink [f1-0-42]."] * 8)
"""64 pieces, one a word."""
REQUEST = ChatRequest((Message("system", "Answer."), Message("user", "ink " * 3_000)))
STREAMS, ROUNDS, PER_ROUND = 50, 6, 200


async def serve() -> None:
    """Serve until standard input ends; the first line out is the address."""
    async with FakeOpenAI(lambda _: Reply(WORDS, timing=Timing(first=0.05))) as fake:
        print(fake.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def bare(url: str, session: aiohttp.ClientSession) -> tuple[float, int]:
    """One answer by hand: seconds to the first text, characters."""
    began, first, size = time.perf_counter(), 0.0, 0
    messages = [{"role": message.role, "content": message.content} for message in REQUEST.messages]
    async with session.post(
        f"{url}/chat/completions", json={"model": "fake", "messages": messages, "stream": True}
    ) as reply:
        async for line in reply.content:
            if line.startswith(b"data: {"):
                text = json.loads(line[6:])["choices"][0]["delta"].get("content")
                if text:
                    first = first or time.perf_counter() - began
                    size += len(text)
    return first, size


async def door(chat: OpenAIChat) -> tuple[float, int]:
    began, first, size = time.perf_counter(), 0.0, 0
    async for event in chat.stream(REQUEST):
        if isinstance(event, Said):
            first = first or time.perf_counter() - began
            size += len(event.text)
    return first, size


async def lap(ask: Callable[[], Awaitable[tuple[float, int]]]) -> tuple[float, float, list[float]]:
    """Answers a second, processor milliseconds an answer, times to the first text; STREAMS at once."""
    gate = asyncio.Semaphore(STREAMS)
    firsts: list[float] = []

    async def one() -> None:
        async with gate:
            first, size = await ask()
            assert size == len(WORDS)
            firsts.append(first)

    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(PER_ROUND)))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return PER_ROUND / wall, processor / PER_ROUND * 1_000, firsts


async def measure() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bench.provider",
        "serve",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    chat = OpenAIChat(Provider(url, "fake", max_in_flight=STREAMS), sleep=asyncio.sleep, jitter=lambda: 0.0)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await bare(url, session)
        await door(chat)
        rows = [(await lap(lambda: bare(url, session)), await lap(lambda: door(chat))) for _ in range(ROUNDS)]
    for name, side in (("bare aiohttp loop", 0), ("OpenAIChat", 1)):
        firsts = [first for row in rows for first in row[side][2]]
        print(
            f"{name}: {statistics.median(row[side][0] for row in rows):.0f} answers/s, "
            f"{statistics.median(row[side][1] for row in rows):.2f} ms of processor an answer, "
            f"first text p50 {statistics.median(firsts) * 1_000:.0f} ms, p99 {statistics.quantiles(firsts, n=100)[98] * 1_000:.0f} ms"
        )
    print(f"answers/s, door over bare: {statistics.median(row[1][0] / row[0][0] for row in rows):.2f}")
    await chat.close()
    process.stdin.close()
    await process.wait()


if __name__ == "__main__":
    asyncio.run(serve() if sys.argv[1:] == ["serve"] else measure())
