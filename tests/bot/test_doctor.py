"""`loccit doctor`, against no model, a good one, and one that refuses."""

import asyncio
from pathlib import Path

import pytest

from bot.config import read_config
from bot.folder import hold
from bot.wiring import open_model
from core.errors import OperatorError
from core.store import Store
from core.strings import say
from tests.bot.running import Ran, loccit
from tests.clubs import lantern_house, open_club, said
from tests.core.llm_calls import connect
from tests.fakes.openai import FakeOpenAI, Fault, JsonObject, Reply, Step, Timing


def examine(fake: FakeOpenAI, key: str, data: Path) -> Ran:
    return loccit("doctor", data=data, LOCCIT_LLM_BASE_URL=fake.url, LOCCIT_LLM_API_KEY=key, LOCCIT_LLM_MODEL="fake")


def logged(data: Path) -> str:
    """Everything any log file holds."""
    return "".join(path.read_text("utf-8", "replace") for path in data.rglob("*.log*"))


def able(request: JsonObject) -> Step:
    if "tools" in request:
        return Reply(calls=[("look_up", {"thing": "ink"})])
    return Reply('{"ok": true}' if "response_format" in request else "one two three")


def test_without_a_model_it_says_how_to_set_one_up_and_all_is_well(tmp_path: Path) -> None:
    ran = loccit("doctor", data=tmp_path, OPENAI_API_KEY="sk-foreign", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert (ran.code, ran.err) == (0, "")
    *data, line = ran.out.splitlines()
    assert "LOCCIT_LLM_BASE_URL" in line
    assert len(data) == 2


async def test_with_a_model_every_ability_is_one_line(tmp_path: Path) -> None:
    async with FakeOpenAI(able, models=[{"id": "fake", "context_length": 16_000}], key="right") as fake:
        ran = await asyncio.to_thread(examine, fake, "right", tmp_path)
        assert (ran.code, ran.err) == (0, "")
        lines = ran.out.splitlines()[2:]
        assert lines[0] == "fake reads 16000 tokens at once."
        assert len(lines) == 8
        assert "LOCCIT_ALLOW_CHATS, LOCCIT_ALLOW_UPLOADERS" in lines[-1]
        assert "It calls tools." in lines


async def test_what_was_found_is_kept_with_the_model_and_no_habit_is_forgotten(tmp_path: Path) -> None:
    def thinking(request: JsonObject) -> Step:
        if "tools" in request:
            return Fault(400, "this model does not support tools")
        return Reply("I should count.</think>one two three", timing=Timing(gap=0.02))

    kept = []
    for answer in (thinking, able):
        async with FakeOpenAI(answer, models=[{"id": "fake", "context_length": 16_000}]) as fake:
            ran = await asyncio.to_thread(examine, fake, "", tmp_path)
        assert (ran.code, ran.err) == (0, "")
        store = await Store.open("", tmp_path)
        kept.append(await store.models.facts("fake"))
        await store.close()
    assert kept[0] == {
        "context_tokens": 16_000,
        "streaming": True,
        "usage": True,
        "tools": False,
        "forced_choice": False,
        "json": False,
        "thinking": "on",
        "closing_think": True,
    }
    assert kept[1] == {**kept[0], "tools": True, "forced_choice": True, "json": True, "thinking": "none"} | {
        "streaming": kept[1]["streaming"]
    }


async def test_while_a_chat_is_open_it_examines_all_the_same_and_says_that_it_kept_nothing(tmp_path: Path) -> None:
    async with FakeOpenAI(able, models=[{"id": "fake", "context_length": 16_000}]) as fake:
        with hold(tmp_path, "chat"):
            ran = await asyncio.to_thread(examine, fake, "", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    at = lines.index(say("doctor_not_kept", "en"))
    assert lines[at + 1] == say("folder_in_chat", "en", path=str(tmp_path))


async def test_a_model_examined_before_shows_no_reasoning_in_its_first_answer(tmp_path: Path) -> None:
    async with FakeOpenAI(lambda _: Reply("I should think.</think>Ink [f1-0-42].", cut=1)) as fake:
        assert (await asyncio.to_thread(examine, fake, "", tmp_path)).code == 0
        chat = connect(fake)
        async with open_club(tmp_path, chat, steady=True) as club:
            await club.shelve(lantern_house())
            turn = await club.ask("What ink was the log kept in?")
            assert said(turn) == "Ink [1]."
            assert not any("think" in draft for draft in club.drafts())
        await chat.close()


async def test_a_refused_key_is_one_sentence_and_a_failure(tmp_path: Path) -> None:
    async with FakeOpenAI(lambda _: Fault(401, "Incorrect API key provided: sk-wrong-key")) as fake:
        ran = await asyncio.to_thread(examine, fake, "sk-wrong-key", tmp_path)
        assert ran.code == 1
        *_, line = ran.out.splitlines()
        assert "LOCCIT_LLM_API_KEY" in line
        assert "HTTP 401" in logged(tmp_path)
        assert "sk-wrong-key" not in ran.out + ran.err + logged(tmp_path)


def test_settings_that_cannot_work_are_named(tmp_path: Path) -> None:
    for value in ("many", "-5", "12", "1e4"):
        with pytest.raises(OperatorError) as caught:
            read_config({"HOME": "/h", "LOCCIT_LLM_CONTEXT": value})
        assert caught.value.key == "config_context"
    assert read_config({"HOME": "/h", "LOCCIT_LLM_CONTEXT": "32_000"}).llm_context == 32_000
    with pytest.raises(OperatorError) as caught:
        open_model(read_config({"HOME": "/h", "LOCCIT_LLM_BASE_URL": "http://127.0.0.1:9/v1"}))
    assert caught.value.key == "config_no_model"
    ran = loccit("doctor", data=tmp_path, LOCCIT_LLM_API_KEY="sk-x")
    assert ran.code == 1
    assert "LOCCIT_LLM_MODEL" in ran.out.splitlines()[-1]


BROKEN = (
    "localhost:1",
    "ftp://h/v1",
    "http://",
    "http://[::1/v1",
    "http://h:99999/v1",
    "http://h:abc",
    "http://pa ss@h",
)


@pytest.mark.parametrize("address", [*BROKEN, "sk-secret"])
def test_an_address_of_the_model_that_is_none_is_one_sentence_that_never_repeats_it(
    address: str, tmp_path: Path
) -> None:
    with pytest.raises(OperatorError) as caught:
        open_model(read_config({"HOME": "/h", "LOCCIT_LLM_BASE_URL": address, "LOCCIT_LLM_MODEL": "m"}))
    assert (caught.value.key, caught.value.params) == ("model_address", {})
    if address in ("http://[::1/v1", "sk-secret"):
        ran = loccit("doctor", data=tmp_path, LOCCIT_LLM_BASE_URL=address, LOCCIT_LLM_MODEL="m")
        assert (ran.code, ran.out.splitlines()[-1], ran.err) == (1, say("model_address", "en"), "")
        assert len(ran.out.splitlines()) > 1  # the data folder is looked at all the same


def test_a_model_is_opened_with_exactly_what_was_set() -> None:
    environ = {"HOME": "/h", "LOCCIT_LLM_API_KEY": "sk-x", "LOCCIT_LLM_MODEL": "m", "LOCCIT_LLM_CONTEXT": "9000"}
    config = read_config(environ)
    model = open_model(config)
    assert model is not None
    assert (model.name, model.provider.api_key, model.provider.context_tokens) == ("m", "sk-x", 9_000)
    assert "sk-x" not in repr(config)
    assert open_model(read_config({"HOME": "/h", "LOCCIT_LLM_MODEL": "m", "OPENAI_API_KEY": "sk-foreign"})) is None
