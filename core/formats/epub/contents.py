"""From references to places: the contents, the page list and the marked parts of an EPUB as (file, offset)."""

from collections.abc import Iterator, Mapping, Sequence
from posixpath import dirname, join
from urllib.parse import unquote

from lxml import etree

from core.formats.epub.package import Entry, Package
from core.formats.xhtml import PageText
from core.model import PageMark, Position, TocEntry

_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"

_FRONT_WORDS = (
    "frontmatter cover titlepage title-page halftitlepage half-title imprint copyright-page dedication epigraph toc "
    "landmarks loi lot loa lov acknowledgments acknowledgements contributors other-credits"
)
_FRONT = frozenset(_FRONT_WORDS.split())
_BACK_WORDS = "backmatter colophon endnotes footnotes rearnotes notes bibliography index glossary errata credits"
_BACK = frozenset(_BACK_WORDS.split())
_EITHER = frozenset(
    ("copyright-page", "imprint", "acknowledgments", "acknowledgements", "contributors", "other-credits")
)


class Places:
    """Where each archive entry and anchor of the reading order stands."""

    def __init__(self, package: Package, files: Mapping[str, int], pages: Sequence[PageText]) -> None:
        self._package = package
        self._files = files
        self._pages = pages
        self._folded: dict[int, dict[str, int]] = {}

    def resolve(self, href: str, base: str) -> Position | None:
        """The place a reference means; the start of its file when the anchor is missing, None when the file is."""
        path, _, fragment = href.partition("#")
        if not path:
            return None
        name = self._package.archive.find(join(base, path))
        file = self._files.get(name) if name else None
        if file is None:
            return None
        return Position(file, self._anchor(file, fragment) if fragment else 0)

    def _anchor(self, file: int, fragment: str) -> int:
        anchors = self._pages[file].anchors
        for spelling in (fragment, unquote(fragment)):
            if spelling in anchors:
                return anchors[spelling]
        folded = self._folded.get(file)
        if folded is None:
            folded = self._folded[file] = {}
            for name, offset in anchors.items():
                folded.setdefault(name.casefold(), offset)
        return folded.get(unquote(fragment).casefold(), 0)


def place_toc(package: Package, places: Places) -> list[TocEntry]:
    """The contents with every entry at its place; a heading without a link stands where its first child does."""
    entries: list[TocEntry] = []
    for entry in package.toc:
        entries += _placed(entry, 1, package.toc_base, places)
    return entries


def _placed(entry: Entry, depth: int, base: str, places: Places) -> list[TocEntry]:
    position = places.resolve(entry.href, base)
    below = [placed for child in entry.children for placed in _placed(child, depth + 1, base, places)]
    if position is None and below and not entry.href:
        position = Position(below[0].file, below[0].offset)
    if position is None or not entry.title:
        return below
    return [TocEntry(entry.title, depth, position.file, position.offset), *below]


def place_pages(package: Package, places: Places, pages: Sequence[PageText]) -> list[PageMark]:
    """Printed pages: the page list of the navigation document, else of the NCX, else page breaks met in the text."""
    marks = [
        PageMark(label, position.file, position.offset)
        for label, href, base in (*_nav_pages(package),) or (*_ncx_pages(package),)
        if label and (position := places.resolve(href, base)) is not None
    ]
    if not marks:
        marks = [PageMark(label, file, at) for file, page in enumerate(pages) for label, at in page.pages if label]
    return sorted(marks, key=lambda mark: (mark.file, mark.offset))


def _navs(package: Package, type_: str) -> Iterator[tuple[etree._Element, str]]:
    """The links of one `nav` of the navigation document and the folder they start from."""
    root = package.nav_root()
    if root is None:
        return
    base = dirname(join(package.opf_dir, package.nav.file_name))
    for nav in root.iter("{*}nav"):
        if type_ in _types(nav):
            yield from ((link, base) for link in nav.iter("{*}a") if link.get("href"))


def _types(node: etree._Element) -> list[str]:
    return (node.get(_EPUB_TYPE) or node.get("epub:type") or "").split()


def _nav_pages(package: Package) -> Iterator[tuple[str, str, str]]:
    for link, base in _navs(package, "page-list"):
        yield _words(link), link.get("href") or "", base


def _ncx_pages(package: Package) -> Iterator[tuple[str, str, str]]:
    root = package.ncx_root()
    if root is None:
        return
    base = dirname(join(package.opf_dir, package.ncx.file_name))
    for target in root.iter("{*}pageTarget"):
        label = next((_words(node) for node in target.iter("{*}navLabel")), "") or target.get("value") or ""
        href = next((node.get("src") or "" for node in target.iter("{*}content")), "")
        yield label, href, base


def _words(node: etree._Element) -> str:
    return " ".join("".join(map(str, node.itertext())).split())


def mark_matter(package: Package, places: Places, pages: Sequence[PageText]) -> tuple[frozenset[int], frozenset[int]]:
    """Files the book marks as front and as back matter: by their own types, landmarks and the guide.

    A file that is marked as several things holds several, and is left unmarked.
    """
    said: dict[int, set[str]] = {}
    for file, page in enumerate(pages):
        said.setdefault(file, set()).update(_side(page.types, file, len(pages)))
    named = [(link.get("href") or "", _types(link), base) for link, base in _navs(package, "landmarks")]
    named += [
        (mark.get("href") or "", (mark.get("type") or "").split(), package.opf_dir) for mark in package.book.guide
    ]
    for href, types, base in named:
        if (position := places.resolve(href, base)) is not None:
            said.setdefault(position.file, set()).update(_side(types, position.file, len(pages)))
    front = frozenset(file for file, sides in said.items() if sides == {"front"})
    back = frozenset(file for file, sides in said.items() if sides == {"back"})
    if all(file in front or file in back for file, page in enumerate(pages) if page.text):
        return frozenset(), frozenset()
    return front, back


def _side(types: Sequence[str] | frozenset[str], file: int, files: int) -> set[str]:
    words = {word.lower() for word in types}
    if words & {"bodymatter", "text", "start", "chapter", "part"}:
        return {"body"}
    if words & _BACK or (words & _EITHER and 2 * file > files):
        return {"back"}
    return {"front"} if words & _FRONT else set()
