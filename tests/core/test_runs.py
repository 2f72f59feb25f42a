"""Runs cover a file exactly, stay within their limits and never part what is read as one character."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.formats.runs import CJK_DIVISOR, LONGEST, PACKED, cut_runs
from core.model import SpineFile
from core.sentences import sentences

_WORDS = st.sampled_from(
    ["Mr.", "word", "Word.", "she said", "«¿Qué?»", "3.14", "J.", "R.", "no. 5", "etc.", "…", "“Yes!”", "。", "漢字", "「行く。」と",
     "e\u0301\u0301", "👩\u200d👩\u200d👧", "🇪🇸🇵🇹", "👍🏽", "한글", "ک\u200cتاب", "؟", "\n", "\n\n", "\t", " ", "x" * 90, "字" * 90, "का", "\u0301"]
)  # fmt: skip
_TEXTS = st.one_of(
    st.lists(_WORDS, max_size=120).map(" ".join),
    st.lists(_WORDS, max_size=120).map("".join),
    st.text(max_size=600),
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=400), max_size=6).map("\n\n".join),
)


def _joins(text: str, cut: int) -> bool:
    """A plain restatement of what must stay together: marks, joiners, modifiers and flags with what precedes them."""
    before, after = text[cut - 1], text[cut]
    if before == "\u200d" or after in "\u200c\u200d" or unicodedata.category(after)[0] == "M":
        return True
    return "\U0001f3fb" <= after <= "\U0001f3ff"


@given(_TEXTS)
@example("a" * 2000)
@example("字" * 2000)
@example("word " * 400)
@example(("é" + "\u0301" * 3) * 500)
def test_runs_cover_every_non_space_character_in_order_without_overlap(text: str) -> None:
    runs = cut_runs(SpineFile(7, "", text))
    at = 0
    for run in runs:
        assert run.file == 7
        assert at <= run.start < run.end <= len(text)
        assert not text[at : run.start].strip(), "what stands between runs is white space"
        assert not text[run.start].isspace()
        assert not text[run.end - 1].isspace()
        at = run.end
    assert not text[at:].strip()


@given(_TEXTS)
@example("x" * 1500)
@example("字" * 1500)
def test_no_run_is_longer_than_the_limit_or_reaches_over_a_blank_line(text: str) -> None:
    for run in cut_runs(SpineFile(0, "", text)):
        words = text[run.start : run.end]
        assert len(words) <= LONGEST
        assert "\n\n" not in words


@given(_TEXTS)
def test_no_run_begins_inside_what_is_read_as_one_character(text: str) -> None:
    runs = cut_runs(SpineFile(0, "", text))
    for one, other in pairwise(runs):
        if "\n" in text[one.end : other.start]:
            continue  # a mark after a newline has nothing to stand on
        if one.end == other.start:
            assert not _joins(text, other.start), text[other.start - 3 : other.start + 3]
        else:
            assert unicodedata.category(text[other.start])[0] != "M"


def test_flags_and_families_stay_whole_where_a_cut_is_forced() -> None:
    for cluster in ("🇪🇸", "👩\u200d👩\u200d👧", "👍🏽", "g\u0308"):
        text = cluster * 1000
        for run in cut_runs(SpineFile(0, "", text)):
            assert run.start % len(cluster) == 0
            assert run.end % len(cluster) == 0


def test_sentences_are_packed_whole_up_to_the_limit() -> None:
    sentence = "It is a truth universally acknowledged by everybody here. "  # 58
    text = (sentence * 20).strip()
    runs = cut_runs(SpineFile(0, "", text))
    assert [run.end - run.start for run in runs[:-1]] == [58 * 6 - 1, 58 * 6 - 1, 58 * 6 - 1]
    assert all(text[run.start : run.end].endswith("here.") for run in runs)


def test_a_sentence_between_the_two_limits_stays_whole() -> None:
    text = "Short one. " + "Word " * 120 + "end. Another short one."
    pieces = [text[run.start : run.end] for run in cut_runs(SpineFile(0, "", text))]
    assert pieces[0] == "Short one."
    assert PACKED < len(pieces[1]) <= LONGEST
    assert pieces[1].endswith("end.")


def test_a_longer_sentence_is_cut_behind_a_clause_rather_than_anywhere() -> None:
    clause = "and the road went on through the dark wood and over the hill beyond the river; "
    text = (clause * 15).strip()
    pieces = [text[run.start : run.end] for run in cut_runs(SpineFile(0, "", text))]
    assert all(piece.endswith(";") for piece in pieces)
    assert len(pieces) > 1


def test_lines_of_verse_are_packed_whole() -> None:
    line = "Shall I compare thee to a summer's day? Thou art"
    text = "\n".join([line] * 30)
    for run in cut_runs(SpineFile(0, "", text)):
        lines = text[run.start : run.end].split("\n")
        assert set(lines) == {line}, "a sentence end inside a line is no place to cut"
        assert run.end - run.start <= PACKED


def test_limits_are_a_third_in_a_chinese_paragraph_only() -> None:
    chinese = "今天天气很好，我们去公园散步。" * 40
    english = "The weather was fine and we went to the park. " * 20
    text = f"{chinese}\n\n{english.strip()}"
    runs = cut_runs(SpineFile(0, "", text))
    in_chinese = [run for run in runs if run.end <= len(chinese)]
    assert max(run.end - run.start for run in in_chinese) <= PACKED // CJK_DIVISOR
    assert all(text[run.end - 1] == "。" for run in in_chinese)
    assert max(run.end - run.start for run in runs if run.start > len(chinese)) > PACKED // 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Bennet replied. He had not.", ["Mr. Bennet replied.", "He had not."]),
        ("“Come!” cried Lydia. “Now!”", ["“Come!” cried Lydia.", "“Now!”"]),
        ("He read J. R. R. Tolkien. Then he slept.", ["He read J. R. R. Tolkien.", "Then he slept."]),
        ("It was I. He knew.", ["It was I.", "He knew."]),
        ("Pi is 3.14159. Next.", ["Pi is 3.14159.", "Next."]),
        ("See no. 5 and p. 1813. No. Never.", ["See no. 5 and p. 1813.", "No.", "Never."]),
        ("The U.S. Army came, etc. and so on. Done.", ["The U.S. Army came, etc. and so on.", "Done."]),
        ("¿Qué dices? —dijo el Sr. Quijano. ¡Nada!", ["¿Qué dices? —dijo el Sr. Quijano.", "¡Nada!"]),
        ("Am 3. Mai kam Hr. Samsa. Er ging.", ["Am 3. Mai kam Hr. Samsa.", "Er ging."]),
        ("В 1812 г. Наполеон вошёл. Москва горела.", ["В 1812 г. Наполеон вошёл.", "Москва горела."]),
        ("他说：“走吧。”她不走。真的！", ["他说：“走吧。”", "她不走。", "真的！"]),
        ("「行くか。」と彼は言った。雨だ。", ["「行くか。」と彼は言った。", "雨だ。"]),
        ("ما هو؟ هذا كتاب. نعم.", ["ما هو؟", "هذا كتاب.", "نعم."]),
        ("यह किताब है। वह घर है।", ["यह किताब है।", "वह घर है।"]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("One\ntwo", ["One", "two"]),
    ],
)  # fmt: skip
def test_sentence_ends_are_found_in_many_scripts(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text, 0, len(text))] == expected


def test_sentences_keep_to_their_range() -> None:
    text = "First one. Second one. Third one."
    assert [text[start:end] for start, end in sentences(text, 11, 22)] == ["Second one."]


def test_a_file_of_white_space_has_no_runs() -> None:
    assert cut_runs(SpineFile(0, "", " \n\n\t ")) == []
