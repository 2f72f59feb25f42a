"""Sentences of ours as documents, and labels that fit a button. Pure."""

from collections.abc import Iterable

from core.model import Block, Document, Emphasis, Item, LineBreak, ListBlock, Paragraph, Text
from core.strings import say

LABEL = 40
"""Characters of a button's label: more than a phone shows; every platform takes as many."""


def paragraphs(*texts: str) -> Document:
    """Plain words; a line break in one stays."""
    return tuple(_paragraph(text) for text in texts if text)


def sentence(key: str, locale: str | None, **params: str | int) -> Document:
    """One sentence of ours; a text of several paragraphs stays so."""
    return paragraphs(*say(key, locale, **params).strip().split("\n\n"))


def heading(text: str) -> Block:
    """A line in bold."""
    return Paragraph((Emphasis((Text(text),), strong=True),))


def numbered(lines: Iterable[str]) -> Block:
    """A list of plain lines, counted from 1."""
    return ListBlock(tuple(Item((Paragraph((Text(line),)),)) for line in lines), ordered=True)


def short(text: str, length: int = LABEL) -> str:
    """At most so many characters, cut after a word where there is one."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text[: length - 1].rsplit(" ", 1)[0] if " " in text[: length - 1] else text[: length - 1]
    return f"{cut.rstrip()}…"


def _paragraph(text: str) -> Paragraph:
    children: list[Text | LineBreak] = []
    for line in text.split("\n"):
        children += [*([LineBreak()] if children else []), Text(line)]
    return Paragraph(tuple(children))
