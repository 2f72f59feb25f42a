"""The kind of a file is told by its content, and every kind that is no book has a sentence that says what works."""

import zipfile
from pathlib import Path

import pytest

from core.formats.sniff import _REFUSALS, refusal, sniff
from core.strings import LOCALES, say
from tests.books.builders import page, write_epub

PROSE = b"The keeper went down to the water and lit the lamp before the boats came in.\n\n" * 20
CASES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "empty"),
    "pdf": (b"%PDF-1.7\n...", "pdf"),
    "pdf after junk": (b"\r\n\0junk%PDF-1.4\n", "pdf"),
    "text": (PROSE, "txt"),
    "text in koi8-r": ("Солнце ещё не взошло. ".encode("koi8-r") * 50, "txt"),
    "text in utf-16": ("Солнце ещё не взошло. ".encode("utf-16") * 50, "txt"),
    "text with form feeds": (PROSE + b"\x0c" + PROSE, "txt"),
    "text that begins like a bitmap": (b"BM means bookmark. " + PROSE, "txt"),
    "text with one hash": (b"# 1 in the charts\n\n" + PROSE, "txt"),
    "json": (b'{"a": [1, 2, 3], "b": "x"}', "txt"),
    "markdown": (b"# A book\n\n## One\n\nSome *words* and [a link](http://x).\n\n" + PROSE, "md"),
    "markdown by headings": (b"# A\n\ntext\n\n# B\n\ntext\n\n# C\n\ntext\n", "md"),
    "html": (b"<!DOCTYPE html>\n<html><body><p>x</p></body></html>", "html"),
    "html after a comment": (b"<!-- saved -->\n<html><body><p>x</p></body></html>", "html"),
    "html without a head": (b"\xef\xbb\xbf<h1>Title</h1><p>text</p>", "html"),
    "html in utf-16": ("<html><body><p>текст</p></body></html>".encode("utf-16"), "html"),
    "fb2": (b'<?xml version="1.0"?>\n<FictionBook xmlns="x"><body/></FictionBook>', "fb2"),
    "svg": (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "picture"),
    "other xml": (b'<?xml version="1.0"?><rss><channel/></rss>', "unknown"),
    "mobi": (b"a book".ljust(60, b"\0") + b"BOOKMOBI" + b"\0" * 90, "mobi"),
    "topaz": (b"TPZ0" + b"\0" * 40, "kindle"),
    "doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 40, "office"),
    "rtf": (b"{\\rtf1\\ansi hello}", "office"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 40, "picture"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture"),
    "webp": (b"RIFF\0\0\0\0WEBPVP8 ", "picture"),
    "mp3": (b"ID3\x04\0\0\0\0\0\0", "sound"),
    "m4b": (b"\0\0\0\x20ftypM4B \0\0\0\0", "sound"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\x04", "archive"),
    "rar": (b"Rar!\x1a\x07\x01\0" + b"\0" * 20 + b"notes.txt", "archive"),
    "cbr": (b"Rar!\x1a\x07\x01\0" + b"\0" * 20 + b"page001.jpg" + b"\0" * 20, "comic"),
    "gzip": (b"\x1f\x8b\x08\0\0\0\0\0", "archive"),
    "elf": (b"\x7fELF\x02\x01\x01\0", "program"),
    "exe": (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff", "program"),
    "noise": (bytes(range(256)) * 16, "unknown"),
}


@pytest.mark.parametrize("name", CASES)
def test_content_tells_the_kind_whatever_the_name(tmp_path: Path, name: str) -> None:
    data, kind = CASES[name]
    path = tmp_path / "book.epub"
    path.write_bytes(data)
    assert sniff(path) == kind


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (["mimetype", "META-INF/container.xml", "a.xhtml"], "epub"),
        (["x/book.opf", "x/a.xhtml"], "epub"),
        (["[Content_Types].xml", "word/document.xml"], "docx"),
        (["[Content_Types].xml", "xl/workbook.xml"], "office"),
        (["book.fb2"], "fb2zip"),
        (["1.jpg", "2.jpg", "3.PNG", "4.webp", "info.xml"], "comic"),
        (["a.txt", "b.txt"], "archive"),
        ([], "archive"),
    ],
)
def test_what_lies_in_a_zip_tells_its_kind(tmp_path: Path, entries: list[str], kind: str) -> None:
    path = tmp_path / "file.bin"
    with zipfile.ZipFile(path, "w") as archive:
        for name in entries:
            archive.writestr(name, "x")
    assert sniff(path) == kind


def test_half_an_epub_is_still_an_epub(tmp_path: Path) -> None:
    path = write_epub(tmp_path / "b.epub", {"a.xhtml": page("<p>text</p>")})
    path.write_bytes(path.read_bytes()[:300])
    assert sniff(path) == "epub"


@pytest.mark.parametrize("locale", LOCALES)
def test_every_refusal_names_what_works_instead(locale: str) -> None:
    for kind, key in _REFUSALS.items():
        error = refusal(kind)
        assert error is not None
        sentence = say(key, locale)
        assert error.key == key
        assert "EPUB" in sentence or kind == "empty"
    assert refusal("epub") is None
