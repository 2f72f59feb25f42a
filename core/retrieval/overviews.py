"""What an overview shows of a book's segments: summaries cut to one length, or spread segments and their telling runs. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from core import tags, words
from core.model import Segment, Span
from core.store import EXTRACTIVE

EXCERPTS = 8
"""How many segments a reader that only quotes is shown."""
TELLING = 80
"""Characters from which a run is more than a heading."""


def is_written(segment: Segment) -> bool:
    """True when a model wrote the summary."""
    return bool(segment.stamp) and not segment.stamp.startswith(EXTRACTIVE)


def shortened(segments: Sequence[Segment], budget_tokens: int) -> list[Segment]:
    """The segments with summaries that together, titles included, take at most so many tokens.

    What is too long is cut behind a tag, every summary to the same length; short ones stay whole.
    """
    sizes = [words.tokens(segment.summary or "") for segment in segments]
    left = budget_tokens - sum(words.tokens(segment.title) + 2 for segment in segments)
    if sum(sizes) <= left:
        return list(segments)
    share = 0
    for waiting, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        share = max(left, 0) // waiting
        if size > share:
            break
        left -= size
    return [replace(segment, summary=_cut(segment.summary or "", share)) for segment in segments]


def _cut(summary: str, tokens: int) -> str:
    """The beginning of a summary, up to a tag, that takes at most so many tokens."""
    if words.tokens(summary) <= tokens:
        return summary
    end = 0
    for place in tags.places(summary):
        if words.tokens(summary[:place]) > tokens:
            break
        end = place
    return summary[:end]


def spread(segments: Sequence[Segment], most: int) -> list[Segment]:
    """At most so many segments, evenly apart, the first one among them."""
    if len(segments) <= most:
        return list(segments)
    return [segments[number * len(segments) // most] for number in range(most)]


def telling(runs: Sequence[Span]) -> list[Span]:
    """The first run that is long enough to tell something, if there is one."""
    return [run for run in runs if run.end - run.start >= TELLING][:1] or list(runs[:1])
