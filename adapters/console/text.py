"""Text for a terminal: harmless characters, display width, line breaking, styles. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Style = Literal["plain", "strong", "emphasis", "dim", "note", "quoted"]

_SGR: dict[Style, str] = {"strong": "1", "emphasis": "3", "dim": "2", "note": "36", "quoted": "1;33"}


class Piece(NamedTuple):
    """A stretch of text in one style."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class Look:
    """What the device can do and what its reader prefers."""

    locale: str
    width: int | None = None
    """Columns to wrap to; None over a pipe, where a paragraph stays one line."""
    colour: bool = False


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """`text` without anything a terminal would obey: C0 as control pictures, C1 and lone surrogates as U+FFFD."""
    return _CONTROL.sub(_picture, text.replace("\t", "    "))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


def columns(text: str) -> int:
    """How many columns `text` takes: wide East Asian characters two, marks that combine none."""
    return sum(_columns(ch) for ch in text)


def _columns(ch: str) -> int:
    if ch.isascii():
        return 1
    if unicodedata.category(ch) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1


_NOT_FIRST = frozenset("、。，．：；！？）］｝〉》」』】〕’”…・ーゝ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")
_NOT_LAST = frozenset("（［｛〈《「『【〔‘“")


class _Glyph(NamedTuple):
    ch: str
    style: Style
    columns: int


def wrap(pieces: Iterable[Piece], look: Look, *, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most `look.width` columns, painted; `first` and `rest` stand before the first and the other lines.

    Lines break at spaces, between East Asian characters where their rules allow it, and inside a word only when the
    word alone is wider than a line. A newline in the text starts a new line.
    """
    lines: list[str] = []
    for paragraph in _paragraphs(pieces):
        opening = columns(rest if lines else first)
        for line in _break(paragraph, look.width, opening, columns(rest)):
            lead = rest if lines else first
            lines.append(lead + _paint(line, look) if line else lead.rstrip())
    return lines


def _paragraphs(pieces: Iterable[Piece]) -> Iterator[list[_Glyph]]:
    paragraph: list[_Glyph] = []
    for text, style in pieces:
        for ch in harmless(text):
            if ch == "\n":
                yield paragraph
                paragraph = []
            else:
                paragraph.append(_Glyph(ch, style, _columns(ch)))
    yield paragraph


def _break(glyphs: list[_Glyph], width: int | None, first: int, rest: int) -> Iterator[list[_Glyph]]:
    if width is None:
        yield glyphs
        return
    line: list[_Glyph] = []
    used, room = 0, max(width - first, 8)
    for word in _words(glyphs):
        size = sum(glyph.columns for glyph in word)
        if used and used + sum(glyph.columns for glyph in _trimmed(word)) > room:
            yield _trimmed(line)
            line, used, room = [], 0, max(width - rest, 8)
        while size > room and not used and len(_trimmed(word)) > 1 and _wide(_trimmed(word), room):
            head = _head(word, room)
            yield word[:head]
            word = word[head:]
            size, room = sum(glyph.columns for glyph in word), max(width - rest, 8)
        line.extend(word)
        used += size
    yield _trimmed(line)


def _words(glyphs: list[_Glyph]) -> Iterator[list[_Glyph]]:
    """Stretches between places where a line may break; the spaces after a word belong to it."""
    start = 0
    for at in range(1, len(glyphs)):
        left, right = glyphs[at - 1].ch, glyphs[at].ch
        after_space = left == " " and right != " "
        between_wide = (
            (glyphs[at - 1].columns == 2 or glyphs[at].columns == 2) and right != " " and right not in _NOT_FIRST
        )
        if after_space or (between_wide and glyphs[at].columns and left not in _NOT_LAST):
            yield glyphs[start:at]
            start = at
    yield glyphs[start:]


def _trimmed(line: list[_Glyph]) -> list[_Glyph]:
    end = len(line)
    while end and line[end - 1].ch == " ":
        end -= 1
    return line[:end]


def _wide(word: list[_Glyph], room: int) -> bool:
    return sum(glyph.columns for glyph in word) > room


def _head(word: list[_Glyph], room: int) -> int:
    """How many glyphs fit; a mark that combines stays with its letter."""
    used = 0
    for at, glyph in enumerate(word):
        used += glyph.columns
        if used > room:
            return max(at, 1)
    return len(word)


def _paint(line: list[_Glyph], look: Look) -> str:
    """Each line opens and closes its own styles, so that a line can be redrawn alone."""
    parts: list[str] = []
    style: Style = "plain"
    for glyph in [*line, _Glyph("", "plain", 0)]:
        if glyph.style != style:
            parts.append(_leave(style, look) + _enter(glyph.style, look))
            style = glyph.style
        parts.append(glyph.ch)
    return "".join(parts)


def _enter(style: Style, look: Look) -> str:
    return f"\x1b[{_SGR[style]}m" if look.colour and style != "plain" else ""


def _leave(style: Style, look: Look) -> str:
    return "\x1b[0m" if look.colour and style != "plain" else ""
