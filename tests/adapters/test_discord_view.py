"""What Discord is given to show: literal, inert, within the vendor's limits, cut from the tree."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import view
from adapters.discord.text import markdown, units
from core.document import parse
from core.model import (
    Answer,
    Choice,
    Cite,
    CodeBlock,
    Document,
    Emphasis,
    Footnote,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Reply,
    Span,
    Text,
)
from tests.adapters.discord_hostile import hostile
from tests.adapters.discord_markdown import read, visible


def _paragraph(text: str) -> Document:
    return (Paragraph((Text(text),)),)


def _answer(document: Document, count: int) -> Answer:
    notes = tuple(
        Footnote(n, f"[f1-{n}-{n + 9}]", "book", "v", Span(1, n, n + 9), f"id{n}") for n in range(1, count + 1)
    )
    return Answer(document, notes, "grounded")


def _choices(count: int) -> tuple[Choice, ...]:
    return tuple(Choice(f"{n} · Ch. 1", f"id{n}", "note") for n in range(1, count + 1))


def test_five_hundred_hostile_strings_are_shown_letter_for_letter_with_nothing_live() -> None:
    for text in hostile(500):
        for document in (
            _paragraph(text),
            (Quote((Paragraph((Text(text), Emphasis((Text(text),), strong=True), Text(text))),)),),
            (Paragraph((Emphasis((Text(text),)),)),),
        ):
            shown = read(markdown(document))
            assert shown.live == [], (text, markdown(document))
            assert {name for name, _ in shown.marked} <= {"quote", "strong", "emphasis"}, (text, shown.marked)
            whole = text * (3 if isinstance(document[0], Quote) else 1)
            assert visible(shown.text).strip() == visible(whole).strip(), markdown(document)


def test_hostile_strings_as_model_text_bring_nothing_live_and_what_is_no_markdown_stays_literal() -> None:
    for text in hostile(500):
        content = markdown(parse(text))
        assert read(content).live == [], content


@given(st.text(alphabet=st.sampled_from("ab *_~|`\\[]()<>@#:/-+.1\n!"), max_size=60))
def test_any_mixture_of_markup_characters_is_literal(text: str) -> None:
    shown = read(markdown(_paragraph(f"x{text}x")))
    assert visible(shown.text) == f"x{text}x"
    assert shown.live == []
    assert shown.marked == []


@given(st.text(alphabet=st.sampled_from("ab *_`\\|:"), min_size=1, max_size=30))
def test_code_is_shown_letter_for_letter_whatever_backticks_it_holds(text: str) -> None:
    shown = read(markdown((*parse("x"), CodeBlock(f"a{text}a", "python"))))
    assert visible(shown.styled("fence python")[0]) == f"a{text}a"


def test_a_code_fence_cut_over_messages_is_closed_and_opened_again_with_its_language() -> None:
    """C31"""
    code = "\n".join(f"print({n:04})  # {'x' * 36}" for n in range(51))
    assert len(code) > 2_600
    document = (CodeBlock(code, "python"), *parse("Ink [1]."))
    parts = view.messages(Reply(document))
    assert len(parts) == 2
    read_back = []
    for part in parts:
        assert units(part.content) <= 2_000
        shown = read(part.content)
        read_back += shown.styled("fence python")
        assert "```" not in shown.text
    assert "\n".join(read_back) == code
    assert read(parts[-1].content).text.endswith("Ink [1].")


def test_long_answers_are_split_into_parts_that_fit_each_with_its_own_notes() -> None:
    rng = random.Random(1)
    words = " ".join("".join(rng.choice("aeiou*_|`日本😀") for _ in range(rng.randint(1, 9))) for _ in range(1500))
    document = parse("\n\n".join(f"{words[at : at + 400]} [{at // 400 + 1}]" for at in range(0, 8_000, 400)))
    count = 20
    parts = view.answer(_answer(document, count), _choices(count), (), "en")
    assert len(parts) > 3
    for part in parts:
        assert units(part.content) <= 2_000
        assert len(part.rows) <= 5
        for row in part.rows:
            for choice in row:
                assert f"[{choice.label.split(' ')[0]}]" in read(part.content).text


def test_more_notes_than_buttons_leave_a_place_for_the_way_to_the_others() -> None:
    document = (Paragraph(tuple(piece for n in range(1, 61) for piece in (Text(f"a{n}"), Cite(n)))),)
    ways = ((Choice("⋯", "more"),),)
    (part,) = view.answer(_answer(document, 60), _choices(60), ways, "en")
    assert len(part.further) == 60 - 19
    whole = view.with_further(part, Choice("More notes", "further", "act"))
    assert [len(row) for row in whole.rows] == [5, 5, 5, 5, 1]
    assert whole.rows[3][4].label == "More notes"


def test_a_hidden_quotation_is_one_spoiler_whatever_bars_it_holds() -> None:
    text = "first line ||x|\n\nsecond | line|"
    document = (Paragraph((Text("Where"),)), Quote((Paragraph((Text(text), Emphasis((Text("run|"),), strong=True))),)))
    shown = read(markdown(document, hidden=True))
    assert [visible(hidden) for hidden in shown.styled("spoiler")] == [text + "run|"]
    assert "||" not in markdown(document).replace("\\|", "")


def test_a_long_hidden_passage_stays_hidden_in_every_part() -> None:
    document = (Quote((Paragraph((Text("The lamp was lit. " * 300),)),)),)
    parts = view.messages(Reply(document), hidden=True)
    assert len(parts) > 2
    for part in parts:
        assert units(part.content) <= 2_000
        assert visible(read(part.content).styled("spoiler")[0]).strip() == visible(read(part.content).text).strip()


def test_a_link_is_live_only_when_the_tree_says_so_and_then_plainly_readable() -> None:
    words = (Text("the site"),)
    dead = read(markdown((Paragraph((Link(words, "https://evil.example/x"),)),)))
    assert (dead.live, dead.text) == ([], "the site")
    live = read(markdown((Paragraph((Link(words, "https://lamp.example/x", live=True),)),)))
    assert live.live == ["<https://lamp.example/x>"]
    odd = read(markdown((Paragraph((Link(words, "javascript:alert(1)", live=True),)),)))
    assert odd.live == []


def test_a_note_never_becomes_the_text_of_a_link() -> None:
    document = (Paragraph((Text("Ink"), Cite(1), Text("(https://evil.example/)"))),)
    assert read(markdown(document)).live == []


def test_lists_numbers_and_tables_keep_their_shape() -> None:
    content = markdown(parse("3. one\n4. two\n   - # deep\n\n| a | b |\n|---|---|\n| c | @d |"))
    assert content.startswith("3. one\n4. two\n")
    assert "**a** \\| **b**\nc \\| @\u200bd" in content
    assert isinstance(parse("- x")[0], ListBlock)


def test_bold_beside_italic_and_bold_in_words_are_marked_as_the_tree_says() -> None:
    document = (
        Paragraph(
            (
                Emphasis((Text("a"),), strong=True),
                Emphasis((Text("b"),)),
                Emphasis((Emphasis((Text("c "),)),), strong=True),
            )
        ),
    )
    shown = read(markdown(document))
    assert visible(shown.text).strip() == "abc"
    assert shown.styled("strong") == ["a", "c"]
    assert shown.styled("emphasis") == ["b", "c"]


@pytest.mark.parametrize("count", [1, 11, 30])
def test_rows_of_the_desk_always_fit(count: int) -> None:
    rows = tuple((Choice(f"Use book {n}", f"b{n}"),) for n in range(count))
    fitted = view.fitted(rows)
    assert len(fitted) <= 5
    assert all(len(row) <= 5 for row in fitted)
    assert sum(map(len, fitted)) == min(count, 25)


def test_a_picture_is_a_file_whose_name_makes_clients_show_it() -> None:
    for data, name in ((b"\x89PNG\r\n", "picture.png"), (b"\xff\xd8\xff", "picture.jpg")):
        (shown,) = view.messages(Reply(_paragraph("cover"), picture=data))
        assert [file.name for file in shown.files] == [name]
