"""Whole turns with the real client against a provider on the wire; P1 to P5 are judged on every one of them."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from core.document import parse
from core.llm import OpenAIChat
from core.model import Drafting, Turn
from core.prompts import tools
from core.store import Store
from core.strings import LOCALES, say
from tests.books.lantern_epub import lantern_house as lantern_file
from tests.bot.running import Ran, loccit
from tests.clubs import ELSEWHERE, ROOM, TestClub, lantern_house, long_book, open_club, said
from tests.core.llm_calls import connect
from tests.fakes.openai import Behaviour, FakeOpenAI, Fault, JsonObject, Reply, Step
from tests.fakes.readers import TAG, Adversary, Honest, delivered, is_pick, is_summary, summarise
from tests.promises.proof import RAW, consulted, judge, quotations

INK = "The log was kept in green ink [f1-0-42]."
QUESTION = "What ink was the log kept in?"
NO_PICK = Reply('{"Thinking":"","answer":[]}')
TITLES = ("The Lantern House", "Green Ink", "The Ferry", "Tobin’s Coat", "The Log of Days")


@dataclass
class Reading:
    """A club, the provider it asks, and a judge who reads along."""

    club: TestClub
    fake: FakeOpenAI
    chat: OpenAIChat
    turns: list[list[JsonObject]] = field(default_factory=list)
    """The requests of each turn, those of the picker left out."""

    async def ask(self, text: str, **how: Any) -> Turn:
        """Ask about the book and judge the turn."""
        begin = len(self.fake.chats)
        turn = await self.club.ask(text, **how)
        requests = [entry.body for entry in self.fake.chats[begin:] if not is_pick(entry.body)]
        self.turns.append(requests)
        drafts = [event for event in self.club.events if isinstance(event, Drafting)]
        if turn.answer.outcome in ("grounded", "not_in_book") and turn.model != "offline":
            assert judge(requests, turn, drafts, TITLES) == []
        return turn


@asynccontextmanager
async def reading(
    folder: Path,
    script: Sequence[Step] | Behaviour,
    *,
    model: str = "fake",
    others: Sequence[str] = (),
    long: bool = False,
) -> AsyncIterator[Reading]:
    async with FakeOpenAI(script, models=[{"id": name} for name in ("fake", model, *others)]) as fake:
        chat = connect(fake).with_model(model)
        models = {name: chat.with_model(name) for name in others} | {model: chat}
        try:
            async with open_club(folder, chat, steady=True, models=models) as club:
                await club.shelve(long_book() if long else lantern_house())
                yield Reading(club, fake, chat)
        finally:
            await chat.close()


def picking(answer: Step | Callable[[JsonObject], Step]) -> Behaviour:
    """A model that chooses no part and otherwise says this."""
    return lambda request: NO_PICK if is_pick(request) else answer(request) if callable(answer) else answer


async def run(fake: FakeOpenAI, *words: str | Path, data: Path, stdin: str) -> Ran:
    """The command line, set up with this provider."""

    def call() -> Ran:
        return loccit(
            *words,
            data=data,
            stdin=stdin,
            LOCCIT_LLM_BASE_URL=fake.url,
            LOCCIT_LLM_API_KEY="sk-secret-of-ours",
            LOCCIT_LLM_MODEL="fake",
        )

    return await asyncio.to_thread(call)


# Honest and not


@pytest.mark.parametrize("cut", [None, 1, 3, 0], ids=["words", "letters", "threes", "random"])
async def test_an_honest_answer_keeps_every_note_and_every_quotation(cut: int | None, tmp_path: Path) -> None:
    async with reading(tmp_path, Honest(notes=3, cut=cut), long=True) as at:
        for day in (1014, 3007, 5021, 9049):
            turn = await at.ask(f"What happened on day {day}?")
            assert turn.answer.outcome == "grounded"
            assert len(turn.answer.footnotes) == 3
            assert len(quotations(said(turn))) == 3
            assert turn.answer.dropped == ()
            opened = [await at.club.club.passages.press(ROOM, note.id) for note in turn.answer.footnotes]
            assert [passage.quote for passage in opened] == quotations(said(turn))


async def test_sixty_turns_with_an_adversary_show_no_false_note_no_raw_tag_and_no_altered_quotation(
    tmp_path: Path,
) -> None:
    replies: list[str] = []
    adversary = Adversary(seed=60)

    def speak(request: JsonObject) -> Reply:
        reply = adversary(request)
        replies.append(str(reply.text))
        return reply

    rng = random.Random(6)
    dropped = kept = quoted = 0
    for long in (False, True):
        async with reading(tmp_path / str(long), speak, long=long) as at:
            for number in range(30):
                day = rng.randrange(1, 12) * 1000 + 7 * number
                turn = await at.ask(f"Who wrote in green ink on day {day}?" if long else f"{number}. {QUESTION}")
                true = set(TAG.findall(replies[-1])) & set(TAG.findall(consulted(at.turns[-1])))
                assert true == {note.tag for note in turn.answer.footnotes}
                runs = {text for request in at.turns[-1] for text, _ in delivered(request)}
                whole = runs & set(quotations(replies[-1]))
                assert whole <= set(quotations(said(turn)))
                assert "forsooth" in said(turn)
                dropped, kept = dropped + len(turn.answer.dropped), kept + len(true)
                quoted += len(whole)
    assert min(dropped, kept, quoted) > 60


async def test_the_judge_sees_each_way_of_breaking_a_promise(tmp_path: Path) -> None:
    """Judged with other requests than its own, with other words, with notes taken away or its outcome changed."""
    async with reading(tmp_path, [Reply("It was “green ink” [f1-0-42].", cut=1)]) as at:
        turn = await at.ask(QUESTION)
        drafts = [event for event in at.club.events if isinstance(event, Drafting)]
    [request] = at.turns[0]
    bare: JsonObject = {"messages": request["messages"][:2]}
    found = {fault[:2] for fault in judge([bare], turn, drafts)}
    assert found == {"P1", "P2", "P5"}

    def told(text: str) -> Turn:
        return replace(turn, answer=replace(turn.answer, document=parse(text)))

    for text in ("Ink [f1-0-42]", "Ink [f1-", "Ink (f1-0-42)", "Ink [1-0-42]"):
        assert [fault[:2] for fault in judge([request], told(text), ())] == ["P2"], text
    for text in ("It was “blue ink”.", 'It was "reen ink".', "It was «ink green»."):
        assert [fault[:2] for fault in judge([request], told(text), ())] == ["P5"], text
    without = replace(turn, answer=replace(turn.answer, footnotes=()))
    assert {fault[:2] for fault in judge([request], without, ())} == {"P2", "P4"}
    unproven = replace(turn, answer=replace(turn.answer, outcome="not_in_book"))
    assert {fault[:2] for fault in judge([request], unproven, ())} == {"P4"}


@pytest.mark.parametrize("long", [False, True], ids=["Lantern House", "long book"])
async def test_a_model_that_never_calls_a_tool_is_driven_to_the_same_end_and_consulted_the_book(
    long: bool, tmp_path: Path
) -> None:
    async with reading(tmp_path, picking(Reply("It was 1923.")), long=long) as at:
        turn = await at.ask("Which year was the palace of Xanadu sold?")
    assert turn.answer.outcome == "not_in_book"
    assert [is_pick(entry.body) for entry in at.fake.chats] == [True, False, False]
    called = [call["function"]["name"] for m in at.fake.chats[-1].messages for call in m.get("tool_calls", ())]
    assert called == [tools.FIND.name, tools.RELATED.name]


@pytest.mark.parametrize("words", ["fake does not support tools", "tools is not supported by this endpoint"])
async def test_a_provider_that_refuses_tools_gets_the_same_evidence_in_the_readers_message(
    words: str, tmp_path: Path
) -> None:
    honest = Honest()

    def toolless(request: JsonObject) -> Step:
        return Fault(400, words) if "tools" in request else honest(request)

    async with reading(tmp_path, toolless) as at:
        for question in (QUESTION, "Who came by ferry?"):
            turn = await at.ask(question)
            assert turn.answer.outcome == "grounded"
    assert ["tools" in entry.body for entry in at.fake.chats] == [True, False, False]
    roles = [message["role"] for message in at.fake.chats[-1].messages]
    assert roles == ["system", "user"]


# Calls in all spellings

_ARGUMENTS = {"words": "oilskin coat"}
_OBJECT = json.dumps({"name": "find_in_book", "arguments": _ARGUMENTS})
SPELLINGS: Mapping[str, Reply] = {
    "a call": Reply(calls=[("find_in_book", _ARGUMENTS)]),
    "words before a call": Reply("Let me see.", calls=[("find_in_book", _ARGUMENTS)]),
    "no finish reason": Reply(calls=[("find_in_book", _ARGUMENTS)], finish=""),
    "the wrong finish reason": Reply(calls=[("find_in_book", _ARGUMENTS)], finish="stop"),
    "broken arguments": Reply(calls=[("find_in_book", "{'words': 'oilskin coat',}")]),
    "a call in a JSON answer": Reply(calls=[("find_in_book", _ARGUMENTS)], streams=False),
    "an object": Reply(_OBJECT, cut=2),
    "a fenced object": Reply(f"```json\n{_OBJECT}\n```", cut=0),
    "a list": Reply(f"[{_OBJECT}]", cut=1),
    "tool_call": Reply(f"<tool_call>\n{_OBJECT}\n</tool_call>", cut=3),
    "words before tool_call": Reply(f"I shall look it up.\n<tool_call>{_OBJECT}</tool_call>", cut=0),
    "an open tool_call": Reply(f"<tool_call>{_OBJECT}", cut=4),
    "function": Reply("<function=find_in_book>{“words”: “oilskin coat”}</function>", cut=0),
    "function with parameters": Reply(
        "<tool_call><function=find_in_book><parameter=words>oilskin coat</parameter></function></tool_call>", cut=5
    ),
    "TOOL_CALLS": Reply(f"[TOOL_CALLS][{_OBJECT}]", cut=2),
    "TOOL_CALLS with ARGS": Reply(f"[TOOL_CALLS]find_in_book[ARGS]{json.dumps(_ARGUMENTS)}", cut=0),
    "python_tag": Reply('<|python_tag|>find_in_book(words="oilskin coat")', cut=0),
    "python": Reply('find_in_book(words="oilskin coat")', cut=3),
    "after a thought": Reply(f"<think>Perhaps find_in_book.</think>{_OBJECT}", cut=0),
}


@pytest.mark.parametrize("call", SPELLINGS.values(), ids=SPELLINGS.keys())
async def test_a_call_is_run_in_every_spelling_and_what_it_brings_can_be_cited(call: Reply, tmp_path: Path) -> None:
    answer = Reply("The suitcase held “Tobin’s oilskin coat” [f3-40-84].", cut=0)
    steps = iter([call, answer])
    async with reading(tmp_path, picking(lambda _: next(steps))) as at:
        turn = await at.ask("Who kept the lighthouse log in green ink?", evidence_tokens=30)
        drafts = at.club.drafts()
    first, second = at.turns[0]
    assert "[f3-40-84]" not in consulted([first])
    assert second["messages"][-1]["role"] == "tool"
    assert "[f3-40-84]" in second["messages"][-1]["content"]
    assert said(turn) == "The suitcase held “Tobin’s oilskin coat” [1]."
    assert not any(mark in draft for draft in drafts for mark in ("find_in_book", "{", "<", "TOOL", "think"))


# Failures

DOWN, KEY, QUOTA, UNKNOWN, LIMITED, LATE = (
    "model_down",
    "model_key_refused",
    "model_quota",
    "model_unknown",
    "model_rate_limited",
    "model_timeout",
)
FAILURES: Mapping[str, Sequence[Step]] = {
    DOWN: [Fault(503), Fault(0), Fault(500), Fault(502, body=b"<html>Bad gateway</html>")],
    KEY: [Fault(401, "Incorrect API key provided: sk-secret", "invalid_api_key")],
    QUOTA: [Fault(429, "You exceeded your current quota", "insufficient_quota")],
    UNKNOWN: [Fault(404, "The model `fake` does not exist", "model_not_found")],
    LIMITED: [Fault(429, "Slow down", retry_after=3600)],
    LATE: [Fault(504)],
}


@pytest.mark.parametrize("locale", LOCALES)
def test_the_six_failures_have_six_sentences(locale: str) -> None:
    assert len({say(key, locale, model="fake") for key in FAILURES}) == 6


@pytest.mark.parametrize(("key", "script"), FAILURES.items(), ids=FAILURES.keys())
async def test_while_a_provider_fails_the_book_is_quoted_and_the_failure_named(
    key: str, script: Sequence[Step], tmp_path: Path
) -> None:
    async with reading(tmp_path, [*script, Reply(INK)]) as at:
        turn = await at.ask(QUESTION)
        back = await at.ask(QUESTION)
    assert (turn.model, turn.answer.outcome) == ("offline", "grounded")
    assert [notice.key for notice in turn.answer.notices] == [key, "interim_quotes"]
    assert "Mara kept the lighthouse log in green ink." in said(turn)
    assert (back.model, said(back)) == ("fake", "The log was kept in green ink [1].")


async def test_asked_at_the_command_line_each_failure_is_quoted_to_named_and_nothing_is_kept(tmp_path: Path) -> None:
    data, book = tmp_path / "data", lantern_file(tmp_path)
    script = [step for steps in FAILURES.values() for step in steps]

    questions = "".join(f"{QUESTION}\n" for _ in FAILURES)
    async with FakeOpenAI(script) as fake:
        ran = await run(fake, "ask", book, "-", "--json", data=data, stdin=questions)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.objects) == 6
    for shape, key in zip(ran.objects, FAILURES, strict=True):
        assert (shape["model"], shape["outcome"]) == ("offline", "grounded")
        assert [notice["key"] for notice in shape["notices"]] == [key, "interim_quotes"]
        assert shape["notices"][0]["message"] == say(key, "en", model="fake")
        assert "lighthouse log in green ink" in shape["text"]
    assert "sk-" not in ran.out
    store = await Store.open("", data)
    assert await store.inbox.kept_questions("console") == ()
    assert await store.inbox.unfinished_questions("console") == ()
    await store.close()


ODD: Mapping[str, tuple[Reply, list[str]]] = {
    "cut by its length": (Reply(f"{INK} Then a storm [f1-42", finish="length"), ["answer_cut"]),
    "filtered": (Reply(f"{INK} Then “a st", finish="content_filter"), ["answer_filtered"]),
    "no reason": (Reply(INK, finish=""), ["answer_broke_off"]),
    "torn": (Reply(INK + " and more of it", disconnect_after=10), ["answer_broke_off"]),
    "ended early": (Reply(INK + " and more of it", truncate_after=10), ["answer_broke_off"]),
    "bytes cut": (Reply(INK, bytes_cut=7), []),
    "not streamed": (Reply(INK, streams=False), []),
    "without usage": (Reply(INK, usage=False), []),
    "nulls": (
        Reply(
            chunks=[
                {"choices": None},
                {"choices": []},
                {"choices": [None]},
                {"choices": [{"index": 0, "delta": None}]},
                {"choices": [{"index": 0, "delta": {"content": None, "tool_calls": None}}]},
                {"choices": [{"index": 0, "delta": {"role": None, "content": INK}, "finish_reason": None}]},
                {"choices": [{"index": 0, "message": None, "finish_reason": "stop"}], "usage": None},
            ]
        ),
        [],
    ),
}


@pytest.mark.parametrize(("reply", "notices"), ODD.values(), ids=ODD.keys())
async def test_a_reply_that_is_not_whole_says_so_and_proves_what_it_has(
    reply: Reply, notices: list[str], tmp_path: Path
) -> None:
    async with reading(tmp_path, [reply]) as at:
        turn = await at.ask(QUESTION)
    assert turn.answer.outcome == "grounded"
    assert said(turn).startswith("The log was kept in green ink [1]")
    assert [notice.key for notice in turn.answer.notices] == notices


NOTHING: Mapping[str, Reply] = {
    "no text": Reply(""),
    "null text": Reply(chunks=[{"choices": [{"index": 0, "delta": {"content": None}, "finish_reason": "stop"}]}]),
    "blanks": Reply("\n \n"),
    "only a thought": Reply("<think>Hm.</think>"),
    "only reasoning": Reply(reasoning="Hm, hm."),
    "only a forged tag": Reply("[f9-0-1]"),
}


@pytest.mark.parametrize("reply", NOTHING.values(), ids=NOTHING.keys())
async def test_a_reply_with_nothing_in_it_ends_with_our_own_sentence(reply: Reply, tmp_path: Path) -> None:
    async with reading(tmp_path, picking(reply)) as at:
        turn = await at.ask(QUESTION)
    assert turn.answer.outcome == "not_in_book"
    sentence = "answer_empty" if reply != NOTHING["only a forged tag"] else "try_quote"
    assert turn.answer.notices[0].key == sentence  # a model that failed is no book that does not say
    ours, lead, quoted = said(turn).split("\n\n")
    assert ours == "I found nothing about this in The Lantern House. I looked in chapters 1–3."
    assert (lead, quoted) == (say("closest_passage"), "> Mara kept the lighthouse log in green ink. [1]")


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply("", finish="content_filter"), "model_filtered"),
        (Reply("", finish="length"), "answer_empty"),
        (Reply("Mara kept the", finish="content_filter"), "answer_filtered"),
        (Reply("Mara kept the", finish="length"), "answer_cut"),
        (Reply("Mara kept the log in", disconnect_after=3), "answer_broke_off"),
        (Reply("Mara kept the log in", truncate_after=3), "answer_broke_off"),
    ],
)
@pytest.mark.parametrize("question", [QUESTION, "Hello!"])
async def test_a_reply_that_failed_before_it_proved_anything_says_so(
    reply: Reply, sentence: str, question: str, tmp_path: Path
) -> None:
    async with reading(tmp_path, picking(reply)) as at:
        turn = await at.ask(question)
        general = await at.ask(question, without_book=True)
    assert general.answer.notices[0].key == sentence
    if question == QUESTION:
        assert (turn.answer.outcome, turn.answer.notices[0].key) == ("not_in_book", sentence)
    elif reply.text:
        assert [notice.key for notice in turn.answer.notices] == [sentence]
    else:
        assert said(turn) == say("chat_offline", "en")


async def test_a_stream_without_a_single_piece_is_a_provider_that_is_down(tmp_path: Path) -> None:
    async with reading(tmp_path, lambda _: Reply(chunks=[])) as at:
        turn = await at.ask(QUESTION)
    assert [notice.key for notice in turn.answer.notices] == ["model_down", "interim_quotes"]


# Through the console


async def test_an_answer_cut_by_its_length_is_continued_in_the_terminal(tmp_path: Path) -> None:
    data, book = tmp_path / "data", lantern_file(tmp_path)

    def speak(request: JsonObject) -> Step:
        if is_summary(request):
            return summarise(request)
        true = TAG.findall(consulted([request]).partition("Old Tobin")[2])[0]
        if request["messages"][-1]["role"] == "user":  # asked to go on
            return Reply(f"Old Tobin had “vanished in a storm” {true}.", cut=0)
        return Reply(f"Mara kept the log in “green ink” {true} and th", finish="length", cut=0)

    async with FakeOpenAI(speak) as fake:
        ran = await run(fake, "chat", book, data=data, stdin=f"/continue\n{QUESTION}\n/continue\n1\n")
    assert (ran.code, ran.err) == (0, "")
    assert say("nothing_to_continue", "en") in ran.out
    assert "Mara kept the log in “green ink” [1]" in ran.out
    assert say("answer_cut", "en") in " ".join(ran.out.split())
    asked = [entry.body for entry in fake.chats if not is_summary(entry.body)]
    assert asked[1]["messages"][1]["content"] == QUESTION
    assert RAW.search(str(asked[1]["messages"][-2]["content"])) is None
    assert consulted([asked[0]]) == consulted([asked[1]])
    assert "Old Tobin had “vanished in a storm” [1]." in ran.out
    assert "»Mara kept" in ran.out
    assert RAW.search(ran.out) is None


# Conversation


async def test_a_follow_up_carries_the_exchange_without_tags_and_the_beginning_of_a_request_never_changes(
    tmp_path: Path,
) -> None:
    async with reading(tmp_path, Honest(cut=0)) as at:
        first = await at.ask(QUESTION)
        second = await at.ask("And who came by ferry?", reply_to=first.id)
        await at.ask("Whose coat was it?", reply_to=second.id)
        await at.ask("Who said what about salt?")
    bodies = [requests[0] for requests in at.turns]
    heads = {json.dumps(body["messages"][0], ensure_ascii=False) for body in bodies}
    assert len(heads) == 1
    assert len({json.dumps(body["tools"], ensure_ascii=False) for body in bodies}) == 1
    assert [list(body) for body in bodies] == [list(bodies[0])] * 4
    for body in bodies[1:3]:
        asked, answered = body["messages"][1:3]
        assert (asked["role"], answered["role"]) == ("user", "assistant")
        assert RAW.search(f"{asked['content']} {answered['content']}") is None
        assert "“" in answered["content"]
    assert bodies[2]["messages"][1]["content"] == "And who came by ferry?"
    assert QUESTION not in json.dumps(bodies[2])
    assert len(bodies[3]["messages"]) == 4


async def test_within_a_turn_requests_only_grow(tmp_path: Path) -> None:
    calls = [Reply(calls=[("find_in_book", {"words": words})]) for words in ("ferry", "coat")]
    async with reading(tmp_path, [*calls, Reply(INK)]) as at:
        await at.ask(QUESTION)
    first, second, third = at.turns[0]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert third["messages"][: len(second["messages"])] == second["messages"]
    assert first["tools"] == second["tools"] == third["tools"]


async def test_each_channel_is_answered_by_its_own_model_and_no_index_is_made_anew(tmp_path: Path) -> None:
    async with reading(tmp_path, Honest(), others=["other"]) as at:
        await at.club.shelve(lantern_house(), ELSEWHERE)
        await at.club.club.questions.model(ELSEWHERE, "other")
        turns = [await at.ask(QUESTION, conversation=place) for place in (ROOM, ELSEWHERE)]
    assert [turn.model for turn in turns] == ["fake", "other"]
    assert [entry.body["model"] for entry in at.fake.chats] == ["fake", "other"]
    assert len({tuple(note.tag for note in turn.answer.footnotes) for turn in turns}) == 1


@pytest.mark.parametrize("cut", [None, 1, 0], ids=["words", "letters", "random"])
@pytest.mark.parametrize("opened", [True, False], ids=["both marks", "closing mark"])
async def test_reasoning_is_in_no_answer_and_no_later_request(opened: bool, cut: int | None, tmp_path: Path) -> None:
    thought = f"{'<think>' * opened}The secret plan is chapter nine [f1-0-42].</think>"

    def think(request: JsonObject) -> Reply:
        if is_pick(request):
            return replace(NO_PICK, reasoning="the secret plan")
        return Reply(f"{thought}{INK}", reasoning="the secret plan", cut=cut)

    async with reading(tmp_path, think) as at:
        first = await at.ask(QUESTION)
        for question in ("And what ink?", "What green ink?"):
            turn = await at.ask(question, reply_to=first.id)
            assert not any("secret" in draft or "think" in draft for draft in at.club.drafts())
            assert said(turn) == said(first) == "The log was kept in green ink [1]."
        assert "secret" not in await at.club.club.passages.export(ROOM)
    assert not any("secret" in entry.text or "think>" in entry.text for entry in at.fake.chats)


async def test_thinking_is_switched_off_while_tools_are_on_offer(tmp_path: Path) -> None:
    script: list[Step] = [Reply(calls=[("find_in_book", {"words": "coat"})]), Reply(INK)]
    async with reading(tmp_path, script, model="qwen3-8b") as at:
        await at.ask(QUESTION)
    for entry in at.fake.chats:
        assert entry.body["tools"]
        assert entry.body["chat_template_kwargs"] == {"enable_thinking": False}
