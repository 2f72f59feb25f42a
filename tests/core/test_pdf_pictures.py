"""Ranges drawn on PDF pages: the rectangles hold exactly the range, a limit hides the rest, failure costs only the picture."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from core.formats.box import BoxLimits
from core.formats.extracted import Extracted
from core.formats.pdf.mupdf import open_pdf
from core.formats.pdf.picture import Drawn, draw_range, find_places
from core.formats.pdf.reading import read_pdf
from core.formats.pictures import Pictures
from core.model import PagePicture, Position, Span
from tests.books.pdfs import LEFT, RIGHT, SIZE, TOP, Sheet, fill, labelled, prose
from tests.books.under import Under, folded
from tests.parts import SHARED, needs_shared

HASH = "ab" * 32
GREY = (216, 216, 216)


def texts(book: Extracted) -> dict[int, str]:
    return {file.index: file.text for file in book.files}


def places(path: Path, book: Extracted, span: Span, limit: Position | None = None) -> list[Drawn]:
    with open_pdf(path) as pdf:
        found = find_places(pdf, span, texts(book), limit)
    assert found is not None
    return found


def under(path: Path, found: list[Drawn]) -> str:
    judge = Under(path)
    return "".join(judge.text(place.page, place.marks) for place in found)


def two_columns(path: Path) -> Path:
    sheet = Sheet()
    lines = fill(prose(150), 140)
    for n in range(3):
        sheet.page()
        sheet.at(LEFT, 40, "The Lamp")
        sheet.at(200, 570, str(n + 1))
        for line in lines[:20]:
            sheet.line(line, right=LEFT + 140)
        sheet.line("and then the light-", right=LEFT + 140)
        sheet.x, sheet.y = LEFT + 160, TOP
        sheet.line("house was dark for a", right=LEFT + 300)
        sheet.lines(lines[21:], indent=0, room=140)
        sheet.paragraph(prose(40, 3), room=140)
    return sheet.save(path)


def word_over_pages(path: Path) -> Path:
    sheet = Sheet()
    sheet.page()
    sheet.paragraph("A lighthouse is a house. " + prose(60))
    sheet.line("Nobody had ever seen the old light-", 14, right=RIGHT)
    sheet.page()
    sheet.line("house so dark; the boats waited for a sign from the", right=RIGHT)
    sheet.line("shore until the morning.")
    sheet.paragraph(prose(50))
    return sheet.save(path)


@pytest.mark.parametrize("build", [two_columns, word_over_pages, labelled])
def test_the_text_under_the_rectangles_is_the_range(tmp_path: Path, build: Callable[[Path], Path]) -> None:
    path = build(tmp_path / "book.pdf")
    book = read_pdf(path)
    dice = random.Random(5)
    judge = Under(path)
    with open_pdf(path) as pdf:
        for _ in range(60):
            page = dice.randrange(len(book.files))
            text = book.files[page].text
            start = dice.randrange(len(text) - 1)
            end = dice.randint(start + 1, min(len(text), start + 300))
            found = find_places(pdf, Span(page, start, end), texts(book))
            assert found is not None
            assert folded("".join(judge.text(p.page, p.marks) for p in found)) == folded(text[start:end])


def test_a_range_over_a_column_is_one_rectangle_a_line(tmp_path: Path) -> None:
    path = two_columns(tmp_path / "book.pdf")
    book = read_pdf(path)
    text = book.files[1].text
    start, end = text.index("and then the"), text.index("dark for a")
    (place,) = places(path, book, Span(1, start, end))
    assert place.page == 1
    assert len(place.marks) == 2
    left, right = place.marks
    assert left[1] > right[1]
    assert left[2] < right[0]
    assert folded(under(path, [place])) == "andthenthelighthousewas"


def test_a_word_over_a_page_break_is_marked_on_both_pages(tmp_path: Path) -> None:
    path = word_over_pages(tmp_path / "book.pdf")
    book = read_pdf(path)
    end = len(book.files[0].text)
    found = places(path, book, Span(0, end - len("old lighthouse"), end))
    assert [place.page for place in found] == [0, 1]
    judge = Under(path)
    assert [folded(judge.text(place.page, place.marks)) for place in found] == ["oldlight", "house"]
    assert [place.page for place in places(path, book, Span(0, end - 14, end - 6))] == [0]
    assert [place.page for place in places(path, book, Span(0, end - 4, end))] == [1]
    following = places(path, book, Span(1, 0, 8))
    assert folded(under(path, following)) == "sodark;"


def test_a_ligature_is_marked_whole_for_each_of_its_letters(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.page()
    font = pymupdf.Font("cjk")
    writer = pymupdf.TextWriter(sheet.document[0].rect)
    writer.append((LEFT, TOP), "The oﬃcer came down to the harbour", font=font, fontsize=SIZE)
    writer.write_text(sheet.document[0])
    path = sheet.save(tmp_path / "book.pdf")
    book = read_pdf(path)
    assert book.files[0].text == "The officer came down to the harbour"
    widths = [places(path, book, Span(0, 5, 5 + n))[0].marks[0] for n in (1, 2, 3)]
    assert widths[0] == widths[1] == widths[2]


def test_the_mapping_holds_on_turned_pages(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.page()
    sheet.paragraph(prose(80))
    sheet.document[0].set_rotation(90)
    path = sheet.save(tmp_path / "book.pdf")
    book = read_pdf(path)
    with open_pdf(path) as pdf:
        drawn = draw_range(pdf, Span(0, 0, 10), texts(book))
    assert drawn is not None


# --- reading limits ---


def pixels(png: bytes) -> "pymupdf.Pixmap":
    return pymupdf.Pixmap(png)


def test_past_the_limit_the_page_is_painted_over(tmp_path: Path) -> None:
    path = two_columns(tmp_path / "book.pdf")
    book = read_pdf(path)
    text = book.files[1].text
    limit = Position(1, text.index("dark for a"))
    with open_pdf(path) as pdf:
        drawn = draw_range(pdf, Span(1, 0, 30), texts(book), limit, dpi=72)
        whole = draw_range(pdf, Span(1, 0, 30), texts(book), dpi=72)
        hidden = find_places(pdf, Span(1, limit.offset, len(text)), texts(book))
        seen = find_places(pdf, Span(1, 40, limit.offset - 20), texts(book))
    assert drawn is not None
    assert whole is not None
    assert hidden is not None
    assert seen is not None
    picture, original = pixels(drawn[0][1]), pixels(whole[0][1])

    def inside(box: tuple[float, float, float, float]) -> list[tuple[int, int]]:
        x0, y0, x1, y1 = (round(side) for side in box)
        return [(x, y) for x in range(x0, x1) for y in range(y0, y1)]

    assert all(picture.pixel(*point) == GREY for box in hidden[0].marks for point in inside(box))
    shown = [point for box in seen[0].marks for point in inside(box)]
    assert all(picture.pixel(*point) == original.pixel(*point) for point in shown)
    assert any(sum(picture.pixel(*point)) < 200 for point in shown)
    assert picture.pixel(100, 36) == GREY  # the running head may name what comes


def test_a_range_past_the_limit_has_no_picture(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    with open_pdf(path) as pdf:
        assert find_places(pdf, Span(2, 0, 20), texts(book), Position(2, 19)) is None
        assert find_places(pdf, Span(2, 0, 20), texts(book), Position(1, 400)) is None
        assert find_places(pdf, Span(2, 0, 20), texts(book), Position(2, 20)) is not None
        far = find_places(pdf, Span(2, 0, 20), texts(book), Position(5, 0))
    assert far is not None
    assert far[0].shown is None


def test_the_next_page_shows_only_the_end_of_the_word_when_the_limit_lies_between(tmp_path: Path) -> None:
    path = word_over_pages(tmp_path / "book.pdf")
    book = read_pdf(path)
    end = len(book.files[0].text)
    found = places(path, book, Span(0, end - 10, end), Position(1, 0))
    judge = Under(path)
    assert found[0].shown is None
    assert found[1].shown is not None
    assert folded(judge.text(1, found[1].shown)) == "house"


# --- what does not fit ---


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("Lit", "Lot"), lambda text: text + " more words", lambda text: text[:-9]]
)
def test_a_page_that_does_not_yield_the_stored_text_has_no_picture(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    path = labelled(tmp_path / "book.pdf")
    text = read_pdf(path).files[2].text
    assert change(text) != text
    with open_pdf(path) as pdf:
        assert find_places(pdf, Span(2, 0, 5), {2: text}) is not None
        assert find_places(pdf, Span(2, 0, 5), {2: change(text)}) is None


# --- the rest of the house: boxed, warm, kept ---


def only(pictures: tuple[PagePicture, ...] | None) -> PagePicture:
    assert pictures is not None
    (picture,) = pictures
    return picture


async def test_a_picture_comes_from_the_box_and_is_kept(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    async with Pictures(tmp_path / "pictures") as pictures:
        first = only(await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book)))
        assert first.page == 2
        assert first.png.startswith(b"\x89PNG")
    path.unlink()
    async with Pictures(tmp_path / "pictures") as pictures:
        assert only(await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book))) == first
        assert await pictures.draw(path, HASH, "2", Span(2, 0, 20), texts(book)) is None
        assert await pictures.draw(path, HASH, "1", Span(2, 0, 21), texts(book)) is None
        await pictures.forget(HASH)
        assert await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book)) is None


async def test_a_kept_picture_never_shows_more_than_today_s_limit(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    async with Pictures(tmp_path / "pictures") as pictures:
        whole = only(await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book)))
        half = only(await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book), Position(2, 60)))
        later = only(await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book), Position(4, 0)))
        assert half.png != whole.png
        assert later.png == whole.png
        assert await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book), Position(2, 10)) is None


async def test_a_broken_file_costs_the_picture_only(tmp_path: Path) -> None:
    good, bad = labelled(tmp_path / "book.pdf"), tmp_path / "bad.pdf"
    bad.write_bytes(good.read_bytes()[:300])
    book = read_pdf(good)
    async with Pictures(tmp_path / "pictures") as pictures:
        assert await pictures.draw(bad, "cd" * 32, "1", Span(2, 0, 20), texts(book)) is None
        assert await pictures.draw(tmp_path / "absent.pdf", "ef" * 32, "1", Span(2, 0, 20), texts(book)) is None
        assert await pictures.draw(good, HASH, "1", Span(2, 0, 20), texts(book)) is not None


async def test_a_child_that_takes_too_long_is_ended_and_the_next_one_works(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    async with Pictures(tmp_path / "pictures", BoxLimits(wall=0.001)) as hasty:
        assert await hasty.draw(path, HASH, "1", Span(2, 0, 20), texts(book)) is None
    async with Pictures(tmp_path / "pictures") as pictures:
        assert await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book)) is not None


async def test_an_idle_child_is_let_go_and_started_again(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    async with Pictures(tmp_path / "pictures", warm=0.01) as pictures:
        await pictures.open(path, HASH)
        for start in range(3):
            assert await pictures.draw(path, HASH, "1", Span(2, start, 20), texts(book)) is not None
            await asyncio.sleep(0.05)


async def test_a_cancelled_press_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    async with Pictures(tmp_path / "pictures") as pictures:
        for delay in (0.0, 0.05, 0.2):
            task = asyncio.create_task(pictures.draw(path, HASH, "1", Span(1, 0, 30), texts(book)))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert only(await pictures.draw(path, HASH, "1", Span(2, 0, 20), texts(book))).page == 2


async def test_many_books_at_once_keep_few_children(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    book = read_pdf(path)
    async with Pictures(tmp_path / "pictures") as pictures:
        drawn = await asyncio.gather(
            *(pictures.draw(path, f"{n:064x}", "1", Span(n, 0, 20), texts(book)) for n in range(5))
        )
    assert [only(pages).page for pages in drawn] == list(range(5))


# --- the open books ---


@needs_shared
@pytest.mark.parametrize(
    "name",
    [
        "pride-and-prejudice-no-outline",
        "problems-of-philosophy-2col",
        "multicolumn-latex",
        "developers-reference-fr",
        "debian-reference-ja",
        "maint-guide-es",
    ],
)
def test_random_ranges_of_the_open_books_are_marked_exactly(name: str) -> None:
    path = (SHARED or Path()) / "books" / f"{name}.pdf"
    book = read_pdf(path)
    stored = texts(book)
    judge = Under(path)
    dice = random.Random(name)
    pages = [file.index for file in book.files if file.text]
    good = 0
    with open_pdf(path) as pdf:
        for _ in range(30):
            page = dice.choice(pages)
            start = dice.randrange(len(stored[page]))
            end = min(len(stored[page]), start + dice.randint(1, 400))
            found = find_places(pdf, Span(page, start, end), stored) or []
            got = "".join(judge.text(place.page, place.marks) for place in found)
            good += folded(got) == folded(stored[page][start:end])
    assert good == 30
