"""Evidence recall of the ranking on questions with known evidence (../shared/qa), and what building and asking cost.

Times are processor time of this process, so that neighbours on the machine do not count.
Run: python -m tests.bench.qa [--misses N]. A question counts when every non-space character of one annotated range lies
in delivered runs, taken in the order of evidence until text plus tags fills the budget (four characters a token, CJK one).
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core import ranking, tags
from core.formats.runs import cut_runs
from core.model import ParsedBook, Span, SpineFile
from core.words import quarters
from tests.parts import SHARED

TARGETS = {
    "fairytale": (4000, 0.95),
    "xquad-en": (1000, 0.98),
    "xquad-es": (1000, 0.98),
    "xquad-de": (1000, 0.96),
    "xquad-ru": (1000, 0.965),
    "xquad-ar": (1000, 0.94),
    "xquad-zh": (1000, 0.965),
    "faquad-pt": (1000, 0.96),
}


def records(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                record["set"] = "fairytale" if path.name.startswith("fairytale") else record["book"]
                yield record


def parsed(record: dict[str, Any]) -> ParsedBook:
    files = tuple(SpineFile(number, "", file["text"]) for number, file in enumerate(record["files"]))
    runs = tuple(run for file in files for run in cut_runs(file))
    return ParsedBook(record["book"], (), record["lang"], "txt", "1", files, runs, (), (), ())


def delivered(book: ParsedBook, windows: list[tuple[Span, ...]], budget: int) -> set[Span]:
    """The runs that count: in the order of evidence until text plus tags fills the budget."""
    spent = 0
    counted: set[Span] = set()
    for run in (run for window in windows for run in window):
        spent += quarters(book.files[run.file].text[run.start : run.end] + tags.tag(run))
        if spent > 4 * budget:
            break
        counted.add(run)
    return counted


def covered(book: ParsedBook, evidence: list[list[int]], runs: set[Span]) -> bool:
    """True when one of the ranges has every non-space character inside the runs."""
    for file, start, end in evidence:
        text = book.files[file].text
        at = start
        for run in sorted(run for run in runs if run.file == file):
            if run.end > at and not text[at : max(at, min(run.start, end))].strip():
                at = max(at, run.end)
        if not text[at:end].strip():
            return True
    return False


def measure(record: dict[str, Any], folder: Path, misses: int) -> tuple[int, list[float], float]:
    """(questions with their evidence, seconds of each search, characters a second of the build)."""
    book = parsed(record)
    path = folder / "book.rank"
    began = time.process_time()
    ranking.build(path, book)
    speed = book.characters / (time.process_time() - began)
    table = ranking.RankTable.open(path)
    budget = TARGETS[record["set"]][0]
    found = 0
    seconds: list[float] = []
    for question in record["questions"]:
        began = time.process_time()
        ranked = table.search(question["q"], book.language)
        windows = ranking.fill(ranked.windows, budget)
        seconds.append(time.process_time() - began)
        hit = covered(book, question["evidence"], delivered(book, windows, budget))
        found += hit
        if not hit and misses:
            misses -= 1
            file, start, end = question["evidence"][0]
            print("  MISS", question["q"], ranked.terms, "|", book.files[file].text[start:end][:600])
    table.close()
    return found, seconds, speed


def big_book(characters: int) -> dict[str, Any]:
    """All story books as one, cut at so many characters."""
    assert SHARED is not None
    files: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for record in records(SHARED / "qa"):
        if record["set"] == "fairytale":
            files += record["files"]
            questions += record["questions"][:100]
    while sum(len(file["text"]) for file in files) < characters:
        files += files
    while sum(len(file["text"]) for file in files) > characters:
        files.pop()
    return {"book": "big", "set": "fairytale", "lang": "en", "files": files, "questions": questions}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if SHARED is None:
        print("part left out: no ../shared")
        return 0
    totals: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as name:
        for record in records(SHARED / "qa"):
            if arguments.only in record["set"]:
                found, _, _ = measure(record, Path(name), arguments.misses)
                total = totals.setdefault(record["set"], [0, 0])
                total[0] += found
                total[1] += len(record["questions"])
        missed = 0
        for key, (found, asked) in totals.items():
            budget, target = TARGETS[key]
            missed += found / asked < target
            mark = "ok" if found / asked >= target else "BELOW"
            print(f"{key:12} {found:5}/{asked:5} = {found / asked:.2%} at {budget} tokens, wanted {target:.1%} {mark}")
        if not arguments.only:
            for characters in (700_000, 3_200_000):
                _, seconds, speed = measure(big_book(characters), Path(name), 0)
                p50, p99 = statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]
                print(
                    f"book of {characters:,} characters: build {characters / speed:.2f} s "
                    f"({speed / 1e6:.1f} M characters/s), search p50 {p50 * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms"
                )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
