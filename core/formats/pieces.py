"""Cutting one long text into spine files: at its top headings, and at a paragraph end where it runs on too long."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from core.formats.extracted import HeadingMark
from core.model import Position, SpineFile
from core.segmenting import mostly_cjk

PIECE = 30_000
"""About so many characters make a file where headings do not part the text (a third in CJK)."""
_CJK_DIVISOR = 3
_SMALLEST = 1_000
"""A heading nearer than this to the last cut makes no new file: a part's heading stays with its first chapter."""


def cut_files(
    text: str, headings: Sequence[tuple[int, str, int]]
) -> tuple[list[SpineFile], list[HeadingMark], list[int]]:
    """Files, the headings placed in them, and where each file began in `text`; the blank lines between files are dropped.

    `headings` are (level, title, offset) in order. Files begin at headings of the highest level that occurs twice,
    and wherever `PIECE` characters are reached, at the nearest paragraph. Never inside a paragraph unless one alone is
    longer than four pieces.
    """
    piece = PIECE // (_CJK_DIVISOR if mostly_cjk([SpineFile(0, "", text)]) else 1)
    tops = _tops(headings)
    cuts = [0]
    for top in [*(top for top in tops if top > 0), len(text)]:
        if top < len(text) and top - cuts[-1] < _SMALLEST:
            continue
        cuts += _by_length(text, cuts[-1], top, piece)
        cuts.append(top)
    files: list[SpineFile] = []
    starts: list[int] = []
    for start, end in pairwise(cuts):
        body = text[start:end]
        lead = len(body) - len(body.lstrip("\n"))
        body = body.strip("\n")
        if body.strip():
            files.append(SpineFile(len(files), "", body))
            starts.append(start + lead)
    marks = (
        [HeadingMark(level, title, place(starts, files, offset)) for level, title, offset in headings] if files else []
    )
    return files, marks, starts


def place(starts: Sequence[int], files: Sequence[SpineFile], offset: int) -> Position:
    """Where a character of the uncut text stands in the files made of it."""
    file = max(0, bisect_left(starts, offset + 1) - 1)
    return Position(file, min(max(0, offset - starts[file]), len(files[file].text)))


def _tops(headings: Sequence[tuple[int, str, int]]) -> list[int]:
    for level in sorted({level for level, _, _ in headings}):
        if sum(heading[0] == level for heading in headings) >= 2:
            return [offset for own, _, offset in headings if own <= level]
    return []


def _by_length(text: str, start: int, end: int, piece: int) -> Iterator[int]:
    while end - start > piece * 3 // 2:
        cut = text.find("\n\n", start + piece, min(end - piece // 4, start + 4 * piece))
        if cut < 0:
            cut = text.rfind("\n\n", start + piece // 2, start + piece)
        if cut < 0:
            cut = text.find("\n", start + piece, min(end - piece // 4, start + 4 * piece))
        if cut < 0 and end - start <= 4 * piece:
            return
        if cut < 0:
            cut = text.rfind(" ", start + piece, start + 4 * piece)
        if cut < 0:
            cut = start + 4 * piece
        start = cut
        yield cut
