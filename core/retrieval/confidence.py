"""Whether the words of a question alone found its passage, or the model must choose from the catalogue first. Pure."""

import math
import re
from collections.abc import Collection

from core import words
from core.model import Span
from core.ranking import Ranked

DROP = 3.75
"""By how much the score must have dropped from the best window to the first one that was not delivered. A question whose
windows all score alike has no place of its own: what answers it may as well be among those left out. A difference of
BM25 scores says the same in a short book and in a long one, which their ratio does not."""
SHARE = 0.45
"""Which part of the question's words, by weight, one of the best windows must have; a word the book lacks weighs most."""
BEST = 5
"""How many windows count as the best."""

# DROP and SHARE are what `python -m tests.bench.confidence --tuning` chooses on every other book of ../shared/qa, without a
# look at the others, which it reports.

_UNSPACED = ("zh", "ja")
_LATIN = frozenset({"en", "es", "pt", "fr", "de", "it", "nl", "sv", "pl"})
_CYRILLIC = frozenset({"ru", "uk"})
_ARABIC = frozenset({"ar", "fa"})
_FAMILIES = (_LATIN, _CYRILLIC, _ARABIC)
"""Languages of one script; which of them a text is in, only its words can say."""
_SPANISH = re.compile("[¿¡]")
_CYRILLIC_WORD = re.compile("[\u0400-\u04ff]{2}")
_ARABIC_WORD = re.compile("[\u0600-\u06ff]{2}")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN_QUESTION = 6
"""A question of so many characters without any kana is not Japanese."""


def is_decisive(ranked: Ranked, delivered: Collection[Span]) -> bool:
    """True when what was delivered of these windows most probably holds the answer (97.5 % of such questions)."""
    share, drop = signs(ranked, delivered)
    return share >= SHARE and drop >= DROP


def signs(ranked: Ranked, delivered: Collection[Span]) -> tuple[float, float]:
    """What `SHARE` and `DROP` are held against: the largest share of the best windows, and the drop of the score."""
    if not ranked.windows:
        return 0.0, 0.0
    left_out = [window.score for window in ranked.windows if not all(run in delivered for run in window.runs)]
    drop = ranked.windows[0].score - left_out[0] if left_out else math.inf
    return max(window.share for window in ranked.windows[:BEST]), drop


def is_foreign(question: str, language: str) -> bool:
    """True when a question is in another language than the book. A short one must say so by its script or stop words."""
    book, asked = words.primary(language), words.guess_language(question)
    if asked in _LATIN:  # names and titles in Latin letters stand in every question
        if _SPANISH.search(question):
            asked = "es"
        elif _CYRILLIC_WORD.search(question):
            asked = book if book in _CYRILLIC else "ru"
        elif _ARABIC_WORD.search(question):
            asked = book if book in _ARABIC else "ar"
    if asked == book:
        return False
    if book in _UNSPACED and asked in _UNSPACED:
        return len(question) >= _HAN_QUESTION and bool(_KANA.search(question)) == (book == "zh")
    for family in _FAMILIES:
        if asked in family and book in family:
            return _speaks(question, asked, book)
    # A language we know nothing of may well be written in Latin letters.
    return asked not in _LATIN or book in words.STOP_WORDS


def _speaks(question: str, language: str, other: str) -> bool:
    """True when no more of a question's stop words are in another language than in the one it was guessed to be in."""
    mine, theirs = words.STOP_WORDS[language], words.STOP_WORDS[other]
    spoken = words.words(question)
    ours, others = (sum(word in own for word in spoken) for own in (mine - theirs, theirs - mine))
    return ours >= others and any(word in mine for word in spoken)
