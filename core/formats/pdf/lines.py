"""One page of a PDF as lines: fragments on one baseline joined, text cleaned, order as in the stream."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import is_normalized, normalize

from core.formats.decode import clean
from core.formats.pdf.mupdf import RawBlock, RawLine, RawPage

BOLD, MONO, TURNED, ROW, SOFT = 1, 2, 4, 8, 16
"""Styles of a line: bold throughout, fixed pitch, not horizontal, cells of a table, cut at a soft hyphen."""

_MONO_FONT, _BOLD_FONT = 8, 16  # bits of a span's flags
_SHOWN = 16 | 32  # bits of a span's char_flags: filled, stroked; text with neither is invisible

_LIGATURES = tuple(
    zip("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06", ("ff", "fi", "fl", "ffi", "ffl", "ſt", "st"), strict=True)
)
_UNKNOWN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd\ue000-\uf8ff\ufdd0-\ufdef\U000f0000-\U0010ffff]")
_MARKER = re.compile(r"[•‣▪●○◦∙·–—*\uf0b7-]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\[\d{1,3}\]")
_LEADERS = re.compile(r"(?:\. ?){5,}|…{3,}|_{5,}")


@dataclass(slots=True)
class Line:
    """A visual line. Lengths in points, from the top left corner of the page; `base` is the baseline."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    """Of most of its characters, rounded to a tenth of a point."""
    style: int
    block: int
    first: int
    """The number of its first raw line on the page; a line is made of neighbouring ones."""
    count: int = 1


@dataclass(slots=True)
class Page:
    width: float
    height: float
    lines: list[Line]
    unknown: int
    """Characters of the text layer that are no text: control, private use, U+FFFD."""
    hidden: int
    """Characters written invisibly, as the layer over a scan is."""
    characters: int


def clean_run(raw: str) -> str:
    """The canonical text of a piece of a line: ligatures opened, NFC, white space folded, none at the ends."""
    if raw.isprintable():  # then nothing to drop and no white space but the plain one
        if not raw.isascii():
            raw = _open_ligatures(raw)
            if not is_normalized("NFC", raw):
                raw = normalize("NFC", raw)
        return " ".join(raw.split()) if "  " in raw else raw.strip()
    return " ".join(clean(_open_ligatures(raw)).split())


def _open_ligatures(text: str) -> str:
    for ligature, letters in _LIGATURES:
        if ligature in text:
            text = text.replace(ligature, letters)
    return text


def read_lines(raw: RawPage) -> Page:
    """The lines of a page in stream order, those without text left out."""
    lines: list[Line] = []
    unknown = hidden = characters = number = 0
    for index, block in enumerate(raw["blocks"]):
        previous: Line | None = None
        for entry in block["lines"]:
            spans = entry["spans"]
            text = spans[0]["text"] if len(spans) == 1 else "".join([span["text"] for span in spans])
            number += 1
            characters += len(text)
            if not (spans[0]["char_flags"] & _SHOWN):
                hidden += len(text)
            if not text.isascii():
                unknown += text.count("\ufffd") if text.isprintable() else len(_UNKNOWN.findall(text))
            elif not text.isprintable():
                unknown += len(_UNKNOWN.findall(text))
            cleaned = clean_run(text)
            if not cleaned:
                continue
            line = _line(entry, cleaned, index, number - 1)
            if text.rstrip().endswith("\xad"):
                line.style |= SOFT
            if previous is not None and _same_line(previous, line) and previous.first + previous.count == line.first:
                _append(previous, line)
            else:
                lines.append(line)
                previous = line
    _mend_tabs(lines)
    lines = _seat_markers(lines)
    for line in lines:
        if "\t" in line.text or _LEADERS.search(line.text):
            line.style |= ROW
    return Page(raw["width"], raw["height"], lines, unknown, hidden, characters)


def is_marker(line: Line) -> bool:
    """True for a line that is only the bullet or number of a list item."""
    return len(line.text) <= 5 and _MARKER.fullmatch(line.text) is not None


def _mend_tabs(lines: list[Line]) -> None:
    """One wide gap in a block of several lines is a badly justified line, not a table."""
    blocks: dict[int, list[Line]] = {}
    for line in lines:
        blocks.setdefault(line.block, []).append(line)
    for block in blocks.values():
        rows = [line for line in block if "\t" in line.text]
        if len(rows) == 1 and len(block) >= 3 and rows[0].text.count("\t") == 1:
            rows[0].text = rows[0].text.replace("\t", " ")


def _seat_markers(lines: list[Line]) -> list[Line]:
    """Put list markers before their items: some typesetters write them after the column or the page."""
    strays = [line for line in lines if is_marker(line)]
    if not strays:
        return lines
    for marker in strays:
        beside = [
            line
            for line in lines
            if line is not marker
            and abs(line.base - marker.base) < 0.3 * line.size
            and -0.2 * line.size <= line.x0 - marker.x1 < 3 * line.size
        ]
        if beside:
            item = min(beside, key=lambda line: line.x0)
            lines = [line for line in lines if line is not marker]
            lines.insert(next(n for n, line in enumerate(lines) if line is item), marker)
    return lines


def raw_lines(blocks: Sequence[RawBlock]) -> list[RawLine]:
    """The raw lines of a page, as `Line.first` counts them."""
    return [line for block in blocks for line in block["lines"]]


def _line(entry: RawLine, text: str, block: int, number: int) -> Line:
    spans = entry["spans"]
    main = spans[0]
    if len(spans) > 1:
        lengths = [len(span["text"]) for span in spans]
        main = spans[lengths.index(max(lengths))]
    x0, y0, x1, y1 = entry["bbox"]
    style = 0
    if main["flags"] & _BOLD_FONT and all(span["flags"] & _BOLD_FONT or span["text"].isspace() for span in spans):
        style |= BOLD
    if main["flags"] & _MONO_FONT:
        style |= MONO
    if entry["dir"] != (1.0, 0.0):
        style |= TURNED
    return Line(text, x0, y0, x1, y1, main["origin"][1], round(main["size"], 1), style, block, number)


def _same_line(left: Line, right: Line) -> bool:
    """True when `right` stands on the baseline of `left` and goes on after it."""
    if (left.style | right.style) & TURNED:
        return False
    size = max(left.size, right.size)
    overlap = min(left.y1, right.y1) - max(left.y0, right.y0)
    if overlap < 0.6 * min(left.y1 - left.y0, right.y1 - right.y0) or abs(left.base - right.base) > 0.45 * size:
        return False
    return right.x0 > left.x1 - 0.3 * size or right.x1 < left.x0 + 0.3 * size  # the second: right to left


def _append(left: Line, right: Line) -> None:
    gap = right.x0 - left.x1 if right.x0 > left.x0 else left.x0 - right.x1
    seam = "\t" if gap > 2.2 * left.size else " " if gap > 0.12 * left.size else ""
    left.text += seam + right.text
    if len(right.text) * 2 > len(left.text):
        left.base, left.size = right.base, right.size
    left.x0, left.x1 = min(left.x0, right.x0), max(left.x1, right.x1)
    left.y0, left.y1 = min(left.y0, right.y0), max(left.y1, right.y1)
    left.style = (left.style & right.style & ~SOFT) | (right.style & SOFT)
    left.count += 1
