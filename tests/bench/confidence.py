"""How often a question is answered without selection by the model, and how often its evidence was then delivered.

Run: python -m tests.bench.confidence [--tuning]. The rule's thresholds are chosen on every other book of ../shared/qa (by
name) and reported on the others, at the budget of one look-up; `--tuning` chooses them again, from that half alone, and
tells whether they are those of the program. Also: that questions in another language than the book are never answered
without selection, 100 of each pair of languages.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from core import ranking
from core.model import ParsedBook
from core.retrieval import Budgets
from core.retrieval.confidence import DROP, SHARE, is_decisive, is_foreign, signs
from tests.bench.qa import covered, delivered, parsed, records
from tests.books.stories import without
from tests.parts import SHARED

RECALL, ANSWERED = 0.975, 0.70
MARGIN = 0.01
"""A point of recall, for books that are not those of the tuning half."""
LEAST = 0.80
"""What must be answered at once for a question to cost 1.25 calls in the mean: each other one costs a call more, and one in
twenty is tried twice."""
CROSS = 100
"""Questions of each pair of languages."""
DROPS = [quarter / 4 for quarter in range(0, 41)]
SHARES = [twentieth / 20 for twentieth in range(0, 15)]


class Judged(NamedTuple):
    """A question under the rule."""

    foreign: bool
    share: float
    drop: float
    sure: bool
    """What the program decides: it may be answered without selection."""
    held: bool
    """True when its evidence was delivered."""


def judge(table: ranking.RankTable, book: ParsedBook, question: dict[str, Any]) -> Judged:
    ranked = table.search(question["q"], book.language)
    budget = Budgets().looked_up
    windows = ranking.fill(ranked.windows, budget)
    runs = {run for window in windows for run in window}
    foreign = is_foreign(question["q"], book.language)
    held = covered(book, question["evidence"], delivered(book, windows, budget))
    return Judged(foreign, *signs(ranked, runs), not foreign and is_decisive(ranked, runs), held)


def under(drop: float, share: float, judged: Sequence[Judged]) -> tuple[float, float]:
    """(part answered without selection, evidence recall of those) at these thresholds."""
    sure = [one for one in judged if not one.foreign and one.share >= share and one.drop >= drop]
    return len(sure) / max(len(judged), 1), sum(one.held for one in sure) / max(len(sure), 1)


def choose(judged: Sequence[Judged], absent: Sequence[Judged]) -> tuple[float, float]:
    """Of those that keep MARGIN over what was promised: the thresholds that take fewest questions for answered whose
    evidence is not there (`absent`), then those that answer most."""
    found = []
    for drop, share in product(DROPS, SHARES):
        answered, recall = under(drop, share, judged)
        if recall >= RECALL + MARGIN and answered >= LEAST:
            found.append((-under(drop, share, absent)[0], answered, recall, drop, share))
    *_, drop, share = max(found)
    return drop, share


def judge_absent(folder: Path, record: dict[str, Any], rng: random.Random) -> list[Judged]:
    """Questions of a book out of which their evidence was cut."""
    some = rng.sample(record["questions"], min(CROSS, len(record["questions"])))
    ranges = [place for question in some for place in question["evidence"]]
    book = parsed({**record, "files": without(record["files"], ranges)})
    path = folder / "absent.rank"
    ranking.build(path, book)
    table = ranking.RankTable.open(path)
    judged = [judge(table, book, {**question, "evidence": []}) for question in some]
    table.close()
    return judged


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tuning", action="store_true", help="choose the thresholds again, on their half alone")
    arguments = parser.parse_args()
    if SHARED is None:
        print("part left out: no ../shared")
        return 0
    books = sorted(records(SHARED / "qa"), key=lambda record: str(record["book"]))
    halves: dict[bool, list[Judged]] = {True: [], False: []}
    absent: list[Judged] = []
    astray = crossed = 0
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        for number, record in enumerate(books):
            tuning = number % 2 == 0
            book, path = parsed(record), Path(folder) / f"{number}.rank"
            ranking.build(path, book)
            table = ranking.RankTable.open(path)
            if arguments.tuning or not tuning:
                judged = [judge(table, book, question) for question in record["questions"]]
                halves[tuning] += judged
                if tuning:
                    absent += judge_absent(Path(folder), record, random.Random(number))
                answered, recall = under(DROP, SHARE, judged)
                print(
                    f"{'tuning' if tuning else 'held back'}: {book.title:26} {len(judged):5} questions, "
                    f"{answered:.1%} without selection, evidence of those {recall:.2%}"
                )
            for other in books:
                if other["set"].startswith("xquad") and record["set"].startswith("xquad"):
                    if other["lang"] == record["lang"]:
                        continue
                    some = rng.sample(other["questions"], CROSS)
                    crossed += len(some)
                    astray += sum(judge(table, book, {**question, "evidence": []}).sure for question in some)
            table.close()
    if arguments.tuning:
        for name, pair in (("chosen on it", choose(halves[True], absent)), ("the program's", (DROP, SHARE))):
            answered, recall = under(*pair, halves[True])
            astray_absent, _ = under(*pair, absent)
            print(
                f"tuning half, {name}: DROP {pair[0]} SHARE {pair[1]:.2f}: {answered:.1%} answered, evidence {recall:.2%}; "
                f"of {len(absent)} questions without evidence {astray_absent:.1%} taken for answered"
            )
    answered, recall = under(DROP, SHARE, halves[False])
    held = Counter(one.held for one in halves[False])
    print(f"held back: {answered:.1%} of {held.total()} without selection (wanted {ANSWERED:.0%})")
    print(f"evidence of those: {recall:.2%} (wanted {RECALL:.1%}); of all: {held[True] / held.total():.2%}")
    print(f"questions in another language answered without selection: {astray} of {crossed}")
    return int(recall < RECALL or answered < ANSWERED or astray > 0)


if __name__ == "__main__":
    sys.exit(main())
