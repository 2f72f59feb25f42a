"""One reader asks 10,000 times in a minute: what is spent, and what others wait. Run: python -m tests.bench.spending [ASKED]

Others ask in their own channel, one question after the other, a model that takes half a second; first alone, then beside
the flood, which goes through a restart. Missed when the cap is passed or the others' p95 grows by 20 % or more.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from decimal import Decimal
from itertools import count
from pathlib import Path

from core.errors import LoccitError
from core.model import Answered, ChatEvent, ChatRequest, Conversation, Finished, Payer, Question, Reader, Said, Usage
from core.spending import UNIT, Caps, Prices, Terms
from core.spending.terms import pots
from tests.clubs import TestClub, lantern_house, open_club

MINUTE = 60.0
LATENCY = 0.5
"""Seconds until a hosted model's first words."""
CAP = Decimal("0.10")
OTHERS = 4
ROUNDS = 5
FLOOD = Conversation("discord", "flood", server="a")
_numbers = count(time.time_ns())


class Slow:
    """Answers each request after a while, differently each time."""

    name = "slow"

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        await asyncio.sleep(LATENCY)
        yield Said(f"The log was kept in green ink [f1-0-42], says reply {next(_numbers)}.")
        yield Finished("stop", Usage(1, 900, 60))


async def ask(club: TestClub, where: Conversation, reader: str) -> tuple[str, float]:
    """How a question ended, and after how many seconds."""
    number = next(_numbers)
    began = time.perf_counter()
    ended = "nothing"
    try:
        async for event in club.club.questions.ask(
            Question(f"e{number}", where, Reader(reader), f"What ink was it, {number}?")
        ):
            if isinstance(event, Answered):
                ended = event.turn.model
    except LoccitError as error:
        ended = error.key
    return ended, time.perf_counter() - began


async def others(club: TestClub, seconds: float) -> list[float]:
    """What readers wait who ask one question after the other, each in a thread of talk of their own."""

    async def one(number: int) -> list[float]:
        waits = []
        until = time.perf_counter() + seconds
        where = Conversation("discord", f"calm-{number}", server="b")
        while time.perf_counter() < until:
            ended, wait = await ask(club, where, f"calm-{next(_numbers)}")
            assert ended == "slow", ended
            waits.append(wait)
        return waits

    return [wait for waits in await asyncio.gather(*(one(number) for number in range(OTHERS))) for wait in waits]


async def flood(club: TestClub, asked: int, seconds: float) -> Counter[str]:
    """Questions at an even pace, whether or not earlier ones are answered."""
    tasks = []
    began = time.perf_counter()
    for number in range(asked):
        due = began + seconds * number / asked
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(ask(club, FLOOD, "flood")))
    return Counter(ended for ended, _ in await asyncio.gather(*tasks))


async def measure(folder: Path, asked: int) -> bool:
    terms = Terms(Prices(Decimal(3), Decimal(15)), Caps(reader_day=CAP))
    places = [FLOOD, *(Conversation("discord", f"calm-{number}") for number in range(OTHERS))]
    alone: list[float] = []
    beside: list[float] = []
    ends: Counter[str] = Counter()
    spent = 0
    for _ in range(2):
        async with open_club(folder, Slow(), terms=terms) as club:
            for place in places:
                await club.shelve(lantern_house(), place)
            await others(club, 2)  # warm
            for _ in range(ROUNDS):  # in turn, so that whatever else the machine does is in both
                alone += await others(club, MINUTE / 2 / ROUNDS)
                flooding = asyncio.create_task(flood(club, asked // 2 // ROUNDS, MINUTE / 2 / ROUNDS))
                beside += await others(club, MINUTE / 2 / ROUNDS)
                ends += await flooding
            [pot] = [
                pot
                for pot in pots(Payer("discord", "flood", "flood"), Caps(), club.clock())
                if pot.scope.startswith("reader:")
            ]
            spent = await club.store.spending.spent(pot)
    before, after = p95(alone), p95(beside)
    growth = 100 * (after / before - 1)
    print(f"{asked} questions of one reader in {MINUTE:.0f} s, one restart: {dict(ends)}")
    print(f"spent {spent / UNIT:.4f} of {CAP}")
    print(
        f"others, p95: {before * 1000:.0f} ms alone ({len(alone)}), {after * 1000:.0f} ms beside ({len(beside)}): {growth:+.1f} %"
    )
    return spent <= CAP * UNIT and growth < 20


def p95(waits: list[float]) -> float:
    return sorted(waits)[-(-95 * len(waits) // 100) - 1]


def main() -> int:
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(measure(Path(folder), asked)) else 1


if __name__ == "__main__":
    sys.exit(main())
