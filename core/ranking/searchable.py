"""How text becomes search tokens, the same for a book and for a question."""

import re
from dataclasses import dataclass
from functools import cache

from core import words

EXACT = 0.5
"""What the very form of a word adds where its first five letters are looked for: +0.3 to +2 points of recall."""

WIDE_LETTERS = 4
"""The beginning that every form of a word is taken to share when nothing else was found ("break", "broken": no help; "found"
and "foundation": one)."""

_LEFT = re.compile("[\x00-\xde\xe0-\u0148\u2010-\u2027]*")
"""Latin letters (all but ß up to Ext-A) and the punctuation of books: the index itself folds them as `words.fold` does."""
_ARABIC = re.compile("[\u0621-\u064a]+")
# Light stemming of Arabic: conjunction, preposition and article before a word; pronoun, plural and feminine endings after.
_ARABIC_BEFORE = ("وال", "بال", "كال", "فال", "ولل", "لل", "ال")
_ARABIC_AFTER = ("هما", "تها", "ها", "هم", "هن", "نا", "ان", "ات", "ون", "ين", "تين", "يه", "ه", "ي")


def searchable(text: str) -> str:
    """The text as the index takes it: folded, unspaced scripts as two-character pieces, Arabic words stemmed lightly."""
    if _LEFT.fullmatch(text):
        return text
    folded = words.fold(text)
    if _ARABIC.search(folded):
        folded = _ARABIC.sub(lambda word: _arabic_stem(word[0]), folded)
    if words.is_spaced(folded):
        return folded
    return _unspaced().sub(lambda run: f" {' '.join(words.pairs(run[0]))} ", folded)


@cache
def _unspaced() -> "re.Pattern[str]":
    return re.compile(f"[{words.UNSPACED}]+")


def _arabic_stem(word: str) -> str:
    for before in _ARABIC_BEFORE:
        if word.startswith(before) and len(word) - len(before) >= 3:
            word = word[len(before) :]
            break
    else:
        if word[0] in "وبلفك" and len(word) > 4:
            word = word[1:]
    for after in _ARABIC_AFTER:
        if word.endswith(after) and len(word) - len(after) >= 3:
            return word[: -len(after)]
    return word


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for: a full-text query for it, and the word of the question it belongs to."""

    match: str
    word: str
    share: float = 1.0
    """How much of its weight counts."""


def question_terms(question: str, language: str, *, wide: bool = False) -> list[Term]:
    """What to look for, without repeats, in the order of the question; `wide`: in every form that begins alike.

    English is stemmed by the index (Porter); other words of five letters or more are looked for by their first five.
    Stop words of the question's own language go as well when it differs from the book's.
    """
    language = words.primary(language)
    found = list(words.terms_of_words(question, language))
    asked = words.guess_language(question)
    if asked != language:
        stops = words.STOP_WORDS.get(asked, frozenset())
        found = [(word, term) for word, term in found if term not in stops] or found
    terms: dict[str, Term] = {}
    for word, term in found:
        token = _ARABIC.sub(lambda part: _arabic_stem(part[0]), term)
        if wide:
            match = f'"{token}" OR "{token[:WIDE_LETTERS]}"*' if _inflects(token) else f'"{token}"'
            terms.setdefault(match, Term(match, word))
            continue
        prefixed = language != "en" and len(token) >= words.STEM_LETTERS and not token[0].isdigit()
        match = f'"{words.stem(token)}"*' if prefixed else f'"{token}"'
        terms.setdefault(match, Term(match, word))
        if prefixed and len(token) > words.STEM_LETTERS:
            terms.setdefault(f'"{token}"', Term(f'"{token}"', word, EXACT))
    return list(terms.values())


def _inflects(token: str) -> bool:
    return len(token) > WIDE_LETTERS and not token[0].isdigit()
