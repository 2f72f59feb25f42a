"""What stands between two lines: nothing, a space, a line break or the end of a paragraph; also over columns and pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.formats.pdf.hyphens import HYPHENS, Hyphens
from core.formats.pdf.lines import BOLD, MONO, ROW, SOFT, TURNED, Line, is_marker
from core.formats.pdf.shape import Edges, Shape

PARAGRAPH, ROW_END, SPACE, NOTHING = "\n\n", "\n", " ", ""

_MARKER = re.compile(r"(?:[•‣▪●○◦∙·–—*\uf0b7-]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[\d{1,3}\]|\d+(?:\.\d+)+\.?)\s+\S")
_BULLET = re.compile(r"[•‣▪●○◦∙\uf0b7]\s")
_TERMINAL = re.compile(r"[.!?…。！？؟۔।:]['\"”’»›)\]」』】]*\d{0,3}$")
_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
_CJK_END = re.compile(f"[{_CJK}]$")
_CJK_START = re.compile(f"[{_CJK}]")
_DROP_CAP = re.compile(r"[\"“‘«]?[^\W\d_]{1,2}")


@dataclass(frozen=True, slots=True)
class Placed:
    """A line with what the page says about it."""

    line: Line
    edges: Edges
    level: int
    """Heading level; 0 for text."""
    verse: bool
    """Stands in a block whose lines mostly end early."""


def place(lines: Sequence[Line], edges: Sequence[Edges], shape: Shape) -> list[Placed]:
    """The lines of one page with heading levels and verse found from their blocks."""
    placed: list[Placed] = []
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and lines[end].block == lines[start].block:
            end += 1
        block = lines[start:end]
        bold = len(block) <= 3 and all(line.style & BOLD for line in block)
        verse = len(block) >= 3 and _mostly_short(block, edges[start].right)
        for offset, line in enumerate(block):
            level = shape.level(line)
            if level and line.size < 1.12 * shape.body and not bold:
                level = 0
            placed.append(Placed(line, edges[start + offset], level if len(line.text) <= 160 else 0, verse))
        start = end
    return placed


def _mostly_short(block: Sequence[Line], right: float) -> bool:
    return sum(_fits(a, right, b) for a, b in pairwise(block)) >= 0.6 * (len(block) - 1)


class Flow:
    """Decides between two neighbouring lines of a book."""

    def __init__(self, shape: Shape, hyphens: Hyphens) -> None:
        self._shape = shape
        self._hyphens = hyphens

    def between(self, a: Placed, b: Placed) -> str:
        """What stands between two lines of one page: PARAGRAPH, ROW_END, or what `glue` says."""
        first, second = a.line, b.line
        if (first.style ^ second.style) & TURNED:
            return PARAGRAPH
        if _drop_cap(first, second, self._shape.body):
            return NOTHING
        step = second.base - first.base
        if is_marker(first) and abs(step) < 0.5 * second.size and second.x0 >= first.x1:
            return SPACE
        if a.level or b.level:
            same = a.level == b.level and 0 <= step <= 1.25 * self._shape.pitch(first.size) + 0.3 * first.size
            return SPACE if same and not _MARKER.match(second.text) else PARAGRAPH
        if abs(first.size - second.size) > 0.08 * max(first.size, second.size) + 0.1 and not (
            first.block == second.block and step <= 1.3 * self._shape.pitch(max(first.size, second.size))
        ):
            return PARAGRAPH
        if step <= 0.3 * first.size or second.x0 > a.edges.right or second.x1 < a.edges.column:
            return self.glue(first, second) if self.continues(a, b) else PARAGRAPH
        if step > 1.3 * self._shape.pitch(first.size) + 0.5 and not self._stretched(a, b, step):
            return PARAGRAPH
        return self._inside(a, b)

    def _inside(self, a: Placed, b: Placed) -> str:
        """Between two lines at the usual distance, one below the other."""
        first, second = a.line, b.line
        if (first.style | second.style) & ROW or first.style & second.style & MONO:
            return ROW_END
        if runs_over(first, second):
            return NOTHING
        fits = _fits(first, a.edges.right, second)
        ended = _ended(first)
        if _BULLET.match(second.text) or (_MARKER.match(second.text) and (fits or ended)):
            return ROW_END
        if a.verse and b.verse and fits:
            return ROW_END
        indent = second.x0 - b.edges.column
        if self._indented(indent, second) and not _MARKER.match(first.text):
            return PARAGRAPH
        if second.x0 > max(b.edges.left, first.x0 if a.line.block == b.line.block else 0) + 0.5 * second.size and (
            (fits or ended) and not _MARKER.match(first.text)
        ):
            return PARAGRAPH
        if fits:
            return PARAGRAPH if ended or first.block != second.block else ROW_END
        return self.glue(first, second)

    def _stretched(self, a: Placed, b: Placed, step: float) -> bool:
        """A line set wider apart inside a paragraph: the sentence plainly goes on."""
        first, second = a.line, b.line
        if first.block != second.block or step > 1.8 * self._shape.pitch(first.size):
            return False
        return not (_ended(first) or _MARKER.match(second.text) or _fits(first, a.edges.right, second))

    def _indented(self, indent: float, line: Line) -> bool:
        return bool(self._shape.indent) and abs(indent - self._shape.indent) <= 0.15 * line.size

    def continues(self, a: Placed, b: Placed) -> bool:
        """True when a paragraph runs on from the last line of a column or page to the first line of the next."""
        first, second = a.line, b.line
        if a.level or b.level or (first.style | second.style) & (TURNED | ROW | MONO) or a.verse or b.verse:
            return False
        if abs(first.size - second.size) > 0.06 * first.size:
            return False
        if runs_over(first, second):
            return True
        if _MARKER.match(second.text):
            return False
        ended = _ended(first)
        if not ended and second.text[0].islower():
            return True
        if _fits(first, a.edges.right, second):
            return False
        indent = second.x0 - b.edges.column
        if self._indented(indent, second) or indent > 0.8 * second.size:
            return False
        return not ended or bool(self._shape.indent)

    def cut(self, first: Line, second: Line) -> bool:
        """True when the hyphen that ends `first` is the typesetter's and vanishes as the word goes on in `second`."""
        text = first.text
        if text[-1] not in HYPHENS or not text[-2:-1].isalpha() or not second.text[0].isalpha():
            return False
        return not self._hyphens.belongs(_last_word(text), second.text.split(" ", 1)[0])

    def glue(self, first: Line, second: Line) -> str:
        """What stands between two lines of one paragraph: NOTHING or SPACE."""
        if first.style & SOFT:
            return NOTHING
        end, start = first.text[-1], second.text[0]
        if end in HYPHENS and len(first.text) > 1 and not first.text[-2].isspace():
            return NOTHING if start.isalnum() else SPACE
        if (end == "—" or start == "—") and self._hyphens.tight_dashes:
            return NOTHING
        if _CJK_END.match(end) and _CJK_START.match(start):
            return NOTHING
        return SPACE


def _ended(line: Line) -> bool:
    """True when the line ends as a sentence does."""
    return _TERMINAL.search(line.text[-12:]) is not None


def runs_over(first: Line, second: Line) -> bool:
    """True when a hyphen says that the last word goes on in the next line."""
    if first.style & SOFT:
        return True
    return first.text[-1] in HYPHENS and first.text[-2:-1].isalpha() and second.text[0].isalpha()


def _last_word(text: str) -> str:
    return text.rsplit(" ", 1)[-1]


def _fits(line: Line, right: float, following: Line) -> bool:
    """True when the next line's first word would have fitted after this one: then the break was meant."""
    room = right - line.x1
    if room <= 0:
        return False
    text = following.text
    width = (following.x1 - following.x0) / len(text)
    if _CJK_START.match(text):
        return room > 2.5 * width
    space = text.find(" ")
    word = space if space > 0 else len(text)
    return room > (word + 1) * width * 1.1 + 0.1 * line.size


def _drop_cap(first: Line, second: Line, body: float) -> bool:
    """A large initial with its word going on beside it."""
    return (
        first.size > 1.6 * body
        and second.size < 0.7 * first.size
        and _DROP_CAP.fullmatch(first.text) is not None
        and second.x0 >= first.x1 - 0.3 * first.size
        and second.y0 < first.y1
        and second.y1 > first.y0
        and second.text[0].isalpha()
    )
