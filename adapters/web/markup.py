"""Values -> HTML that is safe to send: answers with their footnotes, passages, the text of a book with a range marked. Pure."""

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from core.document import html
from core.model import BookPage, Choice, Document, Passage
from core.strings import say

_PARAGRAPH = re.compile(r"(\n\n+)")
_LONGEST_HEADING = 200
"""Characters of a paragraph that may be a heading because the contents lead to it."""


def words(locale: str | None, key: str, **params: str | int) -> str:
    """A sentence or label of the page."""
    return say(f"web_{key}", locale, **params)


def answer(document: Document, notes: Sequence[Choice], locale: str | None) -> Markup:
    """An answer whose footnotes are buttons; one that has no button (yet) is a number."""
    by_number = dict(enumerate(notes, 1))

    def cite(number: int) -> str:
        note = by_number.get(number)
        if note is None:
            return f"<sup>[{number:d}]</sup>"
        label = say("web_note", locale, number=note.label)
        return (
            f'<button type="button" class="cite" data-kind="note" data-id="{escape(note.id)}" data-number="{number:d}" aria-expanded="false"'
            f' aria-label="{escape(label)}">{number:d}</button>'
        )

    return Markup(html(document, cite))  # core.document escapes every text in it


def reply(document: Document) -> Markup:
    """Something of ours that is no answer."""
    return Markup(html(document, lambda number: f"[{number:d}]"))  # as above


def passage(passage: Passage) -> Markup:
    """The exact text in its surroundings, the quoted run marked."""
    marked = Markup("<mark>{}</mark>").format(passage.quote)
    before, after = (Markup('<span class="around">{}</span>').format(text) for text in (passage.before, passage.after))
    return Markup('<div class="text" dir="auto">{}{}{}</div>').format(before, marked, after)


def page_text(page: BookPage, id: str = "mark") -> Markup:
    """A page's text, letter for letter: what a browser copies out of it is `page.text`.

    The part of the marked range that lies here is inside `mark` elements, the first with this `id`.
    """
    headings = {entry.offset - page.start: entry.depth for entry in page.toc if entry.file == page.file}
    marked = (0, 0)
    if page.marked is not None and page.marked.file == page.file:
        marked = (page.marked.start - page.start, page.marked.end - page.start)
    parts: list[Markup] = []
    at = 0
    for piece in _PARAGRAPH.split(page.text):
        inner, found = _piece(piece, marked[0] - at, marked[1] - at, id)
        id = "" if found else id
        if not piece or piece.startswith("\n\n"):
            parts.append(escape(piece))  # between paragraphs: seen by copying, not by the eye
        else:
            depth = headings.get(at) if len(piece) <= _LONGEST_HEADING else None
            name = f"h{min(depth + 1, 6)}" if depth else "p"
            parts.append(Markup('<{} id="at-{}" dir="auto">{}</{}>').format(name, page.start + at, inner, name))
        at += len(piece)
    return Markup("").join(parts)


def _piece(piece: str, start: int, end: int, id: str) -> tuple[Markup, bool]:
    """A paragraph with what of [start, end) lies in it marked, and whether anything does."""
    start, end = max(start, 0), min(end, len(piece))
    if start >= end:
        return escape(piece), False
    opening = Markup('<mark id="{}" tabindex="-1">').format(id) if id else Markup("<mark>")
    return escape(piece[:start]) + opening + escape(piece[start:end]) + Markup("</mark>") + escape(piece[end:]), True


def rows(choices: Sequence[Sequence[Choice]]) -> Markup:
    """Buttons under a reply, one row each; a link is a link."""
    lines = [Markup('<div class="row">{}</div>').format(Markup("").join(map(_choice, row))) for row in choices if row]
    return Markup("").join(lines)


def _choice(choice: Choice) -> Markup:
    if choice.kind == "link":
        return Markup('<a class="button" href="{}">{}</a>').format(choice.id, choice.label)
    expands = Markup(' aria-expanded="false"') if choice.kind == "note" else Markup("")
    return Markup('<button type="button" data-kind="{}" data-id="{}"{}>{}</button>').format(
        choice.kind, choice.id, expands, choice.label
    )
