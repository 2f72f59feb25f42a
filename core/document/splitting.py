"""Cutting a document into parts that fit a platform's message: each the longest stretch of leaves that fits, cut well."""

from collections.abc import Callable
from dataclasses import dataclass

from core.document.leaves import INSIDE, WORDS, Leaf, build, flatten, unpacked
from core.document.printing import cites
from core.model.document import Document

Measure = Callable[[Document], int]


@dataclass(frozen=True, slots=True)
class Part:
    """One message: a document and the numbers of the notes it shows."""

    document: Document
    cites: tuple[int, ...]


def split(document: Document, measure: Measure, limit: int) -> tuple[Part, ...]:
    """Parts of `document`, in order, none of which measures more than `limit`.

    `measure` says how long a document is once the platform's view has rendered it. A note stays with the word before
    it; a word is cut only when it alone is too long, and then between graphemes. A block that cannot be cut small enough
    (the head of a table as long as the message) goes on as plain words. Raises ValueError when one word piece does not
    fit even so.
    """
    leaves = list(flatten(document))
    parts: list[Part] = []
    begin, step = 0, len(leaves)
    while begin < len(leaves):
        end = _longest(leaves, begin, step, measure, limit)
        if end <= begin:
            leaves[begin:] = unpacked(leaves[begin:], limit)
            step = len(leaves)
            continue
        if end < len(leaves):
            end = _best_cut(leaves, begin, end)
        part = build(leaves[begin:end])
        if part:
            parts.append(Part(part, cites(part)))
        step = max(16, 2 * (end - begin))
        begin = end
    return tuple(parts)


def _longest(leaves: list[Leaf], begin: int, step: int, measure: Measure, limit: int) -> int:
    """The end of the longest stretch from `begin` that fits; first guess `step` leaves."""

    def fits(end: int) -> bool:
        return measure(build(leaves[begin:end])) <= limit

    low, high = begin, min(len(leaves), begin + step)
    while fits(high):
        if high == len(leaves):
            return high
        low, high = high, min(len(leaves), high + step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _best_cut(leaves: list[Leaf], begin: int, end: int) -> int:
    """The best place in the last half of what fits; a poorer one further back only when there is none at all."""
    half = begin + (end - begin) // 2
    candidates = [index for index in range(half + 1, end + 1) if leaves[index].cut > INSIDE]
    if candidates:
        best = max(leaves[index].cut for index in candidates)
        return max(index for index in candidates if leaves[index].cut == best)
    for worst in (WORDS, INSIDE):
        for index in range(end, begin, -1):
            if leaves[index].cut >= worst:
                return index
    return end
