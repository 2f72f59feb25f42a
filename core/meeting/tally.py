"""Counting ballots: one choice each, or ranked choices with instant runoff. A tie is said, never broken by chance. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """`rounds`: the first choices that count in each round, of those still in it. `winners`: several when they are tied."""

    rounds: tuple[dict[str, int], ...]
    winners: tuple[str, ...]


def count(candidates: Sequence[str], ballots: Iterable[Sequence[str]], *, ranked: bool) -> Count:
    """Who wins. A ballot counts for its best choice that is still in; what names no candidate or one twice is read over.

    With one choice each, whoever has most wins. Ranked, the last one goes until somebody has more than half of what
    still counts. Of several last ones, whoever had fewer in the round before goes, and so on back; those that never
    differed go together, unless nobody would be left: then they are tied.
    """
    clean = [tuple(dict.fromkeys(one for one in ballot if one in candidates)) for ballot in ballots]
    clean = [ballot[: None if ranked else 1] for ballot in clean if ballot]
    inside = list(candidates)
    rounds: list[dict[str, int]] = []
    if not clean:
        return Count((), ())
    while True:
        firsts = Counter(next((one for one in ballot if one in inside), "") for ballot in clean)
        votes = {one: firsts[one] for one in inside}
        rounds.append(votes)
        most, total = max(votes.values()), sum(votes.values())
        best = tuple(one for one in inside if votes[one] == most)
        if not ranked or 2 * most > total or len(best) == len(inside):
            return Count(tuple(rounds), best)
        last = _last(inside, rounds)
        inside = [one for one in inside if one not in last]


def _last(inside: Sequence[str], rounds: Sequence[dict[str, int]]) -> list[str]:
    last = list(inside)
    for votes in reversed(rounds):
        fewest = min(votes[one] for one in last)
        last = [one for one in last if votes[one] == fewest]
    return last
