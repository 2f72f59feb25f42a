"""A document flattened to leaves (a word, a note, a line of code), each with the path of containers around it, and back.

Any stretch of leaves builds back into a document, so emphasis, fences with their language, list numbers and table heads
go on in the next part by construction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.document.pieces import LONG_WORD, pieces, words
from core.model.document import (
    Block,
    Cell,
    Cite,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Item,
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
)

_LONG_LINE = 120
"""Code points of a line of code that are kept together."""
_STOPS = tuple('.!?…。！？:;”"»)')

# How good a cut before a leaf is.
NEVER, INSIDE, WORDS, SENTENCE, BLOCK = range(5)


@dataclass(frozen=True, slots=True)
class _Step:
    """One container on the way to a leaf; `number` tells siblings apart."""

    number: int
    node: Block | Item | Emphasis | Link | Cell | str


@dataclass(frozen=True, slots=True)
class _Line:
    """A piece of a line of code; `ends` when the line ends with it."""

    text: str
    ends: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    path: tuple[_Step, ...]
    node: Inline | _Line | None
    cut: int


def flatten(blocks: Sequence[Block], path: tuple[_Step, ...] = ()) -> Iterator[Leaf]:
    """The leaves of `blocks`, in order."""
    for number, block in enumerate(blocks):
        here = (*path, _Step(number, block))
        first = True
        for leaf in _block_leaves(block, here):
            yield Leaf(leaf.path, leaf.node, BLOCK) if first and leaf.cut != NEVER else leaf
            first = False


def _block_leaves(block: Block, path: tuple[_Step, ...]) -> Iterator[Leaf]:
    match block:
        case Paragraph(children) | Heading(_, children):
            yield from _marked(_inline_leaves(children, path))
        case Quote(blocks):
            yield from flatten(blocks, path)
        case CodeBlock(text, _, notes):
            lines = text.split("\n")
            for line in lines:
                parts = list(pieces(line, _LONG_LINE)) or [""]
                for index, piece in enumerate(parts):
                    cut = INSIDE if index else SENTENCE
                    yield Leaf(path, _Line(piece, index == len(parts) - 1), cut)
            for note in notes:
                yield Leaf(path, note, NEVER)
        case ListBlock(items):
            for number, item in enumerate(items):
                step = (*path, _Step(number, item))
                if item.children:
                    yield from flatten(item.children, step)
                else:
                    yield Leaf(step, None, BLOCK)
        case Table(rows):
            for row_number, row in enumerate(rows):
                for cell_number, cell in enumerate(row):
                    step = (*path, _Step(row_number, "row"), _Step(cell_number, cell))
                    cut = INSIDE if cell_number or row_number == 1 else SENTENCE
                    inner = list(_inline_leaves(cell.children, step)) or [Leaf(step, None, cut)]
                    yield Leaf(inner[0].path, inner[0].node, cut)
                    for leaf in inner[1:]:
                        yield Leaf(leaf.path, leaf.node, min(leaf.cut, INSIDE))


def _marked(leaves: Iterator[Leaf]) -> Iterator[Leaf]:
    """The leaves of a paragraph with sentence ends found: after a stop and the notes that follow it."""
    ended = False
    for leaf in leaves:
        yield Leaf(leaf.path, leaf.node, SENTENCE) if ended and leaf.cut == WORDS else leaf
        match leaf.node:
            case Text(text) if text.strip():
                ended = text.rstrip().endswith(_STOPS)
            case LineBreak():
                ended = True
            case Text() | Cite():
                pass
            case _:
                ended = False


def _inline_leaves(nodes: tuple[Inline, ...], path: tuple[_Step, ...]) -> Iterator[Leaf]:
    after_space = True
    for number, node in enumerate(nodes):
        match node:
            case Text(text):
                for index, (piece, loose) in enumerate(words(text)):
                    free = loose and (index > 0 or after_space)
                    cut = WORDS if free else INSIDE
                    yield Leaf(path, Text(piece), cut if piece.strip() else NEVER)
                    after_space = piece[-1:].isspace()
            case Code(text):
                for index, piece in enumerate(pieces(text, LONG_WORD)):
                    yield Leaf(path, Code(piece), INSIDE if index or not after_space else WORDS)
                after_space = False
            case Emphasis(children) | Link(children):
                for leaf in _inline_leaves(children, (*path, _Step(number, node))):
                    yield leaf if after_space else Leaf(leaf.path, leaf.node, min(leaf.cut, INSIDE))
                    after_space = isinstance(leaf.node, Text) and leaf.node.text[-1:].isspace()
                    after_space = after_space or isinstance(leaf.node, LineBreak)
            case Cite():
                yield Leaf(path, node, NEVER)
                after_space = False
            case LineBreak():
                yield Leaf(path, node, INSIDE)
                after_space = True


def build(leaves: Sequence[Leaf]) -> Document:
    """The document that a stretch of leaves makes."""
    return tuple(_blocks([(leaf.path, leaf.node) for leaf in leaves]))


def unpacked(leaves: Sequence[Leaf], limit: int) -> list[Leaf]:
    """`leaves` with the first block turned into a paragraph of plain words, or with its first word halved when it is one.

    Raises ValueError when the word is a single grapheme.
    """
    number = leaves[0].path[0].number
    count = next((index for index, leaf in enumerate(leaves) if leaf.path[0].number != number), len(leaves))
    if all(isinstance(leaf.path[0].node, Paragraph) and len(leaf.path) == 1 for leaf in leaves[:count]):
        first = leaves[0]
        text = first.node.text if isinstance(first.node, Text | Code) else ""
        halves = list(pieces(text, max(1, len(text) // 2)))
        if len(halves) < 2:
            raise ValueError(f"nothing fits into {limit}")
        kind: type[Text] | type[Code] = Code if isinstance(first.node, Code) else Text
        return [*(Leaf(first.path, kind(half), INSIDE) for half in halves), *leaves[1:]]
    path = (_Step(number, Paragraph(())),)
    words: list[Leaf] = []
    for before, leaf in zip((None, *leaves[:count]), leaves[:count], strict=False):
        if before is not None and before.path != leaf.path:
            words.append(Leaf(path, Text(" "), NEVER))
        if isinstance(leaf.node, _Line):
            words.append(Leaf(path, Text(leaf.node.text + (" " if leaf.node.ends else "")), max(leaf.cut, INSIDE)))
        elif leaf.node is not None:
            words.append(Leaf(path, leaf.node, leaf.cut))
    return [*words, *leaves[count:]]


_Placed = tuple[tuple[_Step, ...], Inline | _Line | None]


def _children(placed: Sequence[_Placed]) -> Iterator[tuple[_Step, list[_Placed]]]:
    for _, group in groupby(placed, key=lambda leaf: leaf[0][0].number):
        members = list(group)
        yield members[0][0][0], [(path[1:], node) for path, node in members]


def _blocks(placed: Sequence[_Placed]) -> Iterator[Block]:
    for step, inner in _children(placed):
        match step.node:
            case Paragraph():
                children = _trimmed(_inlines(inner))
                if children:
                    yield Paragraph(children)
            case Heading(level):
                children = _trimmed(_inlines(inner))
                if children:
                    yield Heading(level, children)
            case Quote():
                blocks = tuple(_blocks(inner))
                if blocks:
                    yield Quote(blocks)
            case CodeBlock(_, language):
                yield _code(inner, language)
            case ListBlock(_, ordered, start):
                items = list(_children(inner))
                built = tuple(Item(tuple(_blocks([leaf for leaf in part if leaf[0]]))) for _, part in items)
                yield ListBlock(built, ordered, start + items[0][0].number if ordered else start)
            case Table(rows):
                parts = list(_children(inner))
                built_rows = [tuple(Cell(_trimmed(_inlines(cell))) for _, cell in _children(row)) for _, row in parts]
                if parts[0][0].number > 0:
                    built_rows.insert(0, tuple(Cell(_without_notes(cell.children)) for cell in rows[0]))
                yield Table(tuple(built_rows))
            case _:
                raise AssertionError(f"not a block: {step.node!r}")


def _code(placed: Sequence[_Placed], language: str) -> CodeBlock:
    lines: list[str] = []
    notes: list[Cite] = []
    for _, node in placed:
        if isinstance(node, _Line):
            lines.append(node.text + ("\n" if node.ends else ""))
        elif isinstance(node, Cite):
            notes.append(node)
    return CodeBlock("".join(lines).removesuffix("\n"), language, tuple(notes))


def _inlines(placed: Sequence[_Placed]) -> tuple[Inline, ...]:
    out: list[Inline] = []
    for key, group in groupby(placed, key=lambda leaf: leaf[0][0].number if leaf[0] else None):
        members = list(group)
        if key is None:
            for _, node in members:
                _append(out, node)
            continue
        step = members[0][0][0]
        children = _inlines([(path[1:], node) for path, node in members])
        if isinstance(step.node, Emphasis):
            out.extend(_emphasised(children, step.node.strong))
        elif isinstance(step.node, Link):
            out.append(Link(children, step.node.address, step.node.live))
    return tuple(out)


def _emphasised(children: tuple[Inline, ...], strong: bool) -> Iterator[Inline]:
    """Emphasis around the words, white space at its ends outside: markup that begins or ends on a space is no markup."""
    trimmed = _trimmed(children)
    if not trimmed or all(isinstance(child, Cite) for child in trimmed):
        yield from children
        return
    if isinstance(children[0], Text) and children[0].text[:1].isspace():
        yield Text(" ")
    yield Emphasis(trimmed, strong)
    if isinstance(children[-1], Text) and children[-1].text[-1:].isspace():
        yield Text(" ")


def _append(out: list[Inline], node: Inline | _Line | None) -> None:
    if isinstance(node, Text) and out and isinstance(out[-1], Text):
        out[-1] = Text(out[-1].text + node.text)
    elif isinstance(node, Code) and out and isinstance(out[-1], Code):
        out[-1] = Code(out[-1].text + node.text)
    elif node is not None and not isinstance(node, _Line):
        out.append(node)


def _trimmed(nodes: tuple[Inline, ...]) -> tuple[Inline, ...]:
    """Without white space and line breaks at either end."""
    out = list(nodes)
    while out and (isinstance(out[0], LineBreak) or (isinstance(out[0], Text) and not out[0].text.strip())):
        del out[0]
    while out and (isinstance(out[-1], LineBreak) or (isinstance(out[-1], Text) and not out[-1].text.strip())):
        del out[-1]
    if out and isinstance(out[0], Text):
        out[0] = Text(out[0].text.lstrip())
    if out and isinstance(out[-1], Text):
        out[-1] = Text(out[-1].text.rstrip())
    return tuple(out)


def _without_notes(nodes: tuple[Inline, ...]) -> tuple[Inline, ...]:
    return tuple(node for node in nodes if not isinstance(node, Cite))
