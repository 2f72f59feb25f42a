"""Contents repaired: what the file claims, checked against the text; found in the text where the file says nothing."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from core.formats.extracted import Extracted, HeadingMark
from core.formats.lines import find_headings, join_title, mostly, title_below
from core.formats.titles import fold_title, is_back, is_front, is_useless, kind_of
from core.model import SpineFile, TocEntry
from core.segmenting import file_starts, mostly_cjk

SUSPICIOUS = 40_000
"""Characters after which an entry that has no entry inside is searched for headings (a third of it in CJK)."""
_OUTLIER = 3
"""How many times longer than the middle one an entry must be before headings of its own kind are looked for in it."""
_LEVELS = 3
"""Levels of headings taken into contents that the file does not give."""
_TITLE = 300
"""Characters of a title that are kept."""


def repair(extracted: Extracted) -> list[TocEntry]:
    """The contents of a book, sorted by position, titles as written, depths from 1.

    Claims that point outside the text are dropped, entries at one position become one (titles joined) unless the second
    is the child of the first. Fewer than two telling entries are replaced by the headings of the text, or by lines that
    read like headings. A claimed entry far longer than the others, such as the last one of contents that stop early,
    is filled with the headings of the same kind found inside it; one that names a part gets its chapters.
    """
    marks = joined_headings(extracted)
    claimed = _merged(_valid(extracted))
    telling = [
        entry
        for entry in claimed
        if not (is_useless(entry.title) or is_front(entry.title) or is_back(entry.title))
        and entry.file not in extracted.front_files | extracted.back_files
    ]
    if len(telling) < 2:
        found = _found(extracted, marks)
        if len(found) >= max(2, len(telling)):
            return _merged(found)
        return claimed if telling else _merged(found) or [entry for entry in claimed if not is_useless(entry.title)]
    return _merged(_filled(claimed, marks, extracted))


def _valid(extracted: Extracted) -> list[TocEntry]:
    entries = []
    for entry in extracted.toc:
        if 0 <= entry.file < len(extracted.files):
            offset = min(max(entry.offset, 0), len(extracted.files[entry.file].text))
            title = " ".join(entry.title.split())[:_TITLE]
            if title:
                entries.append(TocEntry(title, max(1, entry.depth), entry.file, offset))
    entries.sort(key=lambda entry: (entry.file, entry.offset))
    return entries


def _merged(entries: Sequence[TocEntry]) -> list[TocEntry]:
    merged: list[TocEntry] = []
    for entry in entries:
        last = merged[-1] if merged else None
        if last is None or (last.file, last.offset) != (entry.file, entry.offset):
            merged.append(entry)
        elif fold_title(entry.title) == fold_title(last.title):
            continue
        elif entry.depth > last.depth:
            merged.append(entry)
        else:
            merged[-1] = replace(last, title=f"{last.title} – {entry.title}"[:_TITLE])
    deepest = 1
    for index, entry in enumerate(merged):
        if entry.depth > deepest:
            merged[index] = entry = replace(entry, depth=deepest)
        deepest = entry.depth + 1
    return merged


def joined_headings(extracted: Extracted) -> list[HeadingMark]:
    """The marks of the text in order; a bare number and the title that stands right under it are one."""
    marks: list[HeadingMark] = []
    ends: list[int] = []
    for mark in sorted(extracted.headings, key=lambda mark: mark.position):
        title = " ".join(mark.title.split())[:_TITLE]
        if not any(map(str.isalnum, title)) or not 0 <= mark.position.file < len(extracted.files):
            continue
        text = extracted.files[mark.position.file].text
        end = mark.position.offset + len(mark.title)
        if marks and marks[-1].position.file == mark.position.file:
            last = marks[-1]
            kind = kind_of(last.title)
            near = not text[ends[-1] : mark.position.offset].strip()
            # A part's title stands on its own level; what stands below is its first chapter.
            fits = kind is not None and kind.bare and (kind.rank >= 5 or mark.level <= last.level)
            if near and fits and kind_of(title) is None and not title[0].isdigit():
                marks[-1] = replace(last, title=join_title(last.title, title))
                ends[-1] = end
                continue
        marks.append(replace(mark, title=title))
        ends.append(end)
    return _with_titles_below(marks, ends, extracted.files)


def _with_titles_below(marks: list[HeadingMark], ends: list[int], files: Sequence[SpineFile]) -> list[HeadingMark]:
    bare = [index for index, mark in enumerate(marks) if (kind := kind_of(mark.title)) is not None and kind.bare]
    below = [title_below(files[marks[index].position.file].text, ends[index]) for index in bare]
    if mostly(below):
        for index, title in zip(bare, below, strict=True):
            marks[index] = replace(marks[index], title=join_title(marks[index].title, title))
    return marks


def _found(extracted: Extracted, marks: list[HeadingMark]) -> list[TocEntry]:
    """Contents from the headings of the text, or from lines that read like headings when these say much more."""
    levels = sorted({mark.level for mark in marks})[:_LEVELS]
    headed = [
        TocEntry(mark.title, levels.index(mark.level) + 1, *mark.position) for mark in marks if mark.level in levels
    ]
    # Readers of bare text have looked for lines already.
    if extracted.format in ("txt", "md") and headed:
        return headed
    lined = [
        TocEntry(mark.title, mark.level, *mark.position) for mark in find_headings([f.text for f in extracted.files])
    ]
    named = sum(kind_of(entry.title) is not None for entry in lined)
    if len(headed) < 2 or (named >= 3 and named > 2 * len(headed)):
        return lined or headed
    return headed


def _filled(claimed: list[TocEntry], marks: list[HeadingMark], extracted: Extracted) -> list[TocEntry]:
    files = extracted.files
    starts = file_starts(files)
    limit = SUSPICIOUS // 3 if mostly_cjk(files) else SUSPICIOUS
    at = [starts[entry.file] + entry.offset for entry in claimed]
    body_end = next((starts[file] for file in _trailing(extracted)), starts[-1])
    ends = [*at[1:], max(body_end, at[-1])]
    leaves = [
        index
        for index, entry in enumerate(claimed)
        if index + 1 == len(claimed) or claimed[index + 1].depth <= entry.depth
    ]
    middle = median(ends[index] - at[index] for index in leaves)
    places = [starts[mark.position.file] + mark.position.offset for mark in marks]
    levels = _levels_of(claimed, at, marks, places, files)
    filled = list(claimed)
    for index in leaves:
        entry = claimed[index]
        size = ends[index] - at[index]
        if size <= limit or entry.file in extracted.front_files | extracted.back_files:
            continue
        inside = marks[bisect_right(places, at[index]) : bisect_left(places, ends[index])]
        inside = [mark for mark in inside if not _names(entry, mark, files)]
        if size > _OUTLIER * middle:
            same = _siblings(entry, inside, levels) or _same_kind(
                entry, claimed, at[index], ends[index], extracted, starts
            )
            if same:
                filled += same
                continue
        filled += _children(entry, inside)
    filled.sort(key=lambda entry: (entry.file, entry.offset))
    return filled


def _trailing(extracted: Extracted) -> list[int]:
    """The files at the end of the book that it marks as back matter."""
    trailing: list[int] = []
    for file in reversed(range(len(extracted.files))):
        if file not in extracted.back_files and extracted.files[file].text:
            break
        trailing.append(file)
    return trailing[::-1]


def _names(entry: TocEntry, mark: HeadingMark, files: Sequence[SpineFile]) -> bool:
    """Whether the heading is the entry's own: nothing stands between the two."""
    file, offset = mark.position
    return file == entry.file and not files[file].text[entry.offset : offset].strip()


def _levels_of(
    claimed: list[TocEntry], at: list[int], marks: list[HeadingMark], places: list[int], files: Sequence[SpineFile]
) -> dict[int, set[int]]:
    """Levels of the headings that the claimed entries of each depth point at, stray ones left out."""
    counts: dict[int, Counter[int]] = {}
    for entry, place in zip(claimed, at, strict=True):
        index = bisect_left(places, place)
        if index < len(marks) and _names(entry, marks[index], files):
            counts.setdefault(entry.depth, Counter())[marks[index].level] += 1
    return {
        depth: {level for level, count in levels.items() if count >= 2 and count * 4 >= levels.total()}
        for depth, levels in counts.items()
    }


def _siblings(entry: TocEntry, inside: list[HeadingMark], levels: dict[int, set[int]]) -> list[TocEntry]:
    own = levels.get(entry.depth)
    if not own:
        return []
    return [
        TocEntry(mark.title, entry.depth if mark.level in own else max(1, entry.depth - 1), *mark.position)
        for mark in inside
        if mark.level in own or mark.level < min(own)
    ]


def _same_kind(
    entry: TocEntry, claimed: list[TocEntry], start: int, end: int, extracted: Extracted, starts: list[int]
) -> list[TocEntry]:
    """Lines of the text of the kind that most entries name, when no markup tells headings."""
    kinds = Counter(kind.name for one in claimed if one.depth == entry.depth and (kind := kind_of(one.title)))
    common = {name for name, count in kinds.items() if count >= 2}
    if not common:
        return []
    return [
        TocEntry(mark.title, entry.depth, *mark.position)
        for mark in find_headings([file.text for file in extracted.files])
        if start < starts[mark.position.file] + mark.position.offset < end
        and (kind := kind_of(mark.title))
        and kind.name in common
    ]


def _children(entry: TocEntry, inside: list[HeadingMark]) -> list[TocEntry]:
    """Chapters inside an entry that is itself none: contents that list parts only."""
    own = kind_of(entry.title)
    if own is None or own.rank >= 5:
        return []
    found = [mark for mark in inside if (kind := kind_of(mark.title)) and kind.rank > own.rank]
    if len(found) < 2:
        return []
    ranks = sorted({kind.rank for mark in found if (kind := kind_of(mark.title))})
    return [
        TocEntry(mark.title, entry.depth + 1 + ranks.index(kind.rank), *mark.position)
        for mark in found
        if (kind := kind_of(mark.title))
    ]
