"""EPUBs: the reading order, contents at their places, what the package says, and what is refused."""

import hashlib
import random
import zipfile
from pathlib import Path

import pytest

from core.errors import BadBook
from core.formats.epub import read_epub
from core.formats.epub.archive import MOST_ENTRIES
from core.formats.extracted import Extracted
from core.model import Notice
from tests.books.builders import CONTAINER, Line, page, write_epub
from tests.books.mutations import mutate
from tests.books.sentinels import plant
from tests.parts import SHARED, needs_shared

BOOKS = sorted((SHARED / "books").glob("*.epub")) if SHARED else []
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData xmlns="http://www.w3.org/2001/04/'
    'xmlenc#"><EncryptionMethod Algorithm="{algorithm}"/><CipherData><CipherReference URI="{uri}"/></CipherData>'
    "</EncryptedData></encryption>"
)


def texts(book: Extracted) -> list[str]:
    return [file.text for file in book.files]


def toc(book: Extracted) -> list[tuple[str, int, str]]:
    return [(entry.title, entry.depth, book.files[entry.file].text[entry.offset :][:6]) for entry in book.toc]


def refuse(path: Path) -> str:
    with pytest.raises(BadBook) as caught:
        read_epub(path)
    return caught.value.key


def test_linear_files_come_first_each_once_and_the_navigation_document_never(tmp_path: Path) -> None:
    pages = {name: page(f"<p>{name}</p>") for name in ("n.xhtml", "a.xhtml", "b.xhtml")} | {"e.xhtml": page("<p/>")}
    spine = [("n.xhtml", False), ("nav", True), ("e.xhtml", False), ("a.xhtml", True), ("b.xhtml", True)]
    path = write_epub(tmp_path / "b.epub", pages, toc=[("A", "a.xhtml")], spine=[*spine, ("a.xhtml", True)])
    assert texts(read_epub(path)) == ["a.xhtml", "b.xhtml", "n.xhtml"]


def test_a_linear_file_without_text_keeps_its_number(tmp_path: Path) -> None:
    pages = {"cover.xhtml": page('<img src="c.png" alt=""/>'), "a.xhtml": page("<p>text</p>")}
    assert texts(read_epub(write_epub(tmp_path / "b.epub", pages))) == ["", "text"]


NESTED: list[Line] = [("Part", "", [("One", "a.xhtml#x"), ("Two", "b%20c.xhtml")]), ("Three", "A.XHTML#%C3%A9")]


@pytest.mark.parametrize("kind", ["nav", "ncx"])
def test_contents_stand_at_their_anchors(tmp_path: Path, kind: str) -> None:
    pages = {
        "a.xhtml": page('<p>begin</p><h2 id="x">One it is</h2><p><a name="é"/>Three.</p>'),
        "b c.xhtml": page("<p>Two goes.</p>"),
    }
    lines = {"toc": NESTED} if kind == "nav" else {"ncx": NESTED}
    book = read_epub(write_epub(tmp_path / "b.epub", pages, **lines))  # type: ignore[arg-type]  # one of two keywords
    assert toc(book) == [("Part", 1, "One it"), ("One", 2, "One it"), ("Two", 2, "Two go"), ("Three", 1, "Three.")]


def test_a_missing_anchor_means_the_file_and_a_missing_file_is_dropped(tmp_path: Path) -> None:
    lines: list[Line] = [
        ("Gone anchor", "a.xhtml#no"),
        ("Gone file", "no.xhtml"),
        ("Outside", "http://example.org/a.xhtml"),
        ("Above", "../../a.xhtml"),
        ("Nothing below", "", []),
        ("Kept", "a.xhtml#k", [("Child of kept", "no.xhtml")]),
    ]
    path = write_epub(tmp_path / "b.epub", {"a.xhtml": page('<p>first</p><p id="k">second</p>')}, toc=lines)
    assert toc(read_epub(path)) == [("Gone anchor", 1, "first\n"), ("Kept", 1, "second")]


def test_the_navigation_document_wins_over_the_ncx_unless_it_is_empty(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<p>text</p>")}
    both = write_epub(tmp_path / "1.epub", pages, toc=[("Nav", "a.xhtml")], ncx=[("Ncx", "a.xhtml")])
    assert toc(read_epub(both)) == [("Nav", 1, "text")]
    empty = write_epub(tmp_path / "2.epub", pages, navs="<p>nothing</p>", ncx=[("Ncx", "a.xhtml")])
    assert toc(read_epub(empty)) == [("Ncx", 1, "text")]


def test_contents_that_cannot_be_read_leave_the_book(tmp_path: Path) -> None:
    for number, broken in enumerate(("<nav epub:type='toc'><ol><li/></ol></nav>", "<nav epub:type='toc'/>", "<<<")):
        path = write_epub(
            tmp_path / f"{number}.epub", {"a.xhtml": page("<p>text</p>")}, navs="x", extra={"OEBPS/nav.xhtml": broken}
        )
        book = read_epub(path)
        assert (texts(book), book.toc) == (["text"], [])


def test_printed_pages_come_from_the_page_list_else_from_page_breaks(tmp_path: Path) -> None:
    pages = {"a.xhtml": page('<p>one <span id="p7" epub:type="pagebreak" title="7"/>two</p>')}
    broken = read_epub(write_epub(tmp_path / "1.epub", pages))
    assert [(mark.label, mark.offset) for mark in broken.pages] == [("7", 4)]
    navs = '<nav epub:type="page-list"><ol><li><a href="a.xhtml#p7">vii</a></li><li><a href="no">8</a></li></ol></nav>'
    listed = read_epub(write_epub(tmp_path / "2.epub", pages, toc=[("A", "a.xhtml")], navs=navs))
    assert [(mark.label, mark.offset) for mark in listed.pages] == [("vii", 4)]


def test_what_the_package_says_is_kept_as_written(tmp_path: Path) -> None:
    metadata = (
        "<dc:title>  The  Lamp: a <!-- x -->Novel </dc:title><dc:language>pt-BR</dc:language>"
        '<dc:creator opf:role="aut">Ana Lima</dc:creator><dc:creator opf:role="ill">Rui Dias</dc:creator>'
        '<dc:creator id="c">Eva Sol</dc:creator><meta refines="#c" property="role">aut</meta>'
        '<meta refines="#c" property="role">ill</meta><dc:creator>Unknown</dc:creator>'
        '<meta name="cover" content="pic"/>'
    )
    book = read_epub(
        write_epub(
            tmp_path / "b.epub",
            {"a.xhtml": page("<p>text</p>")},
            metadata=metadata,
            manifest='<item id="pic" href="c.png" media-type="image/png"/>',
            extra={"OEBPS/c.png": PNG},
        )
    )
    assert (book.title, book.authors, book.language, book.cover) == (
        "The  Lamp: a Novel",
        ("Ana Lima", "Eva Sol"),
        "pt",
        PNG,
    )


def test_a_package_that_says_nothing_is_a_book_without_a_name(tmp_path: Path) -> None:
    book = read_epub(write_epub(tmp_path / "b.epub", {"a.xhtml": page("<p>text</p>")}, metadata=""))
    assert (book.title, book.authors, book.language, book.cover, book.toc) == ("", (), "", None, [])


def test_front_and_back_matter_are_what_the_book_marks_as_such(tmp_path: Path) -> None:
    pages = {
        "t.xhtml": page("<p>title</p>", body_type="frontmatter"),
        "d.xhtml": page("<p>to you</p>"),
        "c.xhtml": page("<p>text</p>", body_type="bodymatter"),
        "i.xhtml": page("<p>imprint</p>"),
        "x.xhtml": page("<p>notes</p>"),
    }
    navs = '<nav epub:type="landmarks"><ol><li><a epub:type="endnotes" href="x.xhtml">Notes</a></li></ol></nav>'
    guide = (
        '<guide><reference type="dedication" href="d.xhtml"/><reference type="copyright-page" href="i.xhtml"/></guide>'
    )
    book = read_epub(write_epub(tmp_path / "b.epub", pages, navs=navs, guide=guide))
    assert (book.front_files, book.back_files) == (frozenset((0, 1)), frozenset((3, 4)))


def test_headings_know_their_file_and_offset(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<h1>A</h1>"), "b.xhtml": page("<p>x</p><h2>B</h2>")}
    book = read_epub(write_epub(tmp_path / "b.epub", pages))
    assert [(h.level, h.title, h.position) for h in book.headings] == [(1, "A", (0, 0)), (2, "B", (1, 3))]


def test_missing_parts_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    spine = [("a.xhtml", True), ("ghost", True), ("no-such-id", True)]
    manifest = (
        '<item id="ghost" href="ghost.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="pic" href="pic.png" media-type="image/png"/><item id="css" href="../s.css" media-type="text/css"/>'
    )
    path = write_epub(tmp_path / "b.epub", {"a.xhtml": page("<p>text</p>")}, spine=spine, manifest=manifest)
    book = read_epub(path)
    assert texts(book) == ["text"]
    assert book.warnings == [Notice("book_parts_missing", {"count": 2})]


def test_a_damaged_entry_is_a_missing_part(tmp_path: Path) -> None:
    path = tmp_path / "b.epub"
    write_epub(path, {"a.xhtml": page("<p>text</p>"), "b.xhtml": page("<p>unlucky</p>" * 50)})
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("OEBPS/b.xhtml").header_offset + 30 + len("OEBPS/b.xhtml")
    data = bytearray(path.read_bytes())
    data[start + 20 : start + 40] = b"\xff" * 20
    path.write_bytes(data)
    book = read_epub(path)
    assert texts(book) == ["text", ""]
    assert book.warnings == [Notice("book_parts_missing", {"count": 1})]


def test_the_first_package_that_is_there_is_read_and_without_a_container_the_only_one(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<p>text</p>")}
    two = CONTAINER.format(path="gone.opf").replace(
        "</rootfiles>", '<rootfile full-path="OEBPS/book.opf"/></rootfiles>'
    )
    assert texts(read_epub(write_epub(tmp_path / "1.epub", pages, extra={"META-INF/container.xml": two}))) == ["text"]
    assert texts(read_epub(write_epub(tmp_path / "2.epub", pages, extra={"META-INF/container.xml": ""}))) == ["text"]


def test_an_empty_spine_means_the_order_of_the_manifest(tmp_path: Path) -> None:
    pages = {"b.xhtml": page("<p>first</p>"), "a.xhtml": page("<p>second</p>")}
    assert texts(read_epub(write_epub(tmp_path / "b.epub", pages, spine=[]))) == ["first", "second"]


@pytest.mark.parametrize("algorithm", ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])
def test_an_obfuscated_font_is_no_lock(tmp_path: Path, algorithm: str) -> None:
    extra = {"META-INF/encryption.xml": ENCRYPTION.format(algorithm=algorithm, uri="OEBPS/f.otf"), "OEBPS/f.otf": "x"}
    assert texts(read_epub(write_epub(tmp_path / "b.epub", {"a.xhtml": page("<p>text</p>")}, extra=extra))) == ["text"]


def test_an_encrypted_chapter_is_refused(tmp_path: Path) -> None:
    lock = ENCRYPTION.format(algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc", uri="OEBPS/a.xhtml")
    path = write_epub(tmp_path / "b.epub", {"a.xhtml": page("<p>text</p>")}, extra={"META-INF/encryption.xml": lock})
    assert refuse(path) == "book_protected"


def test_every_refusal_has_its_own_reason(tmp_path: Path) -> None:
    junk = tmp_path / "junk.epub"
    junk.write_bytes(b"PK\x03\x04 and then nothing")
    assert refuse(junk) == "book_epub_broken"
    nothing = tmp_path / "nothing.epub"
    with zipfile.ZipFile(nothing, "w") as archive:
        archive.writestr("a.txt", "x")
    assert refuse(nothing) == "book_epub_no_package"
    assert refuse(write_epub(tmp_path / "1.epub", {"a.xhtml": page("<p> </p>")})) == "book_no_text"
    assert refuse(write_epub(tmp_path / "2.epub", {"a.xhtml": page('<img src="x"/>')})) == "book_epub_only_pictures"
    broken = write_epub(tmp_path / "3.epub", {"a.xhtml": page("<p>x</p>")}, extra={"OEBPS/book.opf": "<package><met"})
    assert refuse(broken) == "book_epub_broken"


def test_sizes_are_counted_and_not_believed(tmp_path: Path) -> None:
    bomb = write_epub(tmp_path / "1.epub", {"a.xhtml": page("<p>" + "a" * 20_000_000 + "</p>")})
    assert refuse(bomb) == "book_inflates"
    data = bytearray(bomb.read_bytes())
    with zipfile.ZipFile(bomb) as archive:
        entry = archive.getinfo("OEBPS/a.xhtml")
    told = entry.file_size.to_bytes(4, "little")
    while (at := data.find(told)) >= 0:
        data[at : at + 4] = (1000).to_bytes(4, "little")
    lying = tmp_path / "2.epub"
    lying.write_bytes(data)
    assert refuse(lying) == "book_inflates"
    crowd = tmp_path / "3.epub"
    with zipfile.ZipFile(crowd, "w") as archive:
        for number in range(MOST_ENTRIES + 1):
            archive.writestr(str(number), "")
    assert refuse(crowd) == "book_too_many_entries"


def test_a_blank_picture_may_shrink_as_far_as_it_likes(tmp_path: Path) -> None:
    extra = {"OEBPS/blank.png": b"\0" * 4_000_000}
    assert texts(read_epub(write_epub(tmp_path / "b.epub", {"a.xhtml": page("<p>x</p>")}, extra=extra))) == ["x"]


@pytest.mark.parametrize("seed", range(40))
def test_a_spoilt_file_is_a_book_or_refused(tmp_path: Path, seed: int) -> None:
    pages = {"a.xhtml": page('<h1 id="x">One</h1><p>text</p>'), "b c.xhtml": page("<p>Two goes.</p>")}
    sound = write_epub(tmp_path / "s.epub", pages, toc=NESTED, ncx=NESTED)
    path = tmp_path / "m.epub"
    path.write_bytes(mutate(sound.read_bytes(), random.Random(seed)))
    try:
        book = read_epub(path)
    except BadBook:
        return
    assert any(texts(book))
    assert all(0 <= entry.offset <= len(book.files[entry.file].text) for entry in book.toc)


@needs_shared
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_an_open_book_reads_the_same_twice_with_every_place_inside(path: Path) -> None:
    if path.stem == "page-blanche-fr":
        assert refuse(path) == "book_epub_only_pictures"
        return
    first, second = read_epub(path), read_epub(path)
    assert [hashlib.sha256(text.encode()).hexdigest() for text in texts(first)] == [
        hashlib.sha256(text.encode()).hexdigest() for text in texts(second)
    ]
    assert first.toc
    assert not first.warnings or path.stem == "kusamakura-ja-vertical"
    lengths = [len(file.text) for file in first.files]
    assert all(0 <= entry.offset <= lengths[entry.file] for entry in first.toc)
    assert all(0 <= mark.offset <= lengths[mark.file] for mark in first.pages)
    assert all(0 <= heading.position.offset <= lengths[heading.position.file] for heading in first.headings)


@needs_shared
@pytest.mark.parametrize("name", ["hamlet", "developers-reference-en", "dom-casmurro-pt"])
def test_every_entry_of_the_contents_points_at_its_sentinel(tmp_path: Path, name: str) -> None:
    assert SHARED is not None
    expected = plant(SHARED / "books" / f"{name}.epub", tmp_path / "planted.epub")
    book = read_epub(tmp_path / "planted.epub")
    found = [book.files[entry.file].text[entry.offset :].split()[0] for entry in book.toc]
    assert [entry.title for entry in book.toc] == [entry.title for entry in expected]
    assert found == [entry.sentinel for entry in expected]
