"""Typography folded away, with a map back: what is left differs only where words, punctuation or letter case differ."""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import cached_property

_QUOTES = "\"'`´‘’‚‛“”„‟′″‹›«»〝〞〟「」『』﹁﹂﹃﹄＂＇｀｢｣ʼ"
_DASHES = "\\-‐‑‒–—―−﹘﹣－⸺⸻─"
_UNSEEN = "\u00ad\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff_"
_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "ſ": "s", "İ": "I"}

_CHANGES = re.compile(
    # Most characters are letters that nothing changes: to say so first makes folding three times as fast.
    r"(?! ?[A-Za-z0-9\u00c0-\u012f\u0131-\u017e\u0180-\u024f\u0370-\u052f])"
    rf"(?:\s*(?:(?P<quote>[{_QUOTES}](?:\s*[{_QUOTES}])*)|(?P<dash>[{_DASHES}]+)"
    r"|(?P<dots>[…⋯]+|\.\s?\.\s?\.(?:\s?\.)*))\s*"
    rf"|(?P<gone>\s+(?=[?!:;,.？！：；，])|(?<=[{_CJK}])\s+(?=[{_CJK}])|[{_UNSEEN}]+)"
    r"|(?P<space>[^\S ]\s*|\s\s+)"
    rf"|(?P<letter>[{''.join(_LIGATURES)}\uff01-\uff5e]))"
)
_COMPOSED = re.compile(r".[\u0300-\u036f\u0653-\u0655\u3099\u309a]+", re.DOTALL)
_FIXED = {"quote": "'", "dash": "-", "dots": "…", "gone": "", "space": " "}
_LETTERS = _LIGATURES | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


def _replacement(change: re.Match[str]) -> str:
    kind = change.lastgroup
    if kind is None or kind == "letter":
        return _LETTERS[change[0]]
    return _FIXED[kind]


class Folded:
    """A folded copy of `source`. Folded are the styles of quotation marks (all become one `'`, the space beside them
    goes), dashes, ellipses, white space, ligatures, full-width forms, characters nobody sees, and the space before
    punctuation. Accents, letter case and words are not.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._composed = _composed(source)
        plain = source if self._composed is None else "".join(piece for _, piece in self._composed)
        self.text: str = _CHANGES.sub(_replacement, plain)

    @cached_property
    def offsets(self) -> "array[int]":
        """For every index of `text`, and one past its end, the index in `source` where that character begins."""
        if self._composed is None:
            return _map(self.source)
        # Two maps in a row: folded -> composed -> source.
        inner: array[int] = array("L")
        for start, piece in self._composed:
            inner.extend(start + i if len(piece) > 1 else start for i in range(len(piece)))
        inner.append(len(self.source))
        return array("L", [inner[i] for i in _map("".join(piece for _, piece in self._composed))])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range of `source` behind `text[start:end]`, without the white space at its edges."""
        first, last = self.offsets[start], self.offsets[end]
        while first < last and (self.source[first].isspace() or self.source[first] in "\u00ad\u200b\ufeff"):
            first += 1
        while last > first and (self.source[last - 1].isspace() or self.source[last - 1] in "\u00ad\u200b\ufeff"):
            last -= 1
        return first, last


def fold(text: str) -> Folded:
    """The text with its typography folded, and the way back."""
    return Folded(text)


def _composed(text: str) -> list[tuple[int, str]] | None:
    """(start, piece) pairs of the text with its loose accents put onto their letters; None when there are none."""
    if unicodedata.is_normalized("NFC", text):
        return None
    pieces: list[tuple[int, str]] = []
    done = 0
    for found in _COMPOSED.finditer(text):
        if found.start() > done:
            pieces.append((done, text[done : found.start()]))
        pieces.append((found.start(), unicodedata.normalize("NFC", found[0])[:1]))
        pieces.extend((found.start(), mark) for mark in unicodedata.normalize("NFC", found[0])[1:])
        done = found.end()
    pieces.append((done, text[done:]))
    return pieces


def _map(text: str) -> "array[int]":
    offsets: array[int] = array("L")
    done = 0
    for start, end, new in _changes(text):
        offsets.extend(range(done, start))
        offsets.extend([start] * len(new))
        done = end
    offsets.extend(range(done, len(text) + 1))
    return offsets


def _changes(text: str) -> Iterator[tuple[int, int, str]]:
    for change in _CHANGES.finditer(text):
        yield change.start(), change.end(), _replacement(change)
