"""The web page against the numbers it must reach: weight of the first page, a press, a cached page picture, highlights.

Run: python -m tests.bench.web   (needs Chromium; the shared corpus for the highlights of real books)
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from adapters.web.guard import TOKEN_HEADER
from adapters.web.lines import HERE
from adapters.web.spots import Spot
from core.formats.pdf.mupdf import open_pdf
from core.formats.pdf.picture import find_places
from core.formats.pdf.reading import read_pdf
from core.model import Position, Reader, Ready, Span, Upload
from core.spending import Terms
from tests.adapters.web_served import Served, serve_web
from tests.bench.pdf import OPEN
from tests.books.under import Under, folded
from tests.browser import open_browser, open_page
from tests.clubs import TestClub, long_book, open_club
from tests.parts import CHROMIUM, SHARED

BOOKS = (SHARED or Path()) / "books"
PRESSES = 500
PICTURES = 60
RANGES = 500
EPUBS = (
    "pride-and-prejudice",
    "don-quijote-es",
    "kusamakura-ja-vertical",
    "regime-anticancer-ar",
    "leaves-of-grass",
    "war-and-peace",
)
OWNER = Reader("local", "en", manages=True)


def percentiles(label: str, seconds: list[float], most: float) -> None:
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    print(f"{label}: p50 {1000 * p50:.1f} ms, p99 {1000 * p99:.1f} ms of {len(ordered)}  (p99 at most {most:.0f} ms)")


async def first_page(served: Served) -> None:
    async with open_browser() as browser:
        page, seen = await open_page(browser)
        await page.goto(served.address)
        sizes = await page.evaluate("() => performance.getEntries().map(entry => entry.encodedBodySize || 0)")
        elsewhere = [url for url in seen.requests if not url.startswith(served.address)]
        print(
            f"first page       {sum(sizes) / 1000:.1f} kB in {len(seen.requests)} requests, {len(elsewhere)} elsewhere"
            "  (under 50 kB, 0 elsewhere)"
        )


async def presses(club: TestClub, served: Served) -> None:
    """Footnotes of twenty answers in a book of 200,000 characters, over HTTP; then as a browser shows them."""
    await club.shelve(long_book())
    notes = []
    for day in range(1, 21):
        turn = await club.ask(f"Who heard the storm, and who left the island, on day {1000 + day}?", conversation=HERE)
        notes += [note.id for note in turn.answer.footnotes]
    async with aiohttp.ClientSession() as session:
        headers = {TOKEN_HEADER: await served.token(session)}
        taken: list[float] = []
        busy: list[float] = []
        dice = random.Random(1)
        for _ in range(PRESSES):
            begun, worked = time.perf_counter(), time.process_time()
            body = {"id": dice.choice(notes)}
            async with session.post(f"{served.address}/press", json=body, headers=headers) as response:
                assert b'"do": "reply"' in await response.read()
            taken.append(time.perf_counter() - begun)
            busy.append(time.process_time() - worked)
        percentiles("press            over HTTP", taken, 50)
        percentiles("press            over HTTP, processor time of page and client", busy, 50)
    async with open_browser() as browser:
        page, _ = await open_page(browser)
        await page.goto(served.address)
        shown = """async () => {
            const cite = document.querySelector(".cite");
            const begun = performance.now();
            cite.click();
            while (!document.querySelector(".passage mark")) await new Promise(done => setTimeout(done, 0));
            const taken = performance.now() - begun;
            cite.click();
            return taken;
        }"""
        times = [float(await page.evaluate(shown)) / 1000 for _ in range(100)]
        percentiles("press            as a browser shows it", times, 50)


async def add(club: TestClub, path: Path) -> Any:
    upload = Upload(f"bench:{path.name}", HERE, OWNER, path, path.name)
    [ready] = [event async for event in club.club.add_book(upload) if isinstance(event, Ready)]
    return ready.card


async def pictures(club: TestClub, served: Served) -> None:
    card = await add(club, BOOKS / "pride-and-prejudice-no-outline.pdf")
    async with aiohttp.ClientSession() as session:
        cold: list[float] = []
        cached: list[float] = []
        busy: list[float] = []
        for at in range(PICTURES):
            page = 10 + at
            address = f"{served.address}/picture/{card.sha256}/{card.text_version}/f{page}-0-80/{page}.png"
            for times in (cold, cached, cached):
                begun, worked = time.perf_counter(), time.process_time()
                async with session.get(address) as response:
                    assert response.status == 200
                    await response.read()
                times.append(time.perf_counter() - begun)
                if times is cached:
                    busy.append(time.process_time() - worked)
        percentiles("page picture     cold", cold[1:], 300)
        percentiles("page picture     cached", cached, 20)
        percentiles("page picture     cached, processor time of page and client", busy, 20)


async def marked_epubs(club: TestClub, served: Served) -> None:
    """Random cited ranges in random books, as the browser has them on the page."""
    dice = random.Random(500)
    cards = [await add(club, BOOKS / f"{name}.epub") for name in EPUBS]
    books = {card.sha256: await club.club.dump(HERE, card.sha256) for card in cards}
    good = exact = 0
    async with open_browser() as browser:
        page, _ = await open_page(browser)
        for _ in range(RANGES):
            card = dice.choice(cards)
            book = books[card.sha256]
            span = dice.choice(book.runs)
            spot = Spot(card.sha256, card.text_version, Position(span.file, span.start), span)
            await page.goto(served.address + spot.path)
            found = await page.evaluate(
                """() => {
                    const marks = [...document.querySelectorAll("article.text mark")];
                    if (!marks.length) return null;
                    const range = document.createRange();
                    range.setStartBefore(marks[0]);
                    range.setEndAfter(marks.at(-1));
                    const box = marks[0].getBoundingClientRect();
                    return [range.toString(), box.top >= 0 && box.top < innerHeight];
                }"""
            )
            wanted = book.files[span.file].text[span.start : span.end]
            good += found is not None and found[0] == wanted
            exact += found is not None and found[1]
    print(f"highlight, EPUB  equals the cited range: {good} of {RANGES}, scrolled to: {exact}  (all)")


def marked_pdfs() -> None:
    """The rectangles that the page picture of the view shows: text under them against the range."""
    dice = random.Random(501)
    books = {name: read_pdf(BOOKS / f"{name}.pdf") for name in OPEN}
    judges = {name: Under(BOOKS / f"{name}.pdf") for name in books}
    opened = {name: open_pdf(BOOKS / f"{name}.pdf") for name in books}
    pages = [(name, file.index) for name, book in books.items() for file in book.files if file.text]
    good = 0
    for _ in range(RANGES):
        name, page = dice.choice(pages)
        stored = {file.index: file.text for file in books[name].files[page : page + 2]}
        start = dice.randrange(len(stored[page]))
        span = Span(page, start, min(len(stored[page]), start + dice.randint(1, 400)))
        found = find_places(opened[name], span, stored) or []
        under = "".join(judges[name].text(place.page, place.marks) for place in found)
        good += folded(under) == folded(stored[page][span.start : span.end])
    print(f"highlight, PDF   text under the rectangles equals the range: {good} of {RANGES}  (at least 99 %)")


async def main() -> None:
    if CHROMIUM is None:
        sys.exit("left out: no Chromium")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        terms = Terms(passages_day=10**9)
        async with open_club(folder / "data", terms=terms) as club, serve_web(club, folder / "web") as served:
            await first_page(served)
            await presses(club, served)
            if SHARED is None:
                sys.exit("the rest is left out: no ../shared")
            await pictures(club, served)
            await marked_epubs(club, served)
    marked_pdfs()


if __name__ == "__main__":
    asyncio.run(main())
