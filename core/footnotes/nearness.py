"""Where in the evidence a quotation could stand: folding whole books for every quotation would be too slow."""

import re
from collections.abc import Iterator, Sequence

_LETTERS = re.compile(r"[^\W\d_]+")
_DISGUISED = re.compile(
    "[\u00ad\u0130\u017f\u0300-\u036f\u0640\u200b-\u200f\u2060-\u2064\ufb00-\ufb06\ufeff\uff01-\uff5e_]"
)
_ELLIPSIS = re.compile(r"…|\.\s?\.\s?\.")
_MARGIN = 200
"""Characters by which typography may stretch a quotation, and the word beyond its edges."""
_MOST = 16
"""Places worth telling apart; with more, the whole passage is folded."""


def nearby(words: str, passages: Sequence[str]) -> Sequence[str]:
    """The parts of `passages` where `words` could stand verbatim: the surroundings of their longest word.

    Where typography might hide that word, or `words` leave something out, whole passages are returned.
    """
    probe = max(_LETTERS.findall(words), key=len, default="").lower()
    if not probe or _DISGUISED.search(words) or _ELLIPSIS.search(words):
        return passages
    if probe >= "\u0e00":  # scripts without spaces: a line break may stand between any two characters
        probe = probe[:1]
    return [part for passage in passages for part in _parts(probe, len(words) + _MARGIN, passage)]


def _parts(probe: str, reach: int, passage: str) -> Iterator[str]:
    text = passage.lower()
    if len(text) != len(passage) or (probe not in text and _DISGUISED.search(passage)):
        yield passage
        return
    places: list[tuple[int, int]] = []
    at = text.find(probe)
    while at >= 0:
        begin, end = max(0, at - reach), at + reach
        if places and begin <= places[-1][1]:
            begin = places.pop()[0]
        places.append((begin, end))
        if len(places) > _MOST:
            yield passage
            return
        at = text.find(probe, at + 1)
    for begin, end in places:
        yield passage[begin:end]
