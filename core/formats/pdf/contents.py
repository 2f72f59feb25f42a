"""Contents, headings and facts of a PDF: outline entries and heading lines -> offsets; title, authors, language."""

import re
from collections.abc import Iterable, Sequence

from core.formats.extracted import HeadingMark
from core.formats.pdf.compose import PageText
from core.formats.pdf.flow import SPACE, Flow, Placed
from core.formats.pdf.lines import clean_run
from core.formats.pdf.mupdf import Mark
from core.model import Position, TocEntry

_SIGNS = re.compile(r"[\W_]+")
_NO_TITLE = re.compile(r"(?:microsoft word|untitled|unknown|.*\.(?:docx?|indd|tex|dvi|pdf|qxd|rtf)$)", re.IGNORECASE)


def read_outline(marks: Iterable[Mark], pages: Sequence[Sequence[Placed]], texts: Sequence[PageText]) -> list[TocEntry]:
    """Outline entries at the heading line with their title, else at the first line at or below the target, else at 0."""
    entries = []
    for mark in marks:
        title = clean_run(mark.title)
        if not title:
            continue
        lines, offsets = pages[mark.page], texts[mark.page].offsets
        found = _titled(lines, _fold(title), mark.y)
        if found is None:
            found = _below(lines, mark)
        entries.append(TocEntry(title, mark.depth, mark.page, offsets[found] if found is not None else 0))
    return entries


def _titled(lines: Sequence[Placed], wanted: str, y: float) -> int | None:
    """The line that is the title, or begins it, at or below the target: sure where two columns make `y` doubtful."""
    for n, placed in enumerate(lines):
        if placed.line.y1 < y - 2 or len(placed.line.text) > 2 * len(wanted) + 40:
            continue
        own = _fold(placed.line.text)
        if own and (own.endswith(wanted) or (len(own) >= 12 and own in wanted)):
            return n
    return None


def _below(lines: Sequence[Placed], mark: Mark) -> int | None:
    column = [n for n, placed in enumerate(lines) if (placed.line.y0 + placed.line.y1) / 2 >= mark.y]
    beside = [n for n in column if mark.x <= 0 or lines[n].line.x1 > mark.x]
    return min(beside or column, default=None)


def find_headings(pages: Sequence[Sequence[Placed]], texts: Sequence[PageText], flow: Flow) -> list[HeadingMark]:
    """The heading lines of the text, those of one heading joined."""
    marks: list[HeadingMark] = []
    for index, (lines, text) in enumerate(zip(pages, texts, strict=True)):
        previous: Placed | None = None
        for n, placed in enumerate(lines):
            if placed.level:
                if previous is not None and previous.level and flow.between(previous, placed) == SPACE:
                    last = marks[-1]
                    marks[-1] = HeadingMark(last.level, f"{last.title} {placed.line.text}", last.position)
                elif n + 1 >= len(lines) or flow.between(placed, lines[n + 1]):  # a drop cap glues: no heading
                    marks.append(HeadingMark(placed.level, placed.line.text, Position(index, text.offsets[n])))
                else:
                    previous = None
                    continue
            previous = placed
    return marks


def name_book(title: str, pages: Sequence[Sequence[Placed]]) -> str:
    """The title the file claims, or the largest line of its first pages."""
    title = clean_run(title)
    if title and not _NO_TITLE.match(title):
        return title
    large = [placed for lines in pages[:2] for placed in lines if placed.level]
    if not large:
        return ""
    size = max(placed.line.size for placed in large)
    return " ".join(placed.line.text for placed in large if placed.line.size == size)[:200]


def name_authors(author: str) -> tuple[str, ...]:
    author = clean_run(author)
    if not author or author.startswith("["):  # "[FAMILY Given]": a template nobody filled in
        return ()
    return tuple(name.strip() for name in re.split(r"\s*(?:;|&|\band\b)\s*", author) if name.strip())


def name_language(language: str) -> str:
    """The primary subtag of a language tag, "" when there is none."""
    primary = language.replace("_", "-").split("-")[0].strip().lower()
    return primary if re.fullmatch("[a-z]{2,3}", primary) else ""


def _fold(text: str) -> str:
    return _SIGNS.sub("", text.casefold())
