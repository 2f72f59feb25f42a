"""Quotation marks mean quotation (P5): a pair keeps its marks only when what stands between is verbatim in the evidence.

What counts as a quotation: text between the marks of any style, a single word too. Apostrophes, inches and feet do not.
A quotation whose marks are taken away is read again for quotations inside it.

Two kinds of true text have a mark without its partner: a block-quote line (see `excerpts`), and an excerpt that ends
where somebody in the book stops speaking. Its closing mark stays when all from the beginning of the sentence to the
mark, the mark included, stands in the evidence.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.footnotes.excerpts import excerpt
from core.footnotes.marks import CODE, GONE, NOTE_START, PROSE
from core.sentences import sentences
from core.tags import NOTE

HELD = 400
"""Characters a quotation may have; a longer one is shown without its marks (DESIGN 2.5)."""

_ATTEMPTS = 8
"""Ends that are tried for one quotation in single marks, where a plural possessive looks like an end."""

_CLOSERS = {
    "“": "”“", "”": "”", "„": "“”", "‟": "”", "«": "»", "»": "«", "‹": "›", "›": "‹", "‘": "’‘", "‚": "‘’", "‛": "’",
    "「": "」", "『": "』", "｢": "｣", "﹁": "﹂", "﹃": "﹄", "〝": "〞〟", "❝": "❞", "❛": "❜", '"': '"', "＂": "＂", "'": "'", "＇": "＇",
}  # fmt: skip
_SINGLE = frozenset("'‘’＇‛‚")
_ANY = "".join(dict.fromkeys("".join(key + value for key, value in _CLOSERS.items())))
_MARK = re.compile(f"[{re.escape(_ANY)}]|{CODE}|\n(?:[ \t>]*\n|[ \t>]*(?:[-*+]|\\d{{1,9}}[.)]|#{{1,6}})[ \t])")
_STOP = re.compile(f"[{re.escape(_ANY)}]|{CODE}|\n")
_PARAGRAPH_BEGINNING = re.compile(r"\n[ \t>]{0,64}(?:[-*+]|\d{1,9}[.)]?|#{1,6})?\Z")
_LAST_PARAGRAPH = re.compile(r"(?:.*\n)?(?:[ \t>]*(?=\n)|[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t])", re.DOTALL)
_ELISIONS = re.compile(r"(?:tis|twas|twere|twill|em|til|till|cause|bout|n|\d0s)(?![^\W_])", re.IGNORECASE)

_MARKUP = re.compile(r"\\([^\w\s]|_)|(\*\*|__|~~)|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_LINK = re.compile(r"(?<!\\)\[([^\[\]]*)\]\([^()\s]*\)")
_LINE_MARK = re.compile(r"(?:\A|\n)[ \t>]*")


class _Found(NamedTuple):
    """Where a quotation ends: `close` is the closing mark, `end` what follows it; equal when it never closed."""

    close: int
    end: int
    kind: str  # closed, paragraph, long, wait


class Quotations:
    """Feeds on scanned text; yields it with the marks of false quotations taken away."""

    def __init__(self, verbatim: Callable[[str], bool], stands: Callable[[str], bool]) -> None:
        """`verbatim` says whether the evidence has words; `stands`, whether it has them with the marks at their edges."""
        self._verbatim = verbatim
        self._stands = stands
        self._text = ""
        self._at = 0
        self._fresh = True
        """True at the beginning of a line that was not looked at yet."""
        self._lost = 0
        """Where, at the latest, a mark was taken away."""
        self._loose = ""
        """Closing marks whose opening one was taken away because the quotation was too long to be held."""
        self._known: dict[str, bool] = {}
        """Answers about the quotation that is held, which is looked at again with every piece."""

    def feed(self, piece: str, final: bool = False) -> str:
        behind = max(0, self._at - HELD)  # a closing mark is judged by the sentence before it
        self._text = self._text[behind:] + piece
        self._at -= behind
        self._lost -= behind
        return "".join(self._settle(final))

    def _settle(self, final: bool) -> Iterator[str]:
        while self._at < len(self._text):
            if self._fresh:
                line = self._line(final)
                if line is None:
                    return
                self._fresh = False
                yield line
            match = _STOP.search(self._text, self._at)
            if match is None:
                yield self._text[self._at :]
                self._at = len(self._text)
                return
            if match.start() > self._at:
                yield self._text[self._at : match.start()]
                self._at = match.start()
            done = self._step(match[0], final)
            if done is None:
                return
            self._known.clear()
            yield done

    def _line(self, final: bool) -> str | None:
        """The line that begins at `_at` when it is a true block quote, or nothing; None when more text is needed."""
        found = excerpt(self._text, self._at, final)
        if found is None:
            return None
        if not found or not self._check(self._text[found.begin : found.end], self._stands):
            return ""
        line = self._text[self._at : found.end]
        self._at = found.end
        return line

    def _step(self, mark: str, final: bool) -> str | None:
        """Settle what begins at `_at`; None when more text is needed."""
        text, at = self._text, self._at
        if mark == CODE:
            end = text.index(PROSE, at) + 1
            self._at = end
            return text[at:end]
        if mark == "\n":
            if not final and _PARAGRAPH_BEGINNING.match(text, at):
                return None
            if _MARK.match(text, at):
                self._loose = ""
            self._fresh = True
            self._at += 1
            return "\n"
        if at + 1 == len(text) and not final:
            return None
        if mark in self._loose and _may_close(text, at):
            self._at += 1
            self._loose = ""
            return self._unseen(at)
        if not _may_open(text, at) or _ends_speech(text, at):
            self._at += 1
            return self._stray(mark, at)
        found = self._find(at, mark, final)
        if found.kind == "wait":
            return None
        inner = text[at + 1 : found.close]
        holds = self._holds(inner)
        if found.kind == "closed":
            self._at = found.end
            if holds:
                return text[at : found.end]
            self._lost = found.end
            return self._bare(inner)
        self._at = at + 1
        # A quotation that runs on into the next paragraph opens again there: the mark stays when the words hold.
        kept = _ELISIONS.match(text, at + 1) if mark in _SINGLE else None
        if kept or (found.kind != "long" and (holds or mark in "'＇")):
            return mark
        if found.kind == "long":
            self._loose = _CLOSERS[mark]
        self._lost = self._at
        while text[self._at : self._at + 1] in (" ", "\u00a0", "\u202f"):
            self._at += 1
        return ""

    def _stray(self, mark: str, at: int) -> str:
        """A closing mark without an opening one. Apostrophes, feet and inches are none."""
        if mark in _SINGLE and mark not in "‚‛":
            return mark
        if mark in '"＂' and at and self._text[at - 1].isdigit():
            return mark
        return mark if self._ends_excerpt(at) else self._unseen(at)

    def _ends_excerpt(self, at: int) -> bool:
        """True when the book has the sentence that the mark at `at` ends, with the mark."""
        begin = max(0, at - HELD)
        paragraph = _LAST_PARAGRAPH.match(self._text, begin, at)
        begin = paragraph.end() if paragraph else begin
        found = sentences(self._text[begin:at].replace("\n", " "))
        begin += found[-1][0] if found else 0
        return begin >= self._lost and self._check(self._text[begin : at + 1], self._stands)

    def _unseen(self, at: int) -> str:
        """Nothing, in place of the mark at `at`; the space that French puts before it must be swept away as well."""
        self._lost = at + 1
        return GONE if self._text[at - 1 : at].isspace() else ""

    def _bare(self, inner: str) -> str:
        """A false quotation without its marks; quotations inside it are settled on their own."""
        return Quotations(self._verbatim, self._stands).feed(inner.strip(" \u00a0\u202f"), final=True)

    def _holds(self, inner: str) -> bool:
        if inner not in self._known:
            if len(self._known) >= _ATTEMPTS:
                return False
            self._known[inner] = self._check(inner, self._verbatim)
        return self._known[inner]

    def _check(self, inner: str, verbatim: Callable[[str], bool]) -> bool:
        words = NOTE.sub("", inner).replace(GONE, "")
        if not any(char.isalnum() for char in words):
            return False
        words = words.replace(CODE, "").replace(PROSE, "")
        flat = _LINE_MARK.sub(" ", words)
        shown = _MARKUP.sub(r"\1", _LINK.sub(r"\1", flat))
        return verbatim(_without_double_spaces(shown)) or (shown != flat and verbatim(_without_double_spaces(flat)))

    def _find(self, at: int, mark: str, final: bool) -> _Found:
        """Where the quotation that opens at `at` ends."""
        text, closers = self._text, _CLOSERS[mark]
        depth, first, limit, code_end = 0, -1, at + 1 + HELD, 0
        for match in _MARK.finditer(text, at + 1):
            here, char = match.start(), match[0]
            if here > limit:
                break
            if here < code_end:
                continue
            if char == CODE:
                code_end = text.index(PROSE, here)
                if text.startswith("```", here + 1) or text.startswith("~~~", here + 1):
                    return _Found(here, here, "paragraph") if first < 0 else _Found(first, first + 1, "closed")
                continue
            if char[0] == "\n":
                return _Found(here, here, "paragraph") if first < 0 else _Found(first, first + 1, "closed")
            if here + 1 == len(text) and not final:
                return _Found(here, here, "wait")
            straight = closers == mark
            if char == mark and not straight and _may_open(text, here) and not _closes_here(text, here):
                depth += 1
            elif char in closers:
                if mark in _SINGLE and not _may_close(text, here):
                    if first >= 0 and _may_open(text, here):
                        return _Found(first, first + 1, "closed")
                    continue
                if depth:
                    depth -= 1
                    continue
                # A plural possessive looks like an end ("the students' ink'"), so after an s a later end may decide.
                possessive = char in "'’＇" and mark in _SINGLE and text[here - 1] in "sS"
                if not possessive or self._holds(text[at + 1 : here]):
                    return _Found(here, here + 1, "closed")
                first = here if first < 0 else first
            elif char == mark and first >= 0 and _may_open(text, here):
                return _Found(first, first + 1, "closed")
        if len(text) > limit:
            return _Found(limit, limit, "long") if first < 0 else _Found(first, first + 1, "closed")
        if not final:
            return _Found(at, at, "wait")
        return _Found(len(text), len(text), "paragraph") if first < 0 else _Found(first, first + 1, "closed")


def _may_open(text: str, at: int) -> bool:
    mark, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if mark not in _CLOSERS:
        return False
    if mark in "'＇":
        possessive = (
            before != "" and not before.isspace() and re.match(r"s(?![^\W_])", text[at + 1 : at + 3]) is not None
        )
        return not before.isalnum() and after != "" and not possessive
    if mark in "‘‛":
        return not before.isalnum()
    if mark in '"＂':
        return not before.isdigit() and after != ""
    if mark in "”»›":  # opening marks only in some languages, and there never after a word
        return (not before or before.isspace() or before in "([{—–*_") and after != "" and not after.isspace()
    return True


def _may_close(text: str, at: int) -> bool:
    """False for an apostrophe inside a word."""
    return text[at] not in "'’＇" or not text[at + 1 : at + 2].isalnum()


def _closes_here(text: str, at: int) -> bool:
    """For marks that open in one language and close in another: closing right after a word or a stop."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return bool(before) and not before.isspace() and not after.isalnum()


def _ends_speech(text: str, at: int) -> bool:
    """A mark that may open as well, but stands right behind a word or a stop and has nothing behind it."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if text[at] not in '"＂“«‹»›”' or not before:
        return False
    bare = not after or after.isspace() or after in f")]{NOTE_START}{GONE}"
    return (before.isalnum() and (bare or after in ".,;:!?—–")) or (before in ",.!?…—–，。！？" and bare)


def _without_double_spaces(text: str) -> str:
    return re.sub(r"[ \t\u00a0]+", " ", text).strip()
