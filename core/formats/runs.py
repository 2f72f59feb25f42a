"""Cutting a spine file into runs: the units that carry a tag."""

import re
from functools import cache

from core.model import Span, SpineFile
from core.sentences import inside_grapheme, line_sentences
from core.words import CJK, is_narrow

PACKED = 400
"""Whole sentences are packed up to this many characters: +14 to +23 % prompt tokens for tags, measured on ten books."""
LONGEST = 700
"""A longer sentence is cut: a citation must stay small enough to be checked at a glance."""
CJK_DIVISOR = 3
"""A CJK character is about one token, and says about as much as three letters elsewhere."""

_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n(?![^\S\n]*(?:\n|\Z))[^\n]*)*")
"""A block up to a blank line; may end in spaces."""
_LETTERS = re.compile(r"[^\W\d_]+")
_SOFT_BREAK = re.compile(r"[;:；：](?=\s|[\u2e80-\u9fff])|[，、]|,(?=\s)|\s(?=[—–])")
_SPACE = re.compile(r"\s")


def cut_runs(file: SpineFile) -> list[Span]:
    """The runs of one file: whole sentences packed up to `PACKED` characters inside one paragraph, at most `LONGEST`.

    They cover every non-space character in order without overlap and start and end on a non-space. A newline ends a
    sentence, and lines that fit are packed whole (verse, rows, code). Limits are divided by `CJK_DIVISOR` in a
    paragraph that is mostly CJK. No run begins or ends inside a grapheme.
    """
    text = file.text
    index = file.index
    narrow = is_narrow(text)
    runs: list[Span] = []
    for match in _PARAGRAPH.finditer(text):
        start, end = match.start(), match.end()
        while text[end - 1].isspace():
            end -= 1
        divisor = CJK_DIVISOR if not narrow and _mostly_cjk(text, start, end) else 1
        packed = PACKED // divisor
        if end - start <= packed:
            runs.append(Span(index, start, end))
        else:
            _pack(runs, index, _units(text, start, end, packed, LONGEST // divisor), packed)
    return runs


@cache
def _cjk() -> "re.Pattern[str]":
    return re.compile(f"[{CJK}\u3000-\u303f\uff00-\uffef]+")


def _mostly_cjk(text: str, start: int, end: int) -> bool:
    cjk = sum(match.end() - match.start() for match in _cjk().finditer(text, start, end))
    if not cjk:
        return False
    letters = sum(match.end() - match.start() for match in _LETTERS.finditer(text, start, end))
    return cjk * 3 >= letters


def _pack(runs: list[Span], index: int, units: list[tuple[int, int]], packed: int) -> None:
    begin, last = units[0]
    for start, end in units[1:]:
        if end - begin > packed:
            runs.append(Span(index, begin, last))
            begin = start
        last = end
    runs.append(Span(index, begin, last))


def _units(text: str, start: int, end: int, packed: int, longest: int) -> list[tuple[int, int]]:
    """What is packed whole: lines that fit, else their sentences, else pieces of a sentence that is too long."""
    units: list[tuple[int, int]] = []
    line = start
    while line < end:
        newline = text.find("\n", line, end)
        stop = end if newline < 0 else newline
        if stop - line <= packed:
            begin, last = line, stop
            while begin < last and text[begin].isspace():
                begin += 1
            while last > begin and text[last - 1].isspace():
                last -= 1
            if begin < last:
                units.append((begin, last))
        else:
            for begin, last in line_sentences(text, line, stop):
                if last - begin <= longest:
                    units.append((begin, last))
                else:
                    units += _pieces(text, begin, last, packed, longest)
        line = stop + 1
    return units


def _pieces(text: str, start: int, end: int, packed: int, longest: int) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    while end - start > longest:
        cut = _cut(text, start, start + packed)
        last = cut
        while text[last - 1].isspace():
            last -= 1
        pieces.append((start, last))
        start = cut
        while text[start].isspace():
            start += 1
    pieces.append((start, end))
    return pieces


def _cut(text: str, start: int, limit: int) -> int:
    """The best place to cut after `start`, at most at `limit`: behind a clause, else at a space, else where it must."""
    half = (start + limit) // 2
    for pattern, from_ in ((_SOFT_BREAK, half), (_SPACE, start + 1)):
        best = 0
        for match in pattern.finditer(text, from_, limit):
            if not inside_grapheme(text, match.end()):
                best = match.end()
        if best:
            return best
    cut = limit
    while cut > start + 1 and inside_grapheme(text, cut):
        cut -= 1
    # A "character" of hundreds of stacked marks has no inside to respect.
    return cut if cut > start + 1 else limit
