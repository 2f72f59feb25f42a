"""Where in the evidence a quotation could stand: folding whole books for every quotation would be too slow."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from core.quotes import Folded, fold

_LETTERS = re.compile(r"[^\W\d_]+")
_DISGUISED = re.compile(
    "[\u00ad\u0130\u017f\u0300-\u036f\u0640\u200b-\u200f\u2060-\u2064\ufb00-\ufb06\ufeff\uff01-\uff5e_]"
)
_ELLIPSIS = re.compile(r"…|\.\s?\.\s?\.")
_MARGIN = 200
"""Characters by which typography may stretch a quotation, and the word beyond its edges."""
_MOST = 16
"""Places worth telling apart; with more, the whole passage is folded."""
_PROBES = 3
"""Words of a quotation, longest first, that are looked up until one stands in few places."""


class Places:
    """The evidence of one settling as quotations look it up; what had to be folded whole is remembered."""

    def __init__(self) -> None:
        self._read: dict[str, _Passage] = {}

    def near(self, words: str, passages: Sequence[str]) -> Iterator[Folded]:
        """The parts of `passages` where `words` could stand verbatim: the surroundings of one of their longest words.

        Where typography might hide that word, or `words` leave something out, these are whole passages.
        """
        found = sorted(set(map(str.lower, _LETTERS.findall(words))), key=lambda word: (-len(word), word))
        whole = not found or _DISGUISED.search(words) is not None or _ELLIPSIS.search(words) is not None
        # Scripts without spaces: a line break may stand between any two characters.
        probes = [word[:1] if word >= "\u0e00" else word for word in found[:_PROBES]]
        for passage in passages:
            read = self._read.get(passage) or self._read.setdefault(passage, _Passage(passage))
            parts = None if whole else read.around(probes, len(words) + _MARGIN)
            if parts is None:
                yield read.folded
            else:
                yield from map(fold, parts)


class _Passage:
    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def folded(self) -> Folded:
        return fold(self._text)

    @cached_property
    def _lower(self) -> str | None:
        """None when letters are told apart otherwise than one by one."""
        lower = self._text.lower()
        return lower if len(lower) == len(self._text) else None

    @cached_property
    def _disguised(self) -> bool:
        return _DISGUISED.search(self._text) is not None

    def around(self, probes: Sequence[str], reach: int) -> list[str] | None:
        """The surroundings of the first probe that stands in few places; None when the whole passage must be read."""
        if self._lower is None:
            return None
        for probe in probes:
            if probe not in self._lower:
                return None if self._disguised else []
            places = self._places(probe, reach)
            if places is not None:
                return [self._text[begin:end] for begin, end in places]
        return None

    def _places(self, probe: str, reach: int) -> list[tuple[int, int]] | None:
        assert self._lower is not None
        places: list[tuple[int, int]] = []
        at = self._lower.find(probe)
        while at >= 0:
            begin, end = max(0, at - reach), at + reach
            if places and begin <= places[-1][1]:
                begin = places.pop()[0]
            places.append((begin, end))
            if len(places) > _MOST:
                return None
            at = self._lower.find(probe, at + 1)
        return places
