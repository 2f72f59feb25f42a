"""Settling: the cases of wrong, odd and true tags and quotations, whole and in pieces, and what readers see meanwhile."""

import gc
import re
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.document import parse, plain
from core.footnotes import Settled, Settler, settle
from core.model import Span
from core.model.document import CodeBlock
from core.tags import annotate, note
from tests.books.lantern import CHAPTERS, DIAL, DIAL_TEXT, EVIDENCE, RUNS, passages

LOG, TOBIN, CARROW = Span(1, 0, 42), Span(1, 42, 101), Span(1, 101, 131)
FERRY, BOOTS = Span(2, 0, 51), Span(2, 51, 102)


def answer(
    draft: str,
    *,
    evidence: dict[Span, str] = EVIDENCE,
    exempt: tuple[str, ...] = (),
    grounded: bool = True,
    reason: str = "stop",
) -> tuple[str, Settled]:
    """What readers see in the end, after checking that no way of cutting the stream changes it or shows more."""
    texts = passages(evidence)
    whole = settle(draft, evidence, texts, exempt=exempt, grounded=grounded, reason=reason)
    for size in (1, 2, 3, 5, 8):
        settler = Settler(evidence, texts, exempt=exempt, grounded=grounded)
        seen = ""
        for at in range(0, len(draft), size):
            changed = settler.feed(draft[at : at + size])
            assert changed == (settler.markdown != seen)
            assert settler.markdown.startswith(seen) or "</think>" in draft
            seen = settler.markdown
            assert not re.search(r"\[\s*f|\[(?!2024|978)\d+-\d+-", plain(parse(seen)).replace(DIAL_TEXT, "")), seen
        assert settler.finish(reason) == whole
    return plain(parse(whole.markdown)), whole


def shown(draft: str, **options: object) -> str:
    return answer(draft, **options)[0]  # type: ignore[arg-type]  # handed through


def raw(settled: Settled) -> list[tuple[str, str]]:
    return [(drop.raw, drop.reason) for drop in settled.dropped]


# -- tags


def test_c01_a_group_is_split_into_one_note_each_in_order() -> None:
    text, settled = answer("Tobin vanished [f1-42-101, f1-101-131].")
    assert text == "Tobin vanished [1][2]."
    assert settled.runs == (TOBIN, CARROW)


def test_c01_of_a_group_only_the_exact_members_stay() -> None:
    text, settled = answer("Tobin vanished [f1-42-101, f1-101-132; f2-0-51].")
    assert text == "Tobin vanished [1][2]."
    assert settled.runs == (TOBIN, FERRY)
    assert settled.counts == {"not_in_evidence": 1}


def test_c01_a_group_longer_than_what_may_be_held_back_is_settled_member_by_member() -> None:
    members = ", ".join(f"f{span.file}-{span.start}-{span.end}" for span in EVIDENCE)
    assert len(members) > 64
    text, settled = answer(f"All [{members}].")
    assert text == "All " + "".join(f"[{n}]" for n in range(1, len(EVIDENCE) + 1)) + "."
    assert settled.runs == tuple(EVIDENCE)


def test_c03_a_run_has_one_number_and_repeats_side_by_side_collapse() -> None:
    text, settled = answer("Log [f1-0-42][f1-0-42]. Ferry [f2-0-51]. Log again [f1-0-42].")
    assert text == "Log [1]. Ferry [2]. Log again [1]."
    assert settled.runs == (LOG, FERRY)


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("Log [f1-0-42] [f1-0-42].", "Log [1]."),
        ("Log [f1-0-42], [f1-0-42].", "Log [1]."),
        ("Log [f1-0-42, f1-0-42].", "Log [1]."),
        ("Log [f1-0-42][f2-0-51][f1-0-42].", "Log [1][2]."),
        ("Log [f1-0-42] [f1-0-43] [f1-0-42].", "Log [1]."),
        ("Log ([f1-0-42], [f1-0-42]).", "Log ([1])."),
        ("Log [f1-0-42].\n\n[f1-0-42] Log.", "Log [1].\n\n[1] Log."),
    ],
)
def test_c03_neighbours(draft: str, text: str) -> None:
    assert shown(draft) == text


def test_c04_a_missing_letter_is_read_and_scores_stay() -> None:
    text, settled = answer("Green ink [1-0-42]. Odd [1-0-43]. They won [3-2].")
    assert text == "Green ink [1]. Odd. They won [3-2]."
    assert raw(settled) == [("[1-0-43]", "not_in_evidence")]


@pytest.mark.parametrize(
    "prose", ["[3-2]", "a[1-2]", "[2024-01-15]", "[sic]", "(6-4-2)", "0-1-1", "[978-3-16-148410-0]"]
)
def test_c04_prose_in_brackets_is_left_alone(prose: str) -> None:
    text, settled = answer(f"So {prose} it is [f1-0-42].")
    assert text == f"So {prose} it is [1]."
    assert settled.dropped == ()


def test_c06_every_spelling_counts() -> None:
    text, settled = answer("Ink [f_1-0-42]. Ferry [f 2 - 0 - 51]. Boots [F2_-51-102].")
    assert text == "Ink [1]. Ferry [2]. Boots [3]."
    assert settled.runs == (LOG, FERRY, BOOTS)


@pytest.mark.parametrize(
    "spelling",
    [
        "［ｆ１－０－４２］", "[f1–0—42]", "[f1−0‐42]", "[f1﹣0-42]", "[f\u200b1-0-\u206042]", "\\[f1-0-42\\]", "【f1-0-42】",
        "[**f1-0-42**]", "[f1-\n0-42]", "(f1-0-42)", "f1-0-42", "`[f1-0-42]`", "[^f1-0-42]", "&#91;f1-0-42&#93;", "[f1-0-42](#f1)",
        "**[f1-0-42]**", "[f1&#45;0-42]", '["f1-0-42"]', "[“f1-0-42”]",
    ],
)  # fmt: skip
def test_c06_neighbours(spelling: str) -> None:
    text, settled = answer(f"Ink {spelling}. Ferry [f2-0-51].")
    assert text == "Ink [1]. Ferry [2]."
    assert settled.runs == (LOG, FERRY)


def test_c08_code_is_kept_and_its_note_stands_directly_after_the_fence() -> None:
    text, settled = answer("```\nlog = a[1-2] [f1-0-42]\n```\nFerry [f2-0-51].")
    assert text == "log = a[1-2]\n[1]\n\nFerry [2]."
    assert isinstance(parse(settled.markdown)[0], CodeBlock)


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("~~~py\nx = [f9-0-1]\n[f1-0-42]\ny\n~~~", "x =\ny\n[1]"),
        ("```\n“made up” 'x'  y\n```\nInk [f1-0-42].", "“made up” 'x'  y\n\nInk [1]."),
        ("Use `a[1-2] [f1-0-42]` now.", "Use a[1-2][1] now."),
        ("Use `print(“made up”)` now.", "Use print(“made up”) now."),
        ("```\nnever closed [f1-0-42]", "never closed\n[1]"),
        ("```\n“x   [f9-0-1]   [f9-0-1] y\n```", "“x y"),
        ("A ` “made up” B.", "A ` made up B."),
    ],
)
def test_c08_neighbours(draft: str, text: str) -> None:
    assert shown(draft) == text


def test_c10_a_tag_inside_link_text_gives_plain_words_and_one_note() -> None:
    assert shown("[Tobin's storm [f1-42-101]](https://example.invalid/a_(b))") == "Tobin's storm [1]"
    assert shown("[Tobin's storm f1-42-101](https://example.invalid/a)") == "Tobin's storm [1]"
    assert shown("[Tobin's storm [f1-42-102]](https://example.invalid/a)") == "Tobin's storm"
    assert shown("[f1-42-101](https://example.invalid/a_(b)) storm") == "[1] storm"
    assert shown("Tobin [vanished]([f1-42-101]).") == "Tobin vanished [1]."


def test_c12_no_edit_shows_a_piece_of_a_tag() -> None:
    settler = Settler(EVIDENCE)
    edits = []
    for piece in ["Green ink [", "f", "1", "-0-", "42", "].", ""]:
        settler.feed(piece)
        edits.append(plain(parse(settler.markdown)))
    assert edits[:5] == ["Green ink"] * 5
    assert edits[-1] == "Green ink [1]."


def test_c12_text_is_shown_as_soon_as_it_arrives() -> None:
    settler = Settler(EVIDENCE)
    assert settler.feed("Mara")
    assert settler.markdown == "Mara"
    assert settler.feed(" kept")
    assert settler.markdown == "Mara kept"


@pytest.mark.parametrize(
    "start",
    ["[f1-0-42 and then some words that go on ", "[", "[see ", "(f1-", "“Mara kept the lighthouse ", "[f1-0-42, "],
)
def test_c12_what_may_be_a_tag_holds_back_at_most_64_characters_and_a_quotation_at_most_400(start: str) -> None:
    settler = Settler(EVIDENCE)
    limit = 400 if "“" in start else 64
    draft = start + "word and " * 80
    for at, char in enumerate(draft):
        settler.feed(char)
        assert len(settler.markdown) >= at - limit - len(start) - 10
    assert "word and word" in settler.markdown


def test_c15_thinking_inside_the_brackets_is_dropped_whole_and_counted() -> None:
    text, settled = answer("Storm [f1-42-101? but we can skip it] and boots [f2-51-102].")
    assert text == "Storm and boots [1]."
    assert raw(settled) == [("[f1-42-101? but we can skip it]", "malformed")]


def test_c15_a_bracket_that_never_closes_loses_only_its_tag() -> None:
    long = "and then the model went on and on without an end to it and kept on talking"
    text, settled = answer(f"Storm [f1-42-101 {long}]. Boots [f2-51-102].")
    assert text == f"Storm {long}. Boots [1]."
    assert settled.counts == {"malformed": 1}
    assert shown("Storm [f1-42-101\n\nBoots [f2-51-102].") == "Storm\n\nBoots [1]."
    assert shown("Storm [f1-42-101 [f2-51-102].") == "Storm [1]."


def test_c16_two_parts_and_a_cut_off_tag_are_dropped_and_the_cut_is_reported() -> None:
    text, settled = answer("Ink [f1-293]. Ferry [f2-0-51]. Storm [f1-42-10", reason="length")
    assert text == "Ink. Ferry [1]. Storm"
    assert settled.cut
    assert settled.counts == {"malformed": 2}


@pytest.mark.parametrize(
    "tail",
    [
        "[",
        "[f",
        "[f1",
        "[f1-",
        "[f1-0-",
        "[f1-0-42",
        "[1-0-42",
        "f1-0-42",
        "(f1-0-4",
        "f1-0-",
        "[f1-0-42, ",
        "\\[f1",
        "(f３‐４0",
        "f１–０–",
        "［ｆ１－",
        "[1−0−",
    ],
)
@pytest.mark.parametrize("reason", ["length", ""])
def test_c16_a_tag_cut_off_anywhere_leaves_nothing_and_is_no_note(tail: str, reason: str) -> None:
    text, settled = answer(f"Storm {tail}", reason=reason)
    assert text == "Storm"
    assert settled.runs == ()


def test_c18_the_title_page_was_no_evidence() -> None:
    text, settled = answer("Green ink [f0-0-17].")
    assert text == "Green ink."
    assert settled.counts == {"not_in_evidence": 1}


def test_c21_a_tag_of_an_earlier_turn_is_dropped_and_numbers_begin_at_one() -> None:
    evidence = {span: text for span, text in RUNS.items() if span.file == 2}
    text, settled = answer("Ferry [f2-0-51]. Ink [f1-0-42].", evidence=evidence)
    assert text == "Ferry [1]. Ink."
    assert settled.runs == (FERRY,)


def test_evidence_may_grow_between_pieces() -> None:
    runs: set[Span] = set()
    texts: list[str] = []
    settler = Settler(runs, lambda: texts)
    settler.feed("Ink [f1-0-42] “green ink” ")
    runs.add(LOG)
    texts.append(RUNS[LOG])
    settler.feed("Ink [f1-0-42] “green ink”")
    settled = settler.finish()
    assert plain(parse(settled.markdown)) == "Ink green ink Ink [1] “green ink”"


def test_c23_a_look_alike_that_the_book_prints_is_shown_as_printed_and_makes_no_note() -> None:
    evidence = EVIDENCE | {DIAL: DIAL_TEXT}
    copied, _, _ = annotate([(DIAL, DIAL_TEXT)]).rpartition(" ")
    text, settled = answer(f"It says “{copied}” [f4-0-27]", evidence=evidence)
    assert text == f"It says “{DIAL_TEXT}” [1]"
    assert settled.runs == (DIAL,)
    assert settled.dropped == ()


@pytest.mark.parametrize(
    "printed", ["Press [F1] now", "Row (f1-0-42) here", "Part f1-9 fits", "Seat [1-0-42] free", "［f1-0-42］ x"]
)
def test_c23_neighbours(printed: str) -> None:
    run = Span(4, 0, len(printed))
    copied, _, _ = annotate([(run, printed)]).rpartition(" ")
    assert copied != printed
    texts = EVIDENCE | {run: printed}
    settled = settle(f"It says “{copied}” [f4-0-{len(printed)}]", texts, passages(texts))
    assert plain(parse(settled.markdown)) == f"It says “{printed}” [1]"
    assert settled.runs == (run,)


def test_c23_a_look_alike_that_no_evidence_prints_is_dropped() -> None:
    text, settled = answer("It says [f·1-0-42] and f·1-0-42 here [f1-0-42].")
    assert text == "It says here [1]."
    assert settled.counts == {"malformed": 2}


def test_a_forged_note_sign_shows_nothing() -> None:
    text, settled = answer(f"Ink {note(1)} is [f1-0-42] \ufdd2\ufdd3.")
    assert settled.runs == (LOG,)
    assert text.count("[1]") == 1


# -- clean prose


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("Odd ([f9-0-1]).", "Odd."),
        ("Odd ([f9-0-1], [f9-0-2]) so.", "Odd so."),
        ("Odd ([f9-0-1], [f1-0-42]).", "Odd ([1])."),
        ("Odd ([f1-0-42]; [f9-0-1]).", "Odd ([1])."),
        ("Odd [f9-0-1], and so.", "Odd, and so."),
        ("Odd, [f9-0-1], and so.", "Odd, and so."),
        ("[f9-0-1] Odd.", "Odd."),
        ("[f9-0-1], odd.", "odd."),
        ("Odd [f9-0-1] [f9-0-2] so.", "Odd so."),
        ("Odd [f9-0-1] and [f9-0-2].", "Odd."),
        ("Odd [f9-0-1]–[f9-0-2].", "Odd."),
        ("Odd [f9-0-1]", "Odd"),
        ("Odd [f9-0-1]\nnext", "Odd\nnext"),
        ("**[f9-0-1]** *[f9-0-1]* odd", "odd"),
        ("**Odd [f9-0-1]** so", "Odd so"),
        ("“[f9-0-1]” odd", "odd"),
        ("`[f9-0-1]` odd", "odd"),
        ("Odd: [f9-0-1].", "Odd."),
        ("A **b** [f9-0-1] **c** d", "A b c d"),
        ("Odd [f9-0-1]。", "Odd。"),
        ("- [f9-0-1]\n- odd [f9-0-1]\n- [f9-0-1]\n", "- odd"),
        ("Odd.\n\n> [f9-0-1]\n\nSo.", "Odd.\n\nSo."),
        ("Odd.\n\n## [f9-0-1]\n\nSo.", "Odd.\n\nSo."),
        ("| a | b |\n|---|---|\n| [f9-0-1] | x [f1-0-42] |", "a | b\n | x [1]"),
        ("Two  spaces of the model [f9-0-1].", "Two  spaces of the model."),
    ],
)
def test_a_dropped_tag_leaves_clean_prose(draft: str, text: str) -> None:
    assert shown(draft) == text


@pytest.mark.parametrize(
    "heading", ["Sources:", "**Sources:**", "## References", "Fuentes:", "Referências:", "Sources"]
)
def test_a_list_of_sources_that_only_repeats_vanishes_with_its_heading(heading: str) -> None:
    assert shown(f"Ink [f1-0-42].\n\n{heading}\n- [f1-0-42]\n- [f9-0-1]\n") == "Ink [1]."
    assert shown(f"Ink [f1-0-42].\n\n{heading}\n1. [f1-0-42]") == "Ink [1]."


def test_a_list_of_sources_keeps_a_note_that_stands_nowhere_else() -> None:
    text, settled = answer("Ink [f1-0-42].\n\nSources:\n- [f1-0-42]\n- [f2-0-51]\n")
    assert text == "Ink [1].\n\nSources:\n\n- [2]"
    assert settled.runs == (LOG, FERRY)


def test_words_that_only_begin_like_a_heading_of_sources_are_prose() -> None:
    for draft in (
        "Ink.\n\nSourcesless streams run dry.",
        "Ink.\n\nNote that it rains.",
        "Ink.\nSo",
        "Ink.\n\nSources: the log and the coat.",
    ):
        assert shown(draft) == draft
    assert shown("Ink.\n\nSources:\n\nThe log [f1-0-42].") == "Ink.\n\nSources:\n\nThe log [1]."


# -- quotations


def test_c25_altered_quotations_lose_their_marks_in_every_style_and_the_true_one_keeps_them() -> None:
    text = shown("“in red ink” [f1-0-42] «in red ink» „in red ink“ 「red ink」 ‘in red ink’ “in green ink” [f1-0-42]")
    assert text == "in red ink [1] in red ink in red ink red ink in red ink “in green ink” [1]"


STYLES = ["“”", '""', "«»", "„“", "„”", "‘’", "‚‘", "「」", "『』", "‹›", "''", "»«", "””", "“„", "＂＂"]


@pytest.mark.parametrize("style", STYLES)
def test_c25_in_each_style_a_true_quotation_stays_and_an_altered_one_does_not(style: str) -> None:
    opening, closing = style[0], style[1]
    if style == "“„":
        opening, closing = "« ", " »"
    text = shown(
        f"Mara used {opening}green ink{closing}, not {opening}red ink{closing}; never {opening}blue{closing} [f1-0-42]."
    )
    assert text == f"Mara used {opening}green ink{closing}, not red ink; never blue [1]."


@pytest.mark.parametrize(
    "prose",
    [
        "Mara’s log and the keepers' oil", "It's 5'10\" tall and 6\" wide", "’tis the keepers’ hour", "rock-'em don't won't",
        "l’encre d’un phare qu'on voit", "the '90s and ‘tis", "`x`'s value", "*Mara*'s log",
    ],
)  # fmt: skip
def test_apostrophes_feet_and_inches_are_no_quotations(prose: str) -> None:
    assert shown(f"So {prose} here [f1-0-42].") == plain(parse(f"So {prose} here [1]."))


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("“Green ink in the log” it was", "“Green ink in the log” it was"),
        ("“Mara kept the … in green ink”", "“Mara kept the … in green ink”"),
        ("“had vanished in a storm. Nobody in Carrow”", "“had vanished in a storm. Nobody in Carrow”"),
        ("“green ink. Ivo arrived”", "green ink. Ivo arrived"),
        ("“was ... Mara's”", "was ... Mara's"),
        ("“in **green** ink,” she", "“in green ink,” she"),
        ("“in green\nink”", "“in green\nink”"),
        ("“in green ink [f1-0-42]”", "“in green ink [1]”"),
        ("“in red ink [f1-0-42]”", "in red ink [1]"),
        ("“It still smells of salt,” Mara said.", "“It still smells of salt,” Mara said."),
        ("He wrote “she kept the ‘lighthouse log’ well”", "He wrote she kept the ‘lighthouse log’ well"),
        ("He wrote “she said “lighthouse log” well”", "He wrote she said “lighthouse log” well"),
        ("&quot;red ink&quot; and \\\"red ink\\\"", "red ink and red ink"),
        ("“in red ink", "in red ink"),
        ("“in green ink", "“in green ink"),
        ("in red ink”.", "in red ink."),
        ("the “scare” word", "the scare word"),
        ("“”", ""),
        ("‘the keepers’ log’ and ‘Mara kept’", "the keepers’ log and ‘Mara kept’"),
    ],
)  # fmt: skip
def test_quotations_and_their_neighbours(draft: str, text: str) -> None:
    assert shown(draft) == text


def test_a_quotation_too_long_to_be_held_loses_both_marks() -> None:
    long = " ".join(["Mara kept the lighthouse log in green ink"] * 12)
    assert shown(f"“{long}” so “green ink”.") == f"{long} so “green ink”."
    assert shown(f'"{long}" so "green ink".') == f'{long} so "green ink".'


def test_words_of_the_question_and_of_permitted_titles_may_stand_in_marks() -> None:
    exempt = ("What does “red ink” mean?", *CHAPTERS)
    draft = "“Red ink” is not in “Tobin's Coat”, nor is “blue ink”."
    assert shown(draft, exempt=exempt) == "“Red ink” is not in “Tobin's Coat”, nor is blue ink."


def test_c28_a_real_run_keeps_its_note_but_false_words_lose_their_marks() -> None:
    text, settled = answer("Ivo said “my boots are old” [f2-51-102].")
    assert text == "Ivo said my boots are old [1]."
    assert settled.runs == (BOOTS,)


# -- broken Markdown, reasoning, no evidence


def test_c33_an_unmatched_bold_mark_loses_nothing() -> None:
    assert shown("**Mara kept the log [f1-0-42]") == "Mara kept the log [1]"


def test_c46_with_only_a_closing_mark_the_deliberation_does_not_stay() -> None:
    draft = "I should look at chapter 3 first [f3-0-40].</think>Green ink [f1-0-42]."
    text, settled = answer(draft)
    assert text == "Green ink [1]."
    assert settled.runs == (LOG,)
    assert settled.saw_closing_think


def test_c46_a_model_known_for_it_is_not_streamed_before_the_mark() -> None:
    settler = Settler(EVIDENCE, hold_until_think_close=True)
    for char in "I should look at chapter 3 first.</think>":
        settler.feed(char)
        assert settler.markdown == ""
    assert settler.feed("Green ink [f1-0-42].")
    assert plain(parse(settler.finish().markdown)) == "Green ink [1]."


def test_c46_a_model_known_for_it_that_does_not_think_this_time_is_shown_at_the_end() -> None:
    settler = Settler(EVIDENCE, hold_until_think_close=True)
    settler.feed("Green ink [f1-0-42].")
    assert settler.markdown == ""
    settled = settler.finish()
    assert plain(parse(settled.markdown)) == "Green ink [1]."
    assert not settled.saw_closing_think


@pytest.mark.parametrize(
    "draft",
    [
        "<think>hm [f2-0-51]</think>\n\nInk [f1-0-42].",
        "< Thinking >x</thinking>Ink [f1-0-42].",
        "Ink <think>no</think>[f1-0-42].",
    ],
)
def test_reasoning_between_its_marks_is_never_shown(draft: str) -> None:
    text, settled = answer(draft)
    assert text == "Ink [1]."
    assert settled.runs == (LOG,)
    assert not settled.saw_closing_think


def test_reasoning_that_never_closes_is_not_shown() -> None:
    assert shown("Ink [f1-0-42]. <think>and now", reason="length") == "Ink [1]."
    assert shown("a < b and a <b> c") == "a < b and a <b> c"


def test_c52_without_grounds_every_tag_is_dropped() -> None:
    text, settled = answer("Green ink was costly [f1-0-42].", grounded=False)
    assert text == "Green ink was costly."
    assert settled.runs == ()
    assert raw(settled) == [("[f1-0-42]", "general_knowledge")]


def test_tags_inside_emphasis_headings_lists_and_tables_become_notes_there() -> None:
    draft = "# Ink [f1-0-42]\n\n*It rained [f1-42-101]*\n\n- a [f2-0-51]\n\n| x [f2-51-102] |\n|---|\n| y [f1-0-42] |"
    assert shown(draft) == "Ink [1]\n\nIt rained [2]\n\n- a [3]\n\nx [4]\ny [1]"


_SCRAPS = (
    "[ ] ( ) f f1-0-42 [f1-0-42] [f9-0-1] [f2-0-51,¬ - 0 42 ` ``` ~~~ “ ” \" ' ’ ‘ « » „ green¬ink red¬ink Mara s * ** _ &quot; &#91; \\ "
    "<think> < · -¬ 1.¬ >¬ # | |---| Sources: , . : and é 字 。 https://x.y/z ]( ! \u200b … f·1-0-42"
)


@given(
    st.lists(
        st.sampled_from([*(scrap.replace("¬", " ") for scrap in _SCRAPS.split()), " ", "\n", "\n\n"]), max_size=40
    ),
    st.integers(1, 7),
)
def test_any_scrap_of_markdown_settles_the_same_in_pieces_and_never_takes_back_or_shows_a_tag(
    scraps: list[str], size: int
) -> None:
    draft = "".join(scraps)
    whole = settle(draft, EVIDENCE, passages(EVIDENCE))
    settler = Settler(EVIDENCE, passages(EVIDENCE))
    seen = ""
    for at in range(0, len(draft), size):
        settler.feed(draft[at : at + size])
        assert settler.markdown.startswith(seen)
        seen = settler.markdown
    assert settler.finish() == whole
    assert not re.search(r"[fF]\d+-\d+-\d|\[\s*f\s*\d", plain(parse(whole.markdown)))


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        (
            "Ivo was Tobin’s son [2]. The log [f1-0-42] [1]. He drowned [3].",
            "Ivo was Tobin’s son. The log [1]. He drowned.",
        ),
        ("Ivo [1, 2] came[4].", "Ivo came."),
        ("They won [3-2], see a[1-2].", "They won [3-2], see a[1-2]."),
    ],
)
def test_numbers_a_model_writes_by_itself_are_no_footnotes(draft: str, shown: str) -> None:
    settled = settle(draft, EVIDENCE, passages(EVIDENCE))
    assert plain(parse(settled.markdown)) == shown
    assert len(settled.runs) <= 1


def test_numbers_that_the_book_prints_stay() -> None:
    text = "See the note [7] below."
    settled = settle(f"It says “{text}” [f9-0-23]", {Span(9, 0, 23): text}, [text])
    assert plain(parse(settled.markdown)) == f"It says “{text}” [1]"


def test_a_settler_goes_with_its_evidence_as_soon_as_nobody_holds_it() -> None:
    """Not when the collector comes by, whose pass over the evidence of many answers holds up everybody."""

    class Delivered(set[Span]):
        """A set that can be watched."""

    delivered = Delivered({Span(0, 0, 5)})
    watched = weakref.ref(delivered)
    gc.disable()
    try:
        settler = Settler(delivered, ["Hello there."])
        settler.feed("He says “Hello” [f0-0-5].")
        settler.finish()
        del settler, delivered
        assert watched() is None
    finally:
        gc.enable()
