"""A document as Telegram's plain text with entities: offsets in UTF-16 units, nothing live that we did not make live. Pure.

Never a parse mode: text of books and models has no markup that could break or work. What the server and its clients turn
live by themselves (names, addresses, commands) is broken up by an invisible word joiner.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from typing import NamedTuple

from core.model import (
    Block,
    Cite,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
)

JOINER = "\u2060"
"""Word joiner: no width, no break, and no part of any name or address."""

_BROKEN = re.compile("[\ud800-\udfff]")
_DROPPED = re.compile("[\r\u202a-\u202e]")  # the server removes them, and every offset behind one would be wrong
_LINES = re.compile("[\u2028\u2029]")
_LIVE = re.compile(
    r"@(?=[A-Za-z0-9_])"  # names and mail addresses
    r"|(?<=[\w-])\.(?=[^\W\d_]{2})"  # example.com
    r"|(?<=\d)\.(?=\d{1,3}\.\d{1,3}\.\d)"  # 127.0.0.1
    r"|(?<=\w):(?=//)"  # any scheme
    r"|#(?=\w)"
)
_COMMAND = re.compile(r"(?<![\w/<>])/(?=\w)")


class Mark(NamedTuple):
    """One entity, in UTF-16 units."""

    kind: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Plain:
    """A text as it goes over the wire."""

    text: str
    marks: tuple[Mark, ...] = ()

    @property
    def units(self) -> int:
        return units(self.text)


class _Style(NamedTuple):
    """One node of the tree that shows; `node` tells two alike apart."""

    node: int
    kind: str
    url: str | None = None
    language: str | None = None


class _Piece(NamedTuple):
    text: str
    styles: tuple[_Style, ...]


def units(text: str) -> int:
    """UTF-16 code units: what Telegram's limits and offsets count."""
    return len(text) + sum(1 for ch in text if ord(ch) > 0xFFFF)


def render(document: Document, *, own: bool = False) -> Plain:
    """The document as text with entities. `own`: commands in it are ours and may be tapped, but for those in quotations."""
    return _joined(list(_Writer().blocks(document)), own)


class _Writer:
    """Goes through the tree once; each node that shows gets a number, so that entities nest as the tree does."""

    def __init__(self) -> None:
        self._nodes = count()

    def style(self, kind: str, url: str | None = None, language: str | None = None) -> _Style:
        return _Style(next(self._nodes), kind, url, language)

    def blocks(
        self, blocks: Sequence[Block], styles: tuple[_Style, ...] = (), between: str = "\n\n"
    ) -> Iterator[_Piece]:
        for at, block in enumerate(blocks):
            if at:
                yield _Piece(between, styles)
            yield from self.block(block, styles)

    def block(self, block: Block, styles: tuple[_Style, ...]) -> Iterator[_Piece]:
        match block:
            case Paragraph(children):
                yield from self.inline(children, styles)
            case Heading(_, children):
                yield from self.inline(children, (*styles, self.style("bold")))
            case Quote(children):
                quoted = any(style.kind == "blockquote" for style in styles)  # Telegram nests none
                yield from self.blocks(children, styles if quoted else (*styles, self.style("blockquote")))
            case CodeBlock(text, language, cites):
                # A block of code inside a quotation leaves it: the vendor lets nothing hold code.
                yield _Piece(text, (self.style("pre", language=language or None),))
                if cites:
                    yield _Piece("\n", styles)
                    yield from self.inline(cites, styles)
            case ListBlock(items, ordered, start):
                for number, item in enumerate(items, start):
                    mark = f"{number}. " if ordered else "• "
                    yield _Piece(("\n" if number > start else "") + mark, styles)
                    for piece in self.blocks(item.children, styles, "\n"):
                        # lines after an item's first stand under its words
                        yield _indented(piece, "   ")
            case Table(rows):
                for at, row in enumerate(rows):
                    if at:
                        yield _Piece("\n", styles)
                    inner = (*styles, self.style("bold")) if at == 0 else styles
                    for column, cell in enumerate(row):
                        if column:
                            yield _Piece(" | ", inner)
                        yield from self.inline(cell.children, inner)

    def inline(self, children: Iterable[Inline], styles: tuple[_Style, ...]) -> Iterator[_Piece]:
        for child in children:
            match child:
                case Text(text):
                    yield _Piece(text, styles)
                case Code(text):
                    # code holds and is held by nothing but a quotation
                    held = tuple(style for style in styles if style.kind == "blockquote")
                    yield _Piece(text, (*held, self.style("code")))
                case LineBreak():
                    yield _Piece("\n", styles)
                case Emphasis(inner, strong):
                    yield from self.inline(inner, (*styles, self.style("bold" if strong else "italic")))
                case Link(inner, address, live):
                    linked = (*styles, self.style("text_link", url=address)) if live else styles
                    yield from self.inline(inner, linked)
                case Cite(number):
                    yield _Piece(f"[{number}]", styles)


def _indented(piece: _Piece, indent: str) -> _Piece:
    if any(style.kind == "pre" for style in piece.styles):
        return piece
    return piece._replace(text=piece.text.replace("\n", "\n" + indent))


def _joined(pieces: list[_Piece], own: bool) -> Plain:
    """One text; entities from stretches of pieces under the same node."""
    pieces = [piece._replace(text=_clean(piece.text)) for piece in pieces]
    text = "".join(piece.text for piece in pieces)
    spans: dict[_Style, list[list[int]]] = {}
    commands: list[tuple[int, int]] = []
    safe: list[tuple[int, int]] = []
    place = 0
    for piece in pieces:
        end = place + len(piece.text)
        for style in piece.styles if piece.text else ():
            stretches = spans.setdefault(style, [])
            if stretches and stretches[-1][1] == place:
                stretches[-1][1] = end
            else:
                stretches.append([place, end])
        kinds = {style.kind for style in piece.styles}
        if kinds & {"code", "pre", "text_link"}:
            safe.append((place, end))
        elif not own or "blockquote" in kinds:
            commands.append((place, end))
        place = end
    joints = _joints(text, safe, commands)
    if text[:1].isspace():
        joints.insert(0, 0)  # leading space would be trimmed away
    at = _offsets(text, joints)
    marks = [
        Mark(style.kind, at[start], at[end] - at[start], style.url, style.language)
        for style, stretches in spans.items()
        for start, end in stretches
        if text[start:end].strip()
    ]
    marks.sort(key=lambda mark: (mark.offset, -mark.length))
    return Plain(_with_joiners(text, joints), tuple(marks))


def _clean(text: str) -> str:
    return _BROKEN.sub("\ufffd", _LINES.sub("\n", _DROPPED.sub("", text)))


def _joints(text: str, safe: list[tuple[int, int]], commands: list[tuple[int, int]]) -> list[int]:
    """Where a word joiner goes in: behind what would turn live, outside of code and links."""
    found = [match.end() for match in _LIVE.finditer(text)]
    if commands:
        found += [
            match.end()
            for match in _COMMAND.finditer(text)
            if any(start <= match.start() < end for start, end in commands)
        ]
    return sorted(place for place in set(found) if not any(start < place < end for start, end in safe))


def _offsets(text: str, joints: list[int]) -> list[int]:
    """For every index of the text, and its end, the UTF-16 offset once the joiners are in (each stands before its place)."""
    steps = [0, *(2 if character > "\uffff" else 1 for character in text)]
    for place in joints:
        steps[place or 1] += 1  # the one before everything belongs to whatever begins the text
    return list(accumulate(steps))


def _with_joiners(text: str, joints: list[int]) -> str:
    parts, last = [], 0
    for place in joints:
        parts += [text[last:place], JOINER]
        last = place
    return "".join([*parts, text[last:]])
