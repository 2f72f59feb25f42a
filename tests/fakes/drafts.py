"""Drafts of discussion questions as models get them wrong: foreign, later, damaged and missing tags among good ones."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from core import tags
from core.model import ChatRequest, Span
from tests.fakes.model import Step

MARK = "sound"
"""Stands in every question whose tags were all delivered."""
FAULTS = (
    "[f0-0-1]", "[f9-123-165]", "[f1-0-43]", "[f1-1-42]", "f3-0-40", "(f3-40-84)", "[f3-0-40]", "[f2-0-]", "[1]", "[f1_0_41]",
    "[f3-0-40, f1-0-42]", "[F3 0 40]", "[3-0-40]", "[f1-0-42-7]", "",
)  # fmt: skip
"""What stands where a tag should: not in the text, later than the limit, damaged, grouped with one that is right, nothing."""


@dataclass
class Careless:
    """A model that asks five to nine questions, some proven (`MARK`), some not; every draft is another one."""

    seed: int
    said: int = 0

    def __call__(self, request: ChatRequest) -> Step:
        dice = random.Random(f"{self.seed}/{self.said}")
        self.said += 1
        given = [run for run, _ in tags.read_tagged(request.messages[-1].content)]
        lines = [self._line(dice, given, number) for number in range(1, dice.randint(5, 9) + 1)]
        before = dice.choice(("", "<think>Which [f1-0-42]?</think>\n", "Here they are:\n\n"))
        return before + dice.choice(("\n", "\n\n")).join(lines)

    def _line(self, dice: random.Random, given: Sequence[Span], number: int) -> str:
        lead = dice.choice((f"{number}. ", f"{number}) ", "- ", f"**{number}.** "))
        who = f"question {self.seed}-{self.said}-{number}"
        if dice.random() < 0.4:
            tag = tags.tag(dice.choice(given))
            return f"{lead}Why is this {MARK} {who} so {dice.choice(('odd', 'green', 'late'))}? {tag}"
        fault = dice.choice(FAULTS)
        if dice.random() < 0.3:
            fault = f"{tags.tag(dice.choice(given))} {fault}" if fault else ""
        return f"{lead}Why is this broken {who} so odd? {fault}"
