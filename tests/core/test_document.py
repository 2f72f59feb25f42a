"""Documents: Markdown becomes a tree, the tree becomes text, and no part of it is torn."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.document import Part, cites, markdown, parse, plain, split
from core.model import Document
from core.model.document import (
    Cite,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Item,
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
)
from core.tags import note


def size(document: Document) -> int:
    return len(markdown(document))


def words(parts: tuple[Part, ...]) -> list[str]:
    return [word for part in parts for word in plain(part.document).split()]


def test_a_note_becomes_a_cite_inside_whatever_surrounds_it() -> None:
    one, two = note(1), note(2)
    assert parse(f"Ink {one}.") == (Paragraph((Text("Ink "), Cite(1), Text("."))),)
    assert parse(f"*ink {one}*") == (Paragraph((Emphasis((Text("ink "), Cite(1))),)),)
    assert parse(f"# Ink {one}") == (Heading(1, (Text("Ink "), Cite(1))),)
    assert parse(f"- a {one}\n- b") == (
        ListBlock((Item((Paragraph((Text("a "), Cite(1))),)), Item((Paragraph((Text("b"),)),)))),
    )
    table = parse(f"| a | b |\n|---|---|\n| x {one} | y {two} |")[0]
    assert isinstance(table, Table)
    assert table.rows[1][0].children == (Text("x "), Cite(1))
    assert cites(parse(f"> b {two}\n\nx {one} {two}")) == (2, 1)


@pytest.mark.parametrize("mark", ["**", "*", "__", "_"])
def test_emphasis_closes_before_and_after_a_note(mark: str) -> None:
    kinds = [
        type(node)
        for block in parse(f"{mark}ink.{mark}{note(1)}")
        if isinstance(block, Paragraph)
        for node in block.children
    ]
    assert kinds == [Emphasis, Cite]


def test_notes_inside_code_stand_after_it() -> None:
    fence = parse(f"```py\nlog = a[1-2] {note(1)}\nx\n```\nFerry {note(2)}.")
    assert fence[0] == CodeBlock("log = a[1-2]\nx", "py", (Cite(1),))
    assert parse(f"`a {note(1)}` and `{note(2)}`") == (Paragraph((Code("a"), Cite(1), Text(" and "), Cite(2))),)


def test_a_link_is_its_words_unless_its_address_is_allowed() -> None:
    source = f"[Tobin's storm {note(1)}](https://example.invalid/a_(b))"
    assert parse(source) == (Paragraph((Text("Tobin's storm "), Cite(1))),)
    live = parse(source, live=lambda address: address.startswith("https://example.invalid"))
    assert live == (Paragraph((Link((Text("Tobin's storm "),), "https://example.invalid/a_(b)", live=True), Cite(1))),)
    assert plain(parse("[x](javascript:alert(1))", live=lambda _: True)) == "[x](javascript:alert(1))"


def test_html_entities_and_pictures_are_words() -> None:
    assert plain(parse("<b>hi</b> &quot;x&quot; ![a lamp](x.png) <https://a.b> ~~old~~")) == (
        "<b>hi</b> &quot;x&quot; a lamp https://a.b old"
    )
    assert plain(parse("[1]: https://x.y\n\n<script>x</script>")) == "[1]: https://x.y\n\n<script>x</script>"


def test_broken_markdown_is_delivered_as_text_with_its_notes() -> None:
    assert plain(parse(f"**Mara kept the log {note(1)}")) == "Mara kept the log [1]"
    for broken in ("*a **b _c", "[x](", "```", "| a |\n|--", "> > - 1. #", "![", "`a", "a ** b"):
        assert isinstance(plain(parse(f"{broken} {note(1)}")), str)
    assert plain(parse("2 ** 3")) == "2 ** 3"


def test_plain_text_shows_lists_quotes_and_tables_as_lines() -> None:
    text = plain(
        parse(f"1. a\n2. b {note(1)}\n   - c\n\n> q\n> r\n\n| h | i |\n|---|---|\n| x | y |\n\n```\ncode\n```")
    )
    assert text == "1. a\n2. b [1]\n   - c\n\n> q\n> r\n\nh | i\nx | y\n\ncode"


def test_a_line_break_of_the_model_stays_one() -> None:
    assert parse("a\nb") == (Paragraph((Text("a"), LineBreak(), Text("b"))),)


@given(
    st.text(alphabet="ab *_`[]()<>#-+1.!|~&\\\n\"'é😀>:/", max_size=60).map(
        lambda text: " ".join(text.split(" ")).strip()
    )
)
def test_markdown_for_exports_shows_exactly_what_the_tree_says(text: str) -> None:
    lines = [line.strip() for line in text.split("\n")]
    nodes = [node for line in lines if line for node in (Text(line), LineBreak())][:-1]
    document: Document = (Paragraph(tuple(nodes)),) if nodes else ()
    assert parse(markdown(document)) == document


def test_structured_markdown_survives_a_round_trip() -> None:
    source = (
        f"# T {note(1)}\n\na *b* **c** `d` {note(2)}\n\n- x\n\n  y\n- z\n\n3. p\n4. q\n\n> r {note(1)}\n\n"
        "```py\nf = 1\n```\n\n| a | b |\n|---|---|\n| c | d |"
    )
    assert parse(markdown(parse(source), note)) == parse(source)


def test_a_long_emphasis_is_cut_into_parts_that_are_each_emphasised() -> None:
    document = parse("*" + "salt " * 1200 + note(1) + "*")
    parts = split(document, size, 4000)
    assert len(parts) == 2
    for part in parts:
        (paragraph,) = part.document
        assert isinstance(paragraph, Paragraph)
        assert isinstance(paragraph.children[0], Emphasis)
        assert size(part.document) <= 4000
    assert [part.cites for part in parts] == [(), (1,)]
    assert words(parts)[-2:] == ["salt", "[1]"]


def test_a_long_fence_is_closed_and_reopened_with_its_language() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(170))
    document = parse(f"```python\n{code}\n```\nInk {note(1)}.")
    parts = split(document, size, 2000)
    assert len(parts) == 2
    assert all(size(part.document) <= 2000 for part in parts)
    blocks = [part.document[0] for part in parts]
    assert all(isinstance(block, CodeBlock) and block.language == "python" for block in blocks)
    assert "\n".join(block.text for block in blocks if isinstance(block, CodeBlock)) == code
    assert [part.cites for part in parts] == [(), (1,)]


@pytest.mark.parametrize("limit", [40, 41, 55, 64, 100, 333])
def test_a_note_is_never_parted_from_the_word_before_it_and_no_word_is_cut(limit: int) -> None:
    source = " ".join(
        f"Sentence number {n} is about salt {note(n)}. *And some stress {note(n)}*, too." for n in range(1, 40)
    )
    document = parse(source)
    parts = split(document, size, limit)
    assert all(size(part.document) <= limit for part in parts)
    assert words(parts) == plain(document).split()
    for part in parts:
        assert not re.match(r"[\s\[.,]", plain(part.document))
        assert part.cites == cites(part.document)


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "🇵🇹", "👍🏽", "é", "❤️"])
def test_a_grapheme_is_never_cut_even_in_a_word_too_long_for_a_part(cluster: str) -> None:
    document: Document = (Paragraph((Text(cluster * 100),)),)
    for part in split(document, lambda d: len(plain(d)), 3 * 60 + 1):
        text = plain(part.document)
        assert text == cluster * (len(text) // len(cluster))


def test_chinese_is_cut_between_characters_and_not_before_a_stop() -> None:
    document = parse("灯塔的日志是用绿墨水写的。" * 30)
    parts = split(document, lambda d: len(plain(d)), 50)
    assert "".join(plain(part.document) for part in parts) == plain(document)
    assert all(not plain(part.document).startswith("。") for part in parts)
    assert all(plain(part.document).endswith("。") for part in parts)


def test_numbers_of_a_list_run_on_and_a_table_repeats_its_head() -> None:
    listed = split(parse("\n".join(f"{n}. item about salt" for n in range(1, 30))), size, 200)
    starts = [part.document[0].start for part in listed if isinstance(part.document[0], ListBlock)]
    assert starts[0] == 1
    assert starts == sorted(starts)
    assert words(listed) == plain(parse("\n".join(f"{n}. item about salt" for n in range(1, 30)))).split()
    rows = "\n".join(f"| a{n} | b{n} {note(n)} |" for n in range(1, 30))
    tables = split(parse(f"| head | tail |\n|---|---|\n{rows}"), size, 300)
    assert len(tables) > 1
    for part in tables:
        (table,) = part.document
        assert isinstance(table, Table)
        assert [plain((Paragraph(cell.children),)) for cell in table.rows[0]] == ["head", "tail"]
        assert all(len(row) == 2 for row in table.rows)
    assert [number for part in tables for number in part.cites] == list(range(1, 30))


def test_a_table_whose_head_alone_fills_a_part_goes_on_as_plain_words() -> None:
    head = " ".join(f"head{n}" for n in range(40))
    document = parse(f"| {head} | b |\n|---|---|\n| x {note(1)} | y |\n\nAfter.")
    parts = split(document, size, 100)
    assert [word for word in words(parts) if word != "|"] == [word for word in plain(document).split() if word != "|"]
    assert all(size(part.document) <= 100 for part in parts)
    with pytest.raises(ValueError, match="nothing fits"):
        split(document, size, 0)


def test_a_part_prefers_to_end_with_a_block_then_a_sentence() -> None:
    document = parse(f"One two three. Four five {note(1)}. Six seven.\n\nEight nine ten eleven twelve.")
    ends = [plain(part.document)[-1] for part in split(document, size, 60)]
    assert ends == [".", "."]
    assert plain(split(document, lambda d: len(plain(d)), 45)[0].document) == "One two three. Four five [1]. Six seven."


def test_an_empty_document_has_no_parts_and_a_short_one_has_one() -> None:
    assert split((), size, 10) == ()
    document = parse(f"> a {note(1)}\n\nb")
    assert split(document, size, 4000) == (Part(document, (1,)),)
    assert isinstance(document[0], Quote)
