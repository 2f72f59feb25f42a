"""What indexing a long novel costs: calls, tokens in and out against the text, and wall time against the lower bound.

    python -m tests.bench.indexing [BOOK…]

Without BOOK: War and Peace from ../shared. The provider is the fake with 300 ms + 20 ms per 100 output tokens; the lower
bound is the sum of its latencies over the requests allowed in flight. Tokens are o200k where the package `bpe-openai` is
installed, else estimated. Marks: calls <= 1.3 x characters / 18,000; input <= 1.35 x text; wall <= 1.5 x lower bound.
"""

import argparse
import asyncio
import importlib
import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from core import formats, words
from core.ledgered import Ledgered
from core.llm import OpenAIChat, Provider
from core.retrieval.standins import summarised_segments
from core.store import Store
from core.summaries import Summaries
from tests.core.stores import sha
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import delivered
from tests.parts import SHARED

_IN_FLIGHT = 8
_FIRST, _PER_TOKEN = 0.3, 0.020 / 100


@cache
def counter() -> Callable[[str], int]:
    """o200k where it is installed, else four characters a token."""
    if importlib.util.find_spec("bpe_openai") is None:
        return words.tokens
    encoding = importlib.import_module("bpe_openai").get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


def _reply(request: JsonObject) -> Reply:
    """Some 150 words of the part, each run with its tag, as slow as a hosted model."""
    said: list[str] = []
    length = 0
    for text, tag in delivered(request):
        if length > 150:
            break
        said.append(f"{text} {tag}")
        length += len(text.split())
    text = " ".join(said)
    return Reply([text], timing=Timing(first=_FIRST + _PER_TOKEN * words.tokens(text)))


async def measure(path: Path, folder: Path) -> bool:
    """Index one book and print what it cost; True when every mark is met."""
    book = await formats.read(path, rank_path=folder / "rank")
    store = await Store.open("", folder / path.stem)
    await store.books.save(sha(1), book, datetime.now(UTC))
    began = time.perf_counter()
    await summarised_segments(store, sha(1), book.text_version)
    stand_in = time.perf_counter() - began
    async with FakeOpenAI(_reply) as fake:
        chat = OpenAIChat(
            Provider(fake.url, "fake", max_in_flight=_IN_FLIGHT), sleep=asyncio.sleep, jitter=random.random
        )
        ledgered = Ledgered(chat, store.ledger, lambda: datetime.now(UTC))
        began, busy = time.perf_counter(), time.process_time()
        async for step in Summaries(store, ledgered).summarise(sha(1), book.text_version):
            last = step
        wall, busy = time.perf_counter() - began, time.process_time() - busy
        await chat.close()
        latency = sum(_FIRST + _PER_TOKEN * entry.output_tokens for entry in fake.chats)
        calls = len(fake.chats)
        given = await asyncio.to_thread(lambda: sum(counter()(m["content"]) for e in fake.chats for m in e.messages))
        output = fake.tokens[1]
    await store.close()
    text = await asyncio.to_thread(lambda: sum(counter()(file.text) for file in book.files))
    bound = latency / _IN_FLIGHT
    per_18k = calls / (book.characters / 18_000)
    print(
        f"{path.name}: {book.characters} characters, {last.total} segments, {calls} calls ({per_18k:.2f} x characters / 18,000)\n"
        f"  tokens: text {text}, in {given} ({given / text:.2f} x text), out {output}; extracts first: {stand_in:.2f} s\n"
        f"  wall {wall:.1f} s, lower bound {bound:.1f} s ({wall / bound:.2f} x), of it {busy:.1f} s busy, the fake included"
    )
    return per_18k <= 1.3 and given / text <= 1.35 and wall / bound <= 1.5


async def main(paths: list[Path]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        met = [await measure(path, Path(folder)) for path in paths]
    return 0 if all(met) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("books", nargs="*", type=Path)
    chosen: list[Path] = parser.parse_args().books
    if not chosen:
        if SHARED is None:
            sys.exit("no ../shared: name a book")
        chosen = [SHARED / "books" / "war-and-peace.epub"]
    sys.exit(asyncio.run(main(chosen)))
