"""Text cut to what a window holds, and put together again. Pure."""

from collections.abc import Iterator, Sequence

from core import tags, words
from core.model import Span
from core.retrieval.standins import Pieces
from core.summaries.judging import Unusable


def _cost(piece: tuple[Span, str]) -> int:
    return words.tokens(piece[1]) + words.tokens(tags.tag(piece[0])) + 1


def split(pieces: Pieces, budget: int) -> list[Pieces]:
    """Consecutive pieces in parts of about the same size, each within the budget."""
    costs = [_cost(piece) for piece in pieces]
    number = -(-sum(costs) // budget)
    share = min(budget, sum(costs) / number + max(costs))
    return [[pieces[at] for at in part] for part in _filled(costs, share)]


def join(texts: Sequence[str], budget: int) -> list[str]:
    """Neighbouring texts joined as long as they fit. Raises Unusable when no two do."""
    groups = ["\n\n".join(texts[at] for at in part) for part in _filled(list(map(words.tokens, texts)), budget)]
    if len(groups) == len(texts):
        raise Unusable("too_long")
    return groups


def _filled(costs: Sequence[int], most: float) -> Iterator[list[int]]:
    part: list[int] = []
    filled = 0
    for at, cost in enumerate(costs):
        if part and filled + cost > most:
            yield part
            part, filled = [], 0
        part.append(at)
        filled += cost
    yield part
