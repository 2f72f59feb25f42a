"""Tags: the names of runs in prompts and drafts, `[f5-123-165]` = spine file 5, code points 123 to 165, half-open.

We write one spelling. We read many (spaces, underscores, invisible and full-width characters, letter case, dash kinds,
grouped tags, a missing `f`, a missing bracket) but repair nothing: what the cleaned numbers say is what is looked up.

What is *tag-shaped*, exactly (C04, C08 and their neighbours):

- in square brackets of any kind: a body that begins with `f` and a digit (`[f1]`, `[f1-293]`, `[f1-42-101? no]`), or
  with three numbers joined by dashes (`[1-0-42]`) unless they read as a date (`[2024-01-15]`, `[3-5-1999]`), have
  leading zeros, or belong to a longer chain of numbers (`[978-3-16-148410-0]`);
- a dash, colon, point or the like between `f` and the file is read over (`[f-1-0-42]`, `f:1-0-42`, `[f-1]`);
- in round brackets, none, or with other words in the brackets: only a complete `f` triple (`(f1-0-42)`, `f1-0-42`,
  `[see f1-0-42]`).

- in square brackets, too: whole numbers alone (`[1]`, `[2, 3]`), because they read as our footnotes: they name no place,
  so they are malformed. Where the book itself prints them, settling leaves them.

So `[3-2]`, `a[1-2]`, `[sic]`, `(6-4-2)` and dates are prose and stay.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from core.model import Span

OPENERS = "[［【〔"
CLOSERS = "]］】〕"

_DASH = "-\u02d7\u058a\u05be\u1806\u2010-\u2015\u2043\u207b\u208b\u2212\u2500\u2796\u2e3a\u2e3b\u30fc\ufe58\ufe63\uff0d"
_DASHES = f"[{_DASH}]"
_LINK = f"[{_DASH}:#.=/]"  # what models put between `f` and the number of the file
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0"
)
_NUMBER = r"\d+(?:[_\\" + _INVISIBLE + r"]+\d+)*"
_SOFT = rf"[_*`~^\"'“”„‘’«»‹›\\{_INVISIBLE}]*"  # what may stand inside a tag and shows nothing
_LOOSE = rf"[\s_*`~^\"'“”„‘’«»‹›\\{_INVISIBLE}]*"  # the same with white space, inside brackets
_F = r"[fFｆＦ𝐟𝑓𝖿𝚏ƒ]"
_JOINT = rf"{_SOFT}\s?{_SOFT}{_DASHES}{_SOFT}\s?{_SOFT}"

_NAKED = re.compile(
    rf"[({{（]?{_SOFT}{_F}{_SOFT}(?:\s?{_LINK}{_SOFT}\s?{_SOFT})?{_NUMBER}(?:{_JOINT}{_NUMBER}){{2,}}(?:(?!{_F}\d)[A-Za-z0-9])*(?:{_SOFT}[)}}）])?"
)
"""An `f` triple (or longer chain) without square brackets, with its round ones."""

_F_START = re.compile(rf"{_LOOSE}{_F}{_LOOSE}(?:{_LINK}{_LOOSE})?\d")
_BARE_START = re.compile(
    rf"{_LOOSE}({_NUMBER}){_LOOSE}{_DASHES}{_LOOSE}({_NUMBER}){_LOOSE}{_DASHES}{_LOOSE}({_NUMBER})"
    rf"(?!{_LOOSE}{_DASHES}{_LOOSE}\d)(?![^\W_])"
)
_BEGINNING = re.compile(
    rf"{_LOOSE}(?:{_F}{_LOOSE}(?:{_LINK}{_LOOSE})?(?:\d.*)?|{_NUMBER}{_LOOSE}(?:{_DASHES}{_LOOSE}(?:{_NUMBER}{_LOOSE}"
    rf"(?:{_DASHES}{_LOOSE}(?:{_NUMBER}{_LOOSE})?)?)?)?)?\Z",
    re.DOTALL,
)
_NAKED_BEGINNING = re.compile(
    rf"[({{（]?{_SOFT}(?:{_F}{_SOFT}(?:\s?·+{_SOFT}\s?)?(?:\s?{_LINK}{_SOFT}\s?{_SOFT})?(?:{_NUMBER}(?:{_JOINT}{_NUMBER}){{0,8}}"
    rf"(?:{_SOFT}\s?{_SOFT}(?:{_DASHES}{_SOFT}\s?{_SOFT})?)?)?)?\Z"
)
_NAKED_LOOK_ALIKE = re.compile(
    rf"{_F}{_SOFT}\s?{_SOFT}·+{_SOFT}\s?(?:{_LINK}{_SOFT}\s?)?{_NUMBER}(?:{_JOINT}{_NUMBER})*(?:{_JOINT})?"
)
_REFERENCE = re.compile(r"((?:f[-:#.=/]?)?)(\d+(?:-\d+)*)\Z")
_TRIPLE = re.compile(r"(?:f[-:#.=/]?)?(\d+)-(\d+)-(\d+)\Z")
_LEAD = re.compile(rf"{_LOOSE}(?:{_F}{_LOOSE}{_LINK}?)?{_LOOSE}{_NUMBER}(?:{_LOOSE}{_DASHES}{_LOOSE}(?:{_NUMBER})?)*")

_NUMBERS = re.compile(r"\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*")
"""What our own footnotes look like to a reader."""

_STRIP = re.compile(rf"[\s_*`~^\"'“”„‘’«»‹›\\{_INVISIBLE}]+")
_SEPARATORS = re.compile(r"[,;、，；|/&+·]+|\b(?:and|y|e|et|und)\b", re.IGNORECASE)
_GAPS = re.compile(rf"(?<=\d)\s+(?={_F}|\d)|(?<=\d)(?={_F})")
_DASH_ANY = re.compile(_DASHES)

_NO_NOTES = dict.fromkeys(range(0xFDD0, 0xFDD8))

_OUR_TAG = re.compile(r" \[f(\d+)-(\d+)-(\d+)\]")

# One visible middle dot breaks the shape. Models copy a visible character more faithfully than an invisible one, and
# the place where it stands says how to take it out again.
_MARK = "·"
_SITES = re.compile(
    rf"(?P<f>{_F}{_LOOSE})(?P<m1>{_MARK}*)(?={_LOOSE}(?:{_LINK}{_LOOSE})?{_NUMBER}{_LOOSE}{_DASHES})"
    rf"|(?P<bf>[\[［【〔]{_LOOSE}{_F}{_LOOSE})(?P<m2>{_MARK}*)(?={_LOOSE}(?:{_LINK}{_LOOSE})?\d)"
    rf"|(?P<n>[\[［【〔]{_LOOSE}{_NUMBER}{_LOOSE})(?P<m3>{_MARK}*)"
    rf"(?={_LOOSE}{_DASHES}{_LOOSE}{_NUMBER}{_LOOSE}{_DASHES}{_LOOSE}\d)"
)
_LONGEST_NUMBER = 9
"""No offset has more digits (a spine file holds at most 20 million characters); keeps `int` cheap on garbage."""


NOTE = re.compile("\u2045\ufdd0([0-9]{1,4})\ufdd1\u2046")
"""How a proven footnote stands in settled Markdown. The inner characters are no characters of any text (Unicode keeps
them for a program's own use); the outer brackets make Markdown treat the whole as punctuation, as `[1]` would be."""


class Reference(NamedTuple):
    """One item of something tag-shaped. `span` is what its numbers say; None when they are not three."""

    raw: str
    span: Span | None


def tag(span: Span) -> str:
    """The one spelling we write: `[f5-123-165]`."""
    return f"[f{span.file}-{span.start}-{span.end}]"


def note(number: int) -> str:
    """The footnote `number` as it stands in settled Markdown."""
    return f"\u2045\ufdd0{number}\ufdd1\u2046"


def without_notes(text: str) -> str:
    """`text` without anything that could be read as a settled footnote: what strangers write is passed through this."""
    return text.translate(_NO_NOTES)


def clean(text: str) -> str:
    """`text` in plain characters: compatibility forms folded, one kind of dash, lower case, nothing invisible or white."""
    folded = unicodedata.normalize("NFKC", _STRIP.sub("", html.unescape(text)))
    return _DASH_ANY.sub("-", folded).replace("ƒ", "f").lower()


def references(body: str) -> tuple[Reference, ...] | None:
    """What a pair of square brackets around `body` refers to; None when it is not tag-shaped.

    Items of a group are read one by one; a body that holds anything but references is one malformed reference (C15).
    """
    body = html.unescape(body)
    if not _looks_like_tag(body):
        return None
    whole = _triple(clean(body))
    if whole is not None:
        return (Reference(body, whole),)
    items = [item for part in _SEPARATORS.split(body) for item in _GAPS.split(part)]
    items = [item for item in items if clean(item)]
    if not all(_REFERENCE.match(clean(item)) for item in items):
        return (Reference(body, None),)
    return tuple(Reference(item, _triple(clean(item))) for item in items)


def naked(text: str, position: int) -> re.Match[str] | None:
    """An `f` triple without square brackets that begins exactly at `position` (round brackets included when paired)."""
    return _NAKED.match(text, position)


def naked_reference(raw: str) -> Reference:
    """What a match of `naked` refers to."""
    return Reference(raw, _triple(clean(raw.strip("(){}（）"))))


def look_alike(text: str, position: int) -> re.Match[str] | None:
    """Something defused without square brackets that begins exactly at `position`."""
    return _NAKED_LOOK_ALIKE.match(text, position)


def may_begin(text: str, position: int = 0) -> bool:
    """True when `text` from `position` (after an opening square bracket) to its end may be the beginning of a tag."""
    return _BEGINNING.match(text, position) is not None


def may_begin_naked(text: str, position: int) -> bool:
    """True when everything from `position` to the end may be the beginning of an `f` triple without square brackets."""
    return _NAKED_BEGINNING.match(text, position) is not None


def leading(body: str) -> int:
    """How many characters of a body that was never closed belong to its first reference."""
    match = _LEAD.match(body)
    return match.end() if match else 0


def defuse(text: str) -> str:
    """Book text for a prompt: whatever could be taken for a tag gets a middle dot, which `restore` takes out again."""
    return _SITES.sub(_insert, text)


def restore(text: str) -> str:
    """The inverse of `defuse`, for text that a model copied from a prompt."""
    return _SITES.sub(_remove, text)


def annotate(pieces: Iterable[tuple[Span, str]]) -> str:
    """Runs for a prompt: each one's defused text, a space and its tag.

    Neighbours (at most one character apart in the same file) share a line; a blank line parts everything else.
    """
    out: list[str] = []
    last: Span | None = None
    for span, text in pieces:
        if last is not None:
            out.append(" " if span.file == last.file and 0 <= span.start - last.end <= 1 else "\n\n")
        out.append(f"{defuse(text)} {tag(span)}")
        last = span
    return "".join(out)


def read_tagged(text: str) -> list[tuple[Span, str]]:
    """The runs that `annotate` wrote, with their exact texts, whatever headings stand around them.

    The length of a run is in its tag; a tag with less text before it than it claims is left out.
    """
    found: list[tuple[Span, str]] = []
    begin = 0
    for match in _OUR_TAG.finditer(text):
        span = _span(match)
        before = restore(text[begin : match.start()])
        length = span.end - span.start
        if 0 < length <= len(before):
            found.append((span, before[len(before) - length :]))
        begin = match.end()
    return found


def own(text: str) -> list[Span]:
    """The tags that stand in a text in our own spelling, in order, repeats included."""
    return [_span(match) for match in _OUR_TAG.finditer(text)]


def places(text: str) -> list[int]:
    """Where each tag in our own spelling ends."""
    return [match.end() for match in _OUR_TAG.finditer(text)]


def respell(text: str, spell: Callable[[Span], str]) -> str:
    """The text with each tag in our own spelling, and the space before it, replaced by what `spell` makes of it."""
    return _OUR_TAG.sub(lambda match: spell(_span(match)), text)


def _span(match: re.Match[str]) -> Span:
    return Span(*(int(number[:_LONGEST_NUMBER]) for number in match.groups()))


def is_numbers(body: str) -> bool:
    """True for a body of whole numbers alone, as our own footnotes show."""
    return _NUMBERS.fullmatch(body) is not None


def _looks_like_tag(body: str) -> bool:
    if is_numbers(body):
        return True
    if _F_START.match(body):
        return True
    bare = _BARE_START.match(body)
    return bare is not None and not _is_prose(*(clean(number) for number in bare.groups()))


def _is_prose(first: str, second: str, third: str) -> bool:
    """Three bare numbers that cannot be a tag of ours, or read as a date."""
    numbers = (first, second, third)
    if any(len(number) > 1 and number.startswith("0") for number in numbers):
        return True
    if any(len(number) > _LONGEST_NUMBER for number in numbers):
        return True
    a, b, c = (int(number) for number in numbers)
    year_first = 1000 <= a <= 2999 and 1 <= b <= 12 and 1 <= c <= 31
    year_last = 1000 <= c <= 2999 and 1 <= a <= 31 and 1 <= b <= 31 and min(a, b) <= 12
    return year_first or year_last


def _triple(cleaned: str) -> Span | None:
    match = _TRIPLE.match(cleaned)
    if match is None or any(len(number) > _LONGEST_NUMBER for number in match.groups()):
        return None
    if any(len(number) > 1 and number.startswith("0") for number in match.groups()):
        return None
    return Span(*(int(number) for number in match.groups()))


def _site(match: re.Match[str]) -> tuple[str, str]:
    for before, marks in (("f", "m1"), ("bf", "m2"), ("n", "m3")):
        if match[before] is not None:
            return match[before], match[marks]
    return match[0], ""


def _insert(match: re.Match[str]) -> str:
    before, marks = _site(match)
    return before + marks + _MARK


def _remove(match: re.Match[str]) -> str:
    before, marks = _site(match)
    return before + marks[:-1]
