"""The provider door, spoken to through the real client over a real socket."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import LoccitError, OperatorError, UpstreamError
from core.llm import OpenAIChat, Provider, Retries, Timeouts, ask_context, describe, probe, request_key
from core.llm.dialect import thinking_switches
from core.llm.failures import classify, read_retry_after, redact
from core.llm.wire import Events
from core.llm.wire import Reply as WireReply
from core.model.chat import Called, ChatEvent, ChatModel, ChatRequest, Finished, Message, Said, Tool, ToolCall
from core.strings import LOCALES, say, tell
from tests.fakes.openai import Behaviour, FakeOpenAI, Fault, JsonObject, Reply, Step, Timing

FIND = Tool("find_in_book", "Find words.", {"type": "object", "properties": {"words": {"type": "string"}}})
ASK = ChatRequest((Message("system", "Answer."), Message("user", "Whose ink?")))
WITH_TOOLS = replace(ASK, tools=(FIND,))
AFTER_CALL = ChatRequest(
    (
        Message("system", "Answer."),
        Message("user", "Whose ink?"),
        Message("assistant", "", (ToolCall("a", "find_in_book", "{'words': 'ink',}"),)),
        Message("tool", "The green ink [f3-0-40]", tool_call_id="a"),
    ),
    (FIND,),
)


class Naps:
    """A sleep that takes no time and remembers what was asked for."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)


def connect(fake: FakeOpenAI, *, naps: Naps | None = None, **settings: Any) -> OpenAIChat:
    provider = Provider(base_url=fake.url, model="fake", api_key="sk-secret-of-ours", **settings)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return OpenAIChat(provider, sleep=naps or Naps(), jitter=lambda: 0.0, now=lambda: now)


async def hear(chat: ChatModel, request: ChatRequest = ASK) -> tuple[str, list[ToolCall], Finished]:
    events = [event async for event in chat.stream(request)]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert not any(isinstance(event, Finished) for event in events[:-1])
    said = "".join(event.text for event in events if isinstance(event, Said))
    return said, [event.call for event in events if isinstance(event, Called)], finished


async def hear_once(
    script: Sequence[Step] | Behaviour, request: ChatRequest = ASK, **settings: Any
) -> tuple[str, list[ToolCall], Finished]:
    async with FakeOpenAI(script) as fake:
        chat = connect(fake, **settings)
        try:
            return await hear(chat, request)
        finally:
            await chat.close()


async def fail_once(script: Sequence[Step], request: ChatRequest = ASK, **settings: Any) -> LoccitError:
    with pytest.raises(LoccitError) as caught:
        await hear_once(script, request, **settings)
    return caught.value


# --- replies ---


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


def wire(*deltas: JsonObject, finish: str | None = "tool_calls") -> tuple[list[tuple[str, str]], Finished]:
    reply = WireReply("x", ["a prompt"])
    for delta in deltas:
        reply.feed({"choices": [{"delta": delta}]})
    if finish is not None:
        reply.feed({"choices": [{"delta": {}, "finish_reason": finish}]})
    calls, finished = reply.finish()
    assert len({call.id for call in calls}) == len(calls)
    return [(call.name, call.arguments) for call in calls], finished


def piece(arguments: Any = None, **more: Any) -> JsonObject:
    """One delta of a tool call; what is not given is missing, not null."""
    function = {key: more.pop(key) for key in ("name",) if key in more}
    if arguments is not None:
        function["arguments"] = arguments
    return {"tool_calls": [{**more, "function": function}]}


TWO = [("find_in_book", '{"words": "ink"}'), ("find_in_book", '{"words": "coat"}')]


@pytest.mark.parametrize(
    "deltas",
    [
        [piece('{"words": "ink"}', index=0, id="a", name="find_in_book"), piece('{"words": "coat"}', index=1, id="b", name="find_in_book")],
        [piece("", index=0, id="a", name="find_in_book"), piece('{"words":', index=0), piece(' "ink"}', index=0), piece("", index=1, id="b", name="find_in_book"), piece('{"words": "coat"}', index=1)],
        # every call under index 0, told apart by id (Gemini)
        [piece('{"words": "ink"}', index=0, id="a", name="find_in_book"), piece('{"words": "coat"}', index=0, id="b", name="find_in_book")],
        # neither index nor id
        [piece('{"words": "ink"}', name="find_in_book"), piece('{"words": "coat"}', name="find_in_book")],
        [piece('{"words":', name="find_in_book"), piece(' "ink"}'), piece('{"words": "coat"}', name="find_in_book")],
        # name and id repeated in every piece
        [piece('{"words":', index=0, id="a", name="find_in_book"), piece(' "ink"}', index=0, id="a", name="find_in_book"), piece('{"words": "coat"}', index=1, id="b", name="find_in_book")],
        [piece('{"words":', name="find_in_book"), piece(' "ink"}', name="find_in_book"), piece('{"words": "coat"}', name="find_in_book")],
        # arguments as an object
        [piece({"words": "ink"}, index=0, name="find_in_book"), piece({"words": "coat"}, index=1, name="find_in_book")],
        # both in one piece, indexes null
        [{"tool_calls": piece('{"words": "ink"}', index=None, id="a", name="find_in_book")["tool_calls"] + piece('{"words": "coat"}', index=None, id="b", name="find_in_book")["tool_calls"]}],
        # the name in pieces, the whole call twice
        [piece("", index=0, id="a", name="find_"), piece(index=0, name="in_book"), piece('{"words": "ink"}', index=0), piece('{"words": "coat"}', index=1, id="b", name="find_in_book"), piece('{"words": "coat"}', index=1, id="b", name="find_in_book")],
        # ids without indexes, interleaved
        [piece('{"words": ', id="a", name="find_in_book"), piece('{"words": ', id="b", name="find_in_book"), piece('"ink"}', id="a"), piece('"coat"}', id="b")],
        [{"tool_calls": None}, {"tool_calls": [None, {"function": None}]}, *[piece(arguments, name=name) for name, arguments in TWO]],
    ],
)  # fmt: skip
def test_two_calls_are_two_calls_in_every_habit_of_chunking(deltas: list[JsonObject]) -> None:
    calls, finished = wire(*deltas)
    assert [(name, json.loads(arguments)) for name, arguments in calls] == [(name, json.loads(a)) for name, a in TWO]
    assert finished.reason == "tool_calls"


def test_the_old_function_call_field_is_a_call_too() -> None:
    assert wire({"function_call": {"name": "find_in_book", "arguments": "{}"}})[0] == [("find_in_book", "{}")]


def test_a_call_cut_off_in_its_arguments_is_no_call_but_a_whole_one_is() -> None:
    assert wire(piece('{"words": "in', index=0, name="find_in_book"), finish="length")[0] == []
    assert wire(piece('{"words": "in', index=0, name="find_in_book"), finish=None)[0] == []
    calls, finished = wire(piece('{"words": "ink"}', index=0, name="find_in_book"), finish=None)
    assert (len(calls), finished.reason) == (1, "")


@pytest.mark.parametrize(
    ("given", "ours"),
    [("stop", "stop"), ("eos", "stop"), ("MAX_TOKENS", "length"), ("content_filter", "content_filter"), ("SAFETY", "content_filter"), ("error", ""), ("whatever", "stop")],
)  # fmt: skip
def test_reasons_of_all_hosts_become_five(given: str, ours: str) -> None:
    assert wire({"content": "Ink"}, finish=given)[1].reason == ours


def test_a_refusal_counts_as_filtered_and_its_words_are_not_the_answer() -> None:
    reply = WireReply("x", [])
    assert reply.feed({"choices": [{"delta": {"refusal": "I cannot help"}}]}) == ""
    reply.feed({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    assert reply.finish()[1].reason == "content_filter"


def test_reasoning_is_never_text_whatever_it_is_called() -> None:
    reply = WireReply("x", [])
    for delta in (
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "content": None},
        {"reasoning_details": [{"text": "hm"}]},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "Ink"},
            ]
        },
    ):
        assert reply.feed({"choices": [{"delta": delta}]}) in ("", "Ink")


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


def test_a_line_cut_anywhere_even_inside_a_character_is_put_together() -> None:
    data = 'data: {"a": "🧥\u2028"}\r\n\r\n: comment\nevent: x\ndata:{"b": 1}\n\ndata: ping\ndata: [DONE]'.encode()
    for size in range(1, len(data)):
        events, found = Events(), []
        for at in range(0, len(data), size):
            found += events.feed(data[at : at + size])
        found += events.close()
        assert (found, events.done) == ([{"a": "🧥\u2028"}, {"b": 1}], True)


def test_what_stands_before_a_broken_piece_is_kept_and_what_follows_is_not_read() -> None:
    events = Events()
    assert events.feed(b'data: {"a": 1}\ndata: {"b": \ndata: {"c": 3}\n') == [{"a": 1}]
    assert events.broken
    assert events.feed(b'data: {"d": 4}\n') == []


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
    chunk = {"choices": [{"delta": piece("{}", name="find_in_book"), "finish_reason": "tool_calls"}]}
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


# --- what is refused, dropped and remembered ---


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


# --- failures ---

SIX = [
    (Fault(503, "overloaded"), "model_down", UpstreamError),
    (Fault(0), "model_down", UpstreamError),
    (Fault(502, body=b"<html>Bad gateway</html>"), "model_down", UpstreamError),
    (Fault(401, "Incorrect API key", "invalid_api_key"), "model_key_refused", OperatorError),
    (Fault(403, "Forbidden"), "model_key_refused", OperatorError),
    (Fault(400, "API key not valid. Please pass a valid API key."), "model_key_refused", OperatorError),
    (Fault(429, "You exceeded your current quota", "insufficient_quota"), "model_quota", OperatorError),
    (Fault(402, "Insufficient credits"), "model_quota", OperatorError),
    (Fault(404, "The model `x` does not exist", "model_not_found"), "model_unknown", OperatorError),
    (Fault(400, "x is not a valid model ID"), "model_unknown", OperatorError),
    (Fault(404, body=b"404 page not found"), "model_unknown", OperatorError),
    (Fault(429, "Rate limit reached for requests"), "model_rate_limited", UpstreamError),
    (Fault(504, "upstream request timeout"), "model_timeout", UpstreamError),
    (Fault(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"), "model_context_exceeded", OperatorError),
    (Fault(400, "the request exceeds the available context size", "exceed_context_size_error"), "model_context_exceeded", OperatorError),
    (Fault(400, "The response was filtered due to the prompt triggering content management policy", "content_filter"), "model_filtered", UpstreamError),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "key", "kind"), SIX)
async def test_each_failure_has_its_own_key_and_a_sentence_without_internals(
    fault: Fault, key: str, kind: type[LoccitError]
) -> None:
    error = await fail_once([fault] * (4 if key in ("model_down", "model_rate_limited") else 1))
    assert (error.key, type(error)) == (key, kind)
    for locale in LOCALES:
        sentence = say(error.key, locale, **error.params)
        assert sentence.endswith(".")
        assert fault.message not in sentence


def test_the_six_sentences_differ_in_every_language() -> None:
    keys = {key for _, key, _ in SIX} | {"model_refused", "model_address"}
    for locale in LOCALES:
        assert len({say(key, locale, model="m", address="a") for key in keys}) == len(keys)


async def test_a_server_that_is_not_there_and_an_address_that_is_none() -> None:
    async with FakeOpenAI([]) as fake:
        url = fake.url
    for address, key in ((url, "model_down"), ("localhost:1234", "model_address"), ("", "model_address")):
        chat = OpenAIChat(Provider(address, "m"), sleep=Naps(), jitter=lambda: 0.0)
        with pytest.raises(LoccitError) as caught:
            await hear(chat)
        assert caught.value.key == key
        await chat.close()


async def test_a_page_in_place_of_an_api_points_at_the_address() -> None:
    assert (await fail_once([Fault(200, body=b"<html>Welcome</html>")])).key == "model_unknown"


async def test_an_error_inside_the_stream_is_an_error_and_after_words_a_cut() -> None:
    error: JsonObject = {"error": {"code": 429, "message": "Rate limit reached"}}
    assert (await fail_once([Reply(chunks=[error])] * 4)).key == "model_rate_limited"
    words: JsonObject = {"choices": [{"delta": {"content": "Green ink"}}]}
    said, _, finished = await hear_once([Reply(chunks=[words, error])])
    assert (said, finished.reason) == ("Green ink", "")


async def test_a_stream_with_nothing_in_it_is_tried_again() -> None:
    assert (await hear_once([Reply(chunks=[]), Reply("Ink.", disconnect_after=0), Reply("Ink.")]))[0] == "Ink."


async def test_retry_after_is_honoured_and_other_waits_grow() -> None:
    naps = Naps()
    faults: list[Step] = [Fault(429, retry_after=3), Fault(503), Fault(503), Reply("Ink.")]
    async with FakeOpenAI(faults) as fake:
        chat = connect(fake, naps=naps)
        assert (await hear(chat))[0] == "Ink."
        await chat.close()
    assert naps.taken == [3.0, 0.5, 1.0]


async def test_a_wait_too_long_for_a_reader_is_not_waited_but_told() -> None:
    error = await fail_once([Fault(429, retry_after=3_600)])
    assert isinstance(error, UpstreamError)
    assert error.retry_after == 3_600
    error = await fail_once([Fault(503)] * 2, retries=Retries(attempts=2))
    assert error.key == "model_down"


def test_retry_after_is_read_as_seconds_as_milliseconds_and_as_a_date() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert read_retry_after({"retry-after": "2.5"}, now) == 2.5
    assert read_retry_after({"retry-after-ms": "250", "retry-after": "9"}, now) == 0.25
    assert read_retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:07 GMT"}, now) == 7
    assert read_retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:07"}, now) is None
    assert read_retry_after({"retry-after": "soon"}, now) is None
    assert read_retry_after({}, now) is None


async def test_a_first_word_that_does_not_come_is_a_timeout_and_is_asked_once() -> None:
    error = await fail_once([Reply("Ink.", stall_after=0)], timeouts=Timeouts(first_token=0.2))
    assert error.key == "model_timeout"
    error = await fail_once([Reply("Ink.", timing=Timing(first=5))], timeouts=Timeouts(total=0.2))
    assert error.key == "model_timeout"


async def test_the_providers_words_reach_the_log_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await fail_once([Fault(401, "Incorrect API key provided: sk-secret-of-ours")])
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("core"))
    assert "Incorrect API key" in ours
    assert "secret-of-ours" not in caplog.text


def test_redaction_takes_keys_credentials_and_long_quotations() -> None:
    dirty = "Bearer abcdefghijk; key=abc123456; sk-proj-abcdef; http://me:pass@host/; 'Mara kept the lighthouse log in green ink, and nobody in Carrow spoke of it'"
    clean = redact(dirty)
    for secret in ("abcdefghijk", "abc123456", "sk-proj", "pass", "lighthouse"):
        assert secret not in clean
    assert len(redact("word " * 1_000)) <= 300
    assert redact("the credential hunter22 is wrong", "hunter22") == "the credential *** is wrong"


def test_every_status_has_a_key_with_a_sentence() -> None:
    for status in range(400, 600):
        error = classify(status, "", model="m")
        assert say(error.key, "en", **error.params)


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


# --- window, abilities, ledger key ---


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
        assert {found.tools, found.forced_choice, found.json, found.usage} == {able_to}
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
