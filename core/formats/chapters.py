"""Chapters: the leaves of the repaired contents that have text, front and back matter aside, numbered from 1."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from core.formats.extracted import Extracted
from core.formats.structure import joined_headings
from core.formats.titles import Kind, fold_title, is_back, is_front, kind_of
from core.model import Chapter, Position, TocEntry
from core.segmenting import file_starts, mostly_cjk

OWN_TEXT = 1_500
"""From so many characters before its first child on, an entry with children is a chapter of its own (a third in CJK)."""
_TEXT = 30
"""What must be left of an entry without its headings (non-space characters, a third in CJK): less is a heading's byline."""
_PRELIMINARY = 0.2
"""What stands before the first chapter that is named as one is preliminary up to this share of the text."""
_BOUNDARY = re.compile(
    r"\*\*\* ?(START|END) OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*|^End of (?:the )?Project Gutenberg", re.M
)


def number(toc: Sequence[TocEntry], titles: Sequence[str], extracted: Extracted) -> tuple[Chapter, ...]:
    """The chapters of a book whose contents are repaired, by their full `titles`.

    A chapter begins at its entry and ends where the next entry (of any depth) begins, the last one where back matter or
    a licence begins. An entry with children is a chapter too when `OWN_TEXT` or more stands before the first of them:
    an introduction must belong to some chapter. Aside are files the book marks as front or back matter, and titles that
    say so (title page, contents, preface, colophon, notes…) with everything under them; where at least three chapters
    are named as such ("Chapter 1", "II"), also what stands before the first of them, so that their numbers agree with
    ours. Should nothing be left, the same leaves count without regard to titles.
    """
    files = extracted.files
    starts = file_starts(files)
    at = [starts[entry.file] + entry.offset for entry in toc]
    low, high = _body(extracted, starts)
    divisor = 3 if mostly_cjk(files) else 1
    headings = sorted((starts[mark.position.file] + mark.position.offset, mark.title) for mark in extracted.headings)
    own_text = []
    for index, entry in enumerate(toc):
        end = min(at[index + 1] if index + 1 < len(toc) else high, high)
        leaf = index + 1 == len(toc) or toc[index + 1].depth <= entry.depth
        text = _own_text(entry, at[index], end, extracted, starts, headings)
        if end > low and text >= (_TEXT // divisor if leaf else OWN_TEXT // divisor):
            own_text.append((index, end))
    aside = _aside(toc, titles, at, low + (high - low) * _PRELIMINARY, extracted)
    chosen = [pair for pair in own_text if pair[0] not in aside] or own_text
    return tuple(
        Chapter(count, titles[index], Position(toc[index].file, toc[index].offset), _position(starts, end))
        for count, (index, end) in enumerate(chosen, 1)
    )


def _own_text(
    entry: TocEntry,
    start: int,
    end: int,
    extracted: Extracted,
    starts: list[int],
    headings: list[tuple[int, str]],
) -> int:
    """Non-space characters from `start` to `end`, less the headings that stand there. Counting stops when it is clear."""
    index = bisect_left(headings, (start, ""))
    within = []
    while index < len(headings) and headings[index][0] < end:
        within.append(headings[index][1])
        index += 1
    titled = sum(len("".join(title.split())) for title in within or [entry.title])
    count = 0
    file, at = entry.file, start
    while at < end and count < 2 * OWN_TEXT:
        text, base = extracted.files[file].text, starts[file]
        stop = min(end, starts[file + 1], at + 6 * OWN_TEXT)
        for piece in range(at, stop, OWN_TEXT):
            count += sum(map(len, text[piece - base : min(piece + OWN_TEXT, stop) - base].split()))
            if count >= titled + OWN_TEXT:
                return count - titled
        file, at = file + 1, starts[file + 1]
    return count - titled


def _body(extracted: Extracted, starts: list[int]) -> tuple[int, int]:
    """Where the author's text begins and ends: trailing back matter and the licence of Project Gutenberg stay outside."""
    files = extracted.files
    low, high = 0, starts[-1]
    for file in reversed(range(len(files))):
        if file in extracted.back_files:
            high = starts[file]
        elif files[file].text:
            break
    for part, start in zip(files, starts, strict=False):
        if "Project Gutenberg" in part.text or "PROJECT GUTENBERG" in part.text:
            for match in _BOUNDARY.finditer(part.text):
                if match[1] == "START":
                    low = max(low, start + match.end())
                elif start + match.start() > low:
                    high = min(high, start + match.start())
    return low, high


def full_titles(toc: Sequence[TocEntry], extracted: Extracted) -> list[str]:
    """The title of each entry; where the heading in the text says more of the same ("I" over "Do titulo", or the number of
    the chapter before its title), the heading's.
    """
    marks = joined_headings(extracted)
    places = [mark.position for mark in marks]
    titles: list[str] = []
    for entry in toc:
        title = entry.title
        index = bisect_left(places, (entry.file, entry.offset))
        if index < len(marks) and places[index].file == entry.file:
            mark = marks[index]
            gap = extracted.files[entry.file].text[entry.offset : mark.position.offset]
            said, whole = fold_title(title), fold_title(mark.title)
            kind = kind_of(title)
            more = whole.startswith(f"{said} ") if kind and kind.bare else whole.endswith(f" {said}")
            if not gap.strip() and more and kind_of(mark.title):
                title = mark.title
        titles.append(title)
    return titles


def _aside(
    toc: Sequence[TocEntry], titles: Sequence[str], at: Sequence[int], early: float, extracted: Extracted
) -> set[int]:
    kinds = [kind_of(title) for title in titles]
    first = _first_named(toc, kinds)
    preliminary = first if first is not None and at[first] <= early else 0
    last_named = max((index for index, kind in enumerate(kinds) if kind and kind.rank >= 5), default=len(toc))
    aside: set[int] = set()
    under: int | None = None
    for index, entry in enumerate(toc):
        if under is not None and entry.depth > under:
            aside.add(index)
            continue
        under = None
        marked = entry.file in extracted.front_files or entry.file in extracted.back_files
        outside = entry.depth == 1 or index < preliminary or index > last_named
        titled = (is_front(entry.title) or is_back(entry.title)) and outside
        notes = fold_title(entry.title).startswith(("notes ", "notas ", "anmerkungen ")) and _has_children(toc, index)
        if marked or titled or notes or index < preliminary:
            aside.add(index)
            if (titled or notes) and not _holds_most(toc, index):
                under = entry.depth
    return aside


def _first_named(toc: Sequence[TocEntry], kinds: Sequence[Kind | None]) -> int | None:
    """The first entry named as a chapter, when at least three and half of all leaves are: numbered poems are no chapters."""
    leaves = [
        index
        for index, entry in enumerate(toc)
        if not (_has_children(toc, index) or is_front(entry.title) or is_back(entry.title))
    ]
    named = [index for index in leaves if (kind := kinds[index]) is not None and kind.rank >= 5]
    return named[0] if len(named) >= 3 and 2 * len(named) >= len(leaves) else None


def _has_children(toc: Sequence[TocEntry], index: int) -> bool:
    return index + 1 < len(toc) and toc[index + 1].depth > toc[index].depth


def _holds_most(toc: Sequence[TocEntry], index: int) -> bool:
    """Whether most of the contents hang under an entry that sounds like front matter ("Contents", "Cover")."""
    last = index + 1
    while last < len(toc) and toc[last].depth > toc[index].depth:
        last += 1
    return 2 * (last - index - 1) > len(toc)


def _position(starts: list[int], at: int) -> Position:
    """Where a chapter ends: the end of a file rather than the start of the next."""
    file = max(0, bisect_left(starts, at) - 1)
    return Position(file, at - starts[file])
