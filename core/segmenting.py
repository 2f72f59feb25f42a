"""Cutting a book into segments, the stretches one summary call reads: contents first, length where contents are silent.

Pure. Also where a position lies in the whole book, counted in characters from its first.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from core.model import Position, Segment, Span, SpineFile, TocEntry
from core.words import count_cjk

ALONE = 20_000
"""A contents node under this stands alone, and small siblings merge up to it (characters)."""
PIECE = 35_000
"""What a stretch without structure is cut towards."""
LARGEST = 40_000
"""A longer stretch is cut."""
STUB = 1_500
"""A shorter own text of a contents entry (its heading, an epigraph) is never a segment: it joins what follows."""
CJK_DIVISOR = 3


def file_starts(files: Sequence[SpineFile]) -> list[int]:
    """Where each file begins when all texts are laid end to end; one more entry for the end of the book."""
    return list(accumulate((len(file.text) for file in files), initial=0))


def mostly_cjk(files: Sequence[SpineFile]) -> bool:
    """Whether at least a third of the book is in Chinese, Japanese or Korean characters (sampled)."""
    sample = "".join(file.text[:: max(1, len(file.text) // 100)] for file in files[:: max(1, len(files) // 200)])
    cjk = count_cjk(sample)
    return cjk > 0 and cjk * 3 >= sum(map(str.isalpha, sample)) > 0


@dataclass(slots=True)
class _Node:
    """A contents entry with the characters from its start to the end of its last descendant."""

    title: str
    start: int
    end: int = 0
    children: list["_Node"] = field(default_factory=list)


@dataclass(slots=True)
class _Stretch:
    start: int
    end: int
    titles: list[str]
    parent: str = ""


class _Places:
    """Cuts allowed in a book, as characters from its first: run starts, and those that begin a paragraph."""

    def __init__(self, files: Sequence[SpineFile], runs: Sequence[Span], starts: Sequence[int]) -> None:
        self.runs: list[int] = []
        self.run_ends: list[int] = []
        self.paragraphs: list[int] = []
        here, last, base, text = -1, 0, 0, ""
        for file, start, end in runs:
            if file != here:
                parted = here < 0 or files[file - 1].join is None
                here, base, text = file, starts[file], files[file].text
            else:
                parted = text.count("\n", last, start) > 1
            self.runs.append(base + start)
            self.run_ends.append(base + end)
            if parted:
                self.paragraphs.append(base + start)
            last = end

    def snap(self, at: int) -> int:
        """The start of the run that holds `at`; `at` itself between runs: no segment parts a run."""
        index = bisect_right(self.runs, at) - 1
        return self.runs[index] if index >= 0 and at < self.run_ends[index] else at

    def near(self, target: int, low: int, high: int) -> int:
        """The allowed cut nearest to `target` within `low` (excluded) to `high`: a paragraph, else a run, else none (0)."""
        for cuts in (self.paragraphs, self.runs):
            at = bisect_left(cuts, target)
            best = [cut for cut in cuts[max(0, at - 1) : at + 1] if low < cut <= high]
            if best:
                return min(best, key=lambda cut: abs(cut - target))
        return 0


def plan(files: Sequence[SpineFile], runs: Sequence[Span], toc: Sequence[TocEntry]) -> tuple[Segment, ...]:
    """The segments of a book: in order, without gap or overlap, from its first character to its last.

    A contents node under `ALONE` stands alone; small siblings under the same parent merge up to it; a stretch over
    `LARGEST` is cut near `PIECE` at a paragraph end, else at a run. All limits are divided by `CJK_DIVISOR` in a CJK
    book. `toc` must be sorted by position; `runs` must cover the text. A segment's boundary never parts a run.
    """
    starts = file_starts(files)
    total = starts[-1]
    if not total:
        return ()
    divisor = CJK_DIVISOR if mostly_cjk(files) else 1
    places = _Places(files, runs, starts)
    stretches: list[_Stretch] = []
    for node_list, parent in _levels(_tree(toc, starts, places, total), divisor):
        stretches += _merge(node_list, parent, ALONE // divisor)
    stretches.sort(key=lambda stretch: stretch.start)
    stretches = _absorb(stretches, STUB // divisor)
    segments: list[Segment] = []
    for stretch in stretches:
        cuts = _cuts(stretch, places, divisor)
        title = _title(stretch) or _opening(files, starts, stretch.start)
        for number, (start, end) in enumerate(pairwise(cuts), 1):
            segments.append(
                Segment(
                    sequence=len(segments),
                    title=f"{title} ({number}/{len(cuts) - 1})" if len(cuts) > 2 else title,
                    start=_position(starts, start),
                    end=_end_position(files, starts, end),
                )
            )
    return tuple(segments)


def _tree(toc: Sequence[TocEntry], starts: Sequence[int], places: _Places, total: int) -> list[_Node]:
    roots: list[_Node] = []
    path: list[tuple[int, _Node]] = []
    first = places.snap(starts[toc[0].file] + toc[0].offset) if toc else total
    if first > 0:
        roots.append(_Node("", 0, first))
    for entry in toc:
        node = _Node(entry.title, places.snap(starts[entry.file] + entry.offset))
        while path and path[-1][0] >= entry.depth:
            path.pop()[1].end = node.start
        (path[-1][1].children if path else roots).append(node)
        path.append((entry.depth, node))
    for _, node in path:
        node.end = total
    return [node for node in roots if node.start < node.end]


def _levels(nodes: list[_Node], divisor: int) -> list[tuple[list[_Node], str]]:
    """Lists of siblings, large nodes with children replaced by their own text; their children are lists of their own."""
    found: list[tuple[list[_Node], str]] = []
    waiting = [(nodes, "")]
    while waiting:
        siblings, above = waiting.pop()
        kept: list[_Node] = []
        for node in siblings:
            if node.end - node.start > ALONE // divisor and node.children:
                own = _Node(node.title, node.start, node.children[0].start)
                if own.end - own.start < STUB // divisor:
                    own.title = ""
                waiting.append((([own] if own.start < own.end else []) + node.children, node.title))
                if kept:
                    found.append((kept, above))
                    kept = []
            elif node.start < node.end:
                kept.append(node)
        if kept:
            found.append((kept, above))
    return found


def _merge(nodes: list[_Node], parent: str, alone: int) -> list[_Stretch]:
    merged: list[_Stretch] = []
    for node in nodes:
        if merged and node.end - merged[-1].start <= alone:
            merged[-1].end = node.end
            merged[-1].titles.append(node.title)
        else:
            merged.append(_Stretch(node.start, node.end, [node.title], parent))
    return merged


def _absorb(stretches: list[_Stretch], stub: int) -> list[_Stretch]:
    """Join a stub (a part's heading before a long chapter) to what follows it, the last one to what precedes it."""
    kept: list[_Stretch] = []
    for stretch in stretches:
        if kept and kept[-1].end - kept[-1].start < stub:
            small = kept.pop()
            titles = stretch.titles if small.titles[-1] in ("", stretch.parent) else small.titles + stretch.titles
            stretch = _Stretch(small.start, stretch.end, titles, stretch.parent)
        kept.append(stretch)
    if len(kept) > 1 and kept[-1].end - kept[-1].start < stub:
        small = kept.pop()
        kept[-1] = _Stretch(kept[-1].start, small.end, kept[-1].titles + small.titles, kept[-1].parent)
    return kept


def _cuts(stretch: _Stretch, places: _Places, divisor: int) -> list[int]:
    size = stretch.end - stretch.start
    cuts = [stretch.start]
    largest = LARGEST // divisor
    if size > largest + STUB // divisor:
        pieces = max(-(-size // largest), round(size * divisor / PIECE))
        while pieces > 1:
            start = cuts[-1]
            target = start + (stretch.end - start) // pieces
            slack = max(1, (stretch.end - start) // pieces // 4)
            cut = places.near(target, max(start, target - slack), min(stretch.end - 1, start + largest, target + slack))
            cuts.append(cut or min(target, stretch.end - 1))
            pieces -= 1
            while stretch.end - cuts[-1] > largest * pieces:
                pieces += 1
    cuts.append(stretch.end)
    return cuts


def _title(stretch: _Stretch) -> str:
    titles = [title for title in stretch.titles if title]
    if not titles:
        return stretch.parent
    title = titles[0] if len(titles) == 1 else f"{titles[0]} – {titles[-1]}"
    return f"{stretch.parent} · {title}" if stretch.parent and stretch.parent not in titles else title


def _opening(files: Sequence[SpineFile], starts: Sequence[int], at: int) -> str:
    """The first words of a stretch that has no title."""
    file, offset = _position(starts, at)
    words = files[file].text[offset : offset + 200].split()
    if not words:
        return "…"
    opening = words[0][:40]
    for word in words[1:]:
        if len(opening) + len(word) > 40:
            break
        opening += f" {word}"
    return f"{opening} …"


def _position(starts: Sequence[int], at: int) -> Position:
    """The position of a character; empty files are stepped over, but for those before the first text."""
    if at <= 0:
        return Position(0, 0)
    file = min(bisect_right(starts, at) - 1, len(starts) - 2)
    return Position(file, at - starts[file])


def _end_position(files: Sequence[SpineFile], starts: Sequence[int], at: int) -> Position:
    return Position(len(files) - 1, len(files[-1].text)) if at >= starts[-1] else _position(starts, at)
