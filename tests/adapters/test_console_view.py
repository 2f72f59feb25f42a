"""What the terminal shows: wrapping, marks, harmless characters, redrawing. Pure values in, lines out."""

import re
from datetime import UTC, datetime

import pytest

from adapters.console import view
from adapters.console.text import Look, Piece, columns, harmless, wrap
from core.model import (
    Answer,
    BookCard,
    Chapter,
    Cite,
    Code,
    CodeBlock,
    Contents,
    Emphasis,
    Footnote,
    Heading,
    Item,
    LineBreak,
    Link,
    ListBlock,
    Notice,
    Paragraph,
    Passage,
    Position,
    Quote,
    QuoteFound,
    QuoteHit,
    Span,
    Text,
    TocEntry,
)

PIPE = Look("en")
NARROW = Look("en", width=20, colour=True)
SGR = re.compile(r"\x1b\[[0-9;]*m")

PASSAGE = Passage(
    book="ab" * 32,
    title="The Lantern House",
    tag="[f1-0-42]",
    span=Span(1, 0, 42),
    quote="Mara kept the lighthouse log in green ink.",
    before="",
    after=" The keeper before her, Old Tobin, had vanished in a storm.",
    heading="Green Ink",
    label="10 %",
    opening="The first words …",
    first=Position(1, 0),
    last=Position(1, 101),
    more_before=False,
    more_after=True,
)
CARD = BookCard(
    "ab" * 32, "v1", "The Lantern House", ("A. Writer",), "en", "epub", 400, 4, 3, datetime(2024, 1, 1, tzinfo=UTC)
)
NOTE = Footnote(1, "[f1-0-42]", "ab" * 32, "v1", Span(1, 0, 42), "n1")


def plain(lines: list[str]) -> str:
    return SGR.sub("", "\n".join(lines))


def test_lines_break_at_spaces_and_never_exceed_the_width() -> None:
    lines = wrap([Piece("Mara kept the lighthouse log in green ink.")], NARROW)
    assert lines == ["Mara kept the", "lighthouse log in", "green ink."]


def test_wide_characters_count_two_columns_and_break_without_spaces() -> None:
    lines = wrap([Piece("吾輩は猫である。名前はまだ無い。どこで生れたか")], NARROW)
    assert all(columns(line) <= 20 for line in lines)
    assert "".join(lines) == "吾輩は猫である。名前はまだ無い。どこで生れたか"
    assert not any(line[0] in "。、" for line in lines)


def test_a_word_wider_than_a_line_is_cut_and_nothing_of_it_is_lost() -> None:
    lines = wrap([Piece("x" * 45 + " end")], NARROW)
    assert lines == ["x" * 20, "x" * 20, "x" * 5 + " end"]


def test_marks_that_combine_stay_with_their_letter() -> None:
    lines = wrap([Piece("e\u0301" * 30)], NARROW)
    assert [columns(line) for line in lines] == [20, 10]
    assert not any(line.startswith("\u0301") for line in lines)


def test_over_a_pipe_a_paragraph_stays_one_line_and_carries_no_escape_sequence() -> None:
    lines = wrap([Piece("word " * 100, "strong")], PIPE)
    assert len(lines) == 1
    assert "\x1b" not in lines[0]


@pytest.mark.parametrize("wicked", ["\x1b[2J", "\x9b2J", "\x07", "\x08\x08", "\r", "\x7f", "\x00", "\udcff", "\x85"])
def test_nothing_a_terminal_would_obey_passes(wicked: str) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", harmless(f"a{wicked}b"))


def test_escape_sequences_in_book_text_titles_and_answers_are_shown_not_obeyed() -> None:
    wicked = "\x1b]0;owned\x07"
    passage = Passage(
        **{name: getattr(PASSAGE, name) for name in PASSAGE.__slots__} | {"quote": wicked, "title": wicked}
    )
    answer = Answer((Paragraph((Text(wicked), Code(wicked))), CodeBlock(wicked)), (), "grounded")
    shown = [
        *view.passage(passage, NARROW, 1),
        *view.answer(answer, NARROW),
        *view.sentence(NARROW, "console_using", title=wicked),
    ]
    assert "\x1b" not in plain(shown)
    assert "\x07" not in plain(shown)


def test_an_answer_shows_its_markers_and_how_to_open_them() -> None:
    answer = Answer((Paragraph((Text("Mara kept the log"), Cite(1), Text("."))),), (NOTE,), "grounded")
    assert view.answer(answer, PIPE) == ["Mara kept the log[1].", "", "Footnote: type 1 to see its passage."]


def test_notices_stand_below_the_answer() -> None:
    answer = Answer((Paragraph((Text("No."),)),), (), "not_in_book", notices=(Notice("question_empty"),))
    assert view.answer(answer, PIPE)[2].startswith("There is no question")


def test_every_kind_of_block_is_drawn() -> None:
    document = (
        Heading(2, (Text("Head"),)),
        ListBlock((Item((Paragraph((Text("one"),)),)), Item((Paragraph((Text("two"),)),))), ordered=True, start=3),
        Quote((Paragraph((Text("said"), LineBreak(), Emphasis((Text("softly"),)))),)),
        CodeBlock("a[1-2]\nb", "python", (Cite(2),)),
        Paragraph(
            (
                Link((Text("dead"),), "https://example.invalid"),
                Text(" "),
                Link((Text("live"),), "https://x.invalid", live=True),
            )
        ),
    )
    assert view.document(document, PIPE) == [
        "Head",
        "",
        "3. one",
        "4. two",
        "",
        "│ said",
        "│ softly",
        "",
        "    a[1-2]",
        "    b",
        "[2]",
        "",
        "dead live (https://x.invalid)",
    ]


def test_the_quoted_run_is_marked_in_words_over_a_pipe_and_in_bold_on_a_terminal() -> None:
    assert "»Mara kept the lighthouse log in green ink.« The keeper" in "\n".join(view.passage(PASSAGE, PIPE, 1))
    wide = Look("en", width=200, colour=True)
    assert "\x1b[1;33mMara kept the lighthouse log in green ink.\x1b[0m" in "\n".join(view.passage(PASSAGE, wide, 1))


def test_a_passage_offers_only_the_steps_there_are() -> None:
    assert view.passage(PASSAGE, PIPE, 1)[-1] == "> after · 1 closes it"
    assert view.passage(PASSAGE, Look("es"), 1)[-1] == "> después · 1 lo cierra"
    assert "closes" not in "\n".join(view.passage(PASSAGE, PIPE))


def test_the_text_of_a_passage_is_shown_letter_for_letter() -> None:
    shown = plain(view.passage(PASSAGE, Look("en", width=500, colour=True), 1))
    assert PASSAGE.before + PASSAGE.quote + PASSAGE.after in shown


def test_an_empty_shelf_says_how_to_fill_it() -> None:
    assert view.shelf((), PIPE) == ["There is no book here yet; add one with /add PATH."]


def test_contents_number_the_chapters_and_indent_the_parts() -> None:
    contents = Contents(
        "ab" * 32,
        "v1",
        (10, 10),
        ("", ""),
        (None, None),
        (TocEntry("Part", 1, 0, 0), TocEntry("Green Ink", 2, 0, 0), TocEntry("The Ferry", 2, 1, 0)),
        (
            Chapter(1, "Green Ink", Position(0, 0), Position(1, 0)),
            Chapter(2, "The Ferry", Position(1, 0), Position(1, 10)),
        ),
        (),
    )
    assert view.contents(CARD, contents, PIPE) == [
        "The Lantern House",
        "  Part",
        "    1. Green Ink",
        "    2. The Ferry",
    ]


def test_quotes_say_whether_they_are_word_for_word() -> None:
    hit = QuoteHit(Span(1, 0, 42), PASSAGE.quote, "Green Ink")
    near = view.quotes(CARD, QuoteFound("near", (hit,)), PIPE)
    assert near[0] == "Not word for word in The Lantern House; the closest:"
    assert (
        view.quotes(CARD, QuoteFound("verbatim", (hit, hit)), PIPE)[0] == "Word for word in The Lantern House, 2 times:"
    )
    many = view.quotes(CARD, QuoteFound("verbatim", (hit,) * 10, full=True), PIPE)
    assert many[0] == "Word for word in The Lantern House; the first 10 places:"
    assert view.quotes(CARD, QuoteFound("none", ()), PIPE) == ["Nothing like that stands in The Lantern House."]


def test_redrawing_leaves_the_lines_that_already_stand() -> None:
    text, drawn = view.redraw(["one", "two"], ["one", "three", "four"], height=24)
    assert text == "\x1b[1A\r\x1b[Jthree\nfour\n"
    assert drawn == ["one", "three", "four"]
    assert view.redraw(["one"], ["one", "two"], height=24)[0] == "two\n"


def test_what_has_scrolled_away_is_written_again_below() -> None:
    old = [f"line {number}" for number in range(30)]
    new = ["other", *old[1:]]
    assert view.redraw(old, new, height=24)[0] == "".join(f"{line}\n" for line in new)
