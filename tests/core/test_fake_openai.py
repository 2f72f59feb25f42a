"""The fake provider itself: it has to notice what a real one would refuse, or the tests above it prove nothing."""

import asyncio
import json
import random
from typing import Any

import aiohttp
import pytest

from core import prompts
from core.prompts import tools
from tests.fakes.openai import FakeOpenAI, Fault, JsonObject, Reply, Timing, check_request
from tests.fakes.readers import TAG, Adversary, Honest, delivered, forgeries, is_pick, is_summary

USER: JsonObject = {"role": "user", "content": "Whose ink?"}
CALL: JsonObject = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "find_in_book", "arguments": "{}"}}],
}
RESULT: JsonObject = {
    "role": "tool",
    "tool_call_id": "a",
    "content": "The green ink in the log was not Mara’s. [f3-0-40] Ivo’s suitcase held Tobin’s oilskin coat. [f3-40-84]",
}


async def post(fake: FakeOpenAI, path: str = "/chat/completions", **body: Any) -> tuple[int, bytes]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(fake.url + path, json={"model": "fake", **body}) as reply,
    ):
        return reply.status, await reply.read()


async def test_a_step_left_over_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="1 steps were not used"):
        async with FakeOpenAI([Reply("Ink.")]):
            pass


async def test_a_request_beyond_the_script_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="beyond the script"):
        async with FakeOpenAI([]) as fake:
            assert (await post(fake, messages=[USER]))[0] == 500


async def test_an_unknown_path_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="unknown path POST /v1/responses"):
        async with FakeOpenAI([]) as fake:
            await post(fake, "/responses")


async def test_an_error_of_the_test_itself_is_not_covered_up() -> None:
    with pytest.raises(ZeroDivisionError):
        async with FakeOpenAI([Reply("Ink.")]):
            _ = 1 / 0


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "non-empty"),
        ([{"role": "reader", "content": "x"}], "unknown role"),
        ([USER, {"role": "system", "content": "x"}], "system after"),
        ([USER, RESULT], "answers no open call"),
        ([USER, CALL], "have no answer"),
        ([USER, CALL, USER], "have no answer"),
        ([USER, CALL, RESULT, RESULT], "answers no open call"),
        ([{"role": "user", "content": None}], "content is missing"),
        ([{"role": "user", "content": ""}], "content is missing"),
        ([USER, {**CALL, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}]}], "not JSON"),
        ([USER, {**CALL, "tool_calls": CALL["tool_calls"] * 2}], "two calls with one id"),
    ],
)  # fmt: skip
async def test_what_real_providers_refuse_is_refused(messages: list[JsonObject], problem: str) -> None:
    assert problem in str(check_request({"messages": messages}))
    with pytest.raises(AssertionError):
        async with FakeOpenAI([]) as fake:
            assert (await post(fake, messages=messages))[0] == 400


def test_a_proper_exchange_is_accepted_and_tools_are_checked() -> None:
    good = {"messages": [{"role": "system", "content": "x"}, USER, CALL, RESULT]}
    tool = {"type": "function", "function": {"name": "find_in_book"}}
    assert check_request(good) is None
    assert check_request(good | {"tools": [tool], "tool_choice": "none"}) is None
    assert check_request(good | {"tools": [tool, tool]}) == "tools: a name stands twice"
    assert check_request(good | {"tools": []}) == "tools: empty"
    assert check_request(good | {"tool_choice": "auto"}) == "tool_choice without tools"


async def test_streamed_and_whole_replies_say_the_same() -> None:
    step = Reply("Green ink, “not Mara’s”. 🧥", calls=[("find_in_book", {"words": "grün"})], cut=2, bytes_cut=3)
    async with FakeOpenAI([step, step]) as fake:
        _, whole = await post(fake, messages=[USER])
        _, stream = await post(fake, messages=[USER], stream=True, stream_options={"include_usage": True})
    message = json.loads(whole)["choices"][0]["message"]
    chunks = [json.loads(line[6:]) for line in stream.decode().split("\n") if line.startswith("data: {")]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == message["content"] == step.text
    arguments = "".join(delta["tool_calls"][0]["function"]["arguments"] for delta in deltas if "tool_calls" in delta)
    assert json.loads(arguments) == json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"words": "grün"}
    assert chunks[-1]["usage"] == json.loads(whole)["usage"]
    assert stream.endswith(b"data: [DONE]\n\n")


async def test_keys_models_and_faults_answer_as_a_provider_does() -> None:
    async with FakeOpenAI([Fault(429, retry_after=7)], key="right") as fake:
        assert (await post(fake, messages=[USER]))[0] == 401
        fake.key = None
        assert (await post(fake, messages=[USER], model="other"))[0] == 404
        assert (await post(fake, messages=[USER]))[0] == 429
    async with FakeOpenAI([Fault(0), Reply("Green ink", disconnect_after=1)]) as fake:
        for _ in range(2):
            with pytest.raises((aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientOSError)):
                await post(fake, messages=[USER], stream=True)


async def test_the_journal_counts_what_was_asked_and_how_much_at_once() -> None:
    async with FakeOpenAI(lambda _: Reply("Ink it is.", timing=Timing(first=0.05))) as fake:
        await asyncio.gather(*(post(fake, messages=[USER]) for _ in range(4)))
        assert fake.most_in_flight == 4
        assert fake.tokens[1] == 4 * 3
        assert all(entry.ended is not None and entry.ended >= entry.begun for entry in fake.chats)


def test_the_honest_reader_cites_only_what_this_turn_delivered() -> None:
    old = {"role": "tool", "tool_call_id": "a", "content": "Mara kept the log. [f1-0-42]"}
    messages = [USER, CALL, old, {"role": "assistant", "content": "Mara's."}, USER, CALL, RESULT]
    assert [tag for _, tag in delivered({"messages": messages})] == ["[f3-0-40]", "[f3-40-84]"]
    text = str(Honest(1)({"messages": messages}).text)
    assert text == "“The green ink in the log was not Mara’s.” [f3-0-40]."
    assert Honest()({"messages": [USER]}).text == "The book does not say."


def test_the_fifteen_kinds_of_forgery_never_hit_the_true_tag() -> None:
    rng = random.Random(1)
    for _ in range(200):
        start = rng.randint(1, 9_000)
        tag = f"[f{rng.randint(0, 30)}-{start}-{start + rng.randint(1, 400)}]"
        forged = forgeries(tag, rng)
        assert len(forged) == 15
        assert all(tag not in forgery for forgery in forged)


def test_the_adversary_mixes_true_tags_with_forged_ones() -> None:
    adversary = Adversary(3)
    texts = [str(adversary({"messages": [USER, CALL, RESULT]}).text) for _ in range(20)]
    found = {tag for text in texts for tag in TAG.findall(text)}
    assert {"[f3-0-40]", "[f3-40-84]"} < found


def test_the_readers_tell_the_purposes_of_our_own_prompts_apart() -> None:
    answer, choice = prompts.answer("The book: A", "x"), prompts.pick("ink", tools.catalogue([("4", "A", "s")]))
    summary = prompts.summarise("A", tools.fence(str(RESULT["content"])))
    bodies = [
        {"messages": [{"role": "system", "content": p.system}, {"role": "user", "content": p.user}]}
        for p in (answer, choice, summary)
    ]
    assert [is_pick(body) for body in bodies] == [False, True, False]
    assert [is_summary(body) for body in bodies] == [False, False, True]
    assert json.loads(str(Honest()(bodies[1]).text))["answer"] == ["4"]
    assert TAG.findall(str(Honest()(bodies[2]).text)) == ["[f3-0-40]", "[f3-40-84]"]
