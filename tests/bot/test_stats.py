"""`loccit stats`: what was asked and what it cost, looked at without changing anything."""

import asyncio
import hashlib
from pathlib import Path

from tests.bot.running import Ran, loccit
from tests.fakes.openai import FakeOpenAI, Reply


def _contents(data: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in data.rglob("loccit.db")}


def test_a_folder_in_which_nothing_was_asked_is_one_sentence_and_stays_empty(tmp_path: Path) -> None:
    ran = loccit("stats", data=tmp_path / "data")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == ["Nothing has been asked in this data folder yet."]
    assert not list((tmp_path / "data").rglob("loccit.db"))
    [shape] = loccit("stats", "--json", data=tmp_path / "data").objects
    assert (shape["days"], shape["months"], shape["total"]["calls"]) == ([], [], 0)


async def test_calls_money_outcomes_and_drops_are_told_by_day_by_month_and_altogether(tmp_path: Path) -> None:
    book = tmp_path / "tale.txt"
    book.write_text("The lamp was lit at six and Ann came in.\n\nA storm broke the glass.\n", encoding="utf-8")
    data = tmp_path / "data"
    async with FakeOpenAI(lambda _: Reply("The lamp was lit [f0-0-40], they say [f9-9-99].")) as fake:

        def ask() -> Ran:
            return loccit(
                "ask",
                "--json",
                book,
                "Who came?",
                data=data,
                LOCCIT_LLM_BASE_URL=fake.url,
                LOCCIT_LLM_MODEL="fake",
                LOCCIT_PRICE_INPUT="10",
                LOCCIT_PRICE_OUTPUT="0",
            )

        asked = await asyncio.to_thread(ask)
    assert asked.code == 0, asked.err
    [answer] = asked.objects
    before = _contents(data)
    [shape] = loccit("stats", "--json", data=data).objects
    assert _contents(data) == before
    total = shape["total"]
    assert total["calls"] == answer["usage"]["calls"] >= 1
    assert total["input_tokens"] == answer["usage"]["input_tokens"]
    assert total["money"] == answer["usage"]["input_tokens"] * 10 / 1_000_000
    assert total["outcomes"] == {answer["outcome"]: 1}
    assert total["dropped"] == len(answer["dropped"]) == 1
    assert total["tags"] == len(answer["footnotes"]) + 1
    assert total["unsettled"] == 0
    assert total["first_text_ms"]["p95"] >= 0
    assert [{**total, "period": day["period"]} for day in shape["days"]] == shape["days"]
    assert [month["period"] for month in shape["months"]] == [shape["days"][0]["period"][:7]]
    lines = loccit("stats", data=data, LOCCIT_LOCALE="es").out.splitlines()
    assert lines[-3].startswith("En total: ")
