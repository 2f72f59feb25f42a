"""HTML, FictionBook, Word and MOBI files become text, contents and metadata."""

import io
import struct
import zipfile
from base64 import b64encode
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadBook
from core.formats.assemble import assemble
from core.formats.docx import read_docx
from core.formats.fictionbook import read_fb2
from core.formats.mobi import read_mobi
from core.formats.web import read_html
from core.strings import LOCALES, say
from tests.parts import SHARED, needs_shared

PROSE = "The keeper went down to the water and lit the lamp before the boats came in. " * 6

HTML = f"""<!DOCTYPE html><html lang="pt-BR"><head><title>O Farol</title><meta name="author" content="Ana Lima">
<meta charset="utf-8"><style>p {{}}</style></head><body><h1>O Farol</h1><h2>Um</h2><p>{PROSE}</p>
<h2>Dois</h2><p>Água<sup><a href="#n1">1</a></sup> fria.</p><p>{PROSE}</p></body></html>"""


def test_a_web_page_gives_title_author_language_and_headings() -> None:
    book = assemble(read_html(HTML.encode()))
    assert (book.title, book.authors, book.language, book.format) == ("O Farol", ("Ana Lima",), "pt", "html")
    assert [(entry.title, entry.depth) for entry in book.toc] == [("O Farol", 1), ("Um", 2), ("Dois", 2)]
    assert [chapter.title for chapter in book.chapters] == ["Um", "Dois"]
    assert "Água fria." in "".join(file.text for file in book.files)


FB2 = f"""<?xml version="1.0" encoding="utf-8"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><author><first-name>Анна</first-name><last-name>Лампова</last-name></author>
<book-title>Маяк</book-title><coverpage><image l:href="#c.png"/></coverpage><lang>ru</lang></title-info>
<document-info><author><nickname>maker</nickname></author></document-info></description>
<body><title><p>Маяк</p></title>
<section><title><p>Часть</p><p>первая</p></title>
 <section><title><p>Глава 1</p></title><p>Слово<a l:href="#n1" type="note">[1]</a> дальше. {PROSE}</p>
  <poem><stanza><v>Мороз и солнце;</v><v>день чудесный!</v></stanza><stanza><v>Ещё ты дремлешь</v></stanza></poem></section>
 <section><title><p>Глава 2</p></title><p>{PROSE}</p><empty-line/><subtitle>* * *</subtitle><p>Конец.</p></section>
</section></body>
<body name="notes"><section id="n1"><title><p>1</p></title><p>Примечание к слову.</p></section></body>
<binary id="c.png" content-type="image/png">{b64encode(b"picture").decode()}</binary></FictionBook>"""


def test_a_fictionbook_gives_nested_sections_verse_by_lines_notes_and_cover() -> None:
    extracted = read_fb2(FB2.encode())
    assert (extracted.title, extracted.authors, extracted.language) == ("Маяк", ("Анна Лампова",), "ru")
    assert extracted.cover == b"picture"
    book = assemble(extracted)
    text = "\n\n".join(file.text for file in book.files)
    assert "Слово дальше." in text
    assert "Мороз и солнце;\nдень чудесный!\n\nЕщё ты дремлешь" in text
    assert [entry.title for entry in book.toc] == ["Маяк", "Часть первая", "Глава 1", "Глава 2"]
    assert [chapter.title for chapter in book.chapters] == ["Глава 1", "Глава 2"]
    notes = [index for index, file in enumerate(book.files) if "Примечание к слову." in file.text]
    assert frozenset(notes) == extracted.back_files
    assert book.chapters[-1].end.file < notes[0], "notes are of no chapter"


@given(st.text(max_size=300), st.integers(0, len(FB2)))
def test_a_damaged_fictionbook_gives_what_is_left_of_it(junk: str, at: int) -> None:
    read_fb2((FB2[:at] + junk + FB2[at + len(junk) :]).encode("utf-8", "replace"))


def _docx(paragraphs: list[tuple[str, str]], extra: dict[str, bytes] | None = None) -> bytes:
    """A Word document of (style, words) as Word would save it, reduced to what a reader needs."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>'
        for style, words in paragraphs
    )
    names = {"Heading1": "heading 1", "Heading2": "heading 2", "Normal": "Normal"}
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in names.items()
    )
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType="text/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{relation}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{relation}/styles" Target="styles.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{word}">{styles}</w:styles>',
        "docProps/core.xml": '<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The Lamp</dc:title><dc:creator>A. Writer; B. Other</dc:creator></cp:coreProperties>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
        for name, data in (extra or {}).items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_a_word_document_gives_heading_styles_as_contents_and_its_properties() -> None:
    data = _docx(
        [
            ("Heading1", "Dawn"),
            ("Normal", PROSE),
            ("Heading2", "Mist"),
            ("Normal", PROSE),
            ("Heading1", "Dusk"),
            ("Normal", PROSE),
        ]
    )
    book = assemble(read_docx(data))
    assert (book.title, book.authors, book.language) == ("The Lamp", ("A. Writer", "B. Other"), "en")
    assert [(entry.title, entry.depth) for entry in book.toc] == [("Dawn", 1), ("Mist", 2), ("Dusk", 1)]


def test_a_word_document_that_unpacks_to_too_much_is_refused() -> None:
    with pytest.raises(BadBook) as caught:
        read_docx(_docx([("Normal", PROSE)], {"word/media/bomb.bin": bytes(20_000_000)}))
    assert caught.value.key == "book_docx_too_large"


@pytest.mark.parametrize("cut", [10, 400, 900])
def test_a_cut_word_document_is_one_plain_refusal(cut: int) -> None:
    with pytest.raises(BadBook) as caught:
        read_docx(_docx([("Normal", PROSE)])[:cut])
    assert caught.value.key == "book_docx_broken"


def test_a_word_document_without_its_main_part_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/other.xml", "<x/>")
    with pytest.raises(BadBook):
        read_docx(buffer.getvalue())


def _mobi(html: bytes, *, version: int = 6, packing: int = 1, locked: int = 0) -> bytes:
    """A MOBI file of one text record."""
    title = "Farol de Água".encode()
    header = struct.pack(">HHLHHHH", packing, 0, len(html), 1, 4096, locked, 0)
    header += b"MOBI" + struct.pack(">LLLLL", 232, 2, 65001, 1, version)
    header = header.ljust(84, b"\0") + struct.pack(">LL", 248, len(title))
    header = header.ljust(248, b"\0") + title
    first = 78 + 16 + 2
    table = struct.pack(">LLLL", first, 0, first + len(header), 1)
    return b"Farol".ljust(60, b"\0") + b"BOOKMOBI" + bytes(8) + struct.pack(">H", 2) + table + b"\0\0" + header + html


def test_a_mobi_file_gives_its_text_title_and_headings() -> None:
    html = f"<html><body><h2>Um</h2><p>{PROSE}</p><mbp:pagebreak/><h2>Dois</h2><p>Água fria. {PROSE}</p></body></html>"
    book = assemble(read_mobi(_mobi(html.encode())))
    assert book.title == "Farol de Água"
    assert [chapter.title for chapter in book.chapters] == ["Um", "Dois"]
    assert "Água fria." in "".join(file.text for file in book.files)


def test_packed_mobi_text_is_unpacked() -> None:
    # literals; a run of two raw bytes (é); a space with "s"; a copy of five bytes from ten before
    packed = b"<p>abcde " + b"\x02\xc3\xa9" + bytes([0x80 ^ ord("s")]) + struct.pack(">H", 0x8000 | 10 << 3 | 2)
    assert read_mobi(_mobi(packed, packing=2)).files[0].text == "abcde é sabcde"


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (_mobi(b"<p>x</p>", version=8), "book_mobi_unreadable"),
        (_mobi(b"<p>x</p>", packing=17480), "book_mobi_unreadable"),
        (_mobi(b"<p>x</p>", locked=2), "book_mobi_protected"),
        (_mobi(b"<p>x</p>")[:90], "book_mobi_broken"),
        (b"", "book_mobi_broken"),
    ],
)  # fmt: skip
def test_mobi_files_whose_text_does_not_come_out_are_refused_in_a_sentence(data: bytes, key: str) -> None:
    with pytest.raises(BadBook) as caught:
        read_mobi(data)
    assert caught.value.key == key
    assert all(say(key, locale) for locale in LOCALES)


@given(st.binary(max_size=300), st.integers(0, 400))
def test_damaged_mobi_and_word_files_end_in_text_or_a_refusal(junk: bytes, at: int) -> None:
    for read, whole in ((read_mobi, _mobi(b"<p>Some words here</p>" * 9, packing=2)), (read_docx, _DOCX)):
        with suppress(BadBook):
            read(whole[:at] + junk + whole[at + len(junk) :])


_DOCX = _docx([("Heading1", "Dawn"), ("Normal", PROSE)])


def test_a_book_without_text_is_refused() -> None:
    with pytest.raises(BadBook) as caught:
        assemble(read_html(b"<html><body><img src='x.png'></body></html>"))
    assert caught.value.key == "book_no_text"


@needs_shared
def test_real_files_give_their_chapters_titles_and_authors() -> None:
    assert SHARED is not None
    books = SHARED / "books"
    news = assemble(read_html((books / "news-from-nowhere.html").read_bytes()))
    assert [chapter.title.split(":")[0] for chapter in news.chapters][:2] == ["CHAPTER I", "CHAPTER II"]
    assert len(news.chapters) == 32 or news.chapters[31].title.startswith("CHAPTER XXXII")
    souls = assemble(read_fb2((books / "mertvye-dushi-ru.fb2").read_bytes()))
    assert (souls.title, souls.authors, len(souls.chapters)) == ("Мёртвые души", ("Н. В. Гоголь",), 15)
    problems = assemble(read_docx((books / "problems-of-philosophy.docx").read_bytes()))
    assert (problems.title, problems.authors, len(problems.chapters)) == (
        "The Problems of Philosophy",
        ("Bertrand Russell",),
        15,
    )
    assert problems.chapters[0].title == "I. Appearance and Reality"
    casmurro = assemble(read_mobi((books / "dom-casmurro-pt.mobi").read_bytes()))
    assert (casmurro.title, casmurro.language, len(casmurro.chapters)) == ("Dom Casmurro", "pt", 148)
    with pytest.raises(BadBook):
        read_mobi((books / "die-verwandlung-de.azw3").read_bytes())
