"""Whether a quotation is verbatim in the text it claims to come from. Used when an answer is settled."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from core.quotes.folding import Folded, fold
from core.words import guess_language

_ELLIPSIS = re.compile(r"\s*(?:\[…\]|\(…\)|…)\s*")
_EDITED = re.compile(r"^\[(\w)\](?=\w)")
MOST_PARTS = 8
"""Parts that ellipses may cut a quotation into; with more it tells nothing, and looking for them all costs too much."""
_TRAILING = " .,;:!?-'。，！？、；："

# Spelled as typography folding leaves them. One list for all languages would read Portuguese "no" (in the) as a denial.
_NEGATIONS = {
    "en": r"not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|scarcely|barely|\w+n't",
    "es": r"no|nunca|jamás|nada|nadie|ningun[oa]s?|ningún|ni|tampoco|sin|apenas",
    "pt": r"não|nunca|jamais|nada|ninguém|nenhum(?:a|as)?|nenhuns|nem|tampouco|sem|mal",
    "fr": r"ne|n'\w+|non|pas|jamais|rien|personne|aucune?s?|nul(?:le)?s?|ni|sans|guère|point",
    "de": r"nicht|nichts|nie|niemals|niemand(?:em|en|es)?|kein(?:e|em|en|er|es)?|weder|noch|ohne|kaum|nein|nirgends",
    "it": r"non|mai|niente|nulla|nessun[oa]?|nessun'\w+|né|neanche|neppure|senza|no",
    "nl": r"niet|niets|nooit|niemand|geen|noch|zonder|nergens|nee",
    "sv": r"inte|icke|ej|aldrig|ingen|inget|inga|ingenting|utan|varken",
    "pl": r"nie|nigdy|nikt|nic|żaden|żadna|żadne|ani|bez",
    "ru": r"не|ни|нет|никогда|ничего|ничто|никто|никого|никому|нельзя|без|нигде|едва",
    "uk": r"не|ні|немає|ніколи|нічого|ніщо|ніхто|нікого|без|ніде",
    "ar": r"[وف]?(?:لا|لم|لن|ليس|ليست|ليسوا|ما|غير|بدون|دون|كلا|لست|لسنا)",
}
_CHARACTERED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
"""Scripts whose denials `_CHARACTERS` knows."""
_WORDS = {language: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for language, words in _NEGATIONS.items()}
_ANY_WORD = re.compile("|".join(pattern.pattern for pattern in _WORDS.values()), re.IGNORECASE)
# Scripts without spaces: the characters themselves deny, wherever they stand.
_CHARACTERS = re.compile(
    "[不没沒未无無非莫勿别別毋否]|ない|なかった|なく|ません|ぬ|ず(?![っつ])|안 |않|못|없|아니|ไม่|มิ"
)


def denies(text: str, language: str | None = None) -> bool:
    """True when the text holds a word that denies, in this language (primary subtag; None or unknown: in any of ours)."""
    folded = fold(text).text
    pattern = _WORDS.get(language or "", _ANY_WORD)
    return pattern.search(folded) is not None or _CHARACTERS.search(folded) is not None


def _denials(text: str, language: str | None) -> list[re.Pattern[str]] | None:
    """What denies in this text: by its declared language and by the one it seems to be in.

    None when neither has a list of ours and the script has none either: then nobody here could tell.
    """
    if language is None:
        return [_ANY_WORD, _CHARACTERS]
    lists = [_WORDS[name] for name in {language, guess_language(text)} if name in _WORDS]
    if not lists and not _CHARACTERED.search(text):
        return None
    return [*lists, _CHARACTERS]


def holds(
    quotation: str, passages: Iterable[str | Folded], language: str | None = None, *, marks: bool = False
) -> bool:
    """True when one of the passages has the quotation verbatim.

    Typography, the case of a first letter, and the punctuation that ends the quotation may differ; `…`, `...` and `[…]`
    may leave words out, in order and inside one passage, but never a word that denies ("an ellipsis never hides a
    negation"). All other words are compared exactly. Words are whole. Quotation marks at the edges of the quotation are
    its own, unless `marks` is True: then they must stand in the passage as well, in any style.
    """
    loose = " " if marks else " '"
    wanted = fold(quotation).text.strip(loose)
    if not any(character.isalnum() for character in wanted):
        return False
    trailing = _TRAILING.replace("'", "") if marks else _TRAILING
    parts = [part.strip(loose) for part in _ELLIPSIS.split(wanted)]
    parts = [_EDITED.sub(r"\1", part) for part in parts if any(character.isalnum() for character in part)]
    if len(parts) > MOST_PARTS:
        return False
    for passage in passages:
        text = passage.text if isinstance(passage, Folded) else fold(passage).text
        if any(True for _ in _occurrences(wanted, text, trailing)) or _in_order(parts, text, language, trailing):
            return True
    return False


def _in_order(parts: Sequence[str], text: str, language: str | None, trailing: str) -> bool:
    """True when the parts stand in the text in order and nothing skipped between them denies."""
    ends: list[int] = []
    for number, part in enumerate(parts):
        places = list(_occurrences(part, text, trailing if number == len(parts) - 1 else ""))
        reached = places if number == 0 else _after(ends, sorted(places), text, language)
        ends = sorted({end for _, end in reached})
        if not ends:
            return False
    return True


def _after(
    ends: Sequence[int], places: Iterable[tuple[int, int]], text: str, language: str | None
) -> Iterator[tuple[int, int]]:
    """The places that follow an end without a denial between: the nearest end skips least, so it decides."""
    patterns = _denials(text, language)
    denied = [-1] * len(patterns or ())  # where the next denial of each kind ends; found once for all ends before it
    for start, end in places:
        before = bisect_right(ends, start)
        if not before:
            continue
        if patterns is None:
            if not any(character.isalnum() for character in text[ends[before - 1] : start]):
                yield start, end
            continue
        for kind, denial in enumerate(patterns):
            if denied[kind] <= ends[before - 1]:
                found = denial.search(text, ends[before - 1])
                denied[kind] = found.end() if found else len(text) + 1
        if min(denied, default=start + 1) > start:
            yield start, end


def _occurrences(part: str, text: str, trailing: str) -> Iterator[tuple[int, int]]:
    """Places of a part as whole words; the punctuation that ends the last one (`trailing`) is the quoting sentence's own."""
    spellings = {part, part[:1].upper() + part[1:], part[:1].lower() + part[1:]}
    if trailing:
        spellings |= {bare for spelling in tuple(spellings) if (bare := spelling.rstrip(trailing))}
    for spelling in sorted(spellings):
        at = text.find(spelling)
        while at >= 0:
            end = at + len(spelling)
            if _parted(text[at - 1 : at], spelling[0]) and _parted(spelling[-1], text[end : end + 1]):
                yield at, end
            at = text.find(spelling, at + 1)


def _parted(left: str, right: str) -> bool:
    """True when a word may end between the two characters; scripts without spaces part anywhere."""
    return not (left.isalnum() and right.isalnum()) or left >= "\u0e00" or right >= "\u0e00"
