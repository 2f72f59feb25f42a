"""Printed contents pages: which lines of a text tell of its later places, and that nothing else is taken for such."""

import asyncio
from itertools import pairwise

import pytest

from core.formats.reading import read
from core.limits import find_listings
from core.model import Chapter, Foretold, PageMark, ParsedBook, Position, TocEntry
from tests.parts import SHARED, needs_shared

PROSE = "It was a day like any other in the house by the sea, and nobody on the quay thought of what was to come."


def _listed(front: str, titles: list[str], *, body: str = PROSE, pages: bool = False) -> list[tuple[str, int]]:
    """The lines found in a book whose file 0 is `front` and whose chapters are a file each, with the chapter told of."""
    texts = [front, *(f"{title}\n\n{body}" for title in titles)]
    toc = [TocEntry(title, 1, number, 0) for number, title in enumerate(titles, 1)]
    chapters = [
        Chapter(number, title, Position(number, 0), Position(number, len(texts[number])))
        for number, title in enumerate(titles, 1)
    ]
    marks = [PageMark(str(10 * number), number, 0) for number in range(1, len(titles) + 1)] if pages else []
    found = find_listings(texts, [""] * len(texts), toc, chapters, marks)
    return [(texts[line.file][line.start : line.end], place.file) for line, place in found]


@pytest.mark.parametrize(
    ("titles", "printed"),
    [
        (["Green Ink", "The Ferry"], ["Green Ink", "The Ferry"]),
        (["1. Green Ink", "2. The Ferry"], ["Green Ink . . . . . 3", "The Ferry . . . . . 17"]),
        (["Green Ink", "The Ferry"], ["I. GREEN INK\t3", "II. THE FERRY\t17"]),
        (["Chapter One: Green Ink", "Chapter Two: The Ferry"], ["Chapter I — Green Ink", "Chapter II — The Ferry"]),
        (["Capítulo I. Tinta", "Capítulo II. Barca"], ["1 Tinta 5", "2 Barca xi"]),
        (["Chapter I", "Chapter II", "Chapter III"], ["I", "II", "III"]),
        (["《感遇》", "《送别》"], ["感遇 ... 1", "送别 ... 2"]),
        (["Глава первая", "Глава вторая"], ["Глава первая", "Глава вторая"]),
    ],
)
def test_entries_are_found_however_they_are_numbered_and_paged(titles: list[str], printed: list[str]) -> None:
    for between in ("\n", "\n\n"):
        found = _listed(f"A book\n\nContents\n\n{between.join(printed)}", titles)
        assert found == [(line, number) for number, line in enumerate(printed, 1)]


def test_what_stands_beside_an_entry_tells_of_the_same_chapter_or_the_next() -> None:
    front = "Contents\n\nGreen Ink\n\nMara finds a log.\n\nThe Ferry\n\nA stranger\ncomes."
    assert _listed(front, ["Green Ink", "The Ferry"]) == [
        ("Green Ink", 1),
        ("Mara finds a log.", 2),
        ("The Ferry", 2),
    ]
    assert _listed("Contents\n\nGreen Ink\nThe Ferry\nA stranger comes.", ["Green Ink", "The Ferry"])[-1] == (
        "A stranger comes.",
        3,
    )


def test_several_titles_on_one_line_are_a_listing() -> None:
    front = "Contents: I. Green Ink — II. The Ferry — III. Tobin’s Coat"
    assert _listed(front, ["Green Ink", "The Ferry", "Tobin’s Coat"]) == [(front, 3)]


def test_a_list_with_pages_is_told_by_its_pages_where_no_title_says_more() -> None:
    front = "Plates\n\nMara at the window . . . . 10\nThe log is burnt . . . . 20\nThe coat . . . . 99"
    found = _listed(front, ["Green Ink", "The Ferry"], pages=True)
    assert found == [
        ("Mara at the window . . . . 10", 1),
        ("The log is burnt . . . . 20", 2),
        ("The coat . . . . 99", 2),
    ]


@pytest.mark.parametrize(
    "front",
    [
        "The Ferry",
        "A book by A. Keeper\n\nPrinted in 1905",
        f"Preface\n\n{PROSE} The Ferry is my favourite chapter.",
        "Green Ink\n\n" + 12 * f"{PROSE} " + "\n\nThe Ferry",
    ],
)
def test_a_title_page_or_a_preface_is_no_listing(front: str) -> None:
    assert _listed(front, ["Green Ink", "The Ferry"]) == []


def test_headings_and_tables_in_the_body_are_no_listing() -> None:
    titles = ["I", "II", "III", "IV", "V"]
    assert _listed("A book", titles, body=f"1\t2\n2\t3\n3\t4\n4\t5\n\n{PROSE}") == []
    titles = ["Part One", "I", "Part Two", "I", "Part Three"]
    assert _listed("A book", titles) == []


def test_a_listing_at_the_head_of_a_part_is_found() -> None:
    titles = ["Start", "Green Ink", "The Ferry", "The Coat", "The End"]
    found = _listed("A book", titles, body=f"In this part:\n\nThe Ferry\nThe Coat\nThe End\n\n{PROSE}")
    assert {text for text, _ in found} == {"The Ferry", "The Coat", "The End"}
    assert all(place >= 3 for _, place in found)


def test_of_titles_that_repeat_a_listing_names_the_next_one() -> None:
    titles = ["Part One", "I", "II", "Part Two", "I", "II"]
    assert [place for _, place in _listed("\n".join(titles), titles)] == [1, 2, 3, 4, 5, 6]


# Real books


def _parsed(name: str) -> ParsedBook:
    assert SHARED is not None
    return asyncio.run(read(SHARED / "books" / name, rank_path=None, accept_partial=True))


def _found(book: ParsedBook) -> tuple[Foretold, ...]:
    texts, labels = [file.text for file in book.files], [file.label for file in book.files]
    return find_listings(texts, labels, book.toc, book.chapters, book.pages)


@needs_shared
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("don-quijote-es.epub", 131),
        ("maint-guide-es.pdf", 88),
        ("developers-reference-fr.pdf", 260),
        ("madame-bovary-fr-latin1.txt", 38),
        ("entre-nous-fr.md", 40),
        ("problems-of-philosophy.docx", 15),
        ("developers-reference-en.epub", 260),
    ],
)
def test_the_contents_page_of_a_real_book_is_found_line_by_line(name: str, least: int) -> None:
    book = _parsed(name)
    found = _found(book)
    assert len(found) >= least
    assert all(line.last <= place for line, place in found)
    assert all(line.first < book.chapters[0].start for line, _ in found)
    in_order = sum(later.place >= earlier.place for earlier, later in pairwise(found))
    assert in_order >= 0.9 * (len(found) - 1)


@needs_shared
@pytest.mark.parametrize(
    "name", ["leaves-of-grass.epub", "hamlet.epub", "kusamakura-ja-vertical.epub", "wasteland.epub"]
)
def test_a_real_book_without_a_contents_page_has_no_line_taken_for_one(name: str) -> None:
    assert _found(_parsed(name)) == ()


@needs_shared
@pytest.mark.parametrize("name", ["debian-handbook-zh.epub"])
def test_a_listing_at_the_head_of_each_chapter_of_a_real_book_is_found(name: str) -> None:
    book = _parsed(name)
    told = {book.files[line.file].text[line.start : line.end] for line, _ in _found(book)}
    assert "16.2. Debian的未来" in told
