"""Tags: one spelling written, many read, none repaired; look-alikes of book text go out defused and come back exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Span
from core.tags import (
    annotate,
    defuse,
    naked,
    naked_reference,
    note,
    own,
    read_tagged,
    references,
    respell,
    restore,
    tag,
    without_notes,
)
from tests.books.lantern import DIAL, DIAL_TEXT, EVIDENCE

INK = Span(1, 0, 42)


def spans(body: str) -> list[Span | None] | None:
    found = references(body)
    return None if found is None else [item.span for item in found]


def test_a_tag_is_written_in_one_spelling() -> None:
    assert tag(Span(5, 123, 165)) == "[f5-123-165]"


@pytest.mark.parametrize(
    "body",
    [
        "f1-0-42", "F1-0-42", "1-0-42", "f_1-0-42", "f 1 - 0 - 42", "F1_-0-42", "ｆ１－０－４２", "f1–0—42", "f1−0‐42",
        "f1﹣0‑42", "f\u200b1-\u20600-42", "**f1-0-42**", "f1\\-0\\-42", " f1-0-42 ", "f1-0-\n42", "^f1-0-42", "f1-0-4 2",
        "f-1-0-42", "F–1–0–42", "f:1-0-42", "f #1-0-42", "f.1-0-42", "f=1-0-42", "f/1-0-42", "f - 1 - 0 - 42",
    ],
)  # fmt: skip
def test_every_spelling_of_the_exact_triple_is_read(body: str) -> None:
    assert spans(body) == [INK]


@pytest.mark.parametrize(
    "body",
    [
        "f1-42-101, f1-101-131", "f1-42-101; f1-101-131", "f1-42-101、f1-101-131", "f1-42-101 f1-101-131",
        "1-42-101 1-101-131", "f1-42-101 and f1-101-131", "f1-42-101f1-101-131",
    ],
)  # fmt: skip
def test_a_group_is_read_item_by_item(body: str) -> None:
    assert spans(body) == [Span(1, 42, 101), Span(1, 101, 131)]


@pytest.mark.parametrize(
    "body",
    [
        "f1-293",
        "f1",
        "f1-42-101? but we can skip it",
        "f1-0-042",
        "f1-0-42-7",
        "f1--42",
        "f1-0-x",
        "f 9",
        "f-1-2",
        "f:1",
    ],
)
def test_what_is_tag_shaped_but_no_triple_is_malformed_and_never_repaired(body: str) -> None:
    assert spans(body) == [None]


def test_a_shortened_item_of_a_group_is_not_completed_from_its_neighbour() -> None:
    assert spans("f1-42-101, 101-131") == [Span(1, 42, 101), None]


@pytest.mark.parametrize(
    "body",
    [
        "3-2", "1-2", "sic", "…", "", "2024-01-15", "2024-1-5", "15-1-2024", "3-5-1999", "978-3-16-148410-0",
        "for example", "fig. 3", "Tobin's storm", "f", "0-0", "01-02-03", "1-0-42b", "see f1-42-101",
    ],
)  # fmt: skip
def test_scores_dates_numbers_and_words_in_brackets_are_prose(body: str) -> None:
    assert references(body) is None


@pytest.mark.parametrize("text", ["f1-0-42", "(f1-0-42)", "F1–0–42", "f1 - 0 - 42", "f-1-0-42", "(f:1-0-42)"])
def test_a_complete_triple_with_its_f_counts_without_square_brackets(text: str) -> None:
    match = naked(text, 0)
    assert match is not None
    assert naked_reference(match[0]).span == INK


@pytest.mark.parametrize("text", ["1-0-42", "(6-4-2)", "f1-9", "f1", "leaf 1-0-42"])
def test_scores_and_shorter_chains_without_square_brackets_are_prose(text: str) -> None:
    assert not any(naked(text, at) for at in range(len(text)))


LOOK_ALIKES = [
    DIAL_TEXT, "[1-0-42]", "[f1]", "[F1]", "(f1-0-42)", "f1-0-42", "f1-9 and F2–3", "［ｆ１－０－４２］", "[[f1-0-42]]",
    "f·1-0-42", "[f··1-0-42]", "[f-1-0-42]", "f:1-0-42", "[f·-1-0-42]", "[1·-0-42]", "[ f 1 - 0 - 42 ]", "[f1-0-42, 1-0-42]",
]  # fmt: skip


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_in_book_text_is_harmless_when_defused_and_exact_when_restored(text: str) -> None:
    harmless = defuse(text)
    assert restore(harmless) == text
    assert harmless != text
    inner = harmless.strip("[]［］")
    assert not any(naked(harmless, at) for at in range(len(harmless)))
    assert references(inner.split(",")[0]) is None


@pytest.mark.parametrize(
    "text", ["Mara kept the log.", "a[1-2]", "[1] [sic]", "l·l and Joan·Miró 1·2", "well-known, f-sharp"]
)
def test_ordinary_book_text_is_not_touched(text: str) -> None:
    assert defuse(text) == text


@given(st.text(alphabet="fF[]()-– ·_01249*\u200bx\n", max_size=40))
def test_defusing_is_reversible_for_any_text(text: str) -> None:
    assert restore(defuse(text)) == text


def test_annotated_runs_keep_paragraphs_apart_and_read_back_exactly() -> None:
    pieces = [*EVIDENCE.items(), (DIAL, DIAL_TEXT), (Span(5, 10, 14), "salt"), (Span(5, 16, 20), "coat")]
    text = annotate(pieces)
    assert text.startswith("Mara kept the lighthouse log in green ink. [f1-0-42]  The keeper before her")
    assert "[f1-101-131]\n\nIvo arrived" in text
    assert "salt [f5-10-14]\n\ncoat [f5-16-20]" in text
    assert "Type [f1-0-42]" not in text
    assert read_tagged(text) == pieces


def test_headings_around_annotated_runs_do_not_end_up_in_their_texts() -> None:
    text = "Chapter 1, “Green Ink”\n\n" + annotate(EVIDENCE.items()) + "\n\n(end)"
    assert dict(read_tagged(text)) == EVIDENCE


def test_a_settled_note_cannot_be_forged() -> None:
    forged = f"Ink {note(1)}"
    assert note(1) not in without_notes(forged)


def test_our_own_tags_are_found_and_respelled_in_prose_that_is_not_the_runs_own() -> None:
    summary = "She writes in ink [f1-0-42]. It reads [f·1-2-3] there [f1-43-88]. Later [f1-0-42]"
    assert own(summary) == [INK, Span(1, 43, 88), INK]
    moved = respell(summary, lambda span: f" {tag(Span(span.file + 9, span.start, span.end))}")
    assert moved == summary.replace(" [f1-", " [f10-")
    assert respell("Ink [f1-0-42].", lambda _: "") == "Ink."
