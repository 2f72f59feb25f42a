"""Clean prose inside a line: what stood only for a dropped tag goes with it, a note repeated side by side shows once."""

import re

from core.footnotes.marks import CODE, GONE, NOTE_START, PROSE, SWEPT, code
from core.tags import NOTE

_SPACE = " \t\u00a0"
_SEPARATOR = ",;、，；·&/–—-"
_STOPS = ".,;:!?…。！？：、，；)]}）】”»›’」』"
_BRACKETS = "([{（【<“„«‹‘‚「『"
_EITHER_END = "\"'*_~"
_CONJUNCTIONS = "and|y|e|et|und|or|o|ou|oder"
_PAIRS = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("（", "）"), ("【", "】"), ("<", ">")),
    *(("“", "”"), ("“", "“"), ("„", "“"), ("„", "”"), ("«", "»"), ("»", "«"), ("‹", "›"), ("‘", "’"), ("‚", "‘")),
    *(("「", "」"), ("『", "』")),
)
_SAME = ("**", "__", "~~", "*", "_", '"', "'")

_S, _P = f"[{_SPACE}]", f"[{re.escape(_SEPARATOR)}]"
_BEFORE = re.compile(rf"(?:{_S}|{_P}|[:：{re.escape(_BRACKETS + _EITHER_END)}]){{1,64}}\Z")
_CLOSING = ")]}）】>”“»«›’‘」』" + _EITHER_END
_AFTER = re.compile(rf"(?:{_S}|{_P}|[{re.escape(_CLOSING)}{GONE}]|(?:{_CONJUNCTIONS})(?={_S}+{GONE}))*", re.IGNORECASE)
_CONJUNCTION_BEGINNING = re.compile(rf"(?:a|an|u|un|od|ode|{_CONJUNCTIONS}){_S}*\Z", re.IGNORECASE)
_GROUP = re.compile(rf"{GONE}{_S}*(?:{_P}{_S}*)*(?:(?:{_CONJUNCTIONS}){_S}+)?{GONE}", re.IGNORECASE)
_CANCEL = [
    *(re.compile(rf"{re.escape(a)}{_S}*{GONE}(?:{_S}|{_P})*{re.escape(b)}") for a, b in _PAIRS),
    *(re.compile(rf"(?<![\w{re.escape(mark[0])}]){re.escape(mark)}{GONE}{re.escape(mark)}") for mark in _SAME),
]
_NEAR = re.compile(rf"(?:{_S}|{_P}|{GONE})*\Z")
_NEXT = re.compile(f"[{GONE}{CODE}{NOTE_START}]")
_LONGEST = 256
"""Characters around drops that wait for what follows; only noise has more."""
_CODE_GONE = f"{CODE}{GONE}{PROSE}"


class Sweeper:
    """Feeds on text with notes and drops; yields it swept, with `SWEPT` where a drop was."""

    def __init__(self) -> None:
        self._text = ""
        self._last = ""
        """The last character that was yielded."""
        self._near: set[str] = set()
        """Notes that stand side by side with what comes next."""
        self._out: list[str] = []

    def feed(self, piece: str, final: bool = False) -> str:
        self._text += piece
        while self._text and self._step(final):
            pass
        out, self._out = "".join(self._out), []
        return out

    def _step(self, final: bool) -> bool:
        match = _NEXT.search(self._text)
        if match is None:
            return self._words(final)
        at = match.start()
        if match[0] == GONE:
            return self._gone(at, final)
        if match[0] == CODE:
            return self._code(at, final)
        return self._note(at)

    def _words(self, final: bool) -> bool:
        glue = None if final else _BEFORE.search(self._text, max(0, len(self._text) - 64))
        self._yield(len(self._text) if glue is None else glue.start())
        return False

    def _yield(self, length: int) -> None:
        """Pass on the first `length` characters."""
        said, self._text = self._text[:length], self._text[length:]
        if said:
            if not _NEAR.match(said):
                self._near.clear()
            self._out.append(said)
            self._last = said[-1]

    def _note(self, at: int) -> bool:
        match = NOTE.match(self._text, at)
        if match is None:  # a bracket with quill that the text itself holds
            self._yield(at + 1)
            return True
        if self._repeats(self._text[:at], match[1]):
            self._text = self._text[:at] + GONE + self._text[match.end() :]
            return True
        self._yield(at)
        near = {*self._near, match[1]}
        self._yield(match.end() - at)
        self._near = near
        return True

    def _repeats(self, before: str, number: str) -> bool:
        return number in self._near and _NEAR.match(before) is not None

    def _code(self, at: int, final: bool) -> bool:
        self._yield(at)
        end = self._text.index(PROSE) + 1
        if self._text.startswith(_CODE_GONE):
            self._out.append(SWEPT)
            self._text = self._text[end:]
            return True
        inner = self._text[1 : end - 1]
        if inner != (bare := inner.rstrip(" \t")):
            spare = len(inner) - len(bare) - _LONGEST
            if spare > 0:
                self._text = code(inner[: len(bare) + spare]) + code(inner[len(bare) + spare :]) + self._text[end:]
                self._yield(len(bare) + spare + 2)
                return True
            if end == len(self._text) and not final:
                return False
            if self._text.startswith(_CODE_GONE, end):
                self._text = f"{CODE}{bare}{PROSE}" + self._text[end:] if bare else self._text[end:]
                return True
            if self._text.startswith(CODE, end):  # the spaces may go on
                self._text = self._text[: end - 1] + self._text[end + 1 :]
                return True
        self._yield(end)
        return True

    def _gone(self, at: int, final: bool) -> bool:
        glue = _BEFORE.search(self._text[:at])
        begin = glue.start() if glue else at
        after = _AFTER.match(self._text, at)
        end = after.end() if after else at + 1
        rest = self._text[end:]
        if not final and (not rest or _CONJUNCTION_BEGINNING.match(rest)) and len(self._text) < _LONGEST:
            return False
        note = NOTE.match(rest)
        if note and begin == 0 and self._repeats(self._text[:end], note[1]):
            self._text = self._text[:end] + GONE + rest[note.end() :]
            return True
        self._yield(begin)
        cluster = self._text[: end - begin]
        self._text = _swept(self._last, cluster, rest[:1]) + rest
        self._out.append(SWEPT)
        return True


def _swept(left: str, cluster: str, right: str) -> str:
    """`cluster` without its drops and what stood only for them; `left` and `right` are the characters around it."""
    text = left + cluster
    before = ""
    while before != text:
        before = text
        text = _GROUP.sub(GONE, text)
        for pair in _CANCEL:
            text = pair.sub(GONE, text)
    text = text[len(left) :]
    while GONE in text:
        ahead, _, behind = text.partition(GONE)
        text = _joined(left, ahead, behind, right)
    return text


def _joined(left: str, ahead: str, behind: str, right: str) -> str:
    following = behind + right
    first = following.lstrip(_SPACE)[:1]
    begins = (not ahead.strip(_SPACE) and left in ("", "\n")) or ahead.rstrip(_SPACE).endswith(tuple(_BRACKETS))
    if begins and first:
        return ahead + behind.lstrip(_SPACE + _SEPARATOR)
    if first in ("", "\n") or first in _STOPS or following[:1] in _EITHER_END:
        bare = ahead.rstrip(_SPACE + _SEPARATOR)
        if first and first in ".!?…。！？":
            bare = bare.rstrip(":：")
        return bare + behind.lstrip(_SPACE)
    if first in _SEPARATOR:
        return ahead.rstrip(_SPACE + _SEPARATOR) + behind
    if ahead[-1:] and ahead[-1] in _SPACE:
        return ahead + behind.lstrip(_SPACE)
    return ahead + behind
