"""What indexing a long novel costs: calls, tokens in and out against the text, and wall time against the lower bound.

    python -m tests.bench.indexing [BOOK…]

Without BOOK: the EPUBs of ../shared. The provider is the fake with 300 ms + 20 ms per 100 output tokens; the lower bound is
the sum of its latencies over the requests allowed in flight, or the longest of them. Tokens are o200k where the package
`bpe-openai` is installed, else estimated. Marks, for books of a million characters and more: calls <= 1.3 x characters /
18,000; input <= 1.35 x text; wall <= 1.5 x lower bound. The last table is in tests/bench/indexing.md.
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

from core import words
from core.errors import BadBook
from core.formats.reading import read
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
_LONG = 1_000_000
"""Characters from which on the marks hold: a booklet takes a call, too."""
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
    try:
        book = await read(path, rank_path=folder / f"{path.stem}.rank")
    except BadBook as error:
        print(f"| {path.stem} |{' |' * 9} {error.key} |")
        return True
    store = await Store.open("", folder / path.stem)
    await store.books.save(sha(1), book, datetime.now(UTC))
    await summarised_segments(store, sha(1), book.text_version)  # the extracts that stand there first
    async with FakeOpenAI(_reply) as fake:
        chat = OpenAIChat(
            Provider(fake.url, "fake", max_in_flight=_IN_FLIGHT), sleep=asyncio.sleep, jitter=random.random
        )
        ledgered = Ledgered(chat, store.ledger, lambda: datetime.now(UTC))
        began = time.perf_counter()
        async for _ in Summaries(store, ledgered).summarise(sha(1), book.text_version):
            pass
        wall = time.perf_counter() - began
        await chat.close()
        latencies = [_FIRST + _PER_TOKEN * entry.output_tokens for entry in fake.chats]
        calls = len(fake.chats)
        given = await asyncio.to_thread(lambda: sum(counter()(m["content"]) for e in fake.chats for m in e.messages))
        output = fake.tokens[1]
    await store.close()
    text = await asyncio.to_thread(lambda: sum(counter()(file.text) for file in book.files))
    bound = max(sum(latencies) / _IN_FLIGHT, *latencies)
    per_18k = calls / (book.characters / 18_000)
    print(
        f"| {path.stem} | {book.characters:,} | {calls} | {per_18k:.2f} | {text:,} | {given:,} | {given / text:.2f} "
        f"| {output:,} | {wall:.1f} | {bound:.1f} | {wall / bound:.2f} |",
        flush=True,
    )
    return book.characters < _LONG or (per_18k <= 1.3 and given / text <= 1.35 and wall / bound <= 1.5)


async def main(paths: list[Path]) -> int:
    print(
        "| book | characters | calls | x characters / 18,000 | tokens | read | x tokens | written | s | bound | x bound |"
    )
    print("|---|" + "---:|" * 10)
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
        chosen = sorted((SHARED / "books").glob("*.epub"))
    sys.exit(asyncio.run(main(chosen)))
