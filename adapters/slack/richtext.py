"""The document tree as Slack blocks: rich text, whose plain parts nothing can bring to life, and tables. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any

from core.document import plain
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

Json = dict[str, Any]

TABLE_ROWS, TABLE_COLUMNS, TABLE_TEXT = 100, 20, 10_000
"""What the vendor's table takes; larger ones go as lines of text."""
_DEEPEST = 8
"""Indent of a list the vendor takes."""


def blocks(document: Document) -> list[Json]:
    """Blocks that say what the document says; adjoining text shares one."""
    out: list[Json] = []
    for block in document:
        if isinstance(block, Table) and is_table(block):
            out.append(_table(block))
        else:
            elements = list(_elements(block))
            if elements:
                out.append({"type": "rich_text", "elements": elements})
    return out


def is_table(table: Table) -> bool:
    """True when the vendor's table block can hold it."""
    length = sum(len(_words(cell.children)) for row in table.rows for cell in row)
    return (
        1 <= len(table.rows) <= TABLE_ROWS
        and all(1 <= len(row) <= TABLE_COLUMNS for row in table.rows)
        and length <= TABLE_TEXT
    )


def _words(children: tuple[Inline, ...]) -> str:
    return plain((Paragraph(children),))


def _table(table: Table) -> Json:
    rows = [
        [{"type": "rich_text", "elements": [_section(_spans(cell.children)) or _section([_text("–")])]} for cell in row]
        for row in table.rows
    ]
    return {"type": "table", "rows": rows}


def _elements(block: Block, indent: int = 0) -> Iterator[Json]:
    match block:
        case Paragraph(children):
            yield from _filled(_section(_spans(children)))
        case Heading(_, children):
            yield from _filled(_section(_spans(children, {"bold": True})))
        case Quote(children):
            yield from _filled(_part("rich_text_quote", list(_flat(children))))
        case CodeBlock(text, _, cites):
            yield from _filled(_part("rich_text_preformatted", _spans((Text(text),))))
            yield from _filled(_section(_spans(cites)))
        case ListBlock():
            yield from _list(block, min(indent, _DEEPEST))
        case Table(rows):
            for row in rows:
                spans = [span for cell in row for span in (_text(" | "), *_spans(cell.children))]
                yield from _filled(_section(spans[1:]))


def _list(block: ListBlock, indent: int) -> Iterator[Json]:
    """Items up to the next nested list share one element; a list inside an item becomes an element of its own."""
    style = "ordered" if block.ordered else "bullet"
    items: list[Json] = []
    begun = done = block.start - 1 if block.ordered else 0

    def taken() -> Iterator[Json]:
        if items:
            offset = {"offset": begun} if block.ordered and begun > 0 else {}
            yield {"type": "rich_text_list", "style": style, "indent": indent, **offset, "elements": list(items)}
            items.clear()

    for item in block.items:
        own = tuple(child for child in item.children if not isinstance(child, ListBlock))
        section = _section(list(_flat(own))) or _section([_text("–")])
        items.append(section)
        done += 1
        for child in item.children:
            if isinstance(child, ListBlock):
                yield from taken()
                begun = done
                yield from _list(child, min(indent + 1, _DEEPEST))
    yield from taken()


def _flat(blocks: Iterable[Block]) -> Iterator[Json]:
    """Blocks inside a quotation or a list item, as one run of spans with line breaks."""
    first = True
    for block in blocks:
        if not first:
            yield _text("\n\n" if isinstance(block, Paragraph | Heading | Quote) else "\n")
        first = False
        match block:
            case Paragraph(children):
                yield from _spans(children)
            case Heading(_, children):
                yield from _spans(children, {"bold": True})
            case Quote(inner):
                yield from _flat(inner)
            case CodeBlock(text, _, cites):
                yield from _spans((Code(text), *cites))
            case _:
                yield from _spans((Text(plain((block,))),))


def _spans(children: Iterable[Inline], style: Json | None = None) -> list[Json]:
    spans: list[Json] = []
    for child in children:
        match child:
            case Text(text):
                spans += [_text(text, style)] if text else []
            case Code(text):
                spans += [_text(text, {**(style or {}), "code": True})] if text else []
            case LineBreak():
                spans.append(_text("\n", style))
            case Cite(number):
                spans.append(_text(f"[{number}]", style))
            case Emphasis(inner, strong):
                spans += _spans(inner, {**(style or {}), "bold" if strong else "italic": True})
            case Link(inner, address, live) if live:
                look = {"style": style} if style else {}
                spans.append({"type": "link", "url": address, "text": _words(inner) or address, **look})
            case Link(inner):
                spans += _spans(inner, style)
    return spans


def _text(text: str, style: Json | None = None) -> Json:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def _section(spans: list[Json]) -> Json:
    return _part("rich_text_section", spans)


def _part(kind: str, spans: list[Json]) -> Json:
    return {"type": kind, "elements": spans} if spans else {}


def _filled(part: Json) -> Iterator[Json]:
    if part:
        yield part
