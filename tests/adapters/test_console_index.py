"""`/index` in the chat: what summaries take, the yes, how far they are, the stop."""

import asyncio
from pathlib import Path

from tests.books.long_text import write_long_text
from tests.bot.running import Ran, loccit
from tests.fakes.openai import FakeOpenAI
from tests.fakes.readers import Honest


async def _chat(fake: FakeOpenAI, data: Path, lines: str, *words: str | Path) -> Ran:
    def run() -> Ran:
        return loccit(
            "chat",
            *words,
            data=data,
            stdin=lines,
            LOCCIT_LLM_BASE_URL=fake.url,
            LOCCIT_LLM_MODEL="fake",
            LOCCIT_PRICE_INPUT="3",
            LOCCIT_ASK_ABOVE="0",
        )

    return await asyncio.to_thread(run)


async def test_a_book_above_the_sum_says_what_it_takes_and_waits_for_a_yes(tmp_path: Path) -> None:
    book, data = write_long_text(tmp_path / "long.md", chapters=3), tmp_path / "data"
    async with FakeOpenAI(Honest()) as fake:
        ran = await _chat(fake, data, "/index\n", book)
        assert (ran.code, ran.err) == (0, "")
        assert "about 3 calls" in ran.out
        assert "/index yes" in ran.out
        assert "0 of 3 summarised; waiting for a yes" in " ".join(ran.out.split())
        assert fake.chats == []
        ran = await _chat(fake, data, "/index yes\n/index stop\n/index\n")
        said = " ".join(ran.out.split())
        assert "long is being summarised" in said
        assert "Summarising long is stopped" in said
        assert "summarised; stopped (/index yes goes on)" in said
