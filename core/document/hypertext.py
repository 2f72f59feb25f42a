"""Documents as HTML: elements of our own around escaped text. Nothing that stood in a book or an answer becomes markup."""

import re
from collections.abc import Callable
from html import escape

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
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
)

_LIVE = re.compile(r"https?://", re.IGNORECASE)
_UNDER = 2
"""Headings of an answer stand under the page's own and the question's."""


def html(document: Document, cite: Callable[[int], str]) -> str:
    """The tree as HTML; `cite` writes a footnote, and what it returns is not escaped."""
    return _Html(cite).blocks(document)


class _Html:
    def __init__(self, cite: Callable[[int], str]) -> None:
        self._cite = cite

    def blocks(self, blocks: Document) -> str:
        return "".join(self._block(block) for block in blocks)

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph(children):
                return f'<p dir="auto">{self._inline(children)}</p>'
            case Heading(level, children):
                depth = min(max(level, 1) + _UNDER, 6)
                return f'<h{depth} dir="auto">{self._inline(children)}</h{depth}>'
            case Quote(inner):
                return f"<blockquote>{self.blocks(inner)}</blockquote>"
            case CodeBlock(text, _, cites):
                notes = f"<p>{self._inline(cites)}</p>" if cites else ""
                return f'<pre tabindex="0"><code>{escape(text)}</code></pre>{notes}'
            case ListBlock(items, ordered, start):
                inside = "".join(f"<li>{self.blocks(item.children)}</li>" for item in items)
                return f'<ol start="{start:d}">{inside}</ol>' if ordered else f"<ul>{inside}</ul>"
            case Table(rows):
                return self._table(rows)

    def _table(self, rows: tuple[tuple[Cell, ...], ...]) -> str:
        head, *body = [
            "<tr>" + "".join(f'<{name} dir="auto">{self._inline(cell.children)}</{name}>' for cell in row) + "</tr>"
            for row, name in zip(rows, ["th", *["td"] * len(rows)], strict=False)
        ] or [""]
        return (
            f'<div class="wide" tabindex="0"><table><thead>{head}</thead><tbody>{"".join(body)}</tbody></table></div>'
        )

    def _inline(self, nodes: tuple[Inline, ...]) -> str:
        return "".join(self._node(node) for node in nodes)

    def _node(self, node: Inline) -> str:
        match node:
            case Text(text):
                return escape(text)
            case LineBreak():
                return "<br>"
            case Cite(number):
                return self._cite(number)
            case Code(text):
                return f"<code>{escape(text)}</code>"
            case Emphasis(children, strong):
                name = "strong" if strong else "em"
                return f"<{name}>{self._inline(children)}</{name}>"
            case Link(children, address, live):
                words = self._inline(children)
                if not live or not _LIVE.match(address):
                    return words
                return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow" target="_blank">{words}</a>'
