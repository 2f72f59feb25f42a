"""Plain text and Markdown become paragraphs and contents, whatever their encoding and line ends."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats.assemble import assemble
from core.formats.markdown import read_markdown
from core.formats.pieces import PIECE, cut_files
from core.formats.plain import read_text
from core.model import Position
from tests.parts import SHARED, needs_shared

WRAPPED = """\
It was a dark and stormy night; the rain fell in torrents, except at
occasional intervals, when it was checked by a violent gust of wind
which swept up the streets, rattling along the housetops, and fiercely
agitating the scanty flame of the lamps that struggled against the
darkness.

Through one of the obscurest quarters of London, and among haunts
little loved by the gentlemen of the police, a man, evidently of the
lowest orders, was wending his solitary way.
"""
VERSE = """\
    Tyger Tyger, burning bright,
    In the forests of the night;
    What immortal hand or eye,
    Could frame thy fearful symmetry?
"""


def _text(data: bytes) -> str:
    return "\n\n".join(file.text for file in read_text(data).files)


def test_hard_wrapped_prose_is_joined_and_verse_keeps_its_lines() -> None:
    text = _text((WRAPPED * 3 + "\n" + VERSE).encode())
    assert "in torrents, except at occasional intervals" in text
    assert "the lamps that struggled against the darkness.\n\nThrough one" in text
    assert "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat" in text


def test_short_lines_inside_wrapped_prose_keep_their_newlines() -> None:
    text = _text((WRAPPED * 3 + "\nFIRST PART\nI\nII\nIII\nSECOND PART\n").encode())
    assert "FIRST PART\nI\nII\nIII\nSECOND PART" in text


def test_a_hyphen_at_the_end_of_a_wrapped_line_joins_without_a_space() -> None:
    wrapped = WRAPPED.replace("fell in torrents, except at\noccasional", "fell in torrents, au-\ndessus occasional")
    assert "torrents, au-dessus occasional" in _text((wrapped + "\n" + WRAPPED * 3).encode())


def test_lines_that_are_paragraphs_are_told_from_wrapped_ones() -> None:
    long = "He walked on through the snow and did not look back at the house where he was born. " * 3
    text = _text("\n".join(long.strip() for _ in range(40)).encode())
    assert text.count("\n\n") == 39


def test_windows_line_ends_and_form_feeds_are_line_ends() -> None:
    assert _text(b"One two.\r\n\r\nThree.\x0c\n\nFour.\r\n") == "One two.\n\nThree.\n\nFour."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1251", "koi8-r"])
def test_russian_is_read_in_every_encoding_without_declaration(encoding: str) -> None:
    text = "Мёртвые души. Глава первая начинается здесь, и в ворота гостиницы въехала бричка.\n\n" * 40
    data = text.encode(encoding)
    if encoding == "utf-16-le":
        data = b"\xff\xfe" + data
    assert "в ворота гостиницы въехала бричка" in _text(data)


@given(st.binary(max_size=400))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    for read in (read_text, read_markdown):
        extracted = read(data)
        assert [file.index for file in extracted.files] == list(range(len(extracted.files)))
        for mark in extracted.headings:
            assert 0 <= mark.position.offset <= len(extracted.files[mark.position.file].text)


@given(st.lists(st.sampled_from(["word " * 50, "x" * 200, "\n\n", "\n", "# A", "字" * 90]), max_size=400), st.data())
def test_cutting_loses_nothing_but_blank_lines_and_keeps_headings_in_place(
    parts: list[str], data: st.DataObject
) -> None:
    text = "".join(parts)
    places = sorted(data.draw(st.sets(st.integers(0, max(0, len(text) - 1)), max_size=8)))
    headings = [(1 + place % 3, f"h{place}", place) for place in places]
    files, marks, starts = cut_files(text, headings)
    assert "".join("".join(file.text for file in files).split()) == "".join(text.split())
    assert all(one < other for one, other in pairwise(starts))
    if files:
        assert len(marks) == len(headings)
        for mark, place in zip(marks, places, strict=True):
            if not text[place].isspace():
                assert files[mark.position.file].text[mark.position.offset] == text[place]


def test_long_text_is_cut_at_paragraph_ends() -> None:
    paragraph = "The sea was calm that morning and the boats lay still. " * 10
    files, _, starts = cut_files("\n\n".join([paragraph.strip()] * 300), [])
    assert all(PIECE * 0.5 <= len(file.text) <= PIECE * 1.5 for file in files)
    assert all(file.text.startswith("The sea") and file.text.endswith("still.") for file in files)
    assert len(starts) == len(files)


def test_chapters_of_a_text_file_become_contents() -> None:
    body = "\n\n".join(f"CHAPTER {n}\n\n{WRAPPED}" for n in ("I", "II", "III"))
    book = assemble(read_text(body.encode()))
    assert [chapter.title for chapter in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert book.format == "txt"
    assert book.title == "", "a chapter's heading is no title of a book"


def test_the_head_of_a_project_gutenberg_file_names_title_author_and_language() -> None:
    head = "The Project Gutenberg EBook of X\n\nTitle: The X\n\nAuthor: A. Writer\n\nLanguage: French\n\n"
    extracted = read_text((head + WRAPPED).encode())
    assert (extracted.title, extracted.authors, extracted.language) == ("The X", ("A. Writer",), "fr")


MARKDOWN = """\
---
title: "The Lamp"
author: A. Writer
lang: en-GB
---

# The Lamp

Some *emphasis*, some **strength**, a [link](http://example.org) and `code`.[^1]
The same paragraph goes on here.

## One

- first item
- second item

1. counted

| name | use |
|------|-----|
| wick | burns |

```python
def light():
    return "on"  # [^1] stays
```

> A quotation.

## Two

Roses are red,\\
violets are blue.

[^1]: Note
[^2]: A longer note.
"""


def test_markdown_gives_words_without_marks_and_headings_as_contents() -> None:
    extracted = read_markdown(MARKDOWN.encode())
    text = "\n\n".join(file.text for file in extracted.files)
    assert (extracted.title, extracted.authors, extracted.language) == ("The Lamp", ("A. Writer",), "en-GB")
    assert "Some emphasis, some strength, a link and code. The same paragraph goes on here." in text
    assert "first item\nsecond item" in text
    assert "name\tuse\nwick\tburns" in text
    assert 'def light():\n    return "on"  # [^1] stays' in text
    assert "Roses are red,\nviolets are blue." in text
    assert "[1] Note" in text
    assert "A longer note." in text
    assert "title:" not in text
    assert [(mark.level, mark.title) for mark in extracted.headings] == [(1, "The Lamp"), (2, "One"), (2, "Two")]
    book = assemble(extracted)
    assert book.language == "en"
    assert [entry.title for entry in book.toc] == ["The Lamp", "One", "Two"]


def test_markdown_leaves_out_scripts_and_keeps_the_text_of_other_markup() -> None:
    text = read_markdown(b"<div>\n\nOne <b>two</b>\n\n</div>\n\n<script>evil()</script>\n\nThree").files[0].text
    assert text == "One two\n\nThree"


@needs_shared
def test_a_novel_in_latin_1_is_joined_to_paragraphs_and_has_its_thirty_five_chapters() -> None:
    assert SHARED is not None
    book = assemble(read_text((SHARED / "books" / "madame-bovary-fr-latin1.txt").read_bytes()))
    text = "\n\n".join(file.text for file in book.files)
    assert "Nous étions à l'Étude, quand le Proviseur entra, suivi d'un nouveau habillé en bourgeois" in text
    assert len(book.chapters) == 35
    assert (book.title, book.language) == ("Madame Bovary", "fr")
    assert book.chapters[0].start == Position(1, book.files[1].text.index("I\n\nNous étions"))


@needs_shared
@pytest.mark.parametrize("name", ["cp1251-ru", "koi8r-ru", "utf16le-bom-ru"])
def test_undeclared_encodings_of_real_files_are_read(name: str) -> None:
    assert SHARED is not None
    book = assemble(read_text((SHARED / "books" / "hostile" / f"{name}.txt").read_bytes()))
    assert "В ворота гостиницы губернского города" in book.files[0].text
    assert book.language == "ru"


@needs_shared
def test_a_markdown_book_keeps_its_words_and_chapters() -> None:
    assert SHARED is not None
    book = assemble(read_markdown((SHARED / "books" / "entre-nous-fr.md").read_bytes()))
    assert len(book.chapters) >= 37
    assert book.title == "ENTRE NOUS."
    assert any("La petite Marie était de nouveau seule." in file.text for file in book.files)
