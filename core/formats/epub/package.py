"""What EbookLib reads for us: package, manifest, spine, guide and the contents tree, through a guarded subclass.

EbookLib would stop at the first missing file, read every picture and trust every size; so it gets its bytes here.
"""

from collections.abc import Mapping
from contextlib import suppress
from posixpath import dirname, join
from typing import Any, NamedTuple, cast

from ebooklib import epub
from lxml import etree

from core.errors import BadBook
from core.formats.elements import name_of
from core.formats.epub.archive import Archive
from core.formats.markup import parse, parse_xml

_OPF = "http://www.idpf.org/2007/opf"
_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_NCX = "http://www.daisy.org/z3986/2005/ncx/"
_CONTAINER = "META-INF/container.xml"
# What EbookLib's walk over a malformed tree may trip on. It has no errors of its own for this.
_TRIPS = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError, etree.LxmlError)


class Entry(NamedTuple):
    """One line of the contents as written: its reference may be empty, relative, outside or wrong."""

    title: str
    href: str
    children: "tuple[Entry, ...]"


class Package(epub.EpubReader):  # type: ignore[misc]  # EbookLib carries no types
    """One EPUB's package. After `load`: `items`, `spine`, `toc`, `toc_base`, `nav`, `ncx`. Raises BadBook."""

    def __init__(self, archive: Archive) -> None:
        super().__init__("", {"ignore_ncx": True})
        self.archive = archive
        self.items: dict[str, Any] = {}
        """Manifest items by id; the first of a doubled id counts."""
        self.toc: tuple[Entry, ...] = ()
        self.toc_base = ""
        """The folder that references of `toc` start from."""
        self.nav: Any = None
        self.ncx: Any = None
        self._ncx_id: str | None = None

    def find(self, href: str) -> str | None:
        """The archive entry of a manifest reference."""
        return self.archive.find(join(self.opf_dir, href))

    # What EbookLib calls.

    def read_file(self, name: str) -> bytes:
        """The bytes EbookLib may see: XML mended and without entities. Missing files are empty; contents come later."""
        return b""

    def _load(self) -> None:
        self._load_container()
        try:
            self._load_opf_file()
        except _TRIPS:
            raise BadBook("book_epub_broken") from None
        self._read_toc()

    def _load_container(self) -> None:
        """The first package named by the container that is there, else the shallowest package in the archive."""
        paths: list[str] = []
        if (name := self.archive.find(_CONTAINER)) and (root := parse_xml(self.archive.read(name))) is not None:
            paths = [path for node in root.iter("{*}rootfile") if (path := node.get("full-path"))]
        packages = sorted((n for n in self.archive.names if n.lower().endswith(".opf")), key=lambda n: n.count("/"))
        found = next((name for path in (*paths, *packages) if (name := self.archive.find(path))), None)
        if found is None:
            raise BadBook("book_epub_no_package")
        self.opf_file, self.opf_dir = found, dirname(found)

    def _load_opf_file(self) -> None:
        root = parse_xml(self.archive.read(self.opf_file))
        if root is None:
            raise BadBook("book_epub_broken")
        _give_namespace(root, _OPF)
        self.container = etree.ElementTree(root)
        for part in ("metadata", "manifest", "spine"):
            if root.find(f"{{{_OPF}}}{part}") is None:
                if part == "manifest":
                    raise BadBook("book_epub_broken")
                etree.SubElement(root, f"{{{_OPF}}}{part}")
        for item in root.iter(f"{{{_OPF}}}item"):
            if not item.get("href") or not item.get("id"):
                item.tag = "left-out"
        spine = root.find(f"{{{_OPF}}}spine")
        if spine is not None and (toc := spine.get("toc")):
            self._ncx_id = toc
            del spine.attrib["toc"]  # EbookLib would read it at once; `_read_toc` decides
        self._load_metadata()
        self._load_manifest()
        self._load_spine()
        self._load_guide()
        for item in self.book.items:
            self.items.setdefault(item.id, item)
        self.nav = next((item for item in self.book.items if isinstance(item, epub.EpubNav)), None)
        ncx = self.items.get(self._ncx_id or "")
        self.ncx = ncx or next((item for item in self.book.items if isinstance(item, epub.EpubNcx)), None)

    # The contents tree.

    def nav_root(self) -> etree._Element | None:
        """The navigation document, ruby readings taken out."""
        name = self.find(self.nav.file_name) if self.nav is not None else None
        root = parse(self.archive.read(name)) if name else None
        if root is not None:
            etree.strip_elements(root, "{*}rt", "{*}rp", "rt", "rp", with_tail=False)
        return root

    def ncx_root(self) -> etree._Element | None:
        name = self.find(self.ncx.file_name) if self.ncx is not None else None
        root = parse_xml(self.archive.read(name)) if name else None
        if root is not None:
            _give_namespace(root, _NCX)
        return root

    def _read_toc(self) -> None:
        """Contents from the navigation document, else from the NCX, whichever first names an entry."""
        if (root := self.nav_root()) is not None:
            self.toc = self._try(self._parse_nav, etree.tostring(_plain(root), encoding="utf-8", method="html"), "")
            self.toc_base = dirname(join(self.opf_dir, self.nav.file_name))
        if not self.toc and (root := self.ncx_root()) is not None:
            self.toc = self._try(self._parse_ncx, etree.tostring(root))
            self.toc_base = dirname(join(self.opf_dir, self.ncx.file_name))

    def _try(self, read: Any, *arguments: Any) -> tuple[Entry, ...]:
        self.book.toc = []
        try:
            read(*arguments)
            return tuple(map(_entry, _listed(self.book.toc)))
        except _TRIPS:
            return ()

    # Metadata.

    def words(self, name: str) -> list[tuple[str, dict[str, str]]]:
        """Dublin Core values with their attributes, outer white space stripped, empty ones left out."""
        values = self.book.metadata.get("http://purl.org/dc/elements/1.1/", {}).get(name, [])
        return [(value.strip(), attributes) for value, attributes in values if value and value.strip()]

    def meta(self) -> list[tuple[str, Mapping[str, str]]]:
        """Every `meta` of the package: text and attributes."""
        root = self.container.getroot()
        return [(node.text or "", cast(Mapping[str, str], node.attrib)) for node in root.iter(f"{{{_OPF}}}meta")]


def _give_namespace(root: etree._Element, namespace: str) -> None:
    """Files without a namespace, or with a wrong one on the elements that matter, are read as if they had it."""
    for node in root.iter():
        if isinstance(node.tag, str) and not node.tag.startswith("{"):
            _rename(node, f"{{{namespace}}}{node.tag}")


def _plain(root: etree._Element) -> etree._Element:
    """The tree as EbookLib's HTML parser expects it: no namespaces; `nav` with several types is the contents too."""
    for node in root.iter():
        if isinstance(node.tag, str):
            _rename(node, name_of(node))
            if types := node.get(_EPUB_TYPE) or node.get("epub:type"):
                node.set("epub-type", "toc" if node.tag == "nav" and "toc" in types.split() else types)
    return root


def _rename(node: etree._Element, name: str) -> None:
    with suppress(ValueError):  # lenient parsers let names in that may not be given
        node.tag = name


def _listed(toc: Any) -> list[Any]:
    return toc if isinstance(toc, list) else [toc]


def _entry(node: Any) -> Entry:
    head, children = node if isinstance(node, tuple) else (node, ())
    title = " ".join((head.title or "").split())
    return Entry(title, head.href or "", tuple(_entry(child) for child in children))
