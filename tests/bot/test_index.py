"""`loccit index`, against no model, a good one, and providers that fail."""

import asyncio
from pathlib import Path

import pytest

from tests.books.long_text import write_long_text
from tests.bot.running import Ran, loccit
from tests.fakes.openai import FakeOpenAI, Fault, JsonObject, Reply, Step
from tests.fakes.readers import summarise


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return write_long_text(tmp_path / "long.md", chapters=3)


async def _index(fake: FakeOpenAI, data: Path, *words: str | Path) -> Ran:
    def run() -> Ran:
        return loccit("index", *words, data=data, LOCCIT_LLM_BASE_URL=fake.url, LOCCIT_LLM_MODEL="fake")

    return await asyncio.to_thread(run)


def test_without_a_model_one_sentence_says_what_is_missing(tmp_path: Path, book: Path) -> None:
    ran = loccit("index", book, data=tmp_path / "data")
    assert (ran.code, ran.out) == (1, "")
    assert "LOCCIT_LLM_BASE_URL" in ran.sentence
    ran = loccit("index", book, "--json", data=tmp_path / "data")
    assert [shape["error"]["key"] for shape in ran.objects] == ["index_no_model"]


async def test_it_waits_until_all_is_summarised_and_says_what_it_cost(tmp_path: Path, book: Path) -> None:
    async with FakeOpenAI(summarise) as fake:
        ran = await _index(fake, tmp_path / "data", "--json", book)
        assert (ran.code, ran.err) == (0, "")
        [shape] = ran.objects
        assert list(shape) == ["book", "segments", "calls", "input_tokens", "output_tokens", "seconds", "state"]
        assert (shape["segments"], shape["calls"], shape["state"]) == (3, 3, "done")
        assert (shape["input_tokens"], shape["output_tokens"]) == fake.tokens
        again = await _index(fake, tmp_path / "data", "--json", shape["book"])
        assert (again.objects[0]["segments"], again.objects[0]["calls"]) == (3, 0)
        assert len(fake.chats) == 3
    text = loccit("text", shape["book"], "--json", data=tmp_path / "data")
    for segment in text.objects[0]["segments"]:
        assert "On day" in segment["summary"]
        assert f"[f{segment['start'][0]}-" in segment["summary"]


async def test_what_failed_is_done_by_a_refresh(tmp_path: Path, book: Path) -> None:
    def stumble(request: JsonObject) -> Step:
        return Reply("I'm sorry, I can't." if "On day 2007" in str(request) else summarise(request).text)

    async with FakeOpenAI(stumble) as fake:
        ran = await _index(fake, tmp_path / "data", book)
        assert ran.code == 0
        assert "3 of 3" in ran.out
        assert "--refresh" in ran.out
        assert len(fake.chats) == 4
        told = await _index(
            fake, tmp_path / "data", book, "--json"
        )  # a program is told "done"; whoever reads along is told
        assert (told.code, told.objects[0]["state"]) == (0, "done")
        assert "3 of 3" in told.sentence
        assert "--refresh" in told.sentence
        assert len(fake.chats) == 4
    async with FakeOpenAI(summarise) as fake:
        ran = await _index(fake, tmp_path / "data", "--refresh", book)
        assert len(fake.chats) == 1
        assert "--refresh" not in ran.out


@pytest.mark.parametrize(
    ("fault", "state", "word"),
    [
        (Fault(429, retry_after=3600), "paused", "minute"),
        (Fault(401, "Incorrect API key"), "failed", "LOCCIT_LLM_API_KEY"),
        (Fault(429, "You exceeded your current quota", "insufficient_quota"), "failed", "account"),
    ],
)
async def test_a_provider_that_fails_stops_it_with_a_sentence_and_the_next_call_goes_on(
    tmp_path: Path, book: Path, fault: Fault, state: str, word: str
) -> None:
    def fail(request: JsonObject) -> Step:
        return fault if "On day 2007" in str(request) else summarise(request)

    async with FakeOpenAI(fail) as fake:
        ran = await _index(fake, tmp_path / "data", "--json", book)
        assert ran.code == 1
        assert word in ran.sentence
        [shape] = ran.objects
        assert (shape["segments"], shape["calls"], shape["state"]) == (3, 2, state)
    async with FakeOpenAI(summarise) as fake:
        ran = await _index(fake, tmp_path / "data", "--json", book)
        assert ran.code == 0
        assert ran.objects[0]["calls"] == len(fake.chats) == 1


async def test_a_book_that_cannot_be_read_keeps_no_other_from_its_turn(tmp_path: Path, book: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    async with FakeOpenAI(summarise) as fake:
        ran = await _index(fake, tmp_path / "data", "--json", empty, book)
        assert ran.code == 1
        assert [shape.get("state", "error") for shape in ran.objects] == ["error", "done"]
