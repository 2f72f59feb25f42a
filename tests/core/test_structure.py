"""Contents that lie are repaired from the text, and chapters are numbered as readers count them."""

from pathlib import Path

import pytest

from core.formats.assemble import assemble
from core.formats.epub import read_epub
from core.formats.extracted import Extracted, HeadingMark
from core.formats.lines import find_headings
from core.formats.structure import repair
from core.formats.titles import is_back, is_front, kind_of, roman
from core.model import ParsedBook, Position, SpineFile, TocEntry
from tests.parts import SHARED, needs_shared

PROSE = "It was a long day and nobody came up the road to the old house by the river. " * 12


def _book(*texts: str, toc: list[TocEntry] | None = None, marks: bool = True, title: str = "") -> Extracted:
    """A book of these files; a line that begins with # is a heading (its level the number of signs)."""
    files: list[SpineFile] = []
    headings: list[HeadingMark] = []
    for index, text in enumerate(texts):
        blocks: list[str] = []
        offset = 0
        for block in text.strip().split("\n\n"):
            words = block.lstrip("#").strip()
            if block.startswith("#") and marks:
                level = len(block) - len(block.lstrip("#"))
                headings.append(HeadingMark(level, words, Position(index, offset)))
            blocks.append(words)
            offset += len(words) + 2
        files.append(SpineFile(index, "", "\n\n".join(blocks)))
    return Extracted(format="epub", files=files, toc=toc or [], headings=headings, title=title)


def _chapters(count: int, first: int = 1, sign: str = "##") -> str:
    return "\n\n".join(f"{sign} Chapter {number}\n\n{PROSE}" for number in range(first, first + count))


def _at(book: Extracted, words: str, file: int = 0) -> int:
    return book.files[file].text.index(words)


def _titles(book: ParsedBook) -> list[str]:
    return [chapter.title for chapter in book.chapters]


def test_entries_out_of_order_are_sorted_by_position() -> None:
    book = _book(_chapters(3))
    book.toc = [TocEntry(f"Chapter {number}", 1, 0, _at(book, f"Chapter {number}")) for number in (3, 1, 2)]
    assert [entry.title for entry in repair(book)] == ["Chapter 1", "Chapter 2", "Chapter 3"]


def test_two_entries_at_one_place_become_one_with_both_titles() -> None:
    toc = [TocEntry("The Storm", 1, 0, 0), TocEntry("The Calm", 1, 0, 0), TocEntry("After", 1, 1, 0)]
    assert [entry.title for entry in repair(_book(PROSE, PROSE, toc=toc))] == ["The Storm – The Calm", "After"]


def test_a_repeated_entry_is_kept_once() -> None:
    toc = [TocEntry("The Storm", 1, 0, 0), TocEntry("The storm.", 1, 0, 0), TocEntry("After", 1, 1, 0)]
    assert [entry.title for entry in repair(_book(PROSE, PROSE, toc=toc))] == ["The Storm", "After"]


def test_a_part_that_begins_with_its_first_chapter_stays_its_parent() -> None:
    toc = [TocEntry("Part One", 1, 0, 0), TocEntry("Chapter 1", 2, 0, 0), TocEntry("Chapter 2", 2, 1, 0)]
    book = assemble(_book(PROSE, PROSE, toc=toc))
    assert [(entry.title, entry.depth) for entry in book.toc] == [("Part One", 1), ("Chapter 1", 2), ("Chapter 2", 2)]
    assert _titles(book) == ["Chapter 1", "Chapter 2"]


def test_entries_outside_the_text_are_dropped_or_drawn_in() -> None:
    toc = [TocEntry("A", 1, 0, 0), TocEntry("B", 1, 1, 10**9), TocEntry("Nowhere", 1, 9, 0), TocEntry("  ", 1, 1, 0)]
    entries = repair(_book(PROSE, PROSE, toc=toc))
    assert [(entry.title, entry.file, entry.offset) for entry in entries] == [("A", 0, 0), ("B", 1, len(PROSE.strip()))]


def test_contents_of_one_useless_entry_give_way_to_the_headings() -> None:
    book = _book("# The Book\n\n## I.\n\n" + PROSE, "## II.\n\n" + PROSE, toc=[TocEntry("Start", 1, 0, 0)])
    parsed = assemble(book)
    assert [entry.title for entry in parsed.toc] == ["The Book", "I.", "II."]
    assert _titles(parsed) == ["I.", "II."]


def test_contents_of_one_useless_entry_give_way_to_bare_numerals_without_markup() -> None:
    text = "The Book\n\n" + "\n\n".join(f"{numeral}\n\n{PROSE}" for numeral in ("I", "II", "III", "IV"))
    parsed = assemble(_book(text, toc=[TocEntry("Start", 1, 0, 0)]))
    assert _titles(parsed) == ["I", "II", "III", "IV"]


def test_a_single_telling_entry_stays_when_the_text_says_no_more() -> None:
    assert [entry.title for entry in repair(_book(PROSE, toc=[TocEntry("The Dead", 1, 0, 0)]))] == ["The Dead"]


def test_contents_that_stop_early_go_on_with_headings_of_the_same_kind() -> None:
    book = _book(_chapters(60) + "\n\n# Part Two\n\n" + _chapters(60, 61))
    book.toc = [TocEntry(f"Chapter {n}", 1, 0, _at(book, f"Chapter {n}\n")) for n in range(1, 21)]
    parsed = assemble(book)
    assert len(parsed.chapters) == 120
    assert parsed.chapters[-1].title == "Chapter 120"
    assert "Part Two" in [entry.title for entry in parsed.toc]


def test_contents_that_stop_early_go_on_with_lines_of_the_same_kind_without_markup() -> None:
    book = _book(_chapters(120), marks=False)
    book.toc = [TocEntry(f"Chapter {n}", 1, 0, _at(book, f"Chapter {n}\n")) for n in range(1, 21)]
    assert len(assemble(book).chapters) == 120


def test_an_index_in_the_last_place_does_not_hide_that_contents_stopped_early() -> None:
    book = _book(_chapters(120) + "\n\n## Index\n\n" + PROSE)
    book.toc = [TocEntry("Index", 1, 0, _at(book, "Index"))]
    book.toc += [TocEntry(f"Chapter {n}", 1, 0, _at(book, f"Chapter {n}\n")) for n in range(1, 21)]
    parsed = assemble(book)
    assert len(parsed.chapters) == 120
    assert parsed.toc[-1].title == "Index"


def test_sections_inside_listed_chapters_do_not_become_chapters() -> None:
    sections = "\n\n".join(f"### Section on matter {number}\n\n{PROSE * 5}" for number in range(12))
    book = _book(*(f"## Chapter {n}\n\n{sections}" for n in (1, 2, 3)))
    book.toc = [TocEntry(f"Chapter {n}", 1, n - 1, 0) for n in (1, 2, 3)]
    assert len(assemble(book).chapters) == 3


def test_parts_listed_alone_get_the_chapters_of_the_text() -> None:
    book = _book(*(f"# Part {n}\n\n" + _chapters(50, 50 * n) for n in (1, 2)))
    book.toc = [TocEntry("Part 1", 1, 0, 0), TocEntry("Part 2", 1, 1, 0)]
    parsed = assemble(book)
    assert len(parsed.chapters) == 100
    assert parsed.toc[1].depth == 2


def test_front_and_back_matter_are_no_chapters_and_numbers_agree_with_the_titles() -> None:
    names = ["Cover", "Title Page", "Imprint", "Dedication", "Prologue", "Chapter 1", "Chapter 2", "Chapter 3"]
    names += ["Endnotes", "Colophon"]
    book = _book(*(PROSE * 3 for _ in names))
    book.toc = [TocEntry(name, 1, index, 0) for index, name in enumerate(names)]
    book.files[4] = SpineFile(4, "", PROSE)
    for index in range(4):
        book.files[index] = SpineFile(index, "", PROSE[:40])
    parsed = assemble(book)
    assert [(chapter.number, chapter.title) for chapter in parsed.chapters] == [
        (1, "Chapter 1"), (2, "Chapter 2"), (3, "Chapter 3"),
    ]  # fmt: skip
    assert parsed.chapters[-1].end == Position(7, len(parsed.files[7].text)), "the endnotes are not of chapter 3"


def test_files_marked_as_back_matter_end_the_last_chapter_without_an_entry() -> None:
    book = _book(PROSE, PROSE, PROSE, toc=[TocEntry("The Sea", 1, 0, 0), TocEntry("The Land", 1, 1, 0)])
    book.back_files = frozenset({2})
    assert assemble(book).chapters[-1].end == Position(1, len(book.files[1].text))


def test_a_half_title_marked_as_front_matter_does_not_take_its_chapters_along() -> None:
    toc = [TocEntry("The Book", 1, 0, 0), TocEntry("One fine day", 2, 1, 0), TocEntry("One fine night", 2, 2, 0)]
    book = _book("The Book", PROSE, PROSE, toc=toc)
    book.front_files = frozenset({0})
    assert _titles(assemble(book)) == ["One fine day", "One fine night"]


def test_headings_without_text_of_their_own_are_no_chapters() -> None:
    book = assemble(_book("# Part One\n\n## Dawn\n\n" + PROSE + "\n\n# Part Two\n\n## Dusk\n\n" + PROSE))
    assert _titles(book) == ["Dawn", "Dusk"]


def test_a_page_of_headings_is_no_chapter_until_some_text_follows() -> None:
    signs = "\n\n".join(f"### The {number}th sign over a door of the old town by the river" for number in range(80))
    toc = [TocEntry(title, 1, file, 0) for file, title in enumerate(("Dawn", "Signs", "More signs", "Dusk"))]
    book = assemble(
        _book(PROSE, signs, f"{signs}\n\nNobody in the whole country knows who painted them.", PROSE, toc=toc)
    )
    assert _titles(book) == ["Dawn", "More signs", "Dusk"]


def test_an_introduction_of_some_length_before_the_first_section_is_a_chapter() -> None:
    book = assemble(_book(f"# Alpha\n\n{PROSE * 3}\n\n## One\n\n{PROSE}\n\n## Two\n\n{PROSE}"))
    assert _titles(book) == ["Alpha", "One", "Two"]
    assert book.chapters[0].end == book.chapters[1].start


def test_a_bare_number_takes_the_heading_under_it_as_its_title() -> None:
    book = _book(*(f"## {numeral}\n\n### {name}\n\n{PROSE}" for numeral, name in (("I", "Dawn"), ("II", "Dusk"))))
    book.toc = [TocEntry("I", 1, 0, 0), TocEntry("II", 1, 1, 0)]
    parsed = assemble(book)
    assert [entry.title for entry in parsed.toc] == ["I", "II"], "contents stay as the book has them"
    assert _titles(parsed) == ["I. Dawn", "II. Dusk"]


def test_chapters_never_overlap_and_each_ends_where_the_next_entry_begins() -> None:
    book = assemble(_book("# Part One\n\n" + _chapters(5), "# Part Two\n\n" + _chapters(5, 6)))
    assert [chapter.number for chapter in book.chapters] == list(range(1, 11))
    for one, other in zip(book.chapters, book.chapters[1:], strict=False):
        assert one.start < one.end <= other.start


def test_what_project_gutenberg_adds_stands_outside_the_chapters() -> None:
    licence = "*** END OF THE PROJECT GUTENBERG EBOOK X ***\n\nSection 1. General Terms\n\n" + PROSE
    head = "The Project Gutenberg EBook of X\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***"
    book = assemble(_book(f"{head}\n\n{_chapters(3)}\n\n{licence}"))
    assert len(book.chapters) == 3
    assert book.files[0].text[book.chapters[-1].end.offset :].startswith("*** END OF")


@pytest.mark.parametrize(
    ("line", "kind", "number"),
    [
        ("CHAPTER XII", "chapter", 12), ("Chapter 3: The Ball", "chapter", 3), ("Capítulo primero. Que trata", "chapter", None),
        ("CAPÍTULO IV", "chapter", 4), ("Chapitre premier", "chapter", None), ("Erstes Kapitel", "chapter", None),
        ("Глава первая", "chapter", None), ("Capitolo II", "chapter", 2), ("第十二章 雪", "chapter", None),
        ("PREMIÈRE PARTIE", "part", None), ("Часть вторая", "part", None), ("Zweiter Teil", "part", None),
        ("Book the Second", "book", None), ("ACT V", "act", 5), ("Scene II. A hall", "scene", 2), ("XLII.", "numeral", 42),
        ("7", "numeral", 7), ("Том первый", "volume", None),
    ],
)  # fmt: skip
def test_headings_of_many_languages_are_known(line: str, kind: str, number: int | None) -> None:
    found = kind_of(line)
    assert found is not None
    assert (found.name, found.number) == (kind, number)


@pytest.mark.parametrize(
    "line", ["Part of the reason", "I saw him", "Civil", "Books", "The chapter house", "A capital idea"]
)
def test_prose_is_no_heading(line: str) -> None:
    assert kind_of(line) is None


def test_front_and_back_titles_are_known_with_accents_and_in_any_case() -> None:
    assert all(map(is_front, ["TITLE PAGE", "Préface", "Оглавление", "目录", "Table des matières"]))
    assert all(map(is_back, ["Colophon", "Uncopyright", "Notas", "Примечания", "The Full Project Gutenberg License"]))
    assert not any(map(is_front, ["Chapter 1", "A Preface to Murder", "The Cover-Up"]))


def test_roman_numerals_are_read_and_words_are_not() -> None:
    assert [roman(word) for word in ("IV", "xlii", "MCMXCIX", "IIII", "IC", "")] == [4, 42, 1999, 4, None, None]


def test_a_printed_list_of_contents_is_passed_over() -> None:
    listed = "\n\n".join(f"Chapter {n}" for n in range(1, 6))
    text = f"Contents\n\n{listed}\n\n" + "\n\n".join(f"Chapter {n}\n\n{PROSE}" for n in range(1, 6))
    found = find_headings([text])
    assert len(found) == 5
    assert found[0].position.offset > len(listed)


def test_a_numeral_that_does_not_run_on_from_one_is_no_heading() -> None:
    assert find_headings([f"{PROSE}\n\n1851\n\n{PROSE}\n\nMIX\n\n{PROSE}\n\n47\n\n{PROSE}"]) == []


def test_dialogue_under_a_numeral_is_not_taken_for_its_title() -> None:
    text = "\n\n".join(f"{n}\n\n{'Who is there?' if n == '2' else PROSE}\n\n{PROSE}" for n in "1234")
    assert [mark.title for mark in find_headings([text])] == ["1", "2", "3", "4"]


@needs_shared
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("don-quijote-es", 126), ("dom-casmurro-pt", 148), ("die-verwandlung-de-no-toc", 3), ("pride-and-prejudice", 61),
        ("tang-300-zh", 313), ("war-and-peace", 361), ("mertvye-dushi-ru", 15), ("problems-of-philosophy", 15),
    ],
)  # fmt: skip
def test_the_chapters_of_real_books_are_found(name: str, least: int) -> None:
    assert SHARED is not None
    book = assemble(read_epub(Path(SHARED / "books" / f"{name}.epub")))
    assert least <= len(book.chapters) <= least + 10
    assert all(chapter.title for chapter in book.chapters)
    assert all(one.end <= other.start for one, other in zip(book.chapters, book.chapters[1:], strict=False))
