"""Press -> passage: position in words, surroundings, what a note of a PDF reads like (C63)."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.model import PageMark
from core.passages import first_words
from tests.clubs import ROOM, lantern_house, open_club


@pytest.mark.parametrize(
    ("quote", "opening"),
    [
        ("Mara kept the lighthouse log in green ink.", "Mara kept the lighthouse log in …"),
        ("It fell.", "It fell."),
        ("木曾路はすべて山の中である。あるところは岨づたいに行く崖の道であり", "木曾路はすべて山の中であ …"),
        ("Line one\nline two", "Line one line two"),
    ],
)
def test_the_first_words_find_a_place_in_another_edition(quote: str, opening: str) -> None:
    assert first_words(quote) == opening


async def test_a_passage_of_a_pdf_names_the_printed_page_and_the_page_of_the_file_where_they_differ(
    tmp_path: Path,
) -> None:
    """C63: labels i, ii, 1, 2; the tag lies in spine file 2."""
    book = lantern_house()
    labels = ("i", "ii", "1", "2")
    files = tuple(replace(file, label=label) for file, label in zip(book.files, labels, strict=True))
    async with open_club(tmp_path) as club:
        await club.shelve(replace(book, files=files, format="pdf"))
        third = await club.club.passages.open_tag(ROOM, None, "[f2-0-51]")
        second = await club.club.passages.open_tag(ROOM, None, "[f1-0-42]", locale="es")
    assert third.label == "p. 1 (page 3 of the file) · 43 %"
    assert second.label == "p. ii (página 2 del archivo) · 10 %"


async def test_where_printed_and_counted_page_agree_one_number_is_enough(tmp_path: Path) -> None:
    book = lantern_house()
    files = tuple(replace(file, label=str(number)) for number, file in enumerate(book.files, 1))
    async with open_club(tmp_path) as club:
        await club.shelve(replace(book, files=files, format="pdf"))
        assert (await club.club.passages.open_tag(ROOM, None, "[f2-0-51]")).label == "p. 3 · 43 %"


async def test_a_book_with_page_marks_names_the_printed_page_and_one_without_the_share(tmp_path: Path) -> None:
    marked = replace(lantern_house(), title="Marked", pages=(PageMark("7", 1, 0), PageMark("8", 1, 42)))
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.shelve(marked)
        assert (await club.club.passages.open_tag(ROOM, "1", "[f1-42-101]")).label == "21 %"
        assert (await club.club.passages.open_tag(ROOM, "2", "[f1-42-101]")).label == "p. 8 · 21 %"
        assert (await club.club.passages.open_tag(ROOM, "2", "[f1-0-42]")).label == "p. 7 · 10 %"


async def test_surroundings_grow_by_steps_and_join_the_quote_without_a_seam(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        near = await club.club.passages.open_tag(ROOM, None, "[f2-0-51]")
        wide = await club.club.passages.open_tag(ROOM, None, "[f2-0-51]", before=2, after=2)
    assert near.quote == "Ivo arrived on the Tuesday ferry with one suitcase."
    assert near.heading == "The Ferry"
    assert wide.before.endswith(near.before)
    assert wide.after.startswith(near.after)
    assert wide.before.startswith("The Lantern House A novel in three chapters")
    assert not wide.more_before
    assert not wide.more_after
