"""What messages look like on Telegram: letter for letter, nothing live, within the vendor's limits, buttons where they belong."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram import view
from adapters.telegram.text import JOINER, Plain, render, units
from core.document import parse, plain
from core.model import (
    Answer,
    Choice,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Footnote,
    Link,
    Paragraph,
    Passage,
    Position,
    Quote,
    Reply,
    Span,
    Text,
)
from core.tags import note
from tests.adapters.telegram_club import hostile_strings
from tests.fakes.telegram.rules import TEXT, checked_text

LIVE = {"mention", "text_mention", "url", "email", "bot_command", "hashtag"}


def live(shown: Plain) -> list[str]:
    """What Telegram would make live in a text of ours."""
    _, found = checked_text(shown.text, view.entities(shown.marks), TEXT)
    return [f"{entity['type']}" for entity in found if entity["type"] in LIVE]


def letters(text: str) -> str:
    """Without what nobody sees: the means we are allowed, and what no server keeps."""
    return re.sub("[\u2060\u202a-\u202e\r]", "", text)


def answer_of(document: Document, notes: int) -> tuple[Answer, list[Choice]]:
    footnotes = tuple(
        Footnote(number, f"[f1-{number}-{number + 1}]", "book", "v", Span(1, number, number + 1), f"id{number}")
        for number in range(1, notes + 1)
    )
    choices = [Choice(f"{number} · Ch. 1", f"id{number}", "note") for number in range(1, notes + 1)]
    return Answer(document, footnotes, "grounded"), choices


# Letter for letter


@given(st.text(max_size=300))
def test_any_text_arrives_letter_for_letter_and_its_entities_fit(text: str) -> None:
    shown = render((Paragraph((Text(text), Emphasis((Text(text),), strong=True))), Quote((Paragraph((Text(text),)),))))
    for mark in shown.marks:
        wide = shown.text.encode("utf-16-le")[2 * mark.offset : 2 * (mark.offset + mark.length)]
        wide.decode("utf-16-le")
    wanted = letters(re.sub("[\u2028\u2029]", "\n", text))
    assert letters(shown.text) == f"{wanted}{wanted}\n\n{wanted}"


@pytest.mark.parametrize(
    ("markdown", "kinds"),
    [
        ("**bold**", ["bold"]),
        ("🧥 *coat*", ["italic"]),
        ("`@admin`", ["code"]),
        ("**a `b` c**", ["bold", "code", "bold"]),
        ("> a\n> > b", ["blockquote"]),
        ("```py\nx\n```", ["pre"]),
        ("# Title", ["bold"]),
        ("***both***", ["italic", "bold"]),
    ],
)
def test_marks_of_the_tree_become_entities_that_nest_as_the_vendor_allows(markdown: str, kinds: list[str]) -> None:
    shown = render(parse(markdown))
    checked_text(shown.text, view.entities(shown.marks), TEXT)
    assert [mark.kind for mark in shown.marks] == kinds


def test_offsets_count_utf_16_units_also_behind_emoji_and_joiners() -> None:
    shown = render((Paragraph((Text("🧥 see example.com @admin "), Emphasis((Text("coat 🧥"),), strong=True))),))
    [mark] = shown.marks
    wide = shown.text.encode("utf-16-le")
    assert wide[2 * mark.offset : 2 * (mark.offset + mark.length)].decode("utf-16-le") == "coat 🧥"
    assert units(shown.text) * 2 == len(wide)


# Nothing live


def test_no_hostile_string_links_or_notifies_from_a_book_or_a_model() -> None:
    for text in hostile_strings(500):
        book = render((Quote((Paragraph((Text(text),)),)),))
        assert live(book) == [], text
        clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert letters(book.text) == letters(clean), text
        model = render(parse(text))
        assert live(model) == [], text
        assert not any(mark.kind == "text_link" for mark in model.marks), text


def test_an_address_that_stands_in_a_cited_passage_stays_a_link() -> None:
    shown = render((Paragraph((Link((Text("the page"),), "https://example.org/a", live=True),)),))
    [mark] = shown.marks
    assert (mark.kind, mark.url) == ("text_link", "https://example.org/a")


def test_commands_of_our_own_words_can_be_tapped_those_of_a_quoted_book_cannot() -> None:
    document: Document = (Paragraph((Text("Try /ask or /help"),)), Quote((Paragraph((Text("He typed /remove"),)),)))
    shown = render(document, own=True)
    assert live(shown) == ["bot_command", "bot_command"]
    assert live(render(document)) == []


def test_code_keeps_its_letters_without_joiners() -> None:
    shown = render((CodeBlock("me@example.com\n  x = 1"), Paragraph((Code("@admin"),))))
    assert JOINER not in shown.text
    assert live(shown) == []


# Long texts


def test_a_long_italic_passage_is_italic_in_both_messages_with_the_note_on_its_own_part() -> None:  # C29
    words = " ".join(["lantern"] * 750)
    answer, notes = answer_of(parse(f"*{words}* {note(1)}"), 1)
    first, second = view.answer(answer, notes, ((Choice("⋯", "more"),),), "en")
    for part in (first, second):
        checked_text(part.plain.text, view.entities(part.plain.marks), TEXT)
        assert [mark.kind for mark in part.plain.marks] == ["italic"]
    assert first.keyboard == ()
    assert [choice.label for row in second.keyboard for choice in row] == ["1 · Ch. 1", "⋯"]
    assert (first.plain.text + second.plain.text).count("lantern") == 750
    assert first.plain.text.startswith("1/2\n")


def test_an_unmatched_bold_mark_loses_nothing_and_the_note_works() -> None:  # C33
    answer, notes = answer_of(parse(f"**Mara kept the log {note(1)}"), 1)
    [shown] = view.answer(answer, notes, (), "en")
    assert shown.plain.text == "Mara kept the log [1]"
    assert shown.keyboard[0][0].id == "id1"


def test_each_part_of_a_long_answer_carries_the_buttons_of_its_own_notes() -> None:
    body = "\n\n".join(f"{'Mara wrote the log in green ink. ' * 25}{note(number)}" for number in range(1, 31))
    answer, notes = answer_of(parse(body), 30)
    parts = view.answer(answer, notes, (), "en")
    assert len(parts) > 4
    for part in parts:
        assert part.plain.units <= TEXT
        cited = re.findall(r"\[(\d+)\]", part.plain.text)
        labels = [choice.label for row in part.keyboard for choice in row]
        assert labels == [f"{number} · Ch. 1" for number in cited]
        assert all(len(row) <= 3 for row in part.keyboard)
    joined = " ".join(part.plain.text.split("\n", 1)[1] for part in parts)
    assert re.sub(r"\s+", " ", joined) == re.sub(r"\s+", " ", plain(answer.document))


def test_more_entities_or_notes_than_one_message_takes_are_spread_over_several() -> None:
    many, _ = answer_of(parse(" ".join(f"**w{number}** x" for number in range(250))), 0)
    parts = view.answer(many, [], (), "en")
    assert len(parts) == 3
    assert all(len(part.plain.marks) <= 100 for part in parts)
    cited, notes = answer_of(parse(" ".join(f"word {note(number)}" for number in range(1, 121))), 120)
    parts = view.answer(cited, notes, ((Choice("⋯", "more"),),), "en")
    assert all(sum(len(row) for row in part.keyboard) <= 100 for part in parts)
    assert sum(len(row) for part in parts for row in part.keyboard) == 121


def test_a_long_passage_is_cut_on_sentence_ends_and_numbered() -> None:
    sentence = "Line {} of the harbour book names a boat that came in late, and says no more. "
    text = "".join(sentence.format(number) for number in range(130)).strip()
    passage = Passage(
        "b", "T", "[f0-0-1]", Span(0, 0, 1), "q", "", text, "", "", "", Position(0, 0), Position(0, 1), False, False
    )
    reply = Reply((Quote((Paragraph((Text(text),)),)),), passage=passage)
    parts = view.messages(reply)
    assert len(parts) == 3
    for number, part in enumerate(parts, 1):
        assert part.plain.text.startswith(f"{number}/3\n")
        assert part.plain.text.rstrip().endswith(".")


def test_a_picture_carries_its_text_as_caption_only_when_it_fits() -> None:
    short = Reply((Paragraph((Text("Ready"),)),), picture=b"png")
    long = Reply((Paragraph((Text("word " * 300),)),), picture=b"png")
    assert view.messages(short)[0].picture == b"png"
    assert view.messages(long)[0].picture is None
