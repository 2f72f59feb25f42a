"""The document tree as JSON values and back: tagged nodes, read strictly."""

from collections.abc import Callable
from typing import Any, TypeVar

from core.model import (
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

# Every node: its name in JSON and its fields with what each holds. A tuple names the nodes that may stand there.
_INLINE = (Text, LineBreak, Emphasis, Code, Link, Cite)
_BLOCK = (Paragraph, Heading, Quote, CodeBlock, ListBlock, Table)
_ROWS = "rows"

_NODES: dict[type, tuple[str, dict[str, Any]]] = {
    Text: ("text", {"text": str}),
    LineBreak: ("break", {}),
    Emphasis: ("emphasis", {"children": _INLINE, "strong": bool}),
    Code: ("code", {"text": str}),
    Link: ("link", {"children": _INLINE, "address": str, "live": bool}),
    Cite: ("cite", {"number": int}),
    Paragraph: ("paragraph", {"children": _INLINE}),
    Heading: ("heading", {"level": int, "children": _INLINE}),
    Quote: ("quote", {"children": _BLOCK}),
    CodeBlock: ("code_block", {"text": str, "language": str, "cites": (Cite,)}),
    Item: ("item", {"children": _BLOCK}),
    ListBlock: ("list", {"items": (Item,), "ordered": bool, "start": int}),
    Cell: ("cell", {"children": _INLINE}),
    Table: ("table", {"rows": _ROWS}),
}
_NAMED = {name: (kind, fields) for kind, (name, fields) in _NODES.items()}

Node = Block | Inline | Item | Cell
T = TypeVar("T")


def encode_document(document: Document) -> list[Any]:
    """The document as JSON values."""
    return [_encode(block) for block in document]


def decode_document(value: Any) -> Document:
    """The document again. Raises ValueError for anything that `encode_document` does not write."""
    return _many(value, lambda block: _decode(block, _BLOCK))


def _encode(node: Node) -> dict[str, Any]:
    name, fields = _NODES[type(node)]
    encoded: dict[str, Any] = {"node": name}
    for field, holds in fields.items():
        value = getattr(node, field)
        if holds == _ROWS:
            value = [[_encode(cell) for cell in row] for row in value]
        elif isinstance(holds, tuple):
            value = [_encode(child) for child in value]
        encoded[field] = value
    return encoded


def _decode(value: Any, allowed: tuple[type, ...]) -> Any:
    name = value.get("node") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in _NAMED:
        raise ValueError("not a node of a document")
    kind, fields = _NAMED[name]
    if kind not in allowed or value.keys() != {"node", *fields}:
        raise ValueError(f"a {name} that does not belong here or lacks a field")
    return kind(**{field: _field(value[field], holds) for field, holds in fields.items()})


def _field(value: Any, holds: Any) -> Any:
    if holds == _ROWS:
        return _many(value, lambda row: _many(row, lambda cell: _decode(cell, (Cell,))))
    if isinstance(holds, tuple):
        return _many(value, lambda child: _decode(child, holds))
    if type(value) is not holds:  # bool is an int to isinstance
        raise ValueError(f"{value!r} is not a {holds.__name__}")
    return value


def _many(value: Any, decode: Callable[[Any], T]) -> tuple[T, ...]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return tuple(decode(one) for one in value)
