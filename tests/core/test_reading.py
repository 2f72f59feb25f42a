"""The reading view's part of the house: exact text, its neighbours, the limit, the daily cap, page pictures."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pymupdf
import pytest

from core.errors import Missing, ReaderError
from core.model import BookPage, Position, Reader, Ready, Span, Upload
from core.spending import Terms
from tests.books.pdfs import labelled
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, lantern_house, long_book, open_club


async def leaves(club: TestClub, sha256: str) -> list[BookPage]:
    """Every stretch from the first to the last, by following what each names as next."""
    at: Position | None = Position(0, 0)
    found = []
    while at is not None:
        found.append(await club.club.passages.page(ROOM, sha256, at))
        at = found[-1].following
    return found


async def test_reading_on_from_the_start_shows_every_character_once_and_back_again(tmp_path: Path) -> None:
    book = long_book(chapters=3, characters=60_000)
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(book)
        pages = await leaves(club, sha256)
        assert "".join(page.text for page in pages) == "".join(file.text for file in book.files)
        assert len(pages) > len(book.files)
        assert max(len(page.text) for page in pages) < 30_000
        for earlier, later in pairwise(pages):
            assert later.previous is not None
            back = await club.club.passages.page(ROOM, sha256, later.previous)
            assert (back.file, back.start) == (earlier.file, earlier.start)
        assert pages[0].previous is None


async def test_a_marked_range_is_exactly_its_characters_wherever_the_text_is_cut(tmp_path: Path) -> None:
    book = long_book(chapters=1, characters=60_000)
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(book)
        spans = [Span(1, start, start + 900) for start in range(0, 58_000, 1_700)]
        for span in [*book.runs[::40], *spans]:
            page = await club.club.passages.page(ROOM, sha256, span.first, marked=span)
            quoted = page.text[span.start - page.start : span.end - page.start]
            assert quoted == book.files[span.file].text[span.start : span.end]


async def test_at_every_limit_nothing_past_it_is_shown_named_or_led_to(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        for number in (1, 2):
            await club.club.progress(ROOM, MEMBER, words=f"finished {number}")
            pages = await leaves(club, sha256)
            assert pages[-1].file == number
            assert len(pages[-1].toc) == number
            with pytest.raises(Missing, match="beyond_limit"):
                await club.club.passages.page(ROOM, sha256, Position(number + 1, 0))
            with pytest.raises(Missing, match="beyond_limit"):
                await club.club.passages.page(ROOM, sha256, Position(1, 0), marked=Span(number + 1, 0, 4))
        await club.club.progress(ROOM, MEMBER, words="20 %")
        last = (await leaves(club, sha256))[-1]
        assert last.cut
        assert last.text == lantern_house().files[last.file].text[: len(last.text)]


@pytest.mark.parametrize(
    ("at", "marked"),
    [
        (Position(99, 0), None),
        (Position(-1, 0), None),
        (Position(1, -5), None),
        (Position(1, 10_000_000), None),
        (Position(1, 0), Span(1, 0, 10_000_000)),
        (Position(1, 0), Span(1, 40, 20)),
        (Position(1, 0), Span(77, 0, 3)),
    ],
)
async def test_a_place_the_book_does_not_have_is_refused(tmp_path: Path, at: Position, marked: Span | None) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        with pytest.raises(Missing, match="not_a_run"):
            await club.club.passages.page(ROOM, sha256, at, marked=marked)


async def test_a_book_of_another_channel_and_a_removed_one_do_not_open(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        with pytest.raises(Missing, match="book_removed"):
            await club.club.passages.page(ELSEWHERE, sha256, Position(0, 0))
        await club.club.remove(ROOM, MEMBER, sha256)
        with pytest.raises(Missing, match="book_removed"):
            await club.club.passages.page(ROOM, sha256, Position(0, 0))
        with pytest.raises(Missing, match="book_removed"):
            await club.club.passages.page_picture(ROOM, sha256, 0)


async def test_what_is_read_counts_against_the_days_cap_and_reading_it_again_is_free(tmp_path: Path) -> None:
    book = long_book(chapters=4, characters=10_000)
    async with open_club(tmp_path, terms=Terms(passages_day=21_000)) as club:
        sha256 = await club.shelve(book)
        for _ in range(2):
            for file in (1, 2):
                await club.club.passages.page(ROOM, sha256, Position(file, 0), reader=MEMBER)
        with pytest.raises(ReaderError, match="cap_passages"):
            await club.club.passages.page(ROOM, sha256, Position(3, 0), reader=MEMBER)
        await club.club.passages.page(ROOM, sha256, Position(3, 0), reader=Reader("another"))
        await club.club.passages.page(ROOM, sha256, Position(1, 0), reader=MEMBER)


async def test_a_page_of_a_pdf_is_drawn_with_and_without_a_range_and_painted_over_past_the_limit(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path / "data") as club:
        upload = Upload("event", ROOM, MEMBER, labelled(tmp_path / "six.pdf"), "six.pdf")
        [ready] = [event async for event in club.club.add_book(upload) if isinstance(event, Ready)]
        sha256 = ready.card.sha256
        page = await club.club.passages.page(ROOM, sha256, Position(2, 0), marked=Span(2, 0, 30))
        assert page.paged
        pictures = [
            await club.club.passages.page_picture(ROOM, sha256, 2),
            await club.club.passages.page_picture(ROOM, sha256, 2, marked=Span(2, 0, 30)),
            await club.club.passages.page_picture(ROOM, sha256, 2, marked=Span(2, 0, 30), zoom=2),
        ]
        sizes = []
        for picture in pictures:
            assert picture is not None
            assert picture.page == 2
            sizes.append(pymupdf.Pixmap(picture.png).width)
        assert len({picture.png for picture in pictures if picture}) == 3
        plain, marked, larger = (picture.top for picture in pictures if picture)
        assert plain is None
        assert marked is not None
        assert larger is not None
        assert 0.1 < marked < 0.3  # the first line of the page, under its margin
        assert abs(larger - marked) < 0.01
        kept = await club.club.passages.page_picture(ROOM, sha256, 2, marked=Span(2, 0, 30))
        assert kept is not None
        assert kept.top is not None
        assert abs(kept.top - marked) < 0.001
        assert sizes[0] == sizes[1]
        assert abs(sizes[2] - 2 * sizes[0]) <= 2
        await club.club.progress(ROOM, MEMBER, words="page 1")
        after = await club.club.passages.page_picture(ROOM, sha256, 1)
        assert after is not None
        with pytest.raises(Missing, match="beyond_limit"):
            await club.club.passages.page_picture(ROOM, sha256, 3)


async def test_a_picture_counts_as_the_whole_page(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data", terms=Terms(passages_day=500)) as club:
        upload = Upload("event", ROOM, MEMBER, labelled(tmp_path / "six.pdf"), "six.pdf")
        [ready] = [event async for event in club.club.add_book(upload) if isinstance(event, Ready)]
        assert await club.club.passages.page_picture(ROOM, ready.card.sha256, 0, reader=MEMBER) is not None
        with pytest.raises(ReaderError, match="cap_passages"):
            await club.club.passages.page_picture(ROOM, ready.card.sha256, 1, reader=MEMBER)


async def test_a_book_without_pages_has_no_picture(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(replace(lantern_house(), format="epub"))
        assert await club.club.passages.page_picture(ROOM, sha256, 1) is None
