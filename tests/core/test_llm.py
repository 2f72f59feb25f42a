"""The provider door, spoken to through the real client over a real socket: replies, what is sent, how many at once."""

import asyncio
import json
from dataclasses import replace

import pytest

from core.llm import OpenAIChat, Provider, Timeouts
from core.model.chat import ChatEvent, ChatRequest, Message, Said
from tests.core.llm_calls import AFTER_CALL, ASK, WITH_TOOLS, Naps, connect, hear, hear_once
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Step, Timing


@pytest.mark.parametrize("cut", [None, 1, 3, 0])
@pytest.mark.parametrize("bytes_cut", [None, 1, 7])
async def test_a_reply_arrives_whole_wherever_the_stream_is_cut(cut: int | None, bytes_cut: int | None) -> None:
    text = "Green ink [f1-0-42]. 🧥\u2028Tobin’s coat\u0085 «sí»."
    said, calls, finished = await hear_once([Reply(text, cut=cut, bytes_cut=bytes_cut)])
    assert (said, calls, finished.reason) == (text, [], "stop")
    assert finished.usage.calls == 1
    assert finished.usage.output_tokens == -(-len(text) // 4)


async def test_tool_calls_are_put_together_from_their_pieces() -> None:
    step = Reply(
        "I will look.", calls=[("find_in_book", {"words": "green ink"}), ("find_in_book", '{"words": "coat"}')]
    )
    said, calls, finished = await hear_once([step], WITH_TOOLS)
    assert said == "I will look."
    assert [json.loads(call.arguments)["words"] for call in calls] == ["green ink", "coat"]
    assert len({call.id for call in calls}) == 2
    assert finished.reason == "tool_calls"


@pytest.mark.parametrize(
    "chunks",
    [
        [{"choices": []}, {"choices": None}, {}],
        [{"choices": [{"index": 0, "delta": None}]}, {"choices": [None]}],
        [{"choices": [{"index": 0, "message": None, "finish_reason": None}]}],
    ],
)
async def test_empty_choices_and_null_messages_end_without_words_and_without_reason(
    chunks: list[JsonObject | str],
) -> None:
    said, calls, finished = await hear_once([Reply(chunks=chunks)])
    assert (said, calls, finished.reason) == ("", [], "")


async def test_a_stream_that_just_ends_says_so_and_keeps_what_came() -> None:
    for step in (Reply("Green ink here", truncate_after=3), Reply("Green ink here", finish="")):
        said, _, finished = await hear_once([step])
        assert said.startswith("Green ink")
        assert finished.reason == ""


@pytest.mark.parametrize("step", [Reply("Green ink is here", disconnect_after=3), Reply("Green ink is here", stall_after=3), Reply(chunks=['{"choices":[{"delta":{"content":"Green ink "}}]}', '{"choices":[{"del'])])  # fmt: skip
async def test_after_the_first_words_a_failure_leaves_a_cut_reply_and_no_second_request(step: Reply) -> None:
    said, _, finished = await hear_once([step], timeouts=Timeouts(between_tokens=0.3))
    assert said.startswith("Green ink")
    assert finished.reason == ""


async def test_a_reply_that_ended_is_whole_though_the_usage_never_comes() -> None:
    # pieces: the role, one word, the reason; then silence
    said, _, finished = await hear_once([Reply("Green", stall_after=3)], timeouts=Timeouts(between_tokens=0.2))
    assert (said, finished.reason) == ("Green", "stop")


async def test_reasoning_before_the_answer_is_a_sign_of_life_and_nothing_else() -> None:
    said, _, finished = await hear_once([Reply("Green ink.", reasoning="let me think about it")])
    assert (said, finished.reason) == ("Green ink.", "stop")


async def test_a_host_that_does_not_stream_is_read_as_well() -> None:
    said, calls, finished = await hear_once(
        [Reply("Look.", calls=[("find_in_book", {"words": "ink"})], streams=False)], WITH_TOOLS
    )
    assert (said, [call.name for call in calls], finished.reason) == ("Look.", ["find_in_book"], "tool_calls")


async def test_usage_is_estimated_where_the_provider_does_not_count() -> None:
    _, _, finished = await hear_once([Reply("Green ink is it.", usage=False)])
    assert finished.usage.input_tokens == -(-len("Answer.") // 4) + -(-len("Whose ink?") // 4)
    assert finished.usage.output_tokens == 4


# --- what is sent ---


async def test_a_broken_call_of_the_model_goes_back_as_json_and_ids_are_answered() -> None:
    async with FakeOpenAI([Reply("Ink.")]) as fake:
        chat = connect(fake)
        await hear(chat, AFTER_CALL)
        sent = fake.chats[0].messages
        assert json.loads(sent[2]["tool_calls"][0]["function"]["arguments"]) == {"words": "ink"}
        assert sent[3]["tool_call_id"] == "a"
        await chat.close()


async def test_calls_without_ids_get_ids_that_differ_between_rounds() -> None:
    call = {"function": {"name": "find_in_book", "arguments": "{}"}}
    chunk = {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    async with FakeOpenAI([Reply(chunks=[chunk]), Reply(chunks=[chunk])]) as fake:
        chat = connect(fake)
        _, first, _ = await hear(chat, WITH_TOOLS)
        _, second, _ = await hear(chat, AFTER_CALL)
        assert first[0].id != second[0].id
        await chat.close()


async def test_equal_requests_are_equal_bytes_and_a_longer_one_keeps_the_prefix() -> None:
    async with FakeOpenAI([Reply("a"), Reply("b"), Reply("c")]) as fake:
        chat = connect(fake)
        for request in (WITH_TOOLS, WITH_TOOLS, AFTER_CALL):
            await hear(chat, request)
        one, two, three = (json.dumps(entry.body, ensure_ascii=False) for entry in fake.chats)
        assert one == two
        prefix = one.split('{"role": "user"')[0]
        assert three.startswith(prefix)
        assert '"tools"' in one
        await chat.close()


async def test_foreign_settings_of_the_environment_reach_neither_the_address_nor_the_headers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreign = {
        "OPENAI_API_KEY": "sk-foreign", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_ORG_ID": "foreign",
        "OPENAI_PROJECT_ID": "foreign", "OPENAI_ADMIN_KEY": "foreign", "OPENAI_WEBHOOK_SECRET": "foreign",
        "OPENAI_CUSTOM_HEADERS": "X-Foreign: foreign\nAuthorization: Bearer foreign", "OPENAI_LOG": "debug",
    }  # fmt: skip
    for name, value in foreign.items():
        monkeypatch.setenv(name, value)
    async with FakeOpenAI([Reply("a"), Reply("b")], key="sk-secret-of-ours") as fake:
        chat = connect(fake)
        await hear(chat)
        assert "foreign" not in str(fake.chats[0].headers).lower()
        await chat.close()
        fake.key = "none"
        keyless = OpenAIChat(Provider(fake.url, "fake"), sleep=Naps(), jitter=lambda: 0.0)
        await hear(keyless)
        await keyless.close()


def test_a_bare_host_gets_the_usual_path_and_a_key_is_never_printed() -> None:
    assert Provider("http://localhost:11434/", "m").url == "http://localhost:11434/v1"
    assert Provider("https://openrouter.ai/api/v1/chat/completions", "m").url == "https://openrouter.ai/api/v1"
    assert "sk-x" not in repr(Provider("http://a", "m", "sk-x"))


# --- how many at once ---


async def test_never_more_than_the_limit_are_in_flight_and_models_share_it() -> None:
    async with FakeOpenAI(
        lambda _: Reply("Ink.", timing=Timing(first=0.02)), models=[{"id": "fake"}, {"id": "other"}]
    ) as fake:
        chat = connect(fake, max_in_flight=3)
        other = chat.with_model("other")
        await asyncio.gather(*(hear(model) for model in [chat, other] * 6))
        assert len(fake.chats) == 12
        assert fake.most_in_flight == 3
        await chat.close()


async def test_summaries_leave_a_place_for_somebody_who_asks() -> None:
    def endless_summaries(request: JsonObject) -> Step:
        return Reply("Ink.", stall_after=None if request["messages"][-1]["content"] == "now" else 0)

    async with FakeOpenAI(endless_summaries) as fake:
        chat = connect(fake, max_in_flight=2)
        tasks = [asyncio.create_task(hear(chat, replace(ASK, purpose="summarise"))) for _ in range(3)]
        await fake.wait_for_chats(1)
        assert (await hear(chat, ChatRequest((Message("user", "now"),))))[0] == "Ink."
        assert len(fake.chats) == 2
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await chat.close()


async def test_a_reader_who_leaves_frees_the_place_and_the_connection() -> None:
    async with FakeOpenAI([Reply("Green ink is here", stall_after=3), Reply("Ink.")]) as fake:
        chat = connect(fake, max_in_flight=1)
        stream = chat.stream(ASK)
        first: ChatEvent = await anext(stream)
        assert isinstance(first, Said)
        assert first.text.startswith("Green ")
        await stream.aclose()
        assert (await hear(chat))[0] == "Ink."
        await chat.close()


@pytest.mark.parametrize("kind", ["words", "call"])
async def test_a_reply_that_would_not_end_is_cut_like_one_that_its_length_cut_off(kind: str) -> None:
    words = "The log was kept in green ink. " * 10_000
    endless = Reply(words, cut=2_000) if kind == "words" else Reply(calls=[("find_in_book", f'{{"words": "{words}')])
    async with FakeOpenAI([endless, Reply("Ink.")]) as fake:
        chat = connect(fake, max_in_flight=1)
        said, calls, finished = await hear(chat, WITH_TOOLS)
        assert len(said) < 200_000  # a little more than allowed: what came with it
        assert words.startswith(said)
        assert calls == []
        assert finished.reason == "length"
        assert 0 < finished.usage.output_tokens < 70_000
        assert (await hear(chat))[0] == "Ink."  # the line is free
        await chat.close()
