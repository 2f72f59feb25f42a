"""Words of any language: folding, content terms, stop words, token estimates, a guess at the language. Stdlib only."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from core.words.stops import SPELLED

CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
"""Ideographs, kana, bopomofo and Hangul, as the inside of a regular expression's character class."""

UNSPACED = CJK + "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts cut into two-character pieces for search: CJK, and Thai, Lao, Burmese and Khmer, which set no spaces."""

# Most texts hold nothing of what is looked for below, and a match over their whole length tells so in a fraction of the
# time. Classes of two ranges, which is what the pattern engine is quick with.
_NARROW = re.compile("[\x00-\u10ff\u1200-\u2e7f]*")
"""No CJK, nor the white space, punctuation and full-width forms set with it."""
_SPACED = re.compile("[\x00-\u0dff\u1e00-\u2e7f]*")
"""Nothing of UNSPACED."""
_BARE = re.compile("[\x00-\xb4\u2010-\u2027]*")
"""Basic Latin with the punctuation of books: case is all there is to fold."""
_BASIC = re.compile("[\x00-\x7f\u2010-\u2027]*")

_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0dff]+[^\W_]*)*")
_BASIC_WORD = re.compile("[0-9A-Za-z]+")
# Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs and the lengthening stroke: readers leave them
# out. Vowel signs of Indic and South-East Asian scripts are letters in all but category and stay.
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
_ARABIC_VARIANTS = str.maketrans("ىةٱکی", "يهاكي")
_ARABIC = re.compile("[\u0600-\u06ff]")


def fold(text: str) -> str:
    """Case and accents folded away, so that "Écoles" and "ecoles" are one; offsets are not kept."""
    if _BARE.fullmatch(text):
        return text.lower()
    bare = _MARKS.sub("", unicodedata.normalize("NFD", text.casefold()))
    if _ARABIC.search(bare):
        bare = bare.translate(_ARABIC_VARIANTS)
    return unicodedata.normalize("NFC", bare)


STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(fold(words).split()) for language, words in SPELLED.items()
}
"""Folded stop words by primary language subtag; a language that is not here has none."""


@cache
def _unspaced_stops(language: str) -> "re.Pattern[str]":
    """The stop words of a script that sets no spaces, those of Chinese for a language that has none here."""
    known = STOP_WORDS[language if language in ("zh", "ja", "ko") else "zh"]
    return re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))))


@cache
def _cjk() -> "re.Pattern[str]":
    return re.compile(f"[{CJK}]")


@cache
def _wide() -> "re.Pattern[str]":
    return re.compile(f"[{CJK}\u3000-\u3020\u3030-\u303f\uff00-\uffef]")


@cache
def _unspaced() -> "re.Pattern[str]":
    return re.compile(f"[{UNSPACED}]+")


def is_cjk(character: str) -> bool:
    """True for an ideograph, kana, bopomofo or Hangul character; punctuation is not one."""
    return character >= "\u1100" and _cjk().match(character) is not None


def is_narrow(text: str) -> bool:
    """True only for a text without CJK and the white space, punctuation and full-width forms set with it; it is quick."""
    return _NARROW.fullmatch(text) is not None


def is_spaced(text: str) -> bool:
    """True for a text that holds nothing of `UNSPACED`."""
    return _SPACED.fullmatch(text) is not None or _unspaced().search(text) is None


def count_cjk(text: str) -> int:
    """How many characters of a text `is_cjk` is true for."""
    return 0 if is_narrow(text) else len(_cjk().findall(text))


def tokens(text: str) -> int:
    """What a text costs a model, estimated and rounded up: four characters a token, a CJK character one."""
    return -(-quarters(text) // 4)


def quarters(text: str) -> int:
    """The same estimate in quarters of a token, exact, so that costs of pieces add up to the cost of the whole."""
    if text.isascii() or is_narrow(text):
        return len(text)
    return len(text) + 3 * len(_wide().findall(text))


def words(text: str) -> list[str]:
    """Every word of a text, folded, in order; unspaced scripts come as whole runs of characters."""
    return _words(fold(text))


def _words(folded: str) -> list[str]:
    return (_BASIC_WORD if _BASIC.fullmatch(folded) else _WORD).findall(folded)


def pairs(run: str) -> list[str]:
    """The overlapping two-character pieces of a run of an unspaced script; a lone character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def primary(language: str) -> str:
    """The primary subtag of a language tag, in lower case: "pt-BR" -> "pt"."""
    return re.split(r"[-_.]", language.strip().lower(), maxsplit=1)[0]


def terms(text: str, language: str, *, clear: bool = False) -> list[str]:
    """The content terms of a text, folded, in order, repeats included: its words without the language's stop words.

    Single letters are no terms; CJK and other unspaced scripts yield two-character pieces, without the pieces made of
    stop words alone; with `clear` also without those that only touch one, which no text is likely to repeat.
    Empty for a text that says nothing ("what is it about?").
    """
    return [term for _, term in terms_of_words(text, language, clear=clear)]


def terms_each(texts: Sequence[str], language: str) -> list[list[str]]:
    """The terms of each text, as `terms` has them; many short texts cost a fraction of what they do one by one."""
    folded = fold("\0".join(texts)).split("\0")
    if len(folded) != len(texts):  # a text holds the separator
        return [terms(text, language) for text in texts]
    if not all(map(is_spaced, folded)):
        return [terms(text, language) for text in texts]
    stops = STOP_WORDS.get(primary(language), frozenset())
    return [[word for word in _words(one) if word not in stops and (len(word) > 1 or word.isdigit())] for one in folded]


def terms_of_words(text: str, language: str, *, clear: bool = False) -> Iterator[tuple[str, str]]:
    """Like `terms`, each with the word it stands in, so that the pieces of one word can be counted as one."""
    language = primary(language)
    stops = STOP_WORDS.get(language, frozenset())
    for word in words(text):
        if is_spaced(word):
            if word not in stops and (len(word) > 1 or word.isdigit()):
                yield word, word
            continue
        for piece in re.findall(f"[{UNSPACED}]+|[^{UNSPACED}]+", word):
            if not _unspaced().match(piece):
                yield word, piece
                continue
            covered = _covered(piece, language)
            for i, pair in enumerate(pairs(piece)):
                places = range(i, i + len(pair))
                if covered.isdisjoint(places) if clear else not covered.issuperset(places):
                    yield word, pair


def _covered(run: str, language: str) -> set[int]:
    """Which characters of an unspaced run belong to stop words; Han without a language of its own reads as Chinese."""
    pattern = _unspaced_stops(language)
    return {i for found in pattern.finditer(run) for i in range(*found.span())}


STEM_LETTERS = 5


def stem(term: str) -> str:
    """The first five letters, which is how inflected forms meet ("pregunta", "preguntaron"); numbers and CJK stay whole."""
    return term if term[:1].isdigit() else term[:STEM_LETTERS]


@cache
def _scripts() -> dict[str, "re.Pattern[str]"]:
    letters = {
        "kana": "\u3040-\u30ff\u31f0-\u31ff",
        "han": "\u3400-\u4dbf\u4e00-\u9fff",
        "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
        "cyrillic": "\u0400-\u052f",
        "arabic": "\u0600-\u06ff",
        "el": "\u0370-\u03ff\u1f00-\u1fff",
        "he": "\u05d0-\u05ea",
        "th": "\u0e00-\u0e7f",
        "hi": "\u0900-\u097f",
        "latin": "A-Za-z\u00c0-\u024f",
    }
    return {name: re.compile(f"[{ranges}]") for name, ranges in letters.items()}


# Letters that hardly any other of these languages writes: they decide short texts.
_LETTERS = {"es": "ñ¿¡", "pt": "ãõêç", "fr": "êèœç", "de": "äöüß", "it": "ìò", "sv": "å", "pl": "łąęśżź", "uk": "іїєґ"}
_LATIN = ("en", "es", "pt", "fr", "de", "it", "nl", "sv", "pl")


def guess_language(text: str) -> str:
    """The primary subtag of the language a text seems to be in: by script first, then by its stop words.

    Good for the languages `STOP_WORDS` has; a text without letters, or in an unknown language of the Latin script
    with no stop word of ours, is called "en". Looks at 24,000 characters from the start, middle and end.
    """
    if len(text) > 24_000:
        middle = len(text) // 2
        text = text[:8000] + " " + text[middle : middle + 8000] + " " + text[-8000:]
    counts = {name: len(pattern.findall(text)) for name, pattern in _scripts().items()}
    # A Han or Hangul character carries about what three letters do.
    for name in ("han", "kana", "ko"):
        counts[name] *= 3
    cjk = counts["han"] + counts["kana"]
    others = {name: count for name, count in counts.items() if name not in ("han", "kana")}
    script = max(others, key=lambda name: others[name])
    if cjk > others[script]:
        return "ja" if counts["kana"] * 10 > cjk else "zh"
    if not others[script]:
        return "en"
    if script == "cyrillic":
        return _most_spoken(text, ("ru", "uk"))
    if script == "arabic":
        return "fa" if len(re.findall("[پچژگ]", text)) * 50 > counts["arabic"] else "ar"
    return _most_spoken(text, _LATIN) if script == "latin" else script


def _most_spoken(text: str, languages: tuple[str, ...]) -> str:
    """Which of the languages has most of its stop words here; a word of several languages counts in shares."""
    scores = {language: sum(map(text.count, _LETTERS.get(language, ""))) / 4.0 for language in languages}
    for word, count in Counter(words(text)).items():
        speakers = [language for language in languages if word in STOP_WORDS[language]]
        for language in speakers:
            scores[language] += count / len(speakers)
    return max(languages, key=lambda language: scores[language])
