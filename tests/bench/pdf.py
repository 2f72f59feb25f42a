"""PDFs against the numbers they must reach: paragraphs kept, extraction against raw PyMuPDF, ranges drawn, picture times.

Run: python -m tests.bench.pdf   (needs ../shared; a quiet machine for the times)
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import pymupdf

from core.formats.extracted import Extracted
from core.formats.pdf.mupdf import open_pdf
from core.formats.pdf.picture import find_places
from core.formats.pdf.reading import read_pdf
from core.formats.pictures import Pictures
from core.model import Span
from tests.books.under import Under, folded
from tests.core.test_pdf import epub_paragraphs, joined
from tests.parts import SHARED

BOOKS = (SHARED or Path()) / "books"
OPEN = (
    "pride-and-prejudice-no-outline",
    "problems-of-philosophy-2col",
    "multicolumn-latex",
    "developers-reference-fr",
    "debian-reference-ja",
    "maint-guide-es",
    "habibi-ar",
)
ROUNDS = 5
RANGES = 500


def blocks(path: Path) -> int:
    """Raw PyMuPDF: all text blocks of all pages."""
    with pymupdf.open(path) as document:
        return sum(len(page.get_text("blocks")) for page in document)


def recall() -> None:
    for pdf, epub, least in (
        ("pride-and-prejudice-no-outline", "pride-and-prejudice", 97.0),
        ("problems-of-philosophy-2col", "problems-of-philosophy", 96.0),
    ):
        text = " ".join(joined(read_pdf(BOOKS / f"{pdf}.pdf")).split())
        wanted = epub_paragraphs(f"{epub}.epub")
        share = 100 * sum(paragraph in text for paragraph in wanted) / len(wanted)
        print(f"paragraphs kept  {pdf:34} {share:6.2f} % of {len(wanted)}  (at least {least} %)")


def speed() -> None:
    for name in OPEN[:-1]:
        path = BOOKS / f"{name}.pdf"
        raw: list[float] = []
        ours: list[float] = []
        for _ in range(ROUNDS):  # turn about: both meet the same machine
            for work, times in ((blocks, raw), (read_pdf, ours)):
                started = time.process_time()
                work(path)
                times.append(time.process_time() - started)
        ratio = median(ours) / median(raw)
        print(
            f"extraction       {name:34} {median(ours):6.3f} s = {ratio:4.2f} x blocks {median(raw):.3f} s  (at most 3)"
        )


def ranges(books: dict[str, Extracted]) -> None:
    """Random ranges, books drawn by their number of pages as a reader would meet them."""
    dice = random.Random(500)
    pages = [(name, file.index) for name, book in books.items() for file in book.files if file.text]
    judges = {name: Under(BOOKS / f"{name}.pdf") for name in books}
    opened = {name: open_pdf(BOOKS / f"{name}.pdf") for name in books}
    good, times = 0, []
    for _ in range(RANGES):
        name, page = dice.choice(pages)
        stored = {file.index: file.text for file in books[name].files[page : page + 2]}
        start = dice.randrange(len(stored[page]))
        end = min(len(stored[page]), start + dice.randint(1, 400))
        started = time.perf_counter()
        found = find_places(opened[name], Span(page, start, end), stored) or []
        times.append(time.perf_counter() - started)
        got = "".join(judges[name].text(place.page, place.marks) for place in found)
        good += folded(got) == folded(stored[page][start:end])
    print(f"ranges           text under the rectangles equal: {good} of {RANGES}  (at least 99 %)")
    print(
        f"ranges           finding the rectangles: median {1000 * median(times):.0f} ms, worst {1000 * max(times):.0f} ms"
    )


async def pictures(books: dict[str, Extracted]) -> None:
    for name in OPEN[:3]:
        book, path = books[name], BOOKS / f"{name}.pdf"
        stored = {file.index: file.text for file in book.files}
        with tempfile.TemporaryDirectory() as folder:
            async with Pictures(Path(folder)) as drawer:
                times = []
                spans = [Span(page, 0, 80) for page in list(stored)[:12] if len(stored[page]) >= 80]
                for span in [*spans, *spans]:
                    started = time.perf_counter()
                    drawn = await drawer.draw(path, "ab" * 32, book.format, span, stored)
                    times.append(1000 * (time.perf_counter() - started))
                    if drawn is None:
                        print(f"pictures         {name}: page {span.file} has none")
        cold, cached = times[1 : len(spans)] or times[:1], times[len(spans) :]
        print(
            f"pictures         {name:34} child started {times[0]:4.0f} ms, cold {median(cold):4.0f} ms"
            f" (worst {max(cold):.0f}; at most 300), cached {median(cached):4.1f} ms (worst {max(cached):.1f}; at most 20)"
        )


def main() -> None:
    if SHARED is None:
        sys.exit("left out: no ../shared")
    recall()
    speed()
    books = {name: read_pdf(BOOKS / f"{name}.pdf") for name in OPEN}
    ranges(books)
    asyncio.run(pictures(books))


if __name__ == "__main__":
    main()
