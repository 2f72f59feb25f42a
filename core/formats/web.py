"""HTML files: one page, its title and headings."""

from lxml import etree

from core.formats.extracted import Extracted
from core.formats.pieces import cut_files, place
from core.formats.xhtml import parse, read_page
from core.model import PageMark


def read_html(data: bytes) -> Extracted:
    """The book of one HTML page, cut into files at its top headings; title, author and language from its head."""
    root = parse(data)
    return from_tree(root, "html") if root is not None else Extracted(format="html", files=[])


def from_tree(root: etree._Element, format_: str) -> Extracted:
    """The book of a tree of (X)HTML, for every format that is turned into one."""
    title = next(
        (words for node in _named(root, "title") if (words := " ".join("".join(map(str, node.itertext())).split()))), ""
    )
    authors: list[str] = []
    language = ""
    for node in root.iter():
        name = _local(node)
        if name == "html":
            language = node.get("lang") or node.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
        elif name == "meta":
            key, content = (node.get("name") or "").lower(), (node.get("content") or "").strip()
            if key in ("author", "dc.creator", "dcterms.creator") and content and content not in authors:
                authors.append(content)
            elif key in ("dc.language", "dcterms.language") and content:
                language = language or content
        elif name == "body":
            break
    page = read_page(root)
    files, marks, starts = cut_files(page.text, [(mark.level, mark.title, mark.offset) for mark in page.headings])
    pages = [PageMark(label, *place(starts, files, offset)) for label, offset in page.pages if label] if files else []
    return Extracted(
        format=format_,
        files=files,
        title=title,
        authors=tuple(authors),
        language=language,
        headings=marks,
        pages=pages,
    )


def _named(root: etree._Element, name: str) -> list[etree._Element]:
    return [node for node in root.iter() if _local(node) == name]


def _local(node: etree._Element) -> str:
    return node.tag.rpartition("}")[2].lower() if isinstance(node.tag, str) else ""
