"""The document tree goes to JSON and back; nothing else is read as a document."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import (
    Cell,
    Cite,
    Code,
    CodeBlock,
    Document,
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
from core.store.codec import decode_document, encode_document

_words = st.text(max_size=12)
_leaf = st.one_of(
    st.builds(Text, _words), st.just(LineBreak()), st.builds(Code, _words), st.builds(Cite, st.integers(1, 99))
)


def _several(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(of, max_size=3).map(tuple)


_inline = st.recursive(
    _leaf,
    lambda inner: st.one_of(
        st.builds(Emphasis, _several(inner), st.booleans()),
        st.builds(Link, _several(inner), _words, st.booleans()),
    ),
    max_leaves=5,
)
_plain_block = st.one_of(
    st.builds(Paragraph, _several(_inline)),
    st.builds(Heading, st.integers(1, 6), _several(_inline)),
    st.builds(CodeBlock, _words, _words, _several(st.builds(Cite, st.integers(1, 99)))),
    st.builds(Table, _several(_several(st.builds(Cell, _several(_inline))))),
)
_block = st.recursive(
    _plain_block,
    lambda inner: st.one_of(
        st.builds(Quote, _several(inner)),
        st.builds(ListBlock, _several(st.builds(Item, _several(inner))), st.booleans(), st.integers(0, 9)),
    ),
    max_leaves=5,
)


@given(_several(_block))
def test_every_document_comes_back_from_its_json(document: Document) -> None:
    assert decode_document(json.loads(json.dumps(encode_document(document)))) == document


_PARAGRAPH = {"node": "paragraph", "children": [{"node": "text", "text": "x"}]}


def test_the_written_form_is_plain() -> None:
    assert encode_document((Paragraph((Text("x"),)),)) == [_PARAGRAPH]


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        "text",
        [None],
        [{"node": "script", "text": "x"}],
        [{"node": ["text"], "text": "x"}],
        [{"node": "text", "text": "x"}],
        [{"node": "paragraph"}],
        [{**_PARAGRAPH, "more": 1}],
        [{"node": "paragraph", "children": [_PARAGRAPH]}],
        [{"node": "paragraph", "children": "x"}],
        [{"node": "heading", "level": "1", "children": []}],
        [{"node": "heading", "level": True, "children": []}],
        [{"node": "code_block", "text": "", "language": "", "cites": [{"node": "text", "text": "x"}]}],
        [{"node": "table", "rows": [[{"node": "text", "text": "x"}]]}],
        [{"node": "table", "rows": [None]}],
    ],
)
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each case has its own words
        decode_document(value)
