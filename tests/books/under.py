"""What stands under rectangles on a PDF page, read by PyMuPDF itself: the judge of drawn ranges."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pymupdf

from core.formats.pdf.mupdf import Box

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ſt", 0xFB06: "st"}
_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_MEDIABOX_CLIP


class Under:
    """An open PDF and the boxes of its characters, page by page."""

    def __init__(self, path: Path) -> None:
        self._document: Any = pymupdf.open(path)
        self._pages: dict[int, list[tuple[float, float, str]]] = {}

    def text(self, page: int, boxes: Iterable[Box]) -> str:
        """The characters whose middle lies in a box, box by box, in stream order."""
        if page not in self._pages:
            blocks = self._document[page].get_text("rawdict", flags=_FLAGS)["blocks"]
            self._pages[page] = [
                ((c["bbox"][0] + c["bbox"][2]) / 2, (c["bbox"][1] + c["bbox"][3]) / 2, c["c"])
                for block in blocks
                for line in block["lines"]
                for span in line["spans"]
                for c in span["chars"]
            ]
        return "".join(
            letter for x0, y0, x1, y1 in boxes for x, y, letter in self._pages[page] if x0 <= x <= x1 and y0 <= y <= y1
        )


def folded(text: str) -> str:
    """Letters only as they compare: NFC, ligatures open, no white space, no hyphens."""
    text = unicodedata.normalize("NFC", text.translate(_LIGATURES))
    return re.sub("[\\s\u200b\u2060\ufeff\xad‐-]+", "", text)
