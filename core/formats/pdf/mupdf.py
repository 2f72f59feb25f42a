"""The one door to PyMuPDF: opening, raw lines, pictures on a page, outline, labels, facts, rendering.

Nothing else imports the library. It is untyped; what leaves this module is not.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

import pymupdf

from core.errors import BadBook

_FAILURES = (RuntimeError, ValueError, TypeError, LookupError, pymupdf.mupdf.FzErrorBase)
"""What the library raises over a file that is not what it claims to be."""

MAX_PAGES = 5_000
"""DESIGN section 4: more pages than this are refused."""
MAX_OUTLINE = 10_000
"""Entries taken from an outline; no honest book comes near, a broken one may have no end."""

_MAX_LABEL = 100_000
"""A label that starts to count above this is no page number (as a Roman numeral it would fill the memory)."""

# The child's standard output carries the protocol: the library must not print there.
pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)
pymupdf.set_messages(fd=2)

# No TEXT_DEHYPHENATE (it knows no words), no images, no invented characters for unmapped glyphs (they become U+FFFD
# and are counted), and never `sort`: it mixes columns.
_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_MEDIABOX_CLIP

# What marking does to the red, green and blue of a pixel. Like a marker pen: black letters stay black.
_MARKER = tuple(bytes(round(v * (1 - 0.38 * (1 - ink / 255))) for v in range(256)) for ink in (255, 214, 0))
_COVER = 216
"""The grey of what a reading limit hides."""

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points from the top left corner of the page as it is shown."""


class RawChar(TypedDict):
    c: str
    bbox: Box


class RawSpan(TypedDict):
    text: str
    size: float
    flags: int
    char_flags: int
    origin: tuple[float, float]
    bbox: Box
    chars: NotRequired[list[RawChar]]


class RawLine(TypedDict):
    spans: list[RawSpan]
    bbox: Box
    dir: tuple[float, float]


class RawBlock(TypedDict):
    lines: list[RawLine]


class RawPage(TypedDict):
    width: float
    height: float
    blocks: list[RawBlock]


class Mark(NamedTuple):
    """An outline entry: depth from 1, page from 0, the target's place on the page as it is shown."""

    depth: int
    title: str
    page: int
    x: float
    y: float


class Facts(NamedTuple):
    """What the file says of itself."""

    title: str
    author: str
    language: str


class Pdf:
    """An open PDF. Use as a context manager."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self.pages = int(document.page_count)

    def __enter__(self) -> "Pdf":
        return self

    def __exit__(self, *_: object) -> None:
        self._document.close()

    def read_page(self, index: int) -> RawPage:
        """The blocks of a page in stream order."""
        return self._read(index, "dict")

    def read_characters(self, index: int) -> RawPage:
        """The same blocks, lines and text as `read_page`, with a box for every character."""
        page = self._read(index, "rawdict")
        for block in page["blocks"]:
            for line in block["lines"]:
                for span in line["spans"]:
                    span["text"] = "".join([char["c"] for char in span["chars"]])
        return page

    def _read(self, index: int, how: str) -> RawPage:
        empty: RawPage = {"width": 0.0, "height": 0.0, "blocks": []}
        try:
            page: RawPage = self._document[index].get_text(how, flags=_FLAGS)
        except _FAILURES:  # one broken page is no broken book
            return empty
        return page

    def is_picture(self, index: int) -> bool:
        """True when one picture covers at least 80 % of the page."""
        try:
            page = self._document[index]
            area = abs(page.rect)
            pictures = page.get_image_info()
        except _FAILURES:
            return False
        return any(abs(pymupdf.Rect(picture["bbox"]) & page.rect) >= 0.8 * area for picture in pictures)

    def outline(self) -> Iterator[Mark]:
        """The entries of the outline in order, without those that lead nowhere."""
        try:
            root = self._document.outline
        except _FAILURES:
            return
        waiting = [(root, 1)] if root and root.this.m_internal else []
        count = 0
        while waiting and count < MAX_OUTLINE:
            entry, depth = waiting.pop()
            count += 1
            if 0 <= entry.page < self.pages:
                yield Mark(depth, entry.title or "", int(entry.page), _number(entry.x), _number(entry.y))
            waiting += [(below, level) for below, level in ((entry.next, depth), (entry.down, depth + 1)) if below]

    def labels(self) -> list[str]:
        """The printed label of every page; empty when the file has none."""
        with contextlib.suppress(*_FAILURES):
            rules = self._document.get_page_labels()
            if rules and all(rule["firstpagenum"] <= _MAX_LABEL for rule in rules):
                own = sorted(self._document._get_page_labels())  # Page.get_label would load every page for this
                return [str(pymupdf.utils.get_label_pno(index, own))[:20] for index in range(self.pages)]
        return []

    def facts(self) -> Facts:
        metadata = self._document.metadata or {}
        language = ""
        with contextlib.suppress(*_FAILURES):
            language = str(self._document.language or "")
        return Facts(str(metadata.get("title") or ""), str(metadata.get("author") or ""), language)

    def draw(
        self, index: int, marks: Sequence[Box], shown: Sequence[Box] | None, hidden: Sequence[Box], dpi: int
    ) -> bytes:
        """The page as PNG, `marks` in yellow at 38 %. `shown`: only this of the page is shown (None: all of it).

        `hidden` is painted over even where it touches what is shown.
        """
        picture = self._document[index].get_pixmap(dpi=dpi, alpha=False, colorspace=pymupdf.csRGB)
        width, height, row = picture.width, picture.height, picture.stride
        page = bytes(picture.samples)
        pixels = bytearray(page) if shown is None else bytearray(bytes([_COVER]) * len(page))
        for box in shown or ():
            for stretch in _stretches(box, dpi, width, height, row):
                pixels[stretch] = page[stretch]
        for box in hidden:
            for stretch in _stretches(box, dpi, width, height, row):
                pixels[stretch] = bytes([_COVER]) * (stretch.stop - stretch.start)
        for box in marks:
            for stretch in _stretches(box, dpi, width, height, row):
                for channel, table in enumerate(_MARKER):
                    part = slice(stretch.start + channel, stretch.stop, 3)
                    pixels[part] = pixels[part].translate(table)
        return bytes(pymupdf.Pixmap(pymupdf.csRGB, width, height, bytes(pixels), False).tobytes("png"))


def open_pdf(path: Path, password: str | None = None) -> Pdf:
    """Open a PDF.

    Raises BadBook: broken, locked, wrong password, without pages, too many pages.
    """
    try:
        document = pymupdf.open(path, filetype="pdf")
        pages = 0 if document.needs_pass else int(document.page_count)
    except _FAILURES:
        raise BadBook("book_pdf_broken") from None
    if document.needs_pass:
        if not password:
            raise BadBook("book_locked")
        if not document.authenticate(password):
            raise BadBook("book_wrong_password")
        pages = int(document.page_count)
    if pages < 1:
        raise BadBook("book_no_pages")
    if pages > MAX_PAGES:
        raise BadBook("book_pdf_too_many_pages", pages=pages, most=MAX_PAGES)
    return Pdf(document)


def _stretches(box: Box, dpi: int, width: int, height: int, row: int) -> Iterator[slice]:
    """The bytes of each row of pixels inside a box."""
    left, top, right, bottom = (round(side * dpi / 72) for side in box)
    left, right = max(0, left), min(width, right)
    if left < right:
        for y in range(max(0, top), min(height, bottom)):
            yield slice(y * row + 3 * left, y * row + 3 * right)


def _number(value: float) -> float:
    return float(value) if value == value else 0.0  # a target without a place carries NaN
