"""What a question costs: calls, the longest chain, tokens sent, against a model that answers from what it was given and counts.

Run: python -m tests.bench.cost [QUESTIONS]. Story books and story books put together (../shared/qa), no book given whole,
and War and Peace with the questions below. A picker's batches run together, so a chain is the answers plus one.
"""

import asyncio
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.formats.reading import read
from core.model import ParsedBook
from tests.bench.qa import records
from tests.books.stories import assembled
from tests.clubs import open_club
from tests.fakes.counting import Call, CountingModel
from tests.parts import SHARED

MOST_CALLS, MOST_CHAIN, MOST_TOKENS, MOST_GROWTH = 1.25, 2, 6_500, 1.5
SIZES = (200_000, 3_200_000)
WAR_AND_PEACE = """Who is Anna Pavlovna Scherer?
What does Pierre inherit from Count Bezukhov?
Why does Prince Andrew go to the war?
What does Prince Andrew see in the sky at Austerlitz?
How does Dolokhov win the bet with the bottle of rum?
Who fights a duel with Pierre?
How much does Rostov lose at cards to Dolokhov?
What does Natasha do at her first ball?
Why does Natasha break her engagement with Prince Andrew?
Who tries to elope with Natasha?
What is the comet of 1812 a sign of for Pierre?
How does Kutuzov behave at the council of war in Fili?
Why is Moscow abandoned?
What happens to the young man Vereshchagin?
Who is Platon Karataev?
How does Petya Rostov die?
What does Princess Mary do when the peasants of Bogucharovo refuse to let her go?
Why does Pierre want to kill Napoleon?
What is Helene's end?
What does the old oak mean to Prince Andrew?
How do the Freemasons receive Pierre?
What happens at the battle of Schon Grabern to Captain Tushin's battery?
Who rescues Pierre from captivity?
What does Napoleon say about the Russian ambassador Balashev?
How is the bear tied to the policeman?
What does Sonya promise Nicholas?
How does the little princess die?
What does Count Rostopchin do on the day the French enter?
Whom does Nicholas Rostov marry?
What does Speranski think of Prince Andrew's plans?""".splitlines()


async def ask(folder: Path, book: ParsedBook, questions: Sequence[str]) -> list[list[Call]]:
    """The calls of each question."""
    model = CountingModel()
    found = []
    async with open_club(folder, model) as club:
        await club.shelve(book)
        for question in questions:
            model.calls.clear()
            await club.ask(question)
            found.append(list(model.calls))
    return found


def chain(calls: Sequence[Call]) -> int:
    """Calls that had to wait for each other."""
    answers = sum(call.purpose != "pick" for call in calls)
    return answers + (answers < len(calls))


def tell(name: str, book: ParsedBook, asked: Sequence[Sequence[Call]]) -> tuple[float, float]:
    """(mean calls, median tokens of a question's requests)."""
    calls = statistics.mean(map(len, asked))
    tokens = statistics.median(sum(call.tokens for call in one) for one in asked)
    chains = sorted(Counter(map(chain, asked)).items())
    print(
        f"{name:28} {book.characters:9,} characters, {len(book.segments):3} segments: {calls:.2f} calls a question, "
        f"chains {', '.join(f'{length}: {count}' for length, count in chains)}, median {tokens:,.0f} tokens sent"
    )
    return calls, tokens


def of_size(
    stories: Sequence[dict[str, Any]], filling: ParsedBook, size: int, rng: random.Random
) -> tuple[ParsedBook, list[str]]:
    """Stories put together up to about so many characters, then chapters of another book, and the stories' questions."""
    files: list[dict[str, Any]] = []
    have: set[tuple[str, int]] = set()
    left = size
    for record in stories:
        for number, file in enumerate(record["files"]):
            if left > 0:
                files.append(file)
                have.add((record["book"], number))
                left -= len(file["text"])
    for file in filling.files:
        if left > 0 and file.text:
            files.append({"title": "", "text": file.text})
            left -= len(file.text)
    questions = [q["q"] for r in stories for q in r["questions"] if (r["book"], q["evidence"][0][0]) in have]
    return assembled(f"Stories {size}", "en", files), rng.sample(questions, min(len(questions), 400))


async def measure(count: int) -> int:
    assert SHARED is not None
    stories = [record for record in records(SHARED / "qa") if record["set"] == "fairytale"]
    rng = random.Random(5)
    every: list[list[Call]] = []
    medians = []
    with tempfile.TemporaryDirectory() as name:
        for number, record in enumerate(stories):
            book = assembled(record["book"], "en", record["files"])
            asked = await ask(
                Path(name) / str(number), book, [q["q"] for q in rng.sample(record["questions"], min(count, 70))]
            )
            tell(record["book"], book, asked)
            every += asked
        war_and_peace = await read(SHARED / "books" / "war-and-peace.epub", rank_path=None)
        for size in SIZES:
            book, questions = of_size(stories, war_and_peace, size, rng)
            asked = await ask(Path(name) / f"size{size}", book, questions[:count])
            medians.append(tell(book.title, book, asked)[1])
        war = await ask(Path(name) / "war", war_and_peace, WAR_AND_PEACE)
        tell(war_and_peace.title, war_and_peace, war)
    calls = statistics.mean(map(len, every))
    tokens = statistics.median(sum(call.tokens for call in one) for one in every)
    growth = medians[1] / medians[0]
    common = statistics.median(map(chain, war))
    print(f"books of one batch: {calls:.3f} calls a question (wanted at most {MOST_CALLS})")
    print(f"War and Peace: common chain {common:.0f} (wanted at most {MOST_CHAIN}), longest {max(map(chain, war))}")
    print(f"median tokens sent {tokens:,.0f} (wanted at most {MOST_TOKENS:,}), 3.2 M over 200 k: {growth:.2f}")
    return int(calls > MOST_CALLS or common > MOST_CHAIN or max(tokens, *medians) > MOST_TOKENS or growth > MOST_GROWTH)


def main() -> int:
    if SHARED is None:
        print("part left out: no ../shared")
        return 0
    return asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 60))


if __name__ == "__main__":
    sys.exit(main())
