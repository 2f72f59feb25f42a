"""Tool arguments, calls in the text and the picker's choice, as models really write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.arguments import read_arguments, read_choice, strip_reasoning
from core.llm.calls import find_calls, hold_from

OFFERED = ("get_related_segment_summaries", "get_full_book_segment_summaries", "find_in_book")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_valid_arguments_are_never_changed_by_the_repair(arguments: dict[str, object], ascii_only: bool) -> None:
    assert read_arguments(json.dumps(arguments, ensure_ascii=ascii_only)) == arguments


@pytest.mark.parametrize(
    "raw",
    [
        """{"question":"Mara's ink"}""",
        """{'question': "Mara's ink",}""",
        """{'question': 'Mara's ink'}""",
        """{'question': 'Mara\\'s ink'}""",
        """{question: "Mara's ink"}""",
        """{“question”: “Mara's ink”}""",
        """```json\n{"question": "Mara's ink"}\n```""",
        """```\n{'question': "Mara's ink"}""",
        '''"{\\"question\\": \\"Mara's ink\\"}"''',
        """[{"question": "Mara's ink"}]""",
        """Here: {"question": "Mara's ink"} as you wished""",
    ],
)
def test_c39_broken_and_whole_arguments_give_the_same_question(raw: str) -> None:
    assert read_arguments(raw) == {"question": "Mara's ink"}


def test_python_literals_are_read_outside_strings_only() -> None:
    assert read_arguments("{'a': True, 'b': None, 'c': 'None, True', \"d\": [1, False,],}") == {
        "a": True,
        "b": None,
        "c": "None, True",
        "d": [1, False],
    }


def test_inner_quotation_marks_and_raw_line_breaks_survive() -> None:
    assert read_arguments('{"words": "she said "green" ink"}') == {"words": 'she said "green" ink'}
    assert read_arguments('{"words": "green\nink"}') == {"words": "green\nink"}


def test_no_arguments_are_an_empty_object() -> None:
    assert read_arguments("") == read_arguments("{}") == read_arguments("null") == read_arguments('""') == {}


@pytest.mark.parametrize(
    "raw", ['{"question": "Mara', '{"question": ', "ink", "[1, 2]", "42", "{'a' 'b'}", "{" * 5_000]
)
def test_cut_or_senseless_arguments_are_an_error_and_never_completed(raw: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_arguments(raw)


@pytest.mark.parametrize(
    "content",
    [
        '{"name":"get_related_segment_summaries","arguments":{"question":"green ink"}}',
        '{"name": "get_related_segment_summaries", "parameters": {"question": "green ink"}}',
        "{'name': 'get_related_segment_summaries', 'arguments': {'question': 'green ink'}}",
        '[{"name":"get_related_segment_summaries","arguments":{"question":"green ink"}}]',
        '{"tool_calls":[{"id":"1","type":"function","function":{"name":"get_related_segment_summaries","arguments":"{\\"question\\": \\"green ink\\"}"}}]}',
        '```json\n{"name":"get_related_segment_summaries","arguments":{"question":"green ink"}}\n```',
        '```tool_code\nget_related_segment_summaries(question="green ink")\n```',
        '<tool_call>\n{"name":"get_related_segment_summaries","arguments":{"question":"green ink"}}\n</tool_call>',
        '<tool_call>{"name":"get_related_segment_summaries","arguments":{"question":"green ink"}}',
        "<tool_call>\n<function=get_related_segment_summaries>\n<parameter=question>\ngreen ink\n</parameter>\n</function>\n</tool_call>",
        '<function=get_related_segment_summaries>{"question": "green ink"}</function>',
        '[TOOL_CALLS] [{"name":"get_related_segment_summaries","arguments":{"question":"green ink"}}]',
        '[TOOL_CALLS]get_related_segment_summaries[ARGS]{"question": "green ink"}',
        '<|python_tag|>{"name":"get_related_segment_summaries","parameters":{"question":"green ink"}}<|eom_id|>',
        'get_related_segment_summaries(question="green ink")',
    ],
)
def test_c37_a_call_written_as_text_is_found_and_nothing_of_it_stays(content: str) -> None:
    for before, after in [("", ""), ("I will look.\n", ""), ("", "\n")]:
        calls, rest = find_calls(before + content + after, OFFERED)
        assert [(call.name, read_arguments(call.arguments)) for call in calls] == [
            ("get_related_segment_summaries", {"question": "green ink"})
        ]
        assert rest == before.strip()


def test_several_calls_keep_their_order_and_get_ids_of_their_own() -> None:
    content = (
        '<tool_call>{"name":"find_in_book","arguments":{"words":"ink"}}</tool_call>\n'
        '<tool_call>{"name":"find_in_book","arguments":{"words":"ferry"}}</tool_call>'
    )
    calls, rest = find_calls(content, OFFERED, id_prefix="t")
    assert [(call.id, read_arguments(call.arguments)["words"]) for call in calls] == [("t0", "ink"), ("t1", "ferry")]
    assert rest == ""


@pytest.mark.parametrize(
    "content",
    [
        '{"name":"search_book","arguments":{"q":"ink"}}',
        '{"name": "Mara", "age": 40}',
        '```json\n{"colour": "green"}\n```',
        "find_in_book is what I would use.",
        'You could say find_in_book(words="ink") here.',
        "search_book(q='ink')",
        "find_in_book(words=open('x').read())",
        "Green ink [f1-0-42].",
        "a < b and {x}",
    ],
)
def test_what_only_resembles_a_call_or_names_nothing_on_offer_stays_text(content: str) -> None:
    assert find_calls(content, OFFERED) == ([], content)


def test_a_marked_call_of_an_unknown_name_is_taken_out_of_the_text_for_the_loop_to_answer() -> None:
    calls, rest = find_calls('<tool_call>{"name":"search_book","arguments":{"q":"ink"}}</tool_call>', OFFERED)
    assert ([call.name for call in calls], rest) == (["search_book"], "")


CALLS = [
    '{"name":"find_in_book","arguments":{"words":"ink"}}',
    '```json\n{"name":"find_in_book","arguments":{"words":"ink"}}\n```',
    '<tool_call>{"name":"find_in_book","arguments":{"words":"ink"}}</tool_call>',
    '[TOOL_CALLS] [{"name":"find_in_book","arguments":{"words":"ink"}}]',
    'find_in_book(words="ink")',
    '```python\nfind_in_book(words="ink")\n```',
    "<function=find_in_book>{}</function>",
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("before", ["", "Let me look.\n", "Let me look.\n\n  "])
def test_no_prefix_of_the_stream_releases_a_letter_of_a_call(call: str, before: str) -> None:
    text, released = before + call, 0
    for end in range(len(text) + 1):
        released = hold_from(text[:end], OFFERED, released)
        assert released <= len(before)
    assert text[:released].strip() == before.strip()


@pytest.mark.parametrize(
    "text",
    [
        "Mara kept the log [f1-0-42].\n\n- find it\n- {x}\n[f1-0-42] Ferry.",
        '```json\n{"colour": "green"}\n```\nSo it was.',
        '{"name": "Mara", "age": 40}\nthat is all',
        "get on the ferry <b>now</b>",
        "finding ink",
    ],
)
def test_ordinary_text_is_released_in_the_end(text: str) -> None:
    released = 0
    for end in range(len(text) + 1):
        released = hold_from(text[:end], OFFERED, released)
    assert released == len(text)


@pytest.mark.parametrize(
    "content",
    [
        '```json\n{"Thinking":"ink","answer":["1","3"]}\n```',
        '{"Thinking":"ink","answer":["1","3"]}',
        'Sure! {"Thinking":"{a}","answer":["1","3"]} Hope it helps',
        'For example:\n```json\n{"Thinking": "...", "answer": ["7","8"]}\n```\nMine:\n{"Thinking":"ink","answer":["1","3"]}',
        "{'Thinking': 'Mara's', 'answer': ['1', '3',]}",
        '{"thinking":"ink","Answer":[1,3]}',
        '{"Thinking":"twice","answer":["1","3","1"]}',
        '<think>{"answer":["9"]} or so</think>{"Thinking":"ink","answer":["1","3"]}',
        '{"answer": "1, 3"}',
        '["1", "3"]',
    ],
)
def test_c49_the_choice_is_found_fenced_bare_and_in_prose(content: str) -> None:
    assert read_choice(content) == ["1", "3"]


def test_choosing_nothing_is_a_choice() -> None:
    assert read_choice('{"Thinking":"none fits","answer":[]}') == []


@pytest.mark.parametrize(
    "content", ["", "1 and 3", '{"Thinking":"x"}', '{"answer":["one"]}', '{"answer":["1","3', "{" * 3_000]
)
def test_a_reply_without_a_readable_choice_is_an_error(content: str) -> None:
    with pytest.raises(ValueError, match="no choice"):
        read_choice(content)


def test_reasoning_goes_whether_marked_on_both_sides_or_only_at_its_end() -> None:
    assert strip_reasoning("I should look at chapter 3 first.</think>Green ink [f1-0-42].") == "Green ink [f1-0-42]."
    assert strip_reasoning("<think>hm</think>Green <thinking>so</thinking>ink.") == "Green ink."
    assert strip_reasoning("Green ink.<think>and then") == "Green ink."
