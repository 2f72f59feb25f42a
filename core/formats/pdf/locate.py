"""Where every character of a page's stored text stands on the page: the text is laid over the page's lines again.

Which lines were running heads and which hyphens vanished was decided over the whole book. Nothing of that is stored:
the stored text itself shows it, character by character, and a page that does not yield exactly its text yields nothing.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import combining

from core.formats.pdf.hyphens import HYPHENS
from core.formats.pdf.lines import Line, Page, clean_run, raw_lines, read_lines
from core.formats.pdf.mupdf import Box, Pdf, RawLine
from core.formats.pdf.running import may_run

_SPACE = re.compile(r"\s+")
_FIRST = 0.6
"""Share of a ligature's width that belongs to its first letter."""
_MOST_STEPS = 200_000
"""Tries before a page is given up; a page of plain text takes one a line."""


class Glyph(NamedTuple):
    """A character on a page: where it stands, and on which of the page's lines."""

    box: Box
    line: int


class Located(NamedTuple):
    """`glyphs[i]` belongs to character i of the page's text; None for white space and for what stands overleaf."""

    glyphs: list[Glyph | None]
    before: list[Glyph]
    """The end of a word that belongs to the page before."""
    overleaf: int
    """How many characters at the end of the text stand on the next page."""


class _Step(NamedTuple):
    """One line settled. `skip` and `cut`: characters left out at its start and end; None for a line left out whole."""

    line: int
    position: int
    skip: int | None
    cut: int
    before: "_Step | None"


def locate(pdf: Pdf, index: int, text: str) -> Located | None:
    """The glyphs of a page's stored text; None when the page does not yield exactly this text."""
    raw = pdf.read_characters(index)
    page = read_lines(raw)
    letters = [_SPACE.sub("", line.text) for line in page.lines]
    wanted = _SPACE.sub("", text)
    end = _walk(page, letters, wanted, len(text.rsplit(None, 1)[-1]) if wanted else 0)
    if end is None:
        return None
    entries = raw_lines(raw["blocks"])
    found: list[Glyph] = []
    before: list[Glyph] = []
    steps = []
    while end is not None and end.line >= 0:
        steps.append(end)
        end = end.before
    for step in reversed(steps):
        glyphs = _glyphs(entries, page.lines[step.line], letters[step.line], step.line)
        if step.skip is None:
            if step.cut:
                before += glyphs
            continue
        before += glyphs[: step.skip]
        found += glyphs[step.skip : len(glyphs) - step.cut]
    overleaf = len(wanted) - len(found)
    waiting = iter(found)
    return Located([None if c.isspace() else next(waiting, None) for c in text], before, overleaf)


def _walk(page: Page, letters: Sequence[str], wanted: str, last_word: int) -> _Step | None:
    """Match lines to the text, white space aside; the last step of the first way that fits.

    `last_word`: how long the text's last word is: its end may stand overleaf.
    """
    count = len(letters)
    outer = _outer(page.lines)
    waiting = [_Step(-1, 0, None, 0, None)]
    seen: set[tuple[int, int]] = set()
    tries = 0
    while waiting and tries < _MOST_STEPS:
        step = waiting.pop()
        number, position = step.line + 1, step.position
        if (number, position) in seen:
            continue
        seen.add((number, position))
        tries += 1
        if number == count:
            rest = len(wanted) - position
            if rest == 0 or (position and rest < last_word):
                return step
            continue
        line, own = page.lines[number], letters[number]
        ways: list[_Step] = []
        hyphen = own[-1] in HYPHENS and len(own) > 1
        skips = (0, len(line.text.split(None, 1)[0])) if position == 0 else (0,)
        for skip in skips:
            if skip < len(own) and wanted.startswith(own[skip:], position):
                ways.append(_Step(number, position + len(own) - skip, skip, 0, step))
            if hyphen and skip < len(own) - 1 and wanted.startswith(own[skip:-1], position):
                ways.append(_Step(number, position + len(own) - skip - 1, skip, 1, step))
        if position == 0 and len(line.text.split()) == 1:
            ways.append(_Step(number, position, None, 1, step))  # the whole line is the end of a word begun before
        if may_run(page, line) or number in outer:
            ways.append(_Step(number, position, None, 0, step))
        waiting += reversed(ways)
    return None


def _outer(lines: Sequence[Line]) -> set[int]:
    """The highest and the lowest line: a page number may stand there, far from the edge of the paper."""
    if not lines:
        return set()
    numbers = range(len(lines))
    return {min(numbers, key=lambda n: lines[n].y0), max(numbers, key=lambda n: lines[n].y1)}


def _glyphs(entries: Sequence[RawLine], line: Line, letters: str, number: int) -> list[Glyph]:
    """A glyph for each character of a line, white space aside; all with the line's box where they cannot be told apart."""
    found: list[Glyph] = []
    read: list[str] = []
    for entry in entries[line.first : line.first + line.count]:
        for cluster, box in _clusters(entry):
            cleaned = _SPACE.sub("", clean_run(cluster))
            read.append(cleaned)
            found += [Glyph(box, number)] * len(cleaned)
    if "".join(read) != letters:
        return [Glyph((line.x0, line.y0, line.x1, line.y1), number)] * len(letters)
    return found


def _clusters(entry: RawLine) -> list[tuple[str, Box]]:
    """The characters of a raw line with their boxes; what combines stays with its letter."""
    clusters: list[tuple[str, Box]] = []
    flat: list[int] = []
    for span in entry["spans"]:
        for char in span.get("chars", ()):
            letter, box = char["c"], char["bbox"]
            if clusters and (combining(letter) or "\u1160" <= letter <= "\u11ff"):
                known, before = clusters[-1]
                clusters[-1] = (known + letter, _union(before, box))
                continue
            if box[2] - box[0] < 0.01 and not letter.isspace():
                flat.append(len(clusters))
            clusters.append((letter, box))
    # One glyph that stands for several letters gives its width to the first: let them share it.
    while flat:
        last = first = flat.pop()
        while flat and flat[-1] == first - 1:
            first = flat.pop()
        if first == 0:
            continue
        letter, (x0, y0, x1, y1) = clusters[first - 1]
        cut = x0 + _FIRST * (x1 - x0)
        clusters[first - 1] = (letter, (x0, y0, cut, y1))
        step = (x1 - cut) / (last - first + 1)
        for n in range(first, last + 1):
            clusters[n] = (clusters[n][0], (cut + (n - first) * step, y0, cut + (n - first + 1) * step, y1))
    return clusters


def _union(a: Box, b: Box) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
