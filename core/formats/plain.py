"""Plain text files: encoding, hard-wrapped lines, headings from lines that read like headings."""

import re
from itertools import pairwise

from core.formats.decode import clean, decode
from core.formats.extracted import Extracted
from core.formats.lines import find_headings
from core.formats.pieces import cut_files

_PARAGRAPH_GAP = re.compile(r"\n(?:[^\S\n]*\n)+")
_WRAP_WIDEST = 100
"""Hard-wrapped text has no lines wider than this (but for a few)."""
_WRAP_NARROWEST = 45
_FIELD = re.compile(r"^(Title|Author|Language):[ \t]+(\S.*)$", re.M)
_LANGUAGES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "portuguese": "pt", "italian": "it",
    "russian": "ru", "dutch": "nl", "chinese": "zh", "japanese": "ja",
}  # fmt: skip


def read_text(data: bytes) -> Extracted:
    """The book of a plain text file; never fails on a byte.

    Paragraphs are parted by blank lines, or by indents or line ends where there are none. Lines of hard-wrapped prose
    are joined; verse, indented and short lines keep their newlines. Title, author and language come from the head of a
    Project Gutenberg file, else they are left empty.
    """
    text = clean(decode(data)).replace("\x85", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")
    body = "\n\n".join(_paragraphs(text))
    headings = [(mark.level, mark.title, mark.position.offset) for mark in find_headings([body])]
    files, marks, _ = cut_files(body, headings)
    fields = {name: " ".join(value.split()) for name, value in reversed(_FIELD.findall(_gutenberg_head(text)))}
    author = fields.get("Author", "")
    return Extracted(
        format="txt",
        files=files,
        title=fields.get("Title", ""),
        authors=(author,) if author else (),
        language=_LANGUAGES.get(fields.get("Language", "").lower(), ""),
        headings=marks,
    )


def _gutenberg_head(text: str) -> str:
    head = text[:5000]
    return head if "Project Gutenberg" in head else ""


def _paragraphs(text: str) -> list[str]:
    blocks = [block for block in _PARAGRAPH_GAP.split(text.strip("\n")) if block.strip()]
    lines = [line.rstrip() for block in blocks for line in block.split("\n") if line.strip()]
    if not lines:
        return []
    width = _wrap_width(lines)
    if len(lines) > 20 and len(blocks) * 25 < len(lines):
        # Hardly a blank line: a paragraph is a line of its own, or begins with an indent.
        blocks = _by_line(blocks, width)
    return [paragraph for block in blocks if (paragraph := _paragraph(block, width))]


def _wrap_width(lines: list[str]) -> int:
    """The column at which prose was wrapped by hand; 0 when it was not: then every newline was meant."""
    widths = sorted(len(line) for line in lines)
    wide = widths[len(widths) * 98 // 100]
    full = sum(width >= wide * 0.7 for width in widths)
    if _WRAP_NARROWEST <= wide <= _WRAP_WIDEST and full * 2 >= len(widths):
        return wide
    return 0


def _by_line(blocks: list[str], width: int) -> list[str]:
    lines = [line for block in blocks for line in block.split("\n")]
    if not width:
        return lines
    found: list[str] = []
    for line in lines:
        if found and not line[:1].isspace():
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    # The indent only said where a paragraph begins.
    return [block.lstrip() for block in found]


def _paragraph(block: str, width: int) -> str:
    raw = [line.rstrip() for line in block.split("\n") if line.strip()]
    lines = [" ".join(line.split()) for line in raw]
    if not width or len(lines) == 1 or not _is_wrapped(raw, width):
        return "\n".join(lines)
    joined = lines[0]
    for line in lines[1:]:
        # A hyphen at a line's end stands between two halves of a compound or a word; only letters go on after it.
        glue = "" if joined[-1] == "-" and joined[-2:-1].isalpha() and line[0].islower() else " "
        joined += glue + line
    return joined


def _is_wrapped(lines: list[str], width: int) -> bool:
    """Whether the newlines of a block come from the width of a page: all lines but the last are full, none is indented.

    A line is full when the first word of the next would not have fitted, give or take the habits of a typist.
    """
    if any(line[:1].isspace() for line in lines[1:]):
        return False
    full = 0
    for line, following in pairwise(lines):
        word = following.split(maxsplit=1)[0]
        full += len(line) + 1 + len(word) > width * 0.85
    return full * 10 >= (len(lines) - 1) * 8
