"""Where text may be cut: between words, between the characters of Chinese and Japanese, else between graphemes."""

import re
import unicodedata
from collections.abc import Iterator

LONG_WORD = 60
"""Code points. Words of a language are shorter; what is longer is cut between graphemes when it must be."""

_WORD = re.compile(r"\s*\S+\s*|\s+")
_NOT_FIRST = frozenset("。、，．！？；：）」』】》〉”’…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")
_NOT_LAST = frozenset("（「『【《〈“‘")


def words(text: str) -> Iterator[tuple[str, bool]]:
    """Pieces of `text` that add up to it, and whether it may be cut before each without cutting a word."""
    for match in _WORD.finditer(text):
        for word in _ideographs(match[0]):
            for index, piece in enumerate(pieces(word, LONG_WORD)):
                yield piece, index == 0


def pieces(text: str, length: int) -> Iterator[str]:
    """Pieces of about `length` code points that add up to `text`, cut between graphemes."""
    begin = 0
    for index in range(length, len(text)):
        if index - begin >= length and _parts(text, index):
            yield text[begin:index]
            begin = index
    if begin < len(text):
        yield text[begin:]


def _ideographs(word: str) -> Iterator[str]:
    begin = 0
    for index in range(1, len(word)):
        before, after = word[index - 1], word[index]
        wide = _is_wide(before) or _is_wide(after)
        if wide and after not in _NOT_FIRST and before not in _NOT_LAST and not after.isspace() and _parts(word, index):
            yield word[begin:index]
            begin = index
    yield word[begin:]


def _is_wide(char: str) -> bool:
    return "\u3001" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff"


def _parts(text: str, index: int) -> bool:
    """True when a grapheme may end before `text[index]` (UAX 29 without its rare scripts)."""
    before, after = text[index - 1], text[index]
    if before == "\u200d" or unicodedata.category(after) in ("Mn", "Me", "Mc", "Cf"):
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        letters = 0
        while letters < index and _is_flag_letter(text[index - 1 - letters]):
            letters += 1
        return letters % 2 == 0
    return not ("\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff") and (before, after) != ("\r", "\n")


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
