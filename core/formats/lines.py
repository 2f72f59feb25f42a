"""Headings found in bare text: short lines that name a chapter, runs of numerals, and, failing both, lines in capitals."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.formats.extracted import HeadingMark
from core.formats.titles import NUMERAL_RANK, Kind, kind_of
from core.model import Position

_LINE = 90
"""Longer lines are prose."""
_BLOCK = re.compile(
    r"(?:\A\s*|\n[^\S\n]*\n\s*)(?=(\S[^\n]{0,119}(?:\n[^\n]{1,119}){0,2})[^\S\n]*(?:\n[^\S\n]*\n|\n?\Z))"
)
"""A paragraph of one to three short lines that stands alone (looked at, not consumed: the next may follow at once)."""
_SHORT_BLOCK = re.compile(r"\s*\n\s*(\S[^\n]{0,79})(?=\n[^\S\n]*\n|\n?\Z)")
_CONTENTS_GAP = 60
"""Fewer characters than this between headings, three times in a row: a printed list of contents."""
_SHOUTED_EVERY = 1_500
"""More lines in capitals than one in so many characters are no headings."""
_BRACKETED = re.compile(r"《[^》]{1,40}》|〈[^〉]{1,40}〉|【[^】]{1,40}】")
"""How Chinese and Japanese text files set titles off."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    kind: Kind
    line: str
    more: str
    """What may be the title of a bare heading: further lines of its block, else the next short block."""
    start: Position
    end: Position


def find_headings(texts: Sequence[str]) -> list[HeadingMark]:
    """Headings among the short paragraphs of `texts` (one per file), in order; levels from 1 without gaps.

    A keyword with a number (Chapter 3, PREMIÈRE PARTIE, 第十二章) counts wherever it stands alone; bare numerals count
    when they run on from one; capitals only when nothing else is found. A printed list of contents is passed over.
    """
    candidates = _without_contents(
        [found for file, text in enumerate(texts) for found in _candidates(file, text)], texts
    )
    candidates = _in_sequence(candidates)
    if not candidates:
        return _shouted(texts)
    titled = _titled(candidates)
    ranks = sorted({candidate.kind.rank for candidate in candidates})
    return [
        HeadingMark(
            ranks.index(candidate.kind.rank) + 1,
            join_title(candidate.line, candidate.more) if candidate.kind.name in titled else candidate.line,
            candidate.start,
        )
        for candidate in candidates
    ]


def join_title(number: str, title: str) -> str:
    """A bare heading with the title that stands under it: "XLII" and "The Ball" are "XLII. The Ball"."""
    return f"{number.rstrip(' .:–—-')}. {title}" if title else number


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    for match in _BLOCK.finditer(text):
        lines = [" ".join(line.split()) for line in match[1].split("\n")]
        yield match.end(), lines


def _candidates(file: int, text: str) -> Iterator[_Candidate]:
    for start, lines in _blocks(text):
        if len(lines[0]) > _LINE:
            continue
        kind = kind_of(lines[0])
        if kind is None or (len(lines) > 1 and any(kind_of(line) for line in lines[1:])):
            continue
        if kind.bare:
            end = start + len(lines[0])
            more = " ".join(lines[1:]) or title_below(text, text.find("\n", start))
            yield _Candidate(kind, lines[0].strip("*_ "), more, Position(file, start), Position(file, end))
        elif len(" ".join(lines)) <= 2 * _LINE and not (kind.name == "numeral" and len(lines) > 1):
            line = " ".join(lines)
            yield _Candidate(kind, line.strip("*_ "), "", Position(file, start), Position(file, start + len(line)))


def title_below(text: str, at: int) -> str:
    """The block after the line end at `at` when it may be a title: one short line that does not run on."""
    found = _SHORT_BLOCK.match(text, at) if at >= 0 else None
    line = " ".join(found[1].split()) if found else ""
    return line if line and line[0].isalpha() and line[-1] not in ",;:" and not kind_of(line) else ""


def mostly(titles: Sequence[str]) -> bool:
    """Whether so many headings have a short line below that these are titles: only then it is no dialogue or verse."""
    return len(titles) >= 3 and 5 * sum(map(bool, titles)) >= 4 * len(titles)


def _without_contents(candidates: list[_Candidate], texts: Sequence[str]) -> list[_Candidate]:
    kept: list[_Candidate] = []
    group: list[_Candidate] = []
    for candidate in candidates:
        if group and not _close(group[-1], candidate, texts):
            kept += _unless_list(group)
            group = []
        group.append(candidate)
    return kept + _unless_list(group)


def _close(one: _Candidate, other: _Candidate, texts: Sequence[str]) -> bool:
    if one.start.file != other.start.file:
        return False
    between = texts[one.start.file][one.end.offset : other.start.offset]
    return len(between.strip()) < _CONTENTS_GAP


def _unless_list(group: list[_Candidate]) -> list[_Candidate]:
    """A close group as it is, or, when it is a list of contents, what repeats it right behind it."""
    ranks = Counter(candidate.kind.rank for candidate in group)
    if max(ranks.values(), default=0) < 3:
        return group
    lines = [candidate.line.casefold() for candidate in group]
    again = next((index for index, line in enumerate(lines) if line in lines[:index]), len(group))
    # Under a second part numbers begin anew: that is still the list.
    rest = group[again:]
    return rest if len(rest) <= 2 else []


def _in_sequence(candidates: list[_Candidate]) -> list[_Candidate]:
    """Numerals that run on from one, when no chapters are named by word; everything with a keyword."""
    if sum(candidate.kind.name == "chapter" for candidate in candidates) >= 2:
        return [candidate for candidate in candidates if candidate.kind.rank != NUMERAL_RANK]
    kept: list[_Candidate] = []
    last = 0
    for candidate in candidates:
        number = candidate.kind.number
        if candidate.kind.rank != NUMERAL_RANK or number is None:
            kept.append(candidate)
        elif number == 1 or number in (last + 1, last + 2):
            kept.append(candidate)
            last = number
    if last < 2 and len([1 for candidate in kept if candidate.kind.rank == NUMERAL_RANK]) < 2:
        kept = [candidate for candidate in kept if candidate.kind.rank != NUMERAL_RANK]
    return kept if len(kept) > 1 else []


def _titled(candidates: list[_Candidate]) -> set[str]:
    """Kinds of bare heading that have a title under them."""
    bare: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.kind.bare:
            bare.setdefault(candidate.kind.name, []).append(candidate.more)
    return {name for name, titles in bare.items() if mostly(titles)}


def _shouted(texts: Sequence[str]) -> list[HeadingMark]:
    lone = [
        HeadingMark(1, lines[0], Position(file, start))
        for file, text in enumerate(texts)
        for start, lines in _blocks(text)
        if len(lines) == 1 and len(lines[0]) <= 60
    ]
    bracketed = [mark for mark in lone if _BRACKETED.fullmatch(mark.title)]
    if len(bracketed) >= 2:
        return bracketed
    capitals = [mark for mark in lone if mark.title.isupper() and sum(map(str.isalpha, mark.title)) >= 4]
    return capitals if 2 <= len(capitals) <= sum(map(len, texts)) / _SHOUTED_EVERY else []
