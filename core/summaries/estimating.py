"""What is left to summarise in a book, counted beforehand. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate

from core import prompts, words
from core.model import Contents, Estimate, Segment, Usage
from core.segmenting import CJK_DIVISOR
from core.spending import UNIT, Terms
from core.store import EXTRACTIVE
from core.summaries.work import INPUT

PARALLEL = 8
_TAGS = 1.15
"""Tags make a text so much longer in tokens: one of six for each run of about 350 characters, punctuation left apart."""
_WRITTEN = 350
"""Tokens of one summary: 150 words with their tags take 250 to 600, by language."""
_PACE = 6.0
"""Seconds a hosted model takes for one."""
_CJK = ("zh", "ja", "ko")


def waits(segment: Segment) -> bool:
    """Whether no model was asked about the segment yet."""
    return not segment.flags and (segment.stamp.startswith(EXTRACTIVE) or not segment.stamp)


def estimate(language: str, contents: Contents, segments: Sequence[Segment], terms: Terms) -> Estimate:
    """For the segments that no model was asked about."""
    per_token = 4 / CJK_DIVISOR if language.split("-")[0] in _CJK else 4
    prompt = words.tokens(prompts.load("summarise").system) + words.tokens(prompts.load("summarise").user)
    calls = read = 0
    starts = list(accumulate(contents.lengths, initial=0))
    for segment in filter(waits, segments):
        characters = starts[segment.end.file] + segment.end.offset - starts[segment.start.file] - segment.start.offset
        tokens = int(_TAGS * characters / per_token)
        parts = max(1, -(-tokens // INPUT))
        mine = parts if parts == 1 else parts + 1  # one more puts the parts together
        calls += mine
        read += tokens + mine * prompt + (0 if parts == 1 else parts * _WRITTEN)
    written = calls * _WRITTEN
    amount = terms.prices.cost(Usage(calls, read, written))
    priced = terms.prices.input is not None or terms.prices.output is not None
    limit = terms.ask_above
    return Estimate(
        calls,
        read,
        written,
        -(-calls // PARALLEL) * _PACE,
        Decimal(amount) / UNIT if priced else None,
        asks=limit is not None and amount > limit * UNIT,
    )
