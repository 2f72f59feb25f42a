"""Small PDFs made on the spot with PyMuPDF: every text here was written for these tests."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pymupdf

WIDTH, HEIGHT = 420.0, 595.0
SIZE = 11.0
PITCH = 14.0
LEFT, RIGHT, TOP, BOTTOM = 60.0, 360.0, 90.0, 520.0
_FONT = "tiro"  # Times: built in, Latin-1

_TALE = (
    "the keeper lit his lamp before the evening boat came round the head and every window of the long white "
    "house answered it while in the harbour the nets were drying and nobody spoke of the storm that had taken "
    "the northern pier because a storm was weather and weather was not news on that coast but work"
)
WORDS = _TALE.split()


def prose(count: int, start: int = 0) -> str:
    """A paragraph of `count` words."""
    chosen = [WORDS[(start + 7 * n) % len(WORDS)] for n in range(count)]
    return chosen[0].capitalize() + " " + " ".join(chosen[1:]) + "."


def width(text: str, size: float = SIZE) -> float:
    return float(pymupdf.get_text_length(text, fontname=_FONT, fontsize=size))


def fill(text: str, room: float, indent: float = 0.0) -> list[str]:
    """The lines a typesetter makes of a paragraph, without cutting words."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and width(longer) > room - (indent if not lines else 0):
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


class Sheet:
    """A PDF in the making: pages, and lines set one below the other."""

    def __init__(self) -> None:
        self.document: Any = pymupdf.open()
        self.y = TOP
        self.x = LEFT

    def page(self) -> None:
        self.document.new_page(width=WIDTH, height=HEIGHT)
        self.y, self.x = TOP, LEFT

    def line(
        self, text: str, indent: float = 0.0, size: float = SIZE, right: float | None = None, bold: bool = False
    ) -> None:
        """One line at the pen; `right`: justified to this edge by widening its spaces."""
        page = self.document[-1]
        x = self.x + indent
        font = "tibo" if bold else _FONT
        words = text.split(" ")
        if right is None or len(words) == 1:
            page.insert_text((x, self.y), text, fontname=font, fontsize=size)
        else:
            gap = (right - x - sum(width(word, size) for word in words)) / (len(words) - 1)
            for word in words:
                page.insert_text((x, self.y), word, fontname=font, fontsize=size)
                x += width(word, size) + gap
        self.y += PITCH * size / SIZE

    def at(self, x: float, y: float, text: str, size: float = 9.0) -> None:
        """Text at a place of the page, such as a running head."""
        self.document[-1].insert_text((x, y), text, fontname=_FONT, fontsize=size)

    def paragraph(self, text: str, indent: float = 14.0, room: float = RIGHT - LEFT) -> None:
        """A justified paragraph; its last line is left as it is."""
        self.lines(fill(text, room, indent), indent, room)

    def lines(self, lines: Sequence[str], indent: float = 14.0, room: float = RIGHT - LEFT) -> None:
        for n, line in enumerate(lines):
            edge = self.x + room if n < len(lines) - 1 else None
            self.line(line, indent if n == 0 else 0.0, right=edge)

    def picture(self) -> None:
        """A page that is one picture."""
        self.page()
        scan = pymupdf.Pixmap(pymupdf.csGRAY, 84, 119, bytes([200]) * (84 * 119), False)
        self.document[-1].insert_image(self.document[-1].rect, pixmap=scan)

    def save(self, path: Path, **options: Any) -> Path:
        self.document.save(path, **options)
        self.document.close()
        return path


def labelled(path: Path) -> Path:
    """Six pages labelled i, ii, 1, 2, 3, 4."""
    sheet = Sheet()
    for n in range(6):
        sheet.page()
        sheet.paragraph(prose(60, n))
    sheet.document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
            {"startpage": 2, "prefix": "", "style": "D", "firstpagenum": 1},
        ]
    )
    return sheet.save(path)


def half_scanned(path: Path, pictures: Iterable[int] = range(7), pages: int = 10) -> Path:
    """`pages` pages, those named in `pictures` without text."""
    blind = set(pictures)
    sheet = Sheet()
    for n in range(pages):
        if n in blind:
            sheet.picture()
        else:
            sheet.page()
            sheet.paragraph(prose(80, n))
    return sheet.save(path)


def locked(path: Path, password: str = "sesame") -> Path:
    """A PDF of one page that opens with a password only."""
    sheet = Sheet()
    sheet.page()
    sheet.paragraph(prose(30))
    return sheet.save(path, encryption=5, owner_pw="owner", user_pw=password)
