"""Whether "not in the book" is said when, and only when, it is so; and that it is never said without selection.

Run: python -m tests.bench.absence [QUESTIONS]. Of each kind 100 questions of ../shared/qa (by default), whole turns with
an honest model: it answers when all of a question's evidence stands in what it was given, else says that the book does not
say. Kinds: the evidence cut out of the book; the question in another language than the book; answerable as it is.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.model import ParsedBook, Span
from tests.bench.qa import records
from tests.books.stories import assembled, without
from tests.clubs import open_club
from tests.fakes.counting import CountingModel, Given
from tests.parts import SHARED

MOST_ALARMS = 0.03


def evidence_texts(book: ParsedBook, question: dict[str, Any]) -> list[set[str]]:
    """For each range of the evidence the texts of the runs it touches."""
    found = []
    for file, start, end in question["evidence"]:
        text = book.files[file].text
        runs = [run for run in book.runs if run.file == file and run.start < end and run.end > start]
        found.append({text[run.start : run.end] for run in runs})
    return [texts for texts in found if texts]


class Honest:
    """Knows what proves each question: all the runs of one range."""

    def __init__(self) -> None:
        self.known: dict[str, list[set[str]]] = {}

    def __call__(self, question: str, given: Given) -> Sequence[Span]:
        texts = {text for _, text in given}
        for wanted in self.known[question]:
            if wanted <= texts:
                return [span for span, text in given if text in wanted]
        return ()


async def ask(
    folder: Path, book: ParsedBook, questions: Sequence[dict[str, Any]], proven: Sequence[list[set[str]]]
) -> list[tuple[str, bool, bool]]:
    """(outcome, selection ran, it ran before the first answer) of each question."""
    honest = Honest()
    model = CountingModel(honest)
    found: list[tuple[str, bool, bool]] = []
    async with open_club(folder, model) as club:
        await club.shelve(book)
        for question, texts in zip(questions, proven, strict=True):
            honest.known[question["q"]] = texts
            model.calls.clear()
            turn = await club.ask(question["q"])
            purposes = [call.purpose for call in model.calls]
            found.append((turn.answer.outcome, "pick" in purposes, purposes[:1] == ["pick"]))
    return found


async def measure(count: int) -> int:
    assert SHARED is not None
    everything = list(records(SHARED / "qa"))
    stories = [record for record in everything if record["set"] == "fairytale"]
    articles = {record["lang"]: record for record in everything if record["set"].startswith("xquad")}
    rng = random.Random(11)
    cut: list[tuple[str, bool, bool]] = []
    plain: list[tuple[str, bool, bool]] = []
    cross: list[tuple[str, bool, bool]] = []
    crossing: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        share = -(-count // len(stories))
        for number, record in enumerate(stories):
            some = rng.sample(record["questions"], share)
            ranges = [place for question in some for place in question["evidence"]]
            book = assembled(record["book"], record["lang"], without(record["files"], ranges))
            cut += await ask(Path(name) / f"cut{number}", book, some, [[] for _ in some])
            book = assembled(record["book"], record["lang"], record["files"])
            more = rng.sample(record["questions"], 4 * share)
            plain += await ask(
                Path(name) / f"plain{number}", book, more, [evidence_texts(book, question) for question in more]
            )
        pairs = [("es", "en"), ("en", "es"), ("de", "en"), ("en", "ru"), ("zh", "en")]
        for asked, language in pairs:
            record = articles[language]
            book = assembled(record["book"], language, record["files"])
            some = rng.sample(articles[asked]["questions"], -(-count // len(pairs)))
            crossing += [question["q"] for question in some]
            cross += await ask(Path(name) / f"cross{asked}{language}", book, some, [[] for _ in some])
    alarms = sum(outcome == "not_in_book" for outcome, _, _ in plain)
    unpicked = sum(not picked for rows in (cut, cross) for _, picked, _ in rows)
    wrong = sum(outcome != "not_in_book" for outcome, _, _ in cut)
    late = [asked for asked, (_, _, first) in zip(crossing, cross, strict=True) if not first]
    print(f"evidence cut out: {len(cut)} questions, {len(cut) - wrong} end in not_in_book")
    print(f"in another language: {len(cross)} questions, {len(cross) - len(late)} chosen for before the first answer")
    for asked in late:
        print(f"  answered first: {asked}")
    print(f"cut out or in another language, answered without selection: {unpicked}")
    print(
        f"answerable: {len(plain)} questions, false alarms {alarms / len(plain):.2%} (wanted at most {MOST_ALARMS:.0%})"
    )
    return int(bool(unpicked or wrong or late) or alarms / len(plain) > MOST_ALARMS)


def main() -> int:
    if SHARED is None:
        print("part left out: no ../shared")
        return 0
    return asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100))


if __name__ == "__main__":
    sys.exit(main())
