"""PDFs become canonical text page by page: paragraphs, joins, heads, hyphens, columns, labels, contents, scans."""

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from core.errors import BadBook
from core.formats.extracted import Extracted
from core.formats.pdf.reading import read_pdf
from core.model import Notice
from core.strings import LOCALES, tell
from tests.books.pdfs import (
    LEFT,
    RIGHT,
    SIZE,
    TOP,
    Sheet,
    fill,
    half_scanned,
    labelled,
    prose,
)
from tests.parts import SHARED, needs_shared

BOOKS = (SHARED or Path()) / "books"
HOSTILE = BOOKS / "hostile"


def joined(book: Extracted) -> str:
    """The book as one text, paragraphs that run over pages whole again."""
    return "".join(file.text + ("\n\n" if file.join is None else file.join) for file in book.files)


def sentence(error: BadBook) -> str:
    return tell(Notice(error.key, error.params))


def paragraphs(book: Extracted) -> list[str]:
    return [part for part in joined(book).split("\n\n") if part]


def make(tmp_path: Path, draw: Callable[[Sheet], object]) -> Extracted:
    sheet = Sheet()
    draw(sheet)
    return read_pdf(sheet.save(tmp_path / "book.pdf"))


def test_lines_of_a_paragraph_are_joined_and_paragraphs_stay_apart(tmp_path: Path) -> None:
    texts = [prose(60), prose(3, 5), prose(45, 9), prose(70, 2)]

    def draw(sheet: Sheet) -> None:
        sheet.page()
        for text in texts:
            sheet.paragraph(text)

    book = make(tmp_path, draw)
    assert book.files[0].text.split("\n\n") == texts


def test_paragraphs_set_apart_by_space_instead_of_an_indent_are_found(tmp_path: Path) -> None:
    texts = [prose(60), prose(45, 9), prose(70, 2)]

    def draw(sheet: Sheet) -> None:
        sheet.page()
        for text in texts:
            sheet.paragraph(text, indent=0)
            sheet.y += 8

    assert make(tmp_path, draw).files[0].text.split("\n\n") == texts


def test_verse_keeps_its_lines(tmp_path: Path) -> None:
    verse = ["The boat goes out,", "the lamp stays in", "and nobody asks", "what the sea will win."]

    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph(prose(80), indent=0)
        sheet.y += 10
        for line in verse:
            sheet.line(line)

    assert make(tmp_path, draw).files[0].text.split("\n\n")[1] == "\n".join(verse)


def test_list_items_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph(prose(50), indent=0)
        for n in range(1, 4):
            sheet.line(f"{n}. {prose(5, n)}")

    lines = make(tmp_path, draw).files[0].text.split("\n")
    assert lines[-3:] == [f"{n}. {prose(5, n)}" for n in range(1, 4)]


def test_a_paragraph_over_a_page_break_is_joined_by_a_space(tmp_path: Path) -> None:
    text = prose(90)
    lines = fill(text, RIGHT - LEFT, 14)

    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph(prose(120, 4))
        sheet.line(lines[0], 14, right=RIGHT)
        for line in lines[1:4]:
            sheet.line(line, right=RIGHT)
        sheet.page()
        sheet.lines(lines[4:], indent=0)
        sheet.paragraph(prose(40, 8))
        sheet.page()
        sheet.paragraph(prose(40, 8))

    book = make(tmp_path, draw)
    assert [file.join for file in book.files] == [" ", None, None]
    assert text in paragraphs(book)


def test_a_paragraph_that_ends_with_its_page_is_not_joined(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(3):
            sheet.page()
            sheet.paragraph(prose(40, n))
            sheet.paragraph(prose(43, n))

    assert [file.join for file in make(tmp_path, draw).files] == [None, None, None]


def test_a_word_cut_by_a_page_break_belongs_whole_to_the_page_it_begins_on(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph("A lighthouse is a house. " + prose(60))
        sheet.line("Nobody had ever seen the old light-", 14, right=RIGHT)
        sheet.page()
        sheet.line("house so dark; the boats waited for a sign from the", right=RIGHT)
        sheet.line("shore until the morning.")
        sheet.paragraph(prose(50))

    book = make(tmp_path, draw)
    assert book.files[0].text.endswith("Nobody had ever seen the old lighthouse")
    assert book.files[0].join == " "
    assert book.files[1].text.startswith("so dark; the boats waited for a sign from the shore until the morning.")


def test_a_compound_cut_by_a_page_break_keeps_its_hyphen(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph("The sea-wall stood. No sea-wall is high enough. " + prose(60))
        sheet.line("They all went up to look at the sea-", 14, right=RIGHT)
        sheet.page()
        sheet.line("wall, and came back without a word about it.")
        sheet.paragraph(prose(50))

    book = make(tmp_path, draw)
    assert book.files[0].text.endswith("look at the sea-wall,")
    assert book.files[1].text.startswith("and came back")


@pytest.mark.parametrize(
    ("known", "end", "start", "whole"),
    [
        ("The harbour slept.", "they left the har-", "bour at noon", "left the harbour at noon"),
        ("A sea-wall. Two sea-walls. The sea-wall.", "along the sea-", "wall they ran", "the sea-wall they ran"),
        ("Plain words.", "a wholly unfore-", "seeable turn", "a wholly unforeseeable turn"),
        ("He came in. She came in. In it came. The in-word.", "the half-", "Norman tower", "the half-Norman tower"),
        ("Plain words.", "from 1914-", "1918 it stood", "from 1914-1918 it stood"),
        ("Plain words.", "and cut with a soft hy\xad", "phen only", "a soft hyphen only"),
    ],
)
def test_a_hyphen_at_a_line_end_goes_or_stays_as_the_book_writes_the_word(
    tmp_path: Path, known: str, end: str, start: str, whole: str
) -> None:
    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph(known + " " + prose(60))
        sheet.line("In the grey light of the morning " + end, 14, right=RIGHT)
        sheet.line(start + " and were glad of it.")

    assert whole in make(tmp_path, draw).files[0].text


def test_two_columns_are_read_one_after_the_other_and_a_paragraph_runs_over(tmp_path: Path) -> None:
    text = prose(120)
    lines = fill(text, 140)

    def draw(sheet: Sheet) -> None:
        sheet.page()
        for line in lines[:10]:
            sheet.line(line, right=LEFT + 140)
        sheet.x, sheet.y = LEFT + 160, TOP
        sheet.lines(lines[10:], indent=0, room=140)
        sheet.paragraph(prose(40, 3), room=140)

    assert make(tmp_path, draw).files[0].text.split("\n\n") == [text, prose(40, 3)]


def test_running_heads_feet_and_page_numbers_are_no_part_of_the_text(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(8):
            sheet.page()
            sheet.at(LEFT, 40, "The Lamp" if n % 2 else "A. Keeper")
            sheet.at(200, 570, f"- {n + 1} -")
            sheet.paragraph(prose(70, n))
            sheet.paragraph(prose(70, n + 3))

    text = joined(make(tmp_path, draw))
    assert "The Lamp" not in text
    assert "A. Keeper" not in text
    assert not re.search(r"\d", text)
    assert prose(70, 3) in text


def test_running_heads_that_change_with_the_chapter_are_dropped_too(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(40):
            sheet.page()
            sheet.at(LEFT, 40, f"The chapter of {['nets', 'lamps', 'storms', 'piers', 'keepers', 'boats'][n // 7]}")
            sheet.paragraph(prose(50, n))
            sheet.paragraph(prose(50, n + 1))

    assert "The chapter of" not in joined(make(tmp_path, draw))


def test_section_heads_with_a_counting_page_number_are_dropped(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(12):
            sheet.page()
            sheet.at(LEFT, 570, f"{prose(3, n)[:-1]}  {n + 5}")
            sheet.paragraph(prose(90, n))

    book = make(tmp_path, draw)
    assert not re.search(r"\d", joined(book))
    assert [file.label for file in book.files] == [str(n + 5) for n in range(12)]


def test_text_at_the_top_of_every_page_is_no_running_head(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(6):
            sheet.page()
            sheet.y = 45
            sheet.line(f"The keeper wrote entry {n} in his log.")
            sheet.line(prose(9, n))

    text = joined(make(tmp_path, draw))
    assert all(f"entry {n} in his log" in text for n in range(6))


def test_a_page_that_holds_one_line_keeps_it(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for _ in range(5):
            sheet.page()
            sheet.at(LEFT, 40, "One line is all there is here", size=SIZE)

    assert all(file.text == "One line is all there is here" for file in make(tmp_path, draw).files)


def test_headings_are_marked_with_their_level_and_place(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(3):
            sheet.page()
            sheet.line(f"Chapter {n + 1}", size=18)
            sheet.y += 10
            sheet.paragraph(prose(60, n))
            sheet.y += 8
            sheet.line("A quiet day", bold=True)
            sheet.y += 8
            sheet.paragraph(prose(60, n + 1))

    book = make(tmp_path, draw)
    assert [(mark.level, mark.title, mark.position.file) for mark in book.headings] == [
        (level, title, n) for n in range(3) for level, title in ((1, f"Chapter {n + 1}"), (2, "A quiet day"))
    ]
    for mark in book.headings:
        assert book.files[mark.position.file].text[mark.position.offset :].startswith(mark.title + "\n\n")


def test_the_outline_leads_to_the_line_at_its_target(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.page()
    sheet.paragraph(prose(60))
    below = sheet.y - 10
    sheet.paragraph(prose(50, 4))
    sheet.page()
    sheet.paragraph(prose(50, 5))
    sheet.document.set_toc(
        [
            [1, "Start", 1, {"kind": 1, "to": (LEFT, 60)}],
            [2, "Middle", 1, {"kind": 1, "to": (LEFT, below)}],
            [1, "Next", 2, {"kind": 1, "to": (LEFT, 0)}],
        ]
    )
    book = read_pdf(sheet.save(tmp_path / "book.pdf"))
    assert [(entry.title, entry.depth, entry.file) for entry in book.toc] == [
        ("Start", 1, 0),
        ("Middle", 2, 0),
        ("Next", 1, 1),
    ]
    places = [book.files[entry.file].text[entry.offset :] for entry in book.toc]
    assert places[1].startswith(prose(50, 4))
    assert places[0].startswith(prose(60))
    assert places[2] == prose(50, 5)


def test_ligatures_are_opened_and_what_is_no_text_vanishes() -> None:
    from core.formats.pdf.lines import clean_run

    assert clean_run("  eﬃcient\xa0 ﬂow\u200b x² Å e\u0301\x07 ") == "efficient flow x² Å é"


# --- page labels (C63) ---


def test_printed_page_labels_are_kept_beside_the_place_in_the_file(tmp_path: Path) -> None:
    book = read_pdf(labelled(tmp_path / "book.pdf"))
    assert [file.label for file in book.files] == ["i", "ii", "1", "2", "3", "4"]
    assert [file.index for file in book.files] == list(range(6))
    assert [(page.label, page.file, page.offset) for page in book.pages][2] == ("1", 2, 0)


def test_without_labels_in_the_file_the_printed_numbers_are_the_labels(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(10):
            sheet.page()
            if n >= 2:
                sheet.at(200, 570, str(n - 1))
            sheet.paragraph(prose(60, n))

    book = make(tmp_path, draw)
    assert [file.label for file in book.files] == ["", "", *(str(n) for n in range(1, 9))]


def test_without_any_printed_number_there_is_no_label(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(4):
            sheet.page()
            sheet.paragraph(prose(60, n))

    book = make(tmp_path, draw)
    assert [file.label for file in book.files] == [""] * 4
    assert book.pages == []


# --- pages that are pictures (C60) ---


def test_a_book_mostly_of_pictures_asks_before_it_goes_on(tmp_path: Path) -> None:
    path = half_scanned(tmp_path / "book.pdf")
    with pytest.raises(BadBook) as caught:
        read_pdf(path)
    assert caught.value.key == "book_half_scan"
    assert caught.value.params == {"pictures": 7, "pages": 10, "range": "1–7"}
    assert sentence(caught.value).startswith("7 of 10 pages are pictures (1–7)")


def test_whoever_goes_on_keeps_the_readable_pages_and_is_told_about_the_others(tmp_path: Path) -> None:
    book = read_pdf(half_scanned(tmp_path / "book.pdf"), accept_partial=True)
    assert book.blind == list(range(7))
    assert [bool(file.text) for file in book.files] == [False] * 7 + [True] * 3
    assert [file.index for file in book.files] == list(range(10))
    assert tell(book.warnings[0]).startswith("7 of 10 pages are pictures (1–7)")


def test_a_few_picture_pages_are_named_and_the_book_is_taken(tmp_path: Path) -> None:
    book = read_pdf(half_scanned(tmp_path / "book.pdf", pictures=[2, 5, 6]))
    assert book.blind == [2, 5, 6]
    assert tell(book.warnings[0]).startswith("3 of 10 pages are pictures (3, 6–7)")


def test_one_picture_page_is_told_in_the_singular(tmp_path: Path) -> None:
    book = read_pdf(half_scanned(tmp_path / "book.pdf", pictures=[2]))
    assert [tell(book.warnings[0], locale) for locale in LOCALES] == [
        "1 of 10 pages is a picture (3), and what it says cannot be read.",
        "1 de 10 páginas es una imagen (3) y lo que dice no se puede leer.",
        "1 de 10 páginas é uma imagem (3) e o que diz não pode ser lido.",
    ]


@pytest.mark.parametrize("accept", [False, True])
def test_a_book_only_of_pictures_is_refused_and_text_recognition_named(tmp_path: Path, accept: bool) -> None:
    with pytest.raises(BadBook) as caught:
        read_pdf(half_scanned(tmp_path / "book.pdf", pictures=range(4), pages=4), accept_partial=accept)
    assert caught.value.key == "book_is_scan"
    assert "OCR" in sentence(caught.value)


def test_a_blank_page_is_no_picture(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        sheet.page()
        sheet.paragraph(prose(60))
        sheet.page()
        sheet.page()

    book = make(tmp_path, draw)
    assert book.blind == []
    assert book.warnings == []
    assert [bool(file.text) for file in book.files] == [True, False, False]


def test_a_page_with_text_over_a_full_picture_is_read(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for n in range(2):
            sheet.picture()
            sheet.paragraph(prose(60, n))

    book = make(tmp_path, draw)
    assert book.blind == []
    assert not book.machine_read
    assert book.files[1].text == prose(60, 1)


def test_an_invisible_text_layer_marks_the_book_as_read_by_machine(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        sheet.picture()
        for n, line in enumerate(fill(prose(80), 300)):
            sheet.document[-1].insert_text((LEFT, TOP + 14 * n), line, fontname="tiro", fontsize=SIZE, render_mode=3)

    book = make(tmp_path, draw)
    assert book.machine_read
    assert book.files[0].text.startswith(prose(80)[:40])


# --- refusals ---


def test_a_pdf_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBook) as caught:
        make(tmp_path, lambda sheet: sheet.page())
    assert caught.value.key == "book_pdf_no_text"


def test_too_many_pages_are_refused_before_they_are_read(tmp_path: Path) -> None:
    def draw(sheet: Sheet) -> None:
        for _ in range(5_001):
            sheet.page()

    with pytest.raises(BadBook) as caught:
        make(tmp_path, draw)
    assert caught.value.key == "book_pdf_too_many_pages"
    assert "5001" in sentence(caught.value)


@pytest.mark.parametrize(
    ("password", "key"),
    [(None, "book_locked"), ("", "book_locked"), ("wrong", "book_wrong_password"), ("sesame", None)],
)
def test_a_locked_pdf_opens_with_its_password_only(tmp_path: Path, password: str | None, key: str | None) -> None:
    sheet = Sheet()
    sheet.page()
    sheet.paragraph(prose(30))
    path = sheet.save(tmp_path / "book.pdf", encryption=5, owner_pw="owner", user_pw="sesame")
    if key is None:
        assert read_pdf(path, password).files[0].text == prose(30)
    else:
        with pytest.raises(BadBook) as caught:
            read_pdf(path, password)
        assert caught.value.key == key


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.4\n", b"no pdf at all", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer<<>>\n%%EOF"]
)
def test_what_is_no_pdf_is_refused_in_one_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "book.pdf"
    path.write_bytes(data)
    with pytest.raises(BadBook) as caught:
        read_pdf(path)
    assert sentence(caught.value)


def test_reading_twice_gives_the_same_text(tmp_path: Path) -> None:
    path = labelled(tmp_path / "book.pdf")
    assert read_pdf(path) == read_pdf(path)


# --- the open books ---


def hostile_pdfs() -> list[str]:
    return [] if SHARED is None else [*sorted(path.name for path in HOSTILE.glob("*.pdf")), "really-a-pdf.epub"]


@needs_shared
@pytest.mark.parametrize("name", hostile_pdfs())
def test_hostile_pdfs_end_as_the_manifest_says(name: str) -> None:
    if name == "really-an-epub.pdf":
        return  # told by its content; another reader's
    manifest = json.loads((HOSTILE / "manifest.json").read_text())
    row = next(row for row in manifest["files"] if row["file"] == name)
    book: Extracted | None = None
    refusal = ""
    try:
        book = read_pdf(HOSTILE / name)
    except BadBook as error:
        refusal = sentence(error)
    assert row["expect"] in (("text", "text_or_error") if book else ("error", "text_or_error"))
    assert book or refusal
    if book:
        assert all(part in joined(book) for part in row["text_must_contain"])
        assert not any(part in joined(book) for part in row["text_must_not_contain"])
    if "password" in row:
        assert "secret" in joined(read_pdf(HOSTILE / name, row["password"])).lower()


def epub_paragraphs(name: str) -> list[str]:
    """Paragraphs of 40 characters or more of the chapters, note marks left out."""
    xhtml = "{http://www.w3.org/1999/xhtml}"
    found = []
    with zipfile.ZipFile(BOOKS / name) as archive:
        for entry in sorted(archive.namelist()):
            if not re.search(r"/text/(?:chapter|preface|bibliog)[^/]*\.xhtml$", entry):
                continue
            root = etree.fromstring(archive.read(entry))
            for mark in root.iter(f"{xhtml}a"):
                if "noteref" in (mark.get("{http://www.idpf.org/2007/ops}type") or ""):
                    mark.text = ""
            for paragraph in root.iter(f"{xhtml}p"):
                text = "".join(str(part) for part in paragraph.itertext())
                text = " ".join(re.sub("[\u2060\ufeff\u200b]", "", text).split())
                if len(text) >= 40:
                    found.append(text)
    return found


@needs_shared
@pytest.mark.parametrize(
    ("pdf", "epub", "least"),
    [
        ("pride-and-prejudice-no-outline.pdf", "pride-and-prejudice.epub", 0.97),
        ("problems-of-philosophy-2col.pdf", "problems-of-philosophy.epub", 0.96),
    ],
)
def test_paragraphs_of_the_epub_stand_unchanged_in_the_pdf(pdf: str, epub: str, least: float) -> None:
    book = read_pdf(BOOKS / pdf)
    text = " ".join(joined(book).split())
    wanted = epub_paragraphs(epub)
    assert len(wanted) > 250
    assert sum(paragraph in text for paragraph in wanted) >= least * len(wanted)
    assert "Pride and Prejudice" not in text.replace("Pride and Prejudice is", "")
    assert [file.label for file in book.files] == [str(n + 1) for n in range(len(book.files))]


@needs_shared
def test_the_columns_of_a_latex_paper_are_read_in_order() -> None:
    book = read_pdf(BOOKS / "multicolumn-latex.pdf")
    text = joined(book)
    # Foot of the left column to head of the right one, and over the page.
    places = [
        "Two-Column Document with Lorem Ipsum",
        "Lorem ipsum dolor sit amet, consectetuer adipiscing elit. Ut purus elit",
        "Vivamus viverra fermentum felis. Donec nonummy pellentesque ante. Phasellus adipiscing semper elit.",
        "Curabitur consectetuer.\n\nSuspendisse vel felis.",
        "Vestibulum ante ipsum primis in faucibus orci luctus et ultrices posuere cubilia Curae;",
        "Nulla nec lacus.\n\nSuspendisse vitae elit.",
        "sem dictum tortor, vel consectetuer odio sem sed wisi.\n\nTable 1: EU Countries Information",
        "\nCzech Republic\t10.7\t78,866\tPrague\tCzech\n",
    ]
    offsets = [text.find(place) for place in places]
    assert -1 not in offsets
    assert offsets == sorted(offsets)


@needs_shared
def test_the_scanned_books_are_refused() -> None:
    for name in ("pride-and-prejudice-scanned-10p.pdf", "huckleberry-page-scanned.pdf"):
        with pytest.raises(BadBook) as caught:
            read_pdf(BOOKS / name)
        assert caught.value.key == "book_is_scan"


@needs_shared
def test_a_font_that_does_not_name_its_letters_is_warned_of() -> None:
    book = read_pdf(BOOKS / "habibi-ar.pdf")
    assert [notice.key for notice in book.warnings] == ["book_unknown_glyphs"]


@needs_shared
@pytest.mark.parametrize(("name", "entries"), [("developers-reference-fr", 281), ("debian-reference-ja", 451)])
def test_every_outline_entry_leads_to_its_heading(name: str, entries: int) -> None:
    book = read_pdf(BOOKS / f"{name}.pdf")
    assert len(book.toc) == entries
    exact = sum(
        re.sub(r"\W", "", entry.title)[:12] in re.sub(r"\W", "", book.files[entry.file].text[entry.offset :])[:90]
        for entry in book.toc
    )
    assert exact >= 0.97 * entries
