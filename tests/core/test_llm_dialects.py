"""What a provider refuses is dropped and remembered; what it can do is asked; the key of the ledger."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.errors import OperatorError
from core.llm import OpenAIChat, Provider, ask_context, describe, probe, request_key
from core.llm.dialect import thinking_switches
from core.model.chat import Message
from core.strings import LOCALES, tell
from tests.core.llm_calls import AFTER_CALL, ASK, FIND, WITH_TOOLS, Naps, connect, hear
from tests.fakes.openai import FakeOpenAI, Fault, JsonObject, Reply, Step


def picky(*refused: str, words: str = "Unrecognized request argument supplied: {}") -> Callable[[JsonObject], Step]:
    """A provider that refuses these fields, each in words of its own."""

    def answer(request: JsonObject) -> Step:
        for name in refused:
            if name in request:
                return Fault(400, words.format(name))
        return Reply("Ink.")

    return answer


@pytest.mark.parametrize("words", ["Unrecognized request argument supplied: {}", "bad request"])
async def test_what_a_provider_refuses_is_left_out_and_remembered(words: str) -> None:
    async with FakeOpenAI(
        picky("stream_options", "chat_template_kwargs", words=words), models=[{"id": "qwen3"}]
    ) as fake:
        chat = connect(fake).with_model("qwen3")
        for _ in range(2):
            assert (await hear(chat))[0] == "Ink."
        assert len(fake.chats) == 4
        assert "stream_options" not in fake.chats[-1].body
        assert not chat.switches_thinking
        await chat.close()


async def test_a_new_name_for_the_token_limit_is_learnt() -> None:
    def newer(request: JsonObject) -> Step:
        if "max_tokens" in request:
            return Fault(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            )
        return Reply("Ink.")

    async with FakeOpenAI(newer) as fake:
        chat = connect(fake)
        await hear(chat, replace(ASK, max_tokens=50))
        assert fake.chats[-1].body["max_completion_tokens"] == 50
        await chat.close()


@pytest.mark.parametrize(
    "fault", [Fault(400, "fake does not support tools"), Fault(404, "No endpoints found that support tool use")]
)
async def test_a_model_without_tools_is_given_the_results_as_text(fault: Fault) -> None:
    async with FakeOpenAI(lambda request: fault if "tools" in request else Reply("Ink.")) as fake:
        chat = connect(fake)
        for _ in range(2):
            assert (await hear(chat, AFTER_CALL))[0] == "Ink."
        assert [message["role"] for message in fake.chats[-1].messages] == ["system", "user"]
        assert fake.chats[-1].messages[1]["content"] == "Whose ink?\n\nThe green ink [f3-0-40]"
        assert len(fake.chats) == 3
        await chat.close()


async def test_a_request_refused_for_another_reason_is_not_sent_for_ever() -> None:
    async with FakeOpenAI(lambda _: Fault(400, "no")) as fake:
        chat = connect(fake)
        with pytest.raises(OperatorError) as caught:
            await hear(chat, replace(WITH_TOOLS, json=True, tool_choice="find_in_book"))
        assert caught.value.key == "model_refused"
        assert len(fake.chats) <= 5
        assert all("tools" in entry.body for entry in fake.chats)
        await chat.close()


@pytest.mark.parametrize(
    ("url", "model", "field"),
    [
        ("https://api.openai.com/v1", "gpt-4.1", None),
        ("https://api.openai.com/v1", "gpt-5.2", "reasoning_effort"),
        ("http://localhost:11434/v1", "llama3.2", "reasoning_effort"),
        ("http://localhost:8000/v1", "Qwen/Qwen3-8B", "chat_template_kwargs"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-plus", "enable_thinking"),
        ("https://api.deepseek.com", "deepseek-chat", "thinking"),
        ("https://openrouter.ai/api/v1", "qwen/qwen3-8b", "reasoning"),
        ("http://localhost:8080/v1", "llama-3.1-8b", None),
    ],
)
def test_thinking_is_switched_off_in_each_providers_own_way(url: str, model: str, field: str | None) -> None:
    ways = thinking_switches(Provider(url, model))
    assert ways[-1] == {}
    assert (next(iter(ways[0])) if ways[0] else None) == field
    assert thinking_switches(Provider(url, model, no_thinking={"x": 1})) == ({"x": 1}, {})
    assert thinking_switches(Provider(url, model, no_thinking={})) == ({},)


@pytest.mark.parametrize(
    ("models", "pages", "window"),
    [
        ([{"id": "fake"}], {}, 128_000),
        ([{"id": "other", "context_length": 9_000}, {"id": "fake", "context_length": 32_000}], {}, 32_000),
        ([{"id": "fake", "max_model_len": 16_384}], {}, 16_384),
        ([{"id": "fake", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}], {}, 8_192),
        ([{"id": "fake", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}], {"/props": {"default_generation_settings": {"n_ctx": 2_048}}}, 2_048),
        ([{"id": "fake", "owned_by": "library"}], {}, 4_096),
        ([{"id": "fake", "owned_by": "library"}], {"/api/ps": {"models": [{"name": "fake", "context_length": 32_768}]}}, 32_768),
        ([{"id": "fake", "owned_by": "library"}], {"/api/show": {"parameters": "stop x\nnum_ctx   16384"}}, 16_384),
    ],
)  # fmt: skip
async def test_the_window_is_asked_where_the_server_tells(
    models: list[JsonObject], pages: dict[str, JsonObject], window: int
) -> None:
    async with FakeOpenAI([], models=models, pages=pages) as fake:
        chat = connect(fake)
        assert await ask_context(chat) == window
        told = connect(fake, context_tokens=4_000)
        assert await ask_context(told) == 4_000
        await chat.close()


async def test_a_server_that_is_down_leaves_the_assumption() -> None:
    async with FakeOpenAI([]) as fake:
        url = fake.url
    chat = OpenAIChat(Provider(url, "m"), sleep=Naps(), jitter=lambda: 0.0)
    assert await ask_context(chat) == 128_000
    await chat.close()


async def test_the_probe_tells_an_able_model_from_a_poor_one_in_one_line_each() -> None:
    def able(request: JsonObject) -> Step:
        if "tools" in request:
            return Reply(calls=[("look_up", {"thing": "ink"})])
        return Reply('{"ok": true}' if "response_format" in request else "one two three")

    def poor(request: JsonObject) -> Step:
        if "tools" in request:
            return Fault(400, "this model does not support tools")
        if "stream_options" in request or "response_format" in request:
            return Fault(400, "stream_options" if "stream_options" in request else "response_format")
        return Reply(["<think>hm</think>one two"])

    for behaviour, able_to in ((able, True), (poor, False)):
        async with FakeOpenAI(behaviour) as fake:
            chat = connect(fake)
            found = await probe(chat)
            await chat.close()
        assert {found.streaming, found.tools, found.forced_choice, found.json, found.usage} == {able_to}
        assert found.thinking == ("none" if able_to else "on")
        for locale in LOCALES:
            lines = [tell(notice, locale) for notice in describe(found)]
            assert len(set(lines)) == 7
            assert all("\n" not in line for line in lines)


async def test_the_probe_of_a_provider_that_fails_is_one_sentence() -> None:
    async with FakeOpenAI(lambda _: Fault(401)) as fake:
        chat = connect(fake)
        found = await probe(chat)
        await chat.close()
    assert [notice.key for notice in describe(found)] == ["model_key_refused"]


def test_the_ledger_key_changes_with_everything_that_changes_the_answer() -> None:
    variants = [
        ASK,
        replace(ASK, purpose="pick"),
        replace(ASK, stamp="answer@2+aaaaaaaa"),
        replace(ASK, tools=(FIND,)),
        replace(ASK, max_tokens=5),
        replace(ASK, json=True),
        replace(ASK, messages=ASK.messages[:1]),
        replace(ASK, messages=(ASK.messages[0], Message("user", "Whose ink? "))),
    ]
    keys = {request_key(request, "m") for request in variants} | {request_key(ASK, "n")}
    assert len(keys) == len(variants) + 1
    assert request_key(ASK, "m") == request_key(replace(ASK), "m")
    assert all(len(key) == 64 for key in keys)
