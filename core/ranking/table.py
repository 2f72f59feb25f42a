"""Asking a rank table: BM25 over windows of runs and over files, up to a reading limit."""

import math
import sqlite3
import threading
from array import array
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from core.model import Position, Span
from core.ranking.building import VERSION, checksum
from core.ranking.searchable import Term, question_terms
from core.ranking.windows import Range, cut_windows

K1 = 1.2
B = 0.75
FILE_SHARE = 0.3
"""How much the file's score adds to its windows' (DESIGN 5; +1.3 points of recall on a 3 M character book)."""


class BrokenTable(Exception):
    """The file is missing, damaged or of another version: build it again. Nothing else is lost."""


class Window(NamedTuple):
    """A stretch of runs in reading order, what each run costs in tokens with its tag, and its score (higher is better)."""

    runs: tuple[Span, ...]
    costs: tuple[int, ...]
    score: float
    share: float = 0.0
    """Which part of the question's words, by weight, the window has."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Windows best first, and what a rule about confidence needs."""

    windows: tuple[Window, ...] = ()
    terms: tuple[str, ...] = ()
    """The content words of the question that were looked for."""
    missing: tuple[str, ...] = ()
    """Those of them that the permitted text does not have at all."""
    agreement: float = field(default=0.0)
    """Which part of the best five windows lies in one and the same file."""


class _Layout(NamedTuple):
    windows: list[Range]
    norms: list[float]
    """The length part of BM25 for each window."""
    windows_of: list[list[int]]
    """The windows each run is in."""


KEPT_LAYOUTS = 4


class RankTable:
    """One open rank table; safe to use from several threads, one search at a time."""

    def __init__(self, database: sqlite3.Connection, arrays: dict[str, "array[int]"]) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._runs = tuple(map(Span, arrays["file"], arrays["start"], arrays["end"]))
        self._costs = tuple(arrays["cost"])
        self._run_weights = arrays["weight"]
        self._marks = arrays["mark"]
        self._files = arrays["file"].tolist()
        self._layouts: OrderedDict[int, _Layout] = OrderedDict()
        self._whole = self._lay_out(len(self._runs))

    @classmethod
    def open(cls, path: Path) -> "RankTable":
        """Open a table. Raises BrokenTable."""
        try:
            if not path.is_file():
                raise BrokenTable(f"{path.name} is not there")
            address = path.absolute().as_uri() + "?mode=ro&immutable=1"
            database = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise BrokenTable(f"{path.name}: {error}") from error
        try:
            return cls(database, _arrays(database, path.stat().st_size))
        except (OSError, sqlite3.Error, ValueError, KeyError) as error:
            database.close()
            raise BrokenTable(f"{path.name}: {error}") from error

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def search(
        self,
        words: str,
        language: str,
        *,
        limit: Position | None = None,
        kept_back: Sequence[Span] = (),
        top: int = 60,
        wide: bool = False,
    ) -> Ranked:
        """The best windows for a question, at most `top`; the same ones every time. `wide`: by every form of its words.

        Only runs wholly before `limit` take part: windows are laid out over them alone, and counts, lengths and
        frequencies are theirs, so that what lies beyond the limit changes nothing, not even a score. A run that touches a
        stretch `kept_back` (in reading order) is never found and stands in no window.
        Raises BrokenTable when the file turns out to be damaged.
        """
        permitted = len(self._runs) if limit is None else bisect_right(self._runs, limit, key=_last_position)
        terms = question_terms(words, language, wide=wide)
        if not permitted or not terms:
            return Ranked(terms=tuple(dict.fromkeys(term.word for term in terms)))
        windows, missing = self._best(terms, permitted, top, self._touched(kept_back, permitted))
        files = [window.runs[0].file for window in windows[:5]]
        agreement = max(map(files.count, files)) / len(files) if files else 0.0
        return Ranked(windows, tuple(dict.fromkeys(term.word for term in terms)), missing, agreement)

    def _touched(self, stretches: Sequence[Span], permitted: int) -> frozenset[int]:
        found: set[int] = set()
        for stretch in stretches:
            run = bisect_right(self._runs, stretch.first, hi=permitted, key=_last_position)
            while run < permitted and self._runs[run].first < stretch.last:
                found.add(run)
                run += 1
        return frozenset(found)

    def _best(
        self, terms: list[Term], permitted: int, top: int, barred: frozenset[int]
    ) -> tuple[tuple[Window, ...], tuple[str, ...]]:
        layout = self._layout(permitted)
        norms, windows_of = layout.norms, layout.windows_of
        count = len(norms)
        files = self._runs[permitted - 1].file + 1
        scores = [0.0] * count
        file_scores = [0.0] * files
        having: list[tuple[float, Counter[int]]] = []
        found: dict[str, bool] = {}
        for term in terms:
            hits = [hit for hit in self._hits(term, permitted) if hit not in barred]
            found[term.word] = found.get(term.word, False) or bool(hits)
            in_windows = Counter(chain.from_iterable(map(windows_of.__getitem__, hits)))
            worth = _worth(len(in_windows), count) * term.share
            having.append((worth, in_windows))
            worth *= K1 + 1
            for window, frequency in in_windows.items():
                scores[window] += worth * frequency / (frequency + norms[window])
            in_files = Counter(map(self._files.__getitem__, hits))
            worth = FILE_SHARE * (K1 + 1) * _worth(len(in_files), files) * term.share
            for file, frequency in in_files.items():
                file_scores[file] += worth * frequency / (frequency + K1)
        candidates = set().union(*(windows for _, windows in having))
        for window in candidates:
            scores[window] += file_scores[self._files[layout.windows[window][0]]]
        best = nsmallest(top, candidates, key=lambda window: (-scores[window], window))
        total = sum(worth for worth, _ in having)
        windows = []
        for window in best:
            begin, end = layout.windows[window]
            share = sum(worth for worth, windows_having in having if window in windows_having) / total
            shown = [run for run in range(begin, end) if run not in barred]
            runs, costs = tuple(self._runs[run] for run in shown), tuple(self._costs[run] for run in shown)
            windows.append(Window(runs, costs, scores[window], share))
        return tuple(windows), tuple(word for word, hit in found.items() if not hit)

    def _layout(self, permitted: int) -> "_Layout":
        """The windows over so many runs; those of the latest limits are kept."""
        if permitted == len(self._runs):
            return self._whole
        with self._lock:
            layout = self._layouts.pop(permitted, None) or self._lay_out(permitted)
            self._layouts[permitted] = layout
            while len(self._layouts) > KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
            return layout

    def _lay_out(self, permitted: int) -> "_Layout":
        windows = cut_windows(self._marks[:permitted], self._run_weights)
        lengths = [sum(self._run_weights[begin:end]) for begin, end in windows]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        windows_of: list[list[int]] = [[] for _ in range(permitted)]
        for number, (begin, end) in enumerate(windows):
            for run in range(begin, end):
                windows_of[run].append(number)
        return _Layout(windows, [K1 * (1 - B + B * length / average) for length in lengths], windows_of)

    def _hits(self, term: Term, permitted: int) -> list[int]:
        with self._lock:
            try:
                found = self._database.execute(
                    "SELECT rowid FROM words WHERE words MATCH ? AND rowid <= ?", (term.match, permitted)
                )
                return [rowid - 1 for (rowid,) in found]
            except sqlite3.Error as error:
                if "phrase queries" in str(error):  # a character that is a letter to us and none to the index
                    return []
                raise BrokenTable(str(error)) from error


def _last_position(run: Span) -> Position:
    return run.last


def _worth(having: int, of: int) -> float:
    """Inverse document frequency, never negative."""
    return math.log(1 + (of - having + 0.5) / (having + 0.5))


def _arrays(database: sqlite3.Connection, size: int) -> dict[str, "array[int]"]:
    """The stored arrays. Raises ValueError or KeyError when they are not whole."""
    (pages,), (page_size,) = (
        database.execute("PRAGMA page_count").fetchone(),
        database.execute("PRAGMA page_size").fetchone(),
    )
    if pages * page_size != size:
        raise ValueError("cut short")
    arrays: dict[str, array[int]] = {}
    for name, value in database.execute("SELECT name, value FROM arrays"):
        arrays[name] = array("I")
        arrays[name].frombytes(value)
    version, runs, total = arrays["version"] if len(arrays["version"]) == 3 else (0, 0, 0)
    if version != VERSION:
        raise ValueError(f"version {version}")
    if checksum(arrays) != total:
        raise ValueError("not what was written")
    if any(len(arrays[name]) != runs for name in ("file", "start", "end", "cost", "weight", "mark")):
        raise ValueError("runs missing")
    return arrays
