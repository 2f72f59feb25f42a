"""The shape of a page: column edges, the book's indent, line pitch and letter size, from which paragraphs show."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.formats.pdf.lines import BOLD, MONO, ROW, TURNED, Line


@dataclass(slots=True)
class Edges:
    """Where a line of a column begins and ends. `column` is the left edge of the column, `left` that of its block."""

    column: float
    left: float
    right: float


@dataclass(slots=True)
class Shape:
    """What is usual in this book. Lengths in points."""

    body: float
    """Letter size of most of the text."""
    pitches: dict[float, float] = field(default_factory=dict)
    """Letter size -> usual distance of baselines."""
    indent: float = 0.0
    """The usual first-line indent; 0 when the book sets its paragraphs apart otherwise."""
    headings: dict[tuple[float, bool], int] = field(default_factory=dict)
    """(size, bold) of headings -> level from 1."""

    def pitch(self, size: float) -> float:
        return self.pitches.get(size) or 1.25 * size

    def level(self, line: Line) -> int:
        """The level of a line that may be a heading by its letters; 0 for text."""
        level = self.headings.get((line.size, bool(line.style & BOLD)), 0)
        if level and (line.style & (TURNED | ROW | MONO) or not any(c.isalnum() for c in line.text)):
            return 0
        return level


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The letter size most characters are set in; 0 for a book without text."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def measure(pages: Sequence[Sequence[Line]], edges: Sequence[Sequence[Edges]]) -> Shape:
    """The shape of a book from the lines of its pages, running heads dropped."""
    shape = Shape(body_size(pages))
    pitches: defaultdict[float, Counter[float]] = defaultdict(Counter)
    indents: Counter[int] = Counter()
    styles: Counter[tuple[float, bool]] = Counter()
    count = 0
    for lines, sides in zip(pages, edges, strict=True):
        previous: Line | None = None
        for line, side in zip(lines, sides, strict=True):
            styles[line.size, bool(line.style & BOLD)] += len(line.text)
            if previous is not None and previous.block == line.block and previous.size == line.size:
                pitch = line.base - previous.base
                if 0.7 * line.size < pitch < 3 * line.size:
                    pitches[line.size][round(pitch * 2) / 2] += 1
            if line.size == shape.body:
                count += 1
                indent = line.x0 - side.column
                if 0.5 * line.size < indent < 5 * line.size and not line.style & ROW:
                    indents[round(indent)] += 1
            previous = line
    shape.pitches = {size: counter.most_common(1)[0][0] for size, counter in pitches.items()}
    if indents:
        indent, often = indents.most_common(1)[0]
        if often >= 3 and often >= 0.03 * count:
            shape.indent = float(indent)
    total = sum(styles.values())
    body_bold = styles[shape.body, True] > styles[shape.body, False]
    found = [
        (size, bold)
        for (size, bold), characters in styles.items()
        if characters <= 0.15 * total
        and (size >= 1.12 * shape.body or (bold and not body_bold and size >= 0.95 * shape.body))
    ]
    sizes = sorted(found, key=lambda style: (-round(style[0]), not style[1]))
    level, seen = 0, None
    for size, bold in sizes:
        rank = (round(size), bold)
        if rank != seen:
            level, seen = level + 1, rank
        shape.headings[size, bold] = min(level, 6)
    return shape


@dataclass(slots=True)
class Column:
    """A column of text lines; `weight` counts the lines that show it."""

    left: float
    right: float
    weight: float


def find_edges(lines: Sequence[Line], before: list[Column]) -> tuple[list[Edges], list[Column]]:
    """The edges that hold for each line, and the columns of the page. `before`: those of the page before."""
    blocks: defaultdict[int, list[Line]] = defaultdict(list)
    for line in lines:
        blocks[line.block].append(line)
    columns = [Column(column.left, column.right, 0.01) for column in before]
    extents = {}
    for number, block in blocks.items():
        left, right = min(line.x0 for line in block), max(line.x1 for line in block)
        extents[number] = (left, right)
        if len(block) >= 3:
            _add(columns, left, right, len(block), 1.2 * block[0].size)
    edges = {number: _edges(block, *extents[number], columns) for number, block in blocks.items()}
    return [edges[line.block] for line in lines], [column for column in columns if column.weight >= 1] or before


def _add(columns: list[Column], left: float, right: float, weight: int, near: float) -> None:
    for column in columns:
        if abs(column.left - left) <= near and abs(column.right - right) <= near:
            column.left, column.right = min(column.left, left), max(column.right, right)
            column.weight += weight
            return
    columns.append(Column(left, right, weight))


def _edges(block: list[Line], left: float, right: float, columns: list[Column]) -> Edges:
    size = block[0].size
    around = [c for c in columns if c.left <= left + size and c.right >= right - size]
    column = max(around, key=lambda c: c.weight, default=None)
    edges = Edges(column.left, column.left, column.right) if column else Edges(left, left, right)
    if len(block) >= 3:
        ends = [line.x1 for line in block[:-1]]
        if sum(right - end <= 0.3 * size for end in ends) >= 0.6 * len(ends):
            edges.right = right  # justified by itself: an indented quotation, a narrow box
        start = sorted([line.x0 for line in block])[len(block) // 2]
        if sum(abs(line.x0 - start) <= 0.3 * size for line in block) >= 0.6 * len(block):
            edges.left = start
    return edges
