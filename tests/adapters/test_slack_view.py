"""What Slack is sent: every limit kept, every letter there, nothing live that is not meant to be."""

import random
import re

import pytest

from adapters.slack import view
from adapters.slack.inert import JOINER, inert, inert_markdown
from adapters.slack.richtext import blocks
from core.document import parse, plain
from core.model import (
    Block,
    Cell,
    Choice,
    Cite,
    CodeBlock,
    Document,
    Emphasis,
    Item,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
)
from tests.adapters.slack_hostile import hostile
from tests.fakes.slack.limits import message_error
from tests.fakes.slack.liveness import live, live_markdown
from tests.fakes.slack.world import Message, block_text, shown, unescaped


def paragraph(*texts: str) -> Paragraph:
    return Paragraph(tuple(Text(text) for text in texts))


def notes(count: int) -> list[Choice]:
    return [Choice(f"{number} · Ch. {1 + number % 9}", f"note{number}", "note") for number in range(1, count + 1)]


def sent(messages: tuple[view.Message, ...]) -> list[str]:
    """What each message shows; checked against the vendor's limits on the way."""
    texts = []
    for message in messages:
        assert message_error(message.text, message.blocks) is None
        assert len(message.text) <= 4000
        texts.append(shown(Message("C", "1.0", "U", message.text, message.blocks)))
    return texts


def bare(text: str) -> str:
    return text.replace(JOINER, "")


def long_answer(characters: int = 13_000, cites: int = 40) -> Document:
    """Tables, code, lists, quotations and paragraphs with footnotes all through it."""
    dice = random.Random(3)
    made: list[Block] = []
    number = 0
    length = 0
    while length < characters or number < cites:
        words = " ".join(
            dice.choice(("ink", "lighthouse", "Tobin’s", "coat", "木曜日", "🧥", "says")) for _ in range(60)
        )
        cite: tuple[Cite, ...] = ()
        if number < cites:
            number += 1
            cite = (Cite(number),)
        kind = dice.randrange(5)
        if kind == 0:
            rows = tuple(tuple(Cell((Text(f"row {row} {words[:20]}"),)) for _ in range(3)) for row in range(5))
            made += [Table(rows), Paragraph((Text(words), *cite))]
        elif kind == 1:
            made += [CodeBlock("\n".join(f"line {at} = {words[:30]}" for at in range(6)), "python", cite)]
        elif kind == 2:
            made += [
                ListBlock(
                    (Item((Paragraph((Text(words), *cite)),)), Item((paragraph("second"),))), ordered=True, start=3
                )
            ]
        elif kind == 3:
            made += [Quote((Paragraph((Text(words), *cite)),))]
        else:
            made += [Paragraph((Text(words), *cite))]
        length = len(plain(tuple(made)))
    return tuple(made)


def test_thirteen_thousand_characters_with_tables_code_and_forty_notes_arrive_complete_and_in_order() -> None:
    document = long_answer()
    assert len(plain(document)) >= 13_000
    messages = view.messages(document, ((Choice("⋯", "more"),),), notes(40))
    texts = sent(messages)
    assert len(messages) > 4

    def words(text: str) -> list[str]:
        return text.replace("|", " ").replace("> ", " ").split()

    assert words(" ".join(texts)) == words(plain(document))
    labels = []
    for message, text in zip(messages, texts, strict=True):
        own = [
            button for row in message.buttons for button in row["elements"] if button["action_id"].startswith("note:")
        ]
        for button in own:
            assert f"[{view.number(Choice(button['text']['text'], ''))}]" in text
        labels += [button["text"]["text"] for button in own]
    assert labels == [note.label for note in notes(40)]
    assert [len(message.buttons) for message in messages][-1] >= 1


def test_the_top_level_text_carries_each_part_in_plain_words() -> None:
    for message, part in zip(view.messages(long_answer()), view.parts(long_answer()), strict=True):
        assert bare(unescaped(message.text)) == plain(part.document)


def test_c34_a_section_of_3400_characters_becomes_parts_that_slack_takes() -> None:
    """Case C34: 3,400 characters with eight notes."""
    text = "Mara kept the log in green ink. " * 106
    pieces = [text[at : at + 425] for at in range(0, 3400, 425)]
    document = (Paragraph(tuple(node for at, piece in enumerate(pieces, 1) for node in (Text(piece), Cite(at)))),)
    messages = view.messages(document, notes=notes(8))
    assert len(messages) == 2
    shown_text = re.sub(r"\[\d\]", "", "".join(sent(messages)))
    assert "".join(shown_text.split()) == "".join(text[:3400].split())
    assert sum(len(row["elements"]) for message in messages for row in message.buttons) == 8


def test_two_tables_never_share_a_message_and_a_wide_one_is_text() -> None:
    table = Table(((Cell((Text("a"),)), Cell(())), (Cell((Text("b"), Cite(1))), Cell((Text("c"),)))))
    wide = Table((tuple(Cell((Text(str(at)),)) for at in range(25)),))
    messages = view.messages((table, paragraph("between"), table, wide))
    sent(messages)
    assert [sum(block["type"] == "table" for block in message.blocks) for message in messages] == [1, 1, 0]


def test_seventy_notes_stand_in_rows_of_at_most_twenty_five() -> None:
    document = (Paragraph(tuple(node for at in range(1, 71) for node in (Text("so "), Cite(at)))),)
    [message] = view.messages(document, ((Choice("⋯", "more"),),), notes(70))
    sent((message,))
    assert [len(row["elements"]) for row in message.buttons] == [25, 25, 20, 1]


def test_a_footnotes_button_begins_with_its_number_and_is_spoken_as_a_footnote() -> None:
    made = view.button(Choice("2 · Ch. 1", "id", "note"), 0, "en")
    assert made["text"] == {"type": "plain_text", "text": "2 · Ch. 1", "emoji": False}
    assert made["accessibility_label"] == "Footnote 2 · Ch. 1"
    assert made["value"] == "id"
    long = view.button(Choice("x" * 200, "id"), 0, "en")
    assert len(long["text"]["text"]) == 75


def test_nested_lists_keep_their_numbers_and_a_list_that_goes_on_counts_on() -> None:
    inner = ListBlock((Item((paragraph("inner"),)),))
    outer = ListBlock((Item((paragraph("one"), inner)), Item((paragraph("two"),))), ordered=True, start=4)
    [block] = blocks((outer,))
    assert block_text(block) == "4. one\n  - inner\n5. two"


def test_a_book_text_of_ten_thousand_characters_arrives_letter_for_letter() -> None:
    dice = random.Random(5)
    alphabet = "abc *_~`|<>&[]()#@!:;.\\/木ي\u200f👩‍🚀é"
    text = ""
    while len(text) < 10_000:
        text += "".join(dice.choice(alphabet) for _ in range(dice.randint(1, 12))).strip() + " "
    text = text.strip()
    texts = sent(view.messages((Paragraph((Text(text),)),)))
    assert "".join("".join(texts).split()) == "".join(text.split())


@pytest.mark.parametrize("text", hostile(500)[:500:50])
def test_a_hostile_text_would_be_live_if_nothing_were_done(text: str) -> None:
    assert live(text) or live_markdown(text) or ":" in text


def test_five_hundred_hostile_strings_are_inert_as_book_text_model_text_and_while_streaming() -> None:
    for text in hostile(500):
        for document in ((Quote((paragraph(text),)),), parse(text)):
            if not document:
                continue
            for message in view.messages(document):
                assert message_error(message.text, message.blocks) is None, text
                assert live(message.text, message.blocks) == [], text
        assert bare(unescaped(inert(text))) == text
        assert live_markdown(inert_markdown(text)) == [], text


def test_a_link_is_live_only_when_the_tree_says_that_the_passage_has_it() -> None:
    there = Link((Text("the page"),), "https://book.example/x", live=True)
    not_there = Link((Text("another"),), "https://evil.example", live=False)
    [message] = view.messages((Paragraph((there, Text(" and "), not_there)),))
    assert live(message.text, message.blocks) == ["link: https://book.example/x"]


def test_emphasis_and_code_are_styles_and_empty_things_leave_no_blocks() -> None:
    document = (
        Paragraph((Emphasis((Text("so"),), strong=True), Text(""))),
        Paragraph(()),
        Quote(()),
        ListBlock((Item(()),)),
        CodeBlock(""),
    )
    made = blocks(document)
    assert made[0]["elements"][0]["elements"] == [{"type": "text", "text": "so", "style": {"bold": True}}]
    assert message_error("x", made) is None
