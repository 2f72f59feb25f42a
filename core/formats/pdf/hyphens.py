"""Words cut at the end of a line: whether the hyphen belongs to the word or to the typesetter."""

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"\w+(?:[-‐]\w+)*")
_TAIL = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*$")
_HEAD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
HYPHENS = "-‐"
_COMMON = 3
"""A word that stands alone this often in the book is a word of its own."""
_SIGNIFICANT = 5
"""So many line ends with one kind of hyphen tell what that kind means in this book."""


class Hyphens:
    """What the book's own words say about its hyphens. Counted over whole lines, so cut words do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        lines = list(texts)
        ends = Counter(text[-1] for text in lines if text[-1] in HYPHENS)
        book = "\n".join(lines)
        inner = book.count("‐") - ends["‐"]
        # Some typesetters cut words with U+2010 and write the hyphen of a compound as U+002D; then there is no doubt.
        self._told = ends["‐"] >= _SIGNIFICANT and inner * 50 < ends["‐"]
        self._lines = lines
        self._words: Counter[str] | None = None
        dashes = book.count("—") and len(re.findall(r"—\w", book))
        self.tight_dashes = dashes > (dashes and len(re.findall(r"—[ \t]", book)))
        """True when the book sets dashes without spaces."""

    def belongs(self, before: str, after: str) -> bool:
        """True when the hyphen that ends `before` stays as the word goes on in `after`."""
        hyphen, tail, head = before[-1], _TAIL.search(before[:-1]), _HEAD.match(after)
        if tail is None or head is None:
            return True  # numbers, signs: 1914-1918
        if self._told:
            return hyphen == "-"
        words = self._vocabulary()
        first, last = tail[0].lower(), head[0].lower()
        whole, compound = words[first + last], words[f"{first}-{last}"]
        if whole or compound:
            return compound > whole
        if head[0][0].isupper() and not before[:-1].isupper():
            return True  # Anglo-Saxon
        return words[first] >= _COMMON and words[last] >= _COMMON

    def _vocabulary(self) -> Counter[str]:
        if self._words is None:
            whole = []
            cut = False
            for text in self._lines:
                if cut:
                    text = text.partition(" ")[2]
                cut = text.endswith(("-", "‐"))
                whole.append(text.rpartition(" ")[0] if cut else text)
            self._words = Counter(_WORD.findall("\n".join(whole).lower().replace("‐", "-")))
            self._lines = []
        return self._words
