"""Names of a novel and where they stand, found by a plain scan that uses none of our rules: the judge of `/who`."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator

from core.model import ParsedBook, Position


def frequent(book: ParsedBook, most: int) -> list[str]:
    """Words that stand with a capital in the middle of sentences, the most frequent first."""
    middle = re.compile(r"(?<=[a-zà-ÿа-я,;] )[A-ZÀ-ÞА-Я][\w]{2,}")
    counts = Counter(name for file in book.files for name in middle.findall(file.text))
    return [name for name, _ in counts.most_common(most)]


class Scan:
    """Every word of a book by its bare letters, with the places where it stands."""

    def __init__(self, book: ParsedBook) -> None:
        self._places: defaultdict[str, list[tuple[Position, bool]]] = defaultdict(list)
        bare: dict[str, str] = {}
        for file in book.files:
            for match in re.finditer(r"\w+", file.text):
                key = bare.get(match[0]) or bare.setdefault(match[0], _bare(match[0]))
                self._places[key].append((Position(file.index, match.start()), match[0][0].isupper()))

    def places(self, name: str, end: Position | None = None) -> list[Position]:
        """Every place before `end` where the name stands as a word, with a capital if it ever has one."""
        found = [one for one in self._places[_bare(name)] if end is None or one[0] < end]
        return [place for place, upper in found if upper] or [place for place, _ in found]


def chapters(book: ParsedBook, places: list[Position]) -> Iterator[tuple[int | None, int]]:
    """How many of the places lie in each chapter, in reading order; None: outside of all."""
    counts: dict[int | None, int] = {}
    for place in places:
        inside = [chapter.number for chapter in book.chapters if chapter.start <= place < chapter.end]
        number = inside[0] if inside else None
        counts[number] = counts.get(number, 0) + 1
    yield from counts.items()


def _bare(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)).lower()
