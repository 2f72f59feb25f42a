"""The text of a page, and where its anchors, headings, pages and notes stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats.xhtml import PageText, parse, read_page
from tests.books.builders import page


def read(body: str) -> PageText:
    root = parse(page(body))
    assert root is not None
    return read_page(root)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<p>In <b>bo</b><i>th</i>, <em> spaced </em> out</p>", "In both, spaced out"),
        ("<p>a<em> </em>b</p>", "a b"),
        ("<p>Line<br/>break<br />\n here</p>", "Line\nbreak\nhere"),
        ("<p>para<br/><br/>graph</p>", "para\n\ngraph"),
        ("<ul><li>one</li><li>two</li></ul><p>after</p>", "one\ntwo\n\nafter"),
        ("<ul><li><p>one</p><p>more</p></li><li><p>two</p></li></ul>", "one\n\nmore\ntwo"),
        ("<ul><li>one<ul><li>in</li><li>ner</li></ul></li><li>two</li></ul>", "one\nin\nner\ntwo"),
        ("<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ana</td><td>9</td></tr></table>", "Name\tAge\nAna\t9"),
        ("<table><tr><td>King</td><td><p>And can</p><p>you</p></td></tr></table>", "King\tAnd can\n\nyou"),
        ("<p>x</p><pre>\n  two\n    four  \n\n</pre><p>y</p>", "x\n\n  two\n    four\n\ny"),
        ("<pre>a <b>b</b>\n<i> c</i></pre>", "a b\n c"),
        ("<div>bare<p>inner</p>tail</div>", "bare\n\ninner\n\ntail"),
        ("a<script>no</script>b<style>no</style>c<template>no</template>d", "abcd"),
        ("<p>a</p><p hidden='hidden'>no</p><p style='color:red; DISPLAY : none'>no</p><p>b</p>", "a\n\nb"),
        ("<p>東<ruby>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>へ</p>", "東京へ"),
        ("<p>word<a epub:type='noteref' href='#n'>1</a> on</p>", "word on"),
        ("<p>word<a role='doc-noteref' href='#n'>1</a> on</p>", "word on"),
        ("<p>word<sup><a href='#n'>12</a></sup> on</p>", "word on"),
        ("<p>word<a href='#n'><sup>*</sup></a> on</p>", "word on"),
        ("<p>word<sup>[<a href='#n'>3</a>]</sup> on</p>", "word on"),
        ("<p>x<sup>2</sup> and H<sub>2</sub>O, see <a href='#n'>12</a></p>", "x2 and H2O, see 12"),
        ("<p>1<sup>st</sup> <sup><a href='#n'>note</a></sup></p>", "1st note"),
        ("<p>a<span epub:type='pagebreak' title='9'/>b</p>", "ab"),
        ("<p>a<span role='doc-pagebreak'>10</span>b</p>", "ab"),
        ("<p>See <img src='x' alt='a cat asleep'/> here</p>", "See\n\n[a cat asleep]\n\nhere"),
        ("<p>See <img src='x' alt='a cat'/> here</p>", "See here"),
        ("<p>Thus <math alttext='x = y'><mi>x</mi></math> holds</p>", "Thus x = y holds"),
        ("<svg><title>map of the island</title><text>N</text></svg>", "[map of the island]"),
        ("<p>&nbsp;a&nbsp;&mdash;&#8201;b &amp; &lt;c&gt;</p>", "a — b & <c>"),
        ("<p>a<!-- no -->b<?php no ?>c</p>", "abc"),
        ("<p>so&shy;ft&#8203;ly</p>", "softly"),
        ("<p>e<i>\u0301</i> caf\u0065\u0301</p>", "e\u0301 café"),
        ("<section><![CDATA[a < b]]></section>", "a < b"),
        ("<p/><p> </p><div><br/></div>", ""),
    ],
)
def test_blocks_lines_cells_and_what_is_left_out(body: str, text: str) -> None:
    assert read(body).text == text


def test_an_anchor_stands_at_the_next_character_written() -> None:
    found = read('<h1 id="a">One</h1><p>x <a id="b"/><a name="c"/>y</p><p id="d"></p><span id="e"/>')
    assert found.text == "One\n\nx y"
    assert found.anchors == {"a": 0, "b": 7, "c": 7, "d": 8, "e": 8}


def test_of_a_doubled_anchor_the_first_counts() -> None:
    assert read('<p id="a">One</p><p id="a">Two</p>').anchors == {"a": 0}


def test_anchors_inside_what_is_left_out_still_lead_somewhere() -> None:
    found = read('<p>a<sup id="s"><a id="r" href="#n">1</a></sup>b</p><div hidden=""><p id="h">no</p></div><p>c</p>')
    assert found.anchors == {"s": 1, "r": 1, "h": 4}
    assert found.notes == [(1, "#n")]


def test_headings_carry_level_words_and_offset() -> None:
    found = read("<p>x</p><h2>The <i>first</i><br/>part</h2><p>y</p><h3><img alt='Part II' src='x'/></h3><p>z</p>")
    assert [(h.level, h.title, found.text[h.offset :][:3]) for h in found.headings] == [
        (2, "The first part", "The"),
        (3, "Part II", "z"),
    ]


def test_page_breaks_keep_their_printed_labels() -> None:
    body = "<p>a <span epub:type='pagebreak' title='xii'/>b</p><div role='doc-pagebreak' aria-label='13'/><p>c</p>"
    assert read(body).pages == [("xii", 2), ("13", 5)]


def test_a_whole_page_wrapped_in_a_page_break_is_text() -> None:
    words = "This is the text of a whole page that somebody wrapped wrongly."
    assert read(f"<div epub:type='pagebreak'><p>{words}</p></div>").text == words


def test_types_of_what_wraps_the_whole_page_are_kept() -> None:
    root = parse(page('<section epub:type="titlepage"><p>x</p></section>', body_type="frontmatter"))
    assert root is not None
    assert read_page(root).types == {"frontmatter", "titlepage"}
    assert read('<section epub:type="dedication"><p>x</p></section><section><p>y</p></section>').types == set()


def test_tag_soup_is_read_like_a_browser_would() -> None:
    root = parse("<html><body><h1 id=c1>One<p>First <b>bold <i>both</b> it</i><p>a < b & c<br>x<table><tr><td>p<td>q")
    assert root is not None
    assert read_page(root).text == "One\n\nFirst bold both it\n\na < b & c\nx\n\np\tq"


def test_a_self_closed_element_swallows_nothing_in_tag_soup() -> None:
    root = parse(
        '<html><head><title/><script src="x"/></head><body><p><a id="x"/>kept &amp & <b>text</p></body></html>'
    )
    assert root is not None
    found = read_page(root)
    assert found.text == "kept & & text"
    assert found.anchors == {"x": 0}


def test_twenty_thousand_nested_elements_do_not_hide_the_text() -> None:
    root = parse(page("<p>before</p>" + "<div>" * 20_000 + "inside" + "</div>" * 20_000 + "<p>after</p>"))
    assert root is not None
    assert read_page(root).text == "before\n\ninside\n\nafter"


def test_no_entity_is_expanded_and_no_file_read() -> None:
    bomb = (
        '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
        "<html><body><p>x&b;y&f;z</p></body></html>"
    )
    root = parse(bomb)
    assert root is not None
    assert read_page(root).text == "xyz"


def test_nothing_to_parse_is_no_tree() -> None:
    assert parse(b"") is None
    assert parse("  \n") is None


_PIECES = (
    "<p> </p> <div> </div> <ul> </ul> <li> </li> <table> <tr> <td> </td> </tr> </table> <pre> </pre> <br/> <b> </b> "
    "<h2> </h2> <ruby> <rt> </rt> </ruby> <sup> </sup> <a> </a> <i/> <hr/> <svg> </svg> & < ]]> word 1 * é e\u0301 "
    "\u00ad &nbsp; &shy;"
)
_MARKUP = st.lists(
    st.sampled_from(
        [*_PIECES.split(" "), " ", "\n", "<a href='#x'>", "<i id='q'/>", "<img alt='one two three'/>", "<p hidden=''>"]
    ),
    max_size=40,
).map("".join)


@given(_MARKUP)
def test_any_markup_reads_the_same_twice_with_every_mark_inside(markup: str) -> None:
    first, second = parse(page(markup)), parse(page(markup))
    assert first is not None
    assert second is not None
    found = read_page(first)
    assert found == read_page(second)
    length = len(found.text)
    assert found.text == found.text.rstrip()
    assert all(0 <= offset <= length for offset in found.anchors.values())
    assert all(0 <= heading.offset <= length for heading in found.headings)
    assert all(0 <= offset <= length for offset, _ in found.notes)
    assert "\n\n\n" not in found.text or "<pre>" in markup
