"""The answer as a small tree, free of any platform's markup. Stdlib only.

Built by `core.document` from model Markdown or by our own code; adapters render and split from it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class LineBreak:
    """A line break inside a paragraph."""


@dataclass(frozen=True, slots=True)
class Emphasis:
    children: "tuple[Inline, ...]"
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """`live` only when the address stands in a cited passage (P12); otherwise shown as plain words."""

    children: "tuple[Inline, ...]"
    address: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class Cite:
    """The footnote with this number stands here."""

    number: int


Inline = Text | LineBreak | Emphasis | Code | Link | Cite


@dataclass(frozen=True, slots=True)
class Paragraph:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    children: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class CodeBlock:
    text: str
    language: str = ""
    cites: tuple[Cite, ...] = ()
    """Notes that stood inside the fence; shown directly after it."""


@dataclass(frozen=True, slots=True)
class Item:
    children: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class ListBlock:
    items: tuple[Item, ...]
    ordered: bool = False
    start: int = 1


@dataclass(frozen=True, slots=True)
class Cell:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The first row is the head."""

    rows: tuple[tuple[Cell, ...], ...]


Block = Paragraph | Heading | Quote | CodeBlock | ListBlock | Table
Document = tuple[Block, ...]
