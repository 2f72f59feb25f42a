"""The quote finder: where in a book certain words stand, verbatim or nearly so. No model and no ranking; every script."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log
from typing import Literal

from core.model import Position, Span
from core.quotes.folding import fold

Match = Literal["verbatim", "near", "none"]
Hit = tuple[Span, ...]
"""One place: one span, or one a file where a page cuts the sentence."""

MOST_HITS = 10
_LONGEST = 4000
"""Characters of a quotation that are looked at; nobody remembers more, and alignment is quadratic."""
_CHUNK = 16_384
_BARRIER = "\0"
"""Stands between files where no paragraph runs on; canonical text never holds it, so nothing matches across."""

_UNIT = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|[^\\W_]+"
)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_PLAIN = re.compile(r"[^\W_]+(?: [^\W_]+)*")
_ODD = re.compile(
    "[\u00ad\u0130\u017f\u061c\u0640\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufb00-\ufb06\ufeff\uff01-\uff5e]"
)


@dataclass(frozen=True, slots=True)
class _Book:
    """The permitted text as one string, with the way back to its files."""

    text: str
    starts: list[int]
    lengths: list[int]

    def hit(self, start: int, end: int) -> Hit:
        spans: list[Span] = []
        for file in range(bisect_right(self.starts, start) - 1, bisect_left(self.starts, end)):
            first = max(start - self.starts[file], 0)
            last = min(end - self.starts[file], self.lengths[file])
            piece = self.text[self.starts[file] + first : self.starts[file] + last]
            if piece.strip():
                first += len(piece) - len(piece.lstrip())
                spans.append(Span(file, first, first + len(piece.strip())))
        return tuple(spans)


def find_quote(
    words: str, files: Sequence[tuple[str, str | None]], limit: Position | None = None
) -> tuple[Match, list[Hit]]:
    """Find words in a book whose files are given as (text, join).

    `verbatim` when only typography or letter case differ (or the punctuation that ends the quotation), `near` when words
    differ, `none` when nothing is alike. At most ten hits: verbatim ones in reading order, near ones best first. A hit
    is whole words, and nothing at or past `limit` is looked at.
    """
    wanted = fold(words[:_LONGEST].replace(_BARRIER, " ")).text.strip(" '").replace("İ", "i").lower()
    if not any(character.isalnum() for character in wanted):
        return "none", []
    book = _permitted(files, limit)
    for spelling in dict.fromkeys((wanted, wanted.rstrip(" .,;:!?-…'。，！？、；："))):
        exact = [book.hit(*place) for place in _verbatim(spelling, book.text)]
        if exact:
            return "verbatim", exact
    near = [book.hit(*place) for place in _near(wanted, book.text)]
    return ("near", near) if near else ("none", [])


def _permitted(files: Sequence[tuple[str, str | None]], limit: Position | None) -> _Book:
    pieces: list[str] = []
    starts: list[int] = []
    lengths: list[int] = []
    length = 0
    for index, (text, join) in enumerate(files):
        if limit is not None and index >= limit.file:
            text = _whole_words(text, limit.offset) if index == limit.file else ""
        starts.append(length)
        lengths.append(len(text))
        between = _BARRIER if join is None else join
        pieces += (text, between)
        length += len(text) + len(between)
    return _Book("".join(pieces), starts, lengths)


def _whole_words(text: str, end: int) -> str:
    """The text up to `end`, less the beginning of a word that the end cuts in two."""
    if 0 < end < len(text) and text[end].isalnum() and not _UNSPACED.match(text[end]):
        while end and text[end - 1].isalnum() and not _UNSPACED.match(text[end - 1]):
            end -= 1
    return text[:end]


def _verbatim(wanted: str, text: str) -> list[tuple[int, int]]:
    """Places of the folded words. Chunks are passed over by a cheap test before their typography is folded."""
    probe = max(_PLAIN.findall(wanted), key=len, default="")
    unspaced = _UNSPACED.search(probe) is not None
    probe = probe.replace(" ", "") if unspaced else probe
    overlap = 2 * len(wanted) + 200
    found: list[tuple[int, int]] = []
    for begin in range(0, len(text), _CHUNK):
        chunk = text[begin : begin + _CHUNK + overlap]
        if not _ODD.search(chunk):
            bare = chunk.replace("_", "").replace("\u200c", "").replace("\u200d", "").lower().split()
            if probe not in ("" if unspaced else " ").join(bare):
                continue
        for start, end in _places(wanted, chunk):
            place = (begin + start, begin + end)
            # The overlap belongs to the next chunk, which sees what stands around it.
            if start < _CHUNK and place not in found and _stands_alone(text, *place):
                found.append(place)
                if len(found) == MOST_HITS:
                    return found
    return found


def _places(wanted: str, chunk: str) -> Iterator[tuple[int, int]]:
    folded = fold(chunk)
    haystack = folded.text.lower()
    at = haystack.find(wanted)
    while at >= 0:
        yield folded.span(at, at + len(wanted))
        at = haystack.find(wanted, at + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """True when no word is cut at either edge, nor a contraction ("don" in "don't")."""

    def inside(left: str, right: str) -> bool:
        return left.isalnum() and right.isalnum() and not _UNSPACED.match(left) and not _UNSPACED.match(right)

    if inside(text[start - 1 : start], text[start]):
        return False
    after = text[end : end + 2]
    if inside(text[end - 1], after[:1]):
        return False
    return not (len(after) == 2 and after[0] in "'’" and inside(text[end - 1], after[1]))


def _key(unit: str) -> str:
    """Units are alike when their first five letters are: a changed ending is not a changed word's worth of difference."""
    return unit[:5]


def _weight(unit: str) -> float:
    """Short words stand everywhere and prove little."""
    return 1.0 if len(unit) > 3 or _UNSPACED.match(unit) else 0.4


_NEAR = 0.6
"""How much of both texts must agree, in order: measured on seeded corruptions (kept) and paraphrases (refused)."""
_COMMON = 2000
"""A word standing more often votes only when there is no rarer one."""
_PROBES = 16
_CANDIDATES = 12


def _near(wanted: str, text: str) -> list[tuple[int, int]]:
    """Places whose words mostly agree in order: rare words vote for where it might begin, the best places are aligned."""
    units = [(found[0], found.start()) for found in _UNIT.finditer(wanted)]
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(character.lower()[:1] for character in text)
    found: list[tuple[float, int, int]] = []
    for begin in _candidates(wanted, units, lowered):
        placed = _align([unit for unit, _ in units], lowered, begin, len(wanted))
        if placed is not None:
            found.append(placed)
    chosen: list[tuple[int, int]] = []
    best = max((score for score, _, _ in found), default=0.0)
    for score, start, end in sorted(found, key=lambda place: (-place[0], place[1])):
        if score < best - 0.15:
            break
        if all(end <= other or start >= until for other, until in chosen):
            chosen.append((start, end))
    return chosen[:MOST_HITS]


def _candidates(wanted: str, units: list[tuple[str, int]], lowered: str) -> list[int]:
    """Where the quotation might begin, the most voted for first."""
    probes: dict[str, int] = {}
    for i, (unit, at) in enumerate(units):
        # A single ideograph says little: neighbours vote as pairs.
        if _UNSPACED.match(unit) and i + 1 < len(units) and units[i + 1][1] == at + 1:
            unit += units[i + 1][0]
        probes.setdefault(unit if len(units) > 6 else _key(unit), at)
    ordered = sorted(probes, key=len, reverse=True)[:24]
    counts = {probe: lowered.count(probe) for probe in ordered}
    known = sorted((probe for probe in ordered if counts[probe]), key=lambda probe: counts[probe])
    rare = [probe for probe in known if counts[probe] <= _COMMON][:_PROBES] or known[:2]
    width = max(64, len(wanted) // 2)
    votes: defaultdict[int, float] = defaultdict(float)
    for probe in rare:
        # Like an inverse document frequency: a few common words together outweigh the one rare word that was changed.
        worth = log(2 + 4 * _COMMON / counts[probe])
        seen: set[int] = set()
        at = lowered.find(probe)
        while at >= 0:
            bucket = max(at - probes[probe], 0) // width
            if bucket not in seen:
                seen.add(bucket)
                votes[bucket] += worth
            at = lowered.find(probe, at + 1)
    joint = {bucket: vote + votes.get(bucket + 1, 0.0) for bucket, vote in votes.items()}
    best = sorted(joint, key=lambda bucket: (-joint[bucket], bucket))[:_CANDIDATES]
    return [bucket * width for bucket in best if joint[bucket] * 4 >= joint[best[0]]]


def _align(units: list[str], lowered: str, begin: int, length: int) -> tuple[float, int, int] | None:
    """(agreement, start, end) of the best place near `begin`, or None when too little agrees."""
    width = max(64, length // 2)
    low, high = max(begin - width, 0), min(begin + 2 * width + 2 * length, len(lowered))
    best: tuple[float, int, int] | None = None
    while low < high:
        wall = lowered.find(_BARRIER, low, high)
        end = high if wall < 0 else wall
        placed = _agreement(units, [(found[0], *found.span()) for found in _UNIT.finditer(lowered, low, end)])
        if placed is not None and (best is None or placed[0] > best[0]):
            best = placed
        low = end + 1
    return best


def _agreement(units: list[str], there: list[tuple[str, int, int]]) -> tuple[float, int, int] | None:
    pairs = _common(units, [unit for unit, _, _ in there])
    if not pairs:
        return None
    total = sum(map(_weight, units))
    sums = [0.0, *accumulate(_weight(unit) for unit, _, _ in there)]
    agreed = [0.0, *accumulate(_weight(units[i]) for i, _ in pairs)]
    best: tuple[float, int, int] | None = None
    # A stray word far off may have joined the common sequence: try it without its first and last members as well.
    for first in range(min(3, len(pairs))):
        for last in range(len(pairs) - 1, max(len(pairs) - 4, first - 1), -1):
            (quoted, start), (quoted_last, end) = pairs[first], pairs[last]
            start = max(start - quoted, 0)
            end = min(end + len(units) - 1 - quoted_last, len(there) - 1)
            both = agreed[last + 1] - agreed[first]
            score = 2 * both / (total + sums[end + 1] - sums[start])
            if best is None or score > best[0]:
                best = (score, there[start][1], there[end][2])
    return best if best is not None and best[0] >= _NEAR else None


def _common(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """A longest common subsequence by `_key`, as index pairs (Hunt and Szymanski: patience over the matching places)."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for j in range(len(theirs) - 1, -1, -1):
        places[_key(theirs[j])].append(j)
    tails: list[int] = []
    links: list[tuple[int, int, int]] = []
    heads: list[int] = []
    for i, unit in enumerate(ours):
        for j in places.get(_key(unit), ()):
            at = bisect_left(tails, j)
            links.append((i, j, heads[at - 1] if at else -1))
            if at == len(tails):
                tails.append(j)
                heads.append(len(links) - 1)
            else:
                tails[at] = j
                heads[at] = len(links) - 1
    chain: list[tuple[int, int]] = []
    link = heads[-1] if heads else -1
    while link >= 0:
        i, j, link = links[link]
        chain.append((i, j))
    return chain[::-1]
