"""An EPUB read whole: the reading order, the text of each file, and what the package says about the book."""

from pathlib import Path
from typing import Any

from core.errors import BadBook
from core.formats.epub.archive import Archive
from core.formats.epub.contents import Places, mark_matter, place_pages, place_toc
from core.formats.epub.cover import read_cover
from core.formats.epub.package import Package
from core.formats.epub.protection import refuse_locked
from core.formats.extracted import Extracted, HeadingMark
from core.formats.markup import parse
from core.formats.xhtml import PageText, read_page
from core.model import Notice, Position, SpineFile

MOST_CHARACTERS = 20_000_000
_DOCUMENTS = ("application/xhtml+xml", "text/html", "application/xml", "text/xml", "application/x-dtbook+xml")
_SVG = "image/svg+xml"


def read_epub(path: Path) -> Extracted:
    """The book of an EPUB 2 or 3. Raises BadBook: broken, protected, past a limit, without text."""
    archive = Archive(path)
    package = Package(archive)
    package.load()
    linear, others, missing = _order(package)
    refuse_locked(archive, {*linear, *others, *_manifest_documents(package)})
    names: list[str] = []
    pages: list[PageText] = []
    characters = pictures = 0
    for number, name in enumerate((*linear, *others)):
        page, pictured = _read(archive, name)
        pictures += pictured
        if number < len(linear) or page.text:
            names.append(name)
            pages.append(page)
        characters += len(page.text)
        if characters > MOST_CHARACTERS:
            raise BadBook("book_too_long", most=MOST_CHARACTERS // 1_000_000)
    if not characters:
        raise BadBook("book_epub_only_pictures" if pictures else "book_no_text")
    places = Places(package, {name: file for file, name in enumerate(names)}, pages)
    front, back = mark_matter(package, places, pages)
    missing += sum(name in archive.damaged for name in names)
    return Extracted(
        format="epub",
        files=[SpineFile(file, "", page.text) for file, page in enumerate(pages)],
        title=next((title for title, _ in package.words("title")), ""),
        authors=_authors(package),
        language=next((language for language, _ in package.words("language")), "")
        .replace("_", "-")
        .split("-")[0]
        .lower(),
        toc=place_toc(package, places),
        headings=[
            HeadingMark(heading.level, heading.title, Position(file, heading.offset))
            for file, page in enumerate(pages)
            for heading in page.headings
        ],
        pages=place_pages(package, places, pages),
        warnings=[Notice("book_parts_missing", {"count": missing})] if missing else [],
        cover=read_cover(package),
        front_files=front,
        back_files=back,
    )


def _order(package: Package) -> tuple[list[str], list[str], int]:
    """Archive entries in reading order: linear ones, the others, and how many parts of the spine are not there.

    Each entry once; without the navigation document; when the spine is empty, documents in the manifest's order.
    """
    spine = [(package.items.get(idref or ""), linear != "no") for idref, linear in package.book.spine]
    missing = sum(item is None for item, _ in spine)
    if not any(item for item, _ in spine):
        spine = [(item, True) for item in package.items.values() if item.media_type in _DOCUMENTS]
    order: dict[bool, list[str]] = {True: [], False: []}
    seen: set[str] = set()
    for wanted in (True, False):
        for item, linear in spine:
            if item is None or item is package.nav or linear is not wanted or not _may_hold_text(item):
                continue
            name = package.find(item.file_name)
            if name is None:
                missing += linear
            elif name not in seen:
                seen.add(name)
                order[linear].append(name)
    return order[True], order[False], missing


def _may_hold_text(item: Any) -> bool:
    kind = (item.media_type or "").lower()
    return kind == _SVG or not kind.startswith(("image/", "audio/", "video/", "font/", "application/pdf"))


def _manifest_documents(package: Package) -> list[str]:
    items = [item for item in package.items.values() if item.media_type in _DOCUMENTS]
    return [name for item in items if (name := package.find(item.file_name))]


def _read(archive: Archive, name: str) -> tuple[PageText, bool]:
    """The text of one entry, and whether it shows pictures."""
    root = parse(archive.read(name))
    if root is None:
        return PageText(""), False
    pictured = next(root.iter("{*}img", "{*}image", "{*}svg", "img", "svg"), None) is not None
    return read_page(root), pictured


def _authors(package: Package) -> tuple[str, ...]:
    """Creators, those of another role than author left out where roles are given; "Unknown" is nobody."""
    roles: dict[str, set[str]] = {}
    for role, facts in package.meta():
        if facts.get("property") == "role":
            roles.setdefault(facts.get("refines", "")[1:], set()).add(role.strip())
    names: dict[str, None] = {}
    for name, attributes in package.words("creator"):
        role_here = attributes.get("{http://www.idpf.org/2007/opf}role")
        given = {role_here} if role_here else roles.get(attributes.get("id", ""))
        if (not given or "aut" in given) and name.casefold() != "unknown":
            names[name] = None
    return tuple(names)
