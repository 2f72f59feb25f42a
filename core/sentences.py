"""Where sentences end, in any script: one rule table, no model. A missed end costs nothing, offsets are always exact."""

import re
import unicodedata

SPACED_STOPS = ".!?…‼⁇⁈⁉؟۔।॥։።፧፨၊။។៕།"
"""Terminators that end a sentence only before white space."""
TIGHT_STOPS = "。！？｡．"
"""Terminators that need no white space after them (CJK)."""
CLOSERS = "\"'”’“‘»«›‹)]}*_」』】〉》〕）］｣"
OPENERS = "\"'“‘„‚«»‹›([{*_—–-¿¡「『【〈《〔（［｢"

_STOP = re.compile(rf"[{re.escape(SPACED_STOPS + TIGHT_STOPS)}]+[{re.escape(CLOSERS)}]*")
_NEXT = re.compile(rf"\s+[{re.escape(OPENERS)}\s]*")
_WORD_BEFORE = re.compile(r"[^\s(\[«»“”„\"'’‘—–]*\Z")
_DOTTED = re.compile(r"(?:\w{1,3}\.)+\w{1,3}")

_ABBREVIATIONS = (
    # en
    "mr mrs ms dr prof st mt rev hon gen col capt cpt lt sgt maj cmdr adm gov sen rep pres messrs mme mmes mlle mlles "
    "jr esq vs viz cf ca approx "
    # es, pt
    "sr sra srta sres ud uds vd vds d.ª dña dna exc exma exmo ilmo sto sta fr pág págs av dto tte cnel gral lic ing arq "
    "prof.ª profª dra drs dras v.exa "
    # de
    "hr frl hrn hl bzw ggf vgl bspw sog evtl inkl exkl zzt geb gest jh jhdt str dipl "
    # fr
    "mm mgr ste cie éd "
    # it
    "sig sigg sigra sigg.ra dott dott.ssa avv egr spett gent "
    # ru
    "г гг гр ул тов проф акад св т.е т.к т.д т.п др ср стр млн млрд тыс руб коп"
)
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
"""Never the end of a sentence."""
_BEFORE_A_NUMBER = (
    "no nos nr nº p pp pg págs pág pag s ss vol vols cap caps ch chap kap fig figs abb art arts sec sect bd bde tab vers "
    "v vv lib tom t § num núm гл стр рис табл ст"
)
BEFORE_A_NUMBER = frozenset(_BEFORE_A_NUMBER.split())
"""Not the end of a sentence when a digit follows."""


def _continues(text: str, start: int, dot: int, after: int, stop: str) -> bool:
    """Whether the sentence goes on behind the terminator at `dot`; `after` is the next letter, past opening marks."""
    following = text[after : after + 1]
    if following.islower():
        return True
    if stop[0] != "." or stop[:2] == "..":
        return False
    found = _WORD_BEFORE.search(text, max(start, dot - 16), dot)
    word = found.group() if found else ""
    if not word:
        return False
    folded = word.casefold()
    return (
        (len(word) == 1 and word != "I")
        or (len(word) <= 2 and word.isdigit())
        or folded in ABBREVIATIONS
        or (folded in BEFORE_A_NUMBER and following.isdigit())
        or _DOTTED.fullmatch(word) is not None
    )


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The sentences of `text[start:end]` as trimmed ranges in `text`, in order; a newline always ends one."""
    end = len(text) if end is None else end
    found: list[tuple[int, int]] = []
    line = start
    while line < end:
        newline = text.find("\n", line, end)
        stop = end if newline < 0 else newline
        found += line_sentences(text, line, stop)
        line = stop + 1
    return found


def line_sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """As `sentences`, for a range that holds no newline."""
    found: list[tuple[int, int]] = []
    begin = start
    for match in _STOP.finditer(text, start, end):
        cut = match.end()
        if cut >= end:
            break
        if text[cut].isspace():
            ahead = _NEXT.match(text, cut, end)
            after = ahead.end() if ahead else end
            if _continues(text, begin, match.start(), after, match.group()):
                continue
        elif not any(mark in TIGHT_STOPS for mark in match.group()) or _hangs_on(text, match.start(), cut):
            continue
        if begin < cut and not inside_grapheme(text, cut):
            _add(found, text, begin, cut)
            begin = cut
    _add(found, text, begin, end)
    return found


def _hangs_on(text: str, stop: int, cut: int) -> bool:
    """After a closing bracket Japanese goes on with a particle: 「…。」と言った; and a comma never begins a sentence."""
    if text[cut].isdigit() and text[stop] == "．":
        return True
    return text[cut] in "、，,；;：:" or (
        text[cut - 1] in "」』）" and cut - stop > 1 and text[cut] in "とっはがをにのもでや"
    )


def _add(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))


def inside_grapheme(text: str, cut: int) -> bool:
    """Whether a cut before `text[cut]` (white space skipped) would part what is read as one character.

    A short form of the cluster rules of Unicode Annex 29: marks, joiners, emoji modifiers, flags and Hangul jamo stay
    with what stands before them.
    """
    if cut <= 0 or cut >= len(text):
        return False
    mark = text[cut]
    if mark.isspace():
        # White space followed by a mark carries that mark: the cut may stand before the white space only if no mark
        # would then begin the next run.
        ahead = cut
        while ahead < len(text) and text[ahead].isspace():
            ahead += 1
        return ahead < len(text) and text[ahead - 1] not in "\n\r" and _joins_back(text[ahead])
    before = text[cut - 1]
    if before == "\u200d" or _joins_back(mark):
        return True
    if "\U0001f1e6" <= mark <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff":
        flags = 0
        while cut - flags > 0 and "\U0001f1e6" <= text[cut - flags - 1] <= "\U0001f1ff":
            flags += 1
        return flags % 2 == 1
    if "\u1160" <= mark <= "\u11ff" or "\ud7b0" <= mark <= "\ud7ff":
        return True
    return "\u1100" <= before <= "\u115f" and ("\u1100" <= mark <= "\u115f" or "\uac00" <= mark <= "\ud7a3")


def _joins_back(mark: str) -> bool:
    if mark < "\u0300":
        return False
    return mark in "\u200c\u200d" or "\U0001f3fb" <= mark <= "\U0001f3ff" or unicodedata.category(mark)[0] == "M"
