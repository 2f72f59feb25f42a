"""How often a question is answered without selection by the model, and how often its evidence was then delivered.

Run: python -m tests.bench.confidence [--tuning]. The rule's thresholds were chosen on every other book of ../shared/qa
(by name); what is reported are the others, at the budget of one look-up. Also: that questions in another language than
the book are never answered without selection, 100 of each pair of languages.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from core import ranking
from core.model import ParsedBook
from core.retrieval import Budgets
from core.retrieval.confidence import is_decisive, is_foreign
from tests.bench.qa import covered, delivered, parsed, records
from tests.parts import SHARED

RECALL, ANSWERED = 0.975, 0.70
CROSS = 100
"""Questions of each pair of languages."""


def judged(table: ranking.RankTable, book: ParsedBook, question: dict[str, Any]) -> tuple[bool, bool]:
    """(answered without selection, its evidence delivered)."""
    ranked = table.search(question["q"], book.language)
    budget = Budgets().looked_up
    windows = ranking.fill(ranked.windows, budget)
    runs = {run for window in windows for run in window}
    sure = not is_foreign(question["q"], book.language) and is_decisive(ranked, runs)
    return sure, covered(book, question["evidence"], delivered(book, windows, budget))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tuning", action="store_true", help="report the half the thresholds were chosen on")
    arguments = parser.parse_args()
    if SHARED is None:
        print("part left out: no ../shared")
        return 0
    books = sorted(records(SHARED / "qa"), key=lambda record: str(record["book"]))
    total: Counter[str] = Counter()
    astray = crossed = 0
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        for number, record in enumerate(books):
            book, path = parsed(record), Path(folder) / f"{number}.rank"
            ranking.build(path, book)
            table = ranking.RankTable.open(path)
            if number % 2 != arguments.tuning:
                seen = Counter(judged(table, book, question) for question in record["questions"])
                asked, sure = seen.total(), seen[True, True] + seen[True, False]
                total += Counter(asked=asked, sure=sure, held=seen[True, True])
                total["all"] += seen[True, True] + seen[False, True]
                print(
                    f"{book.title:26} {asked:5} questions, {sure / asked:.1%} without selection, "
                    f"evidence of those {seen[True, True] / sure:.2%}"
                )
            for other in books:
                if other["set"].startswith("xquad") and record["set"].startswith("xquad"):
                    if other["lang"] == record["lang"]:
                        continue
                    some = rng.sample(other["questions"], CROSS)
                    crossed += len(some)
                    astray += sum(judged(table, book, {**question, "evidence": []})[0] for question in some)
            table.close()
    recall, answered = total["held"] / total["sure"], total["sure"] / total["asked"]
    print(f"all: {answered:.1%} of {total['asked']} without selection (wanted {ANSWERED:.0%})")
    print(f"evidence of those: {recall:.2%} (wanted {RECALL:.1%}); of all: {total['all'] / total['asked']:.2%}")
    print(f"questions in another language answered without selection: {astray} of {crossed}")
    return int(recall < RECALL or answered < ANSWERED or astray > 0)


if __name__ == "__main__":
    sys.exit(main())
