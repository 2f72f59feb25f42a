"""Clean lines: a line that held nothing but dropped or repeated tags vanishes together with its list or heading mark.

A list of sources at the end (the citation rules ask for none) loses the notes that already stand in the text, and its
heading when nothing is left. A note that stands nowhere else stays in it: a true one is never lost.
"""

import re

from core.footnotes.marks import CODE, NOTE_START, PROSE, SWEPT
from core.tags import NOTE

_PREFIX = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t]+|\Z))*")
_PREFIX_BEGINNING = re.compile(r"(?:[ \t]|>|[-*+#]|\d{1,9}[.)]?)*\Z")
_NOTHING = re.compile(r"[\s,;.、，；。·&/–—:*_-]*\Z")
_LIST = re.compile(r"[-*+]|\d")
_WORDS = ["sources", "source", "references", "reference", "citations", "citation", "notes", "footnotes", "evidence", "fuentes", "fuente", "referencias", "citas", "notas", "evidencias", "fontes", "fonte", "referências", "citações", "evidências", "quellen", "quelle", "belege", "références", "fonti", "riferimenti", "bronnen", "出典", "来源", "參考", "参考", "引用"]  # fmt: skip
_LABEL = re.compile(
    rf"(?:\*\*|__|\*|_)?(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})[ \t]*(?:\*\*|__|\*|_)?[ \t]*[:：]?"
    r"[ \t]*(?:\*\*|__|\*|_)?[ \t]*\Z",
    re.IGNORECASE,
)
_LONGEST = 256
"""Characters at the beginning of a line that wait for words; only noise has more."""
_NEXT = re.compile(f"[\n{SWEPT}{CODE}{NOTE_START}]")


class Lines:
    """Feeds on swept text; yields settled Markdown. Nothing that was yielded is ever taken back."""

    def __init__(self) -> None:
        self._breaks = ""
        """Line breaks and empty marks that wait for something to stand after them."""
        self._held = ""
        """The beginning of a line that shows nothing yet: marks, or what may be a heading of sources."""
        self._begun = False
        self._lost = False
        self._label: str | None = None
        self._vanished = False
        self._shown: set[str] = set()
        self._out: list[str] = []
        self._any = False

    def feed(self, piece: str, final: bool = False) -> str:
        at = 0
        while at < len(piece):
            at = self._take(piece, at)
        if final:
            self._end(final=True)
        out, self._out = "".join(self._out), []
        return out

    def _take(self, piece: str, at: int) -> int:
        match = _NEXT.search(piece, at)
        end = match.start() if match else len(piece)
        if end > at:
            self._words(piece[at:end])
            return end
        char = piece[at]
        if char == "\n":
            self._end()
        elif char == SWEPT:
            self._drop()
        elif char == CODE:
            end = piece.index(PROSE, at)
            self._show(piece[at + 1 : end])
            return end + 1
        else:
            note = NOTE.match(piece, at)
            if note is None:
                self._words(char)
            else:
                self._note(note)
                return note.end()
        return at + 1

    def _words(self, text: str) -> None:
        if self._begun:
            self._out.append(text)
            return
        self._held += text
        if len(self._held) <= _LONGEST:
            rest = self._held[_prefix(self._held) :]
            if (
                _PREFIX_BEGINNING.match(self._held)
                or (self._any and _may_be_label(rest))
                or (self._lost and _NOTHING.match(rest))
            ):
                return
        self._leave_label()
        self._show("")

    def _drop(self) -> None:
        self._take_label()
        self._lost = True

    def _note(self, match: re.Match[str]) -> None:
        if not self._begun:
            self._take_label()
            if self._label is not None and match[1] in self._shown:
                self._lost = True
                return
            if self._lost and _NOTHING.match(self._held[_prefix(self._held) :]):
                self._held = self._held[: _prefix(self._held)]
        self._shown.add(match[1])
        self._show(match[0])

    def _take_label(self) -> None:
        """What is held turns out to be a heading of sources: it waits for something to stand under it."""
        if self._begun or not self._any or not _LABEL.match(self._held[_prefix(self._held) :]):
            return
        self._label = self._breaks + self._held
        self._breaks = self._held = ""
        self._vanished = False

    def _leave_label(self) -> None:
        """Ordinary text follows: a heading whose list vanished goes, any other stays."""
        if self._label is not None and not _LIST.match(self._held.lstrip()):
            if self._vanished:
                self._label = ""
                self._breaks = "\n\n"
            self._out.append(self._label)
            self._label = None

    def _show(self, text: str) -> None:
        if not self._begun:
            if self._label:
                self._out.append(self._label)
                self._label = ""
            breaks = re.sub(r"\n{3,}", "\n\n", self._breaks)
            self._out.append((breaks if self._any else breaks.lstrip("\n")) + self._held)
            self._breaks = self._held = ""
            self._begun = self._any = True
        self._out.append(text)

    def _end(self, final: bool = False) -> None:
        """The line is over."""
        if not self._begun:
            self._take_label()
            rest = self._held[_prefix(self._held) :]
            if self._lost and _NOTHING.match(rest):
                self._held = ""
                self._vanished = True
            elif rest.strip():
                self._show("")
            elif not final:
                self._breaks += self._held.rstrip(" \t") + "\n"
                self._held = ""
        if self._begun and not final:
            self._breaks = "\n"
        if final and self._label and not self._vanished:
            self._out.append(self._label.rstrip())
        self._begun = self._lost = False


def _prefix(text: str) -> int:
    match = _PREFIX.match(text)
    return match.end() if match else 0


def _may_be_label(text: str) -> bool:
    bare = text.lstrip("*_").casefold()
    if any(word.startswith(bare.rstrip("*_:： \t")) for word in _WORDS) and (
        bare == bare.rstrip("*_:： \t") or _LABEL.match(text)
    ):
        return True
    return _LABEL.match(text) is not None
