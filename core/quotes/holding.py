"""Whether a quotation is verbatim in the text it claims to come from. Used when an answer is settled."""

import re
from collections.abc import Iterator, Sequence

from core.quotes.folding import fold

_ELLIPSIS = re.compile(r"\s*(?:\[…\]|\(…\)|…)\s*")
_EDITED = re.compile(r"^\[(\w)\](?=\w)")
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


def holds(quotation: str, passages: Sequence[str], language: str | None = None) -> bool:
    """True when one of the passages has the quotation verbatim.

    Typography, the case of a first letter, and the punctuation that ends the quotation may differ; `…`, `...` and `[…]`
    may leave words out, in order and inside one passage, but never a word that denies ("an ellipsis never hides a
    negation"). All other words are compared exactly. Words are whole.
    """
    wanted = fold(quotation).text.strip(" '")
    if not any(character.isalnum() for character in wanted):
        return False
    parts = [_EDITED.sub(r"\1", part.strip(" '")) for part in _ELLIPSIS.split(wanted)]
    parts = [part for part in parts if any(character.isalnum() for character in part)]
    for passage in passages:
        text = fold(passage).text
        if any(True for _ in _occurrences(wanted, text, last=True)) or _in_order(parts, text, language):
            return True
    return False


def _in_order(parts: Sequence[str], text: str, language: str | None) -> bool:
    """True when the parts stand in the text in order and nothing skipped between them denies."""
    ends: set[int] = set()
    for number, part in enumerate(parts):
        places = list(_occurrences(part, text, last=number == len(parts) - 1))
        if number == 0:
            ends = {end for _, end in places}
        else:
            ends = {
                end
                for start, end in places
                if any(before <= start and not denies(text[before:start], language) for before in ends)
            }
        if not ends:
            return False
    return True


def _occurrences(part: str, text: str, *, last: bool) -> Iterator[tuple[int, int]]:
    """Places of a part as whole words; the punctuation that ends the last one is the quoting sentence's own."""
    spellings = {part, part[:1].upper() + part[1:], part[:1].lower() + part[1:]}
    if last:
        spellings |= {bare for spelling in tuple(spellings) if (bare := spelling.rstrip(_TRAILING))}
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
