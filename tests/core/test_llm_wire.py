"""Streams and tool calls put together, whatever a host's habits."""

import json
from typing import Any

import pytest

from core.llm.arguments import read_arguments
from core.llm.wire import Events
from core.llm.wire import Reply as WireReply
from core.model.chat import Finished
from tests.fakes.openai import JsonObject


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


def test_halves_of_a_character_become_one_and_what_stays_alone_is_no_text() -> None:
    """JSON may write a character as two halves, and hosts cut between them; a half cannot be sent on, stored or shown."""
    reply = WireReply("x", [])
    pieces = ["ink \ud83e", "\udde5 and", "", "\udde5", "\ud83e more \ud83e"]
    said = [reply.feed({"choices": [{"delta": {"content": each}}]}) for each in pieces]
    assert said == ["ink ", "🧥 and", "", "\ufffd", "\ufffd more "]
    calls, _ = wire(
        piece('{"words": "\ud83e', index=0, id="\ud83e", name="find_in_book"), piece('\udde5 \udde5"}', index=0)
    )
    assert calls == [("find_in_book", '{"words": "🧥 \ufffd"}')]
    assert read_arguments('{"words": "\\ud83e\\udde5 \\ud83e"}') == {"words": "🧥 \ufffd"}


@pytest.mark.parametrize("told", [-5, 10**30, "many", None, 1.5, True])
def test_figures_that_cannot_be_true_are_counted_by_us(told: Any) -> None:
    reply = WireReply("x", ["Mara kept the log"])
    reply.feed({"choices": [{"delta": {"content": "Green ink."}, "finish_reason": "stop"}]})
    reply.feed({"choices": [], "usage": {"prompt_tokens": told, "completion_tokens": told}})
    usage = reply.finish()[1].usage
    assert 0 < usage.input_tokens < 10
    assert 0 < usage.output_tokens < 10
