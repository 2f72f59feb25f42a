"""kill -9 in the midst of indexing: what a provider answered in full is not asked again, and the result is the same."""

import asyncio
import json
import random
from pathlib import Path

from core.model import Segment
from tests import programs
from tests.books.long_text import write_long_text
from tests.bot.running import environment
from tests.core.stores import Place
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import is_summary, summarise

_CHAPTERS = 20
_KILLS = 3
_IN_FLIGHT = 8


def _slow(request: JsonObject) -> Reply:
    assert is_summary(request)
    return Reply(summarise(request).text, timing=Timing(first=0.05))


async def _start(book: Path, place: Place, fake: FakeOpenAI) -> programs.Program:
    settings = {
        "LOCCIT_DATA": str(place.folder),
        "LOCCIT_DATABASE_URL": place.url,
        "LOCCIT_LLM_BASE_URL": fake.url,
        "LOCCIT_LLM_MODEL": "fake",
    }
    words = ("index", book, "--json")
    return await programs.start(
        programs.LOCCIT, *words, environment=environment(**settings), stdout=asyncio.subprocess.PIPE
    )


async def _index(book: Path, place: Place, fake: FakeOpenAI) -> JsonObject:
    process = await _start(book, place, fake)
    out, _ = await process.communicate()
    assert process.returncode == 0
    shape: JsonObject = json.loads(out)
    return shape


async def _segments(place: Place, sha256: str) -> tuple[Segment, ...]:
    store = await place.open()
    try:
        contents = await store.books.contents(sha256)
        assert contents is not None
        return await store.books.segments(sha256, contents.text_version)
    finally:
        await store.close()


def _replies(fake: FakeOpenAI) -> list[str]:
    """What each request that came was, or would have been, answered."""
    return ["".join(summarise(entry.body).text) for entry in fake.chats]


def _recorded(place: Place) -> set[str]:
    return {json.loads(result)["text"] for (result,) in place.raw("SELECT result FROM llm_call")}


async def test_after_kills_nothing_recorded_is_asked_again_and_the_summaries_are_those_of_an_undisturbed_run(
    place: Place, other_place: Place, tmp_path: Path
) -> None:
    book = write_long_text(tmp_path / "long.md", _CHAPTERS)
    async with FakeOpenAI(_slow) as fake:
        undisturbed = await _index(book, other_place, fake)
    assert undisturbed["state"] == "done"
    assert undisturbed["calls"] == undisturbed["segments"] == _CHAPTERS

    rng = random.Random(5)
    recorded: set[str] = set()
    total = 0
    for _ in range(_KILLS):
        async with FakeOpenAI(_slow) as fake:
            process = await _start(book, place, fake)
            try:
                await asyncio.wait_for(fake.wait_for_chats(rng.randint(3, 6)), 60)
                await asyncio.sleep(rng.random() * 0.1)
            finally:
                process.kill()
            await process.wait()
            asked = _replies(fake)
            whole = {
                text for text, entry in zip(asked, fake.chats, strict=True) if entry.ended and not entry.left_early
            }
        assert not recorded.intersection(asked)
        total += len(asked)
        before, recorded = recorded, _recorded(place)
        assert before <= recorded
        # What had left the provider and is not on record was on its way when the process died.
        assert len(whole - recorded) <= _IN_FLIGHT
    async with FakeOpenAI(_slow) as fake:
        last = await _index(book, place, fake)
        assert len(fake.chats) == last["calls"] == _CHAPTERS - len(recorded)
        assert not recorded.intersection(_replies(fake))
        total += len(fake.chats)
    assert (last["segments"], last["state"]) == (_CHAPTERS, "done")
    assert total <= _CHAPTERS + _KILLS * _IN_FLIGHT
    assert await _segments(place, last["book"]) == await _segments(other_place, undisturbed["book"])
