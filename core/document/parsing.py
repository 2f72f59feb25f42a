"""From Markdown to the document tree, by markdown-it-py.

CommonMark and tables. Raw HTML and entities are literal text, pictures are their alternative text, a link is its words
unless its address is allowed. Broken Markdown is text: nothing here raises for any input.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token

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
from core.tags import NOTE

_READER = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["table", "strikethrough"])
    # A definition `[1]: …` would vanish from the answer; an entity could smuggle in what the settling never saw.
    # Without joining, an escaped character can be told from one that was not.
    .disable(["reference", "entity", "html_block", "html_inline", "text_join"])
)
_NOTE_AS_ADDRESS = re.compile(rf"\[([^\[\]\n]*)\]\(\s*<?((?:{NOTE.pattern}[\s,]*)+)>?\s*\)")
_STRAY_BOLD = re.compile(r"(?<![\w*])(?:\*\*|__)(?=[^\s*_])|(?<=[^\s*_])(?:\*\*|__)(?![\w*])")
_NOTES_IN_CODE = re.compile(rf"^(?:[ \t]*{NOTE.pattern})+[ \t]*\n|[ \t]*{NOTE.pattern}", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")


def parse(markdown: str, live: Callable[[str], bool] | None = None) -> Document:
    """The tree of settled Markdown (footnotes as `core.tags.note` writes them become `Cite`).

    `live` says which http(s) addresses may stay links; without it none does.
    """
    source = _NOTE_AS_ADDRESS.sub(lambda match: f"{'' if match[1].isdigit() else match[1]} {match[2]}", markdown)
    return _Tree(live or (lambda _address: False)).blocks(_READER.parse(source))


class _Tree:
    """Builds nodes from markdown-it's flat token list; one of these for each call of `parse`."""

    def __init__(self, live: Callable[[str], bool]) -> None:
        self._live = live

    def blocks(self, tokens: Sequence[Token]) -> Document:
        return tuple(self._blocks(tokens))

    def _blocks(self, tokens: Sequence[Token]) -> Iterator[Block]:
        for token, inner in _elements(tokens):
            match token.type:
                case "paragraph_open":
                    children = self._line(inner)
                    if children:
                        yield Paragraph(children)
                case "heading_open":
                    children = self._line(inner)
                    if children:
                        yield Heading(int(token.tag[1:]), children)
                case "blockquote_open":
                    children_blocks = self.blocks(inner)
                    if children_blocks:
                        yield Quote(children_blocks)
                case "bullet_list_open" | "ordered_list_open":
                    items = tuple(Item(self.blocks(part)) for _, part in _elements(inner))
                    start = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else 1
                    yield ListBlock(items, token.type == "ordered_list_open", start)
                case "fence" | "code_block":
                    yield _code_block(token)
                case "table_open":
                    yield Table(tuple(self._rows(inner)))
                case "inline":
                    children = self.inlines(token.children or [])
                    if children:
                        yield Paragraph(children)
                case _:
                    pass  # a rule across the page carries no words

    def _rows(self, tokens: Sequence[Token]) -> Iterator[tuple[Cell, ...]]:
        for _, section in _elements(tokens):
            for _, row in _elements(section):
                yield tuple(Cell(self._line(cell)) for _, cell in _elements(row))

    def _line(self, tokens: Sequence[Token]) -> tuple[Inline, ...]:
        return self.inlines([child for token in tokens if token.type == "inline" for child in token.children or []])

    def inlines(self, tokens: Sequence[Token]) -> tuple[Inline, ...]:
        return _joined(self._inlines(tokens))

    def _inlines(self, tokens: Sequence[Token]) -> Iterator[Inline]:
        for token, inner in _elements(tokens):
            match token.type:
                case "text":
                    # A bold mark that never found its partner is noise; one that was escaped is meant.
                    yield from _text(_STRAY_BOLD.sub("", token.content))
                case "text_special":
                    yield Text(token.content)
                case "softbreak" | "hardbreak":
                    yield LineBreak()
                case "code_inline":
                    content, notes = _lift(token.content)
                    if content.strip():
                        yield Code(content)
                    yield from notes
                case "em_open" | "strong_open":
                    children = self.inlines(inner)
                    if all(isinstance(child, Cite) for child in children):
                        yield from children
                    else:
                        yield Emphasis(children, strong=token.type == "strong_open")
                case "link_open":
                    yield from self._link(token, inner)
                case "image":
                    yield from self._inlines(token.children or [])
                case _:
                    yield from self._inlines(inner)

    def _link(self, token: Token, inner: Sequence[Token]) -> Iterator[Inline]:
        address = str(token.attrs.get("href", ""))
        children = self.inlines(inner)
        if address.lower().startswith(("http://", "https://")) and self._live(address):
            words = tuple(child for child in children if not isinstance(child, Cite))
            yield Link(words, address, live=True)
            yield from (child for child in children if isinstance(child, Cite))
        else:
            yield from children


def _elements(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each token of this level with what stands between it and its closing token."""
    index = 0
    while index < len(tokens):
        token, depth, end = tokens[index], int(tokens[index].nesting), index
        while depth > 0 and end + 1 < len(tokens):
            end += 1
            depth += tokens[end].nesting
        yield token, tokens[index + 1 : end]
        index = end + 1


def _text(content: str) -> Iterator[Inline]:
    place = 0
    for match in NOTE.finditer(content):
        if match.start() > place:
            yield Text(content[place : match.start()])
        yield Cite(int(match[1]))
        place = match.end()
    if place < len(content):
        yield Text(content[place:])


def _lift(content: str) -> tuple[str, tuple[Cite, ...]]:
    """Code without the footnotes inside it, and those."""
    notes = tuple(Cite(int(match[1])) for match in NOTE.finditer(content))
    return _NOTES_IN_CODE.sub("", content), tuple(dict.fromkeys(notes))


def _code_block(token: Token) -> CodeBlock:
    content, notes = _lift(token.content.removesuffix("\n"))
    language = _LANGUAGE.match(token.info.strip())
    return CodeBlock(content, language[0] if language else "", notes)


def _joined(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """Neighbouring texts as one."""
    out: list[Inline] = []
    for is_text, group in groupby(nodes, key=lambda node: isinstance(node, Text)):
        if is_text:
            text = "".join(node.text for node in group if isinstance(node, Text))
            if text:
                out.append(Text(text))
        else:
            out.extend(group)
    return tuple(out)
