"""How people write a limit in English, Spanish and Portuguese, folded: its words taken apart before any book is looked at."""

import re
from dataclasses import dataclass

from core import words as wording
from core.limits.numerals import number_of

_START = """
start|beginning|nothing|none|not started|not started yet|nothing yet|0|inicio|principio|comienzo|nada|comeco
sin empezar|nada todavia|nada ainda|por comecar
"""
_ALL = """
all|everything|whole book|book|end|finished|read|done|todo|todo el libro|libro entero|libro|fin|final|terminado|acabado|leido
tudo|todo o livro|livro todo|livro inteiro|livro|fim|lido|terminei|acabei|termine|acabe
"""
_INSIDE = """
in|into|inside|at|on|reading|now in|now at|still in|before|until|till|en|dentro de|leyendo|antes de|em|no|na|dentro do|lendo|antes do
"""
_FINISHED = """
finished|finished with|finish|done with|done|completed|read|through|up to|to|end of|to the end of|up to the end of|after
have finished|have read|we finished|we have finished|we have read|i finished|i have finished|i have read
hasta|hasta el final de|hasta el fin de|hasta el final del|fin de|fin del|final de|final del|despues de|terminado|terminada|he terminado
hemos terminado|termine|terminamos|acabado|acabe|acabamos|leido|he leido|hemos leido
ate|ate o fim de|ate o fim do|fim de|fim do|final do|depois de|terminei|acabei|acabou|lido|lemos|li
"""
_ARTICLE = r"(?:(?:the|el|la|lo|o|a|os|as|del|al|do|ao) )?"
_CHAPTER = r"(?:chapters?|chap|ch|capitulos?|caps?|#|n\.?[ºo°])"


def _any(phrases: str) -> str:
    found = [phrase for line in phrases.split("\n") for phrase in line.split("|") if phrase]
    return "|".join(re.escape(phrase) for phrase in sorted(found, key=len, reverse=True))


_WHOLE_START = re.compile(_ARTICLE + f"(?:{_any(_START)})")
_WHOLE_ALL = re.compile(_ARTICLE + f"(?:{_any(_ALL)})")
_PREFIX_INSIDE = re.compile(f"(?:{_any(_INSIDE)}) +(?=.)")
_PREFIX_FINISHED = re.compile(f"(?:{_any(_FINISHED)}) +(?=.)")
_NUMBER = re.compile(_ARTICLE + rf"(?:({_CHAPTER})\.? *)?(\d{{1,6}})(?: +({_CHAPTER}))?")
_NUMERAL = re.compile(_ARTICLE + rf"(?:{_CHAPTER}\.? *{_ARTICLE}([a-z]+)|([a-z]+) +{_CHAPTER})\.?")
_PAGE = re.compile(_ARTICLE + r"(?:pages?|paginas?|pags?|pgs?|pp?)(?:\. *| +|(?=\d))(\S{1,16})")
_SHARE = re.compile(_ARTICLE + r"(\d{1,9})(?:[.,](\d{1,4})0*)? *(?:%|percent|per cent|por ?ciento|por ?cento)(?: .*)?")
_QUOTES = "\"'“”«»„‘’ "


@dataclass(frozen=True, slots=True)
class Spelled:
    """A limit's words taken apart. `rest` is folded; what it names is looked for in the book."""

    kind: str
    """start, all, or named."""
    inside: bool = False
    """True for "in X", which means up to where X begins; otherwise X has been read to its end."""
    rest: str = ""
    number: int | None = None
    """A chapter as `/toc` numbers it."""
    labelled: bool = False
    """True when the word "chapter" stood before the number: then it may be the number that the book prints."""
    numeral: int | None = None
    """A number behind or before the word "chapter" that is no figure ("IX", "nine"): it may be part of a title as well."""
    page: str | None = None
    share: tuple[int, int] | None = None
    """A part of the text in percent, as a fraction (numerator, denominator)."""
    everything: bool = False
    """True when `rest` may also mean the whole book ("finished the book")."""


def take_apart(text: str) -> Spelled | None:
    """What the words say; None when there are none."""
    folded = " ".join(wording.fold(text).split()).strip(_QUOTES).rstrip(".!").strip()
    if not folded:
        return None
    if _WHOLE_START.fullmatch(folded):
        return Spelled("start")
    if _WHOLE_ALL.fullmatch(folded):
        return Spelled("all")
    finished, inside = _PREFIX_FINISHED.match(folded), _PREFIX_INSIDE.match(folded)
    # The longer beginning is meant: "to the end of 3" is not "to" something.
    meant = max(filter(None, (finished, inside)), key=lambda found: found.end(), default=None)
    rest = (folded[meant.end() :] if meant else folded).strip(_QUOTES)
    number, page, share = _NUMBER.fullmatch(rest), _PAGE.fullmatch(rest), _SHARE.fullmatch(rest)
    return Spelled(
        "named",
        inside=meant is not None and meant is inside,
        rest=rest,
        number=int(number[2]) if number else None,
        labelled=bool(number and (number[1] or number[3])),
        numeral=_numeral(rest),
        page=page[1] if page else None,
        share=(int(share[1] + (share[2] or "")), 10 ** len(share[2] or "")) if share else None,
        everything=_WHOLE_ALL.fullmatch(rest) is not None,
    )


def _numeral(rest: str) -> int | None:
    found = _NUMERAL.fullmatch(rest)
    return number_of(found[1] or found[2], written=True) if found else None
