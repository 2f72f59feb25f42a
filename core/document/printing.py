"""Documents as text: plain words for logs and terminals, escaped Markdown for exports; and the notes they hold."""

import re
from collections.abc import Callable, Iterator

from core.model.document import (
    Block,
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

_SPECIAL = re.compile(r"([\\`*_\[\]<>&~|#])")
_LINE_START = re.compile(r"^[ \t]*(\d{0,9})([-+=.)])", re.MULTILINE)


def cites(document: Document) -> tuple[int, ...]:
    """The numbers of the footnotes in `document`, each once, in order of first appearance."""
    return tuple(dict.fromkeys(number for block in document for number in _block_cites(block)))


def plain(document: Document) -> str:
    """Readable text without markup: notes as `[1]`, list marks, one line for each table row, code as it stands."""
    return "\n\n".join(_plain_block(block) for block in document)


def markdown(document: Document, cite: Callable[[int], str] | None = None) -> str:
    r"""CommonMark that shows exactly what the tree says; everything special is escaped.

    `cite` writes a footnote (default `\[1\]`); what it returns is not escaped.
    """
    writer = _Markdown(cite or (lambda number: f"\\[{number}\\]"))
    return "\n\n".join(writer.block(block) for block in document)


def _block_cites(block: Block | Item) -> Iterator[int]:
    match block:
        case Paragraph(children) | Heading(_, children):
            yield from _inline_cites(children)
        case Quote(blocks) | Item(blocks):
            for inner in blocks:
                yield from _block_cites(inner)
        case CodeBlock():
            yield from (cite.number for cite in block.cites)
        case ListBlock(items):
            for item in items:
                yield from _block_cites(item)
        case Table(rows):
            for row in rows:
                for cell in row:
                    yield from _inline_cites(cell.children)


def _inline_cites(nodes: tuple[Inline, ...]) -> Iterator[int]:
    for node in nodes:
        match node:
            case Cite(number):
                yield number
            case Emphasis(children) | Link(children):
                yield from _inline_cites(children)
            case _:
                pass


def _plain_inline(nodes: tuple[Inline, ...]) -> str:
    out: list[str] = []
    for node in nodes:
        match node:
            case Text(text) | Code(text):
                out.append(text)
            case LineBreak():
                out.append("\n")
            case Cite(number):
                out.append(f"[{number}]")
            case Emphasis(children) | Link(children):
                out.append(_plain_inline(children))
    return "".join(out)


def _plain_block(block: Block) -> str:
    match block:
        case Paragraph(children) | Heading(_, children):
            return _plain_inline(children)
        case Quote(blocks):
            return _prefixed(plain(blocks), "> ", "> ")
        case CodeBlock(text):
            return text + _notes(block, lambda number: f"[{number}]")
        case ListBlock(items):
            return "\n".join(
                _prefixed("\n".join(_plain_block(inner) for inner in item.children), mark, " " * len(mark))
                for mark, item in zip(_marks(block), items, strict=True)
            )
        case Table(rows):
            return "\n".join(" | ".join(_plain_inline(cell.children) for cell in row) for row in rows)


def _notes(block: CodeBlock, write: Callable[[int], str]) -> str:
    return "\n" + "".join(write(cite.number) for cite in block.cites) if block.cites else ""


def _marks(block: ListBlock) -> Iterator[str]:
    for index in range(len(block.items)):
        yield f"{block.start + index}. " if block.ordered else "- "


def _prefixed(text: str, first: str, other: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *(other + line if line else other.rstrip() for line in lines[1:])])


class _Markdown:
    def __init__(self, cite: Callable[[int], str]) -> None:
        self._cite = cite

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(children):
                return _LINE_START.sub(r"\1\\\2", self.inline(children))
            case Heading(level, children):
                return f"{'#' * level} {self.inline(children)}".replace("\n", " ")
            case Quote(blocks):
                return _prefixed(self._blocks(blocks), "> ", "> ")
            case CodeBlock(text, language):
                fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
                return f"{fence}{language}\n{text}\n{fence}" + _notes(block, self._cite).replace("\n", "\n\n")
            case ListBlock(items):
                return "\n".join(
                    _prefixed(self._blocks(item.children), mark, " " * len(mark))
                    for mark, item in zip(_marks(block), items, strict=True)
                )
            case Table(rows):
                lines = [
                    "| " + " | ".join(self.inline(cell.children).replace("\n", " ") for cell in row) + " |"
                    for row in rows
                ]
                return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])

    def _blocks(self, blocks: Document) -> str:
        return "\n\n".join(self.block(inner) for inner in blocks)

    def inline(self, nodes: tuple[Inline, ...]) -> str:
        return "".join(self._node(node) for node in nodes)

    def _node(self, node: Inline) -> str:
        match node:
            case Text(text):
                return _SPECIAL.sub(r"\\\1", text)
            case LineBreak():
                return "\\\n"
            case Cite(number):
                return self._cite(number)
            case Code(text):
                fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
                pad = " " if text[:1] in "` " or text[-1:] in "` " else ""
                return f"{fence}{pad}{text}{pad}{fence}"
            case Emphasis(children, strong):
                mark = "**" if strong else "*"
                return f"{mark}{self.inline(children)}{mark}"
            case Link(children, address, live):
                words = self.inline(children)
                return f"[{words}](<{address}>)" if live else words
