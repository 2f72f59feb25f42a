"""A summary made of the book's own runs, tags kept: what stands in until a model has written one. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from core import tags, words
from core.model import Span

STAMP = "extractive@1"
"""Kept with each; the number changes with the choice of runs."""
TOKENS = 160
"""Length of an extractive summary, in estimated tokens with tags: long enough to choose by, short enough that five
catalogue batches of 30,000 tokens hold some 900 segments."""


def summarise(pieces: Sequence[tuple[Span, str]], language: str, budget: int = TOKENS) -> str:
    """The first run and the most telling ones, in reading order, each followed by its tag.

    Telling = many words that recur in this stretch, for the length of the run.
    """
    if not pieces:
        return ""
    terms = words.terms_each([text for _, text in pieces], language)
    bags = [(set(found), len(found)) for found in terms]
    weight = Counter(chain.from_iterable(bag for bag, _ in bags))
    chosen = {0}
    left = budget - _cost(pieces[0])
    order = sorted(range(1, len(pieces)), key=lambda at: (-_telling(*bags[at], weight), at))
    for at in order:
        cost = _cost(pieces[at])
        if cost <= left:
            chosen.add(at)
            left -= cost
        if left < budget // 8:
            break
    return " … ".join(f"{tags.defuse(pieces[at][1])} {tags.tag(pieces[at][0])}" for at in sorted(chosen))


def _cost(piece: tuple[Span, str]) -> int:
    return words.tokens(piece[1]) + words.tokens(tags.tag(piece[0]))


def _telling(bag: Collection[str], length: int, weight: Mapping[str, int]) -> float:
    recurring = sum([min(weight[term], 5) - 1 for term in bag])
    return recurring / (8 + length)
