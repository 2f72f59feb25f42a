"""The canonical texts of a book's pages from their lines, with the offset of every line."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.formats.pdf.flow import NOTHING, ROW_END, SPACE, Flow, Placed


@dataclass(slots=True)
class PageText:
    """One page's canonical text; `offsets` has the start of every line kept, in stream order."""

    text: str = ""
    offsets: list[int] = field(default_factory=list)
    join: str | None = None


def compose(pages: Sequence[Sequence[Placed]], flow: Flow) -> list[PageText]:
    """Join lines to texts. A word cut by a page break belongs whole to the page it begins on."""
    texts: list[PageText] = []
    taken = 0  # characters of this page's first line that belong to the page before
    for index, lines in enumerate(pages):
        page = PageText()
        parts: list[str] = []
        length = 0
        last = len(lines) - 1
        for n, placed in enumerate(lines):
            text = placed.line.text
            if n == 0 and taken:
                text = text[taken:].lstrip()
            following = lines[n + 1] if n < last else None
            between = NOTHING
            if following is not None:
                between = flow.between(placed, following)
                if between == NOTHING and flow.cut(placed.line, following.line):
                    text = text[:-1]
            if length == 0 and not text:
                between = NOTHING
            page.offsets.append(length)
            parts += (text, between)
            length += len(text) + len(between)
        taken = 0
        if lines and index + 1 < len(pages) and pages[index + 1]:
            taken = _close(page, parts, lines[-1], pages[index + 1], flow)
        page.text = "".join(parts)
        texts.append(page)
    return texts


def _close(page: PageText, parts: list[str], last: Placed, following: Sequence[Placed], flow: Flow) -> int:
    """Settle how the page's last paragraph runs on; returns how much of the next page's first line is taken."""
    first = following[0]
    if not flow.continues(last, first) or not parts[-2]:
        return 0
    page.join = flow.glue(last.line, first.line)
    if page.join == SPACE or not (last.line.text[-1].isalnum() or last.line.text[-1] in "-‐"):
        return 0
    word = first.line.text.split(" ", 1)[0].split("\t", 1)[0]
    rest = len(word) < len(first.line.text)
    if _unspaced(word) or not (rest or len(following) > 1):
        return 0
    if flow.cut(last.line, first.line):
        parts[-2] = parts[-2][:-1]
    parts[-2] += word
    page.join = SPACE
    if not rest:
        between = flow.between(first, following[1])
        page.join = between if between in (SPACE, NOTHING, ROW_END) else None
        if page.join == ROW_END:
            page.join = None
    return len(word)


def _unspaced(word: str) -> bool:
    """Scripts without spaces: a line is no word there."""
    return any(c >= "\u2e80" for c in word[:4])
