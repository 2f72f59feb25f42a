"""FictionBook 2: its tree renamed to HTML, read by the pass that reads every page; nested sections become contents."""

import binascii
from base64 import b64decode

from lxml import etree

from core.formats.extracted import Extracted, HeadingMark
from core.formats.markup import parse_xml
from core.formats.pieces import cut_files
from core.formats.xhtml import read_page
from core.model import Position, SpineFile, TocEntry

_NAMES = {
    "body": "div", "section": "section", "p": "p", "subtitle": "p", "text-author": "p", "date": "p",
    "poem": "div", "stanza": "div", "epigraph": "blockquote", "cite": "blockquote", "annotation": "div",
    "emphasis": "em", "strong": "strong", "strikethrough": "s", "sub": "sub", "sup": "sup", "code": "code", "a": "a",
    "table": "table", "tr": "tr", "td": "td", "th": "th", "empty-line": "hr", "image": "span", "style": "span",
}  # fmt: skip
_COVER_LIMIT = 2 * 1024 * 1024


def read_fb2(data: bytes) -> Extracted:
    """The book of a FictionBook file: sections nested as contents, verse by lines, note bodies as back matter, cover."""
    root = parse_xml(data)
    if root is None:
        return Extracted(format="fb2", files=[])
    info = next((node for node in root.iter() if _local(node) == "title-info"), None)
    extracted = Extracted(
        format="fb2",
        files=[],
        title=_words(info, "book-title"),
        authors=tuple(filter(None, (_author(node) for node in info if _local(node) == "author")))
        if info is not None
        else (),
        language=_words(info, "lang"),
        cover=_cover(root, info),
    )
    back: list[int] = []
    for body in [node for node in root if _local(node) == "body"]:
        first = len(extracted.files)
        notes = bool(extracted.files) and body.get("name", "") in ("notes", "comments", "footnotes")
        _rename(body)
        page = read_page(body)
        files, marks, _ = cut_files(page.text, [(mark.level, mark.title, mark.offset) for mark in page.headings])
        extracted.files += [SpineFile(first + file.index, "", file.text) for file in files]
        if notes:
            back += range(first, len(extracted.files))
            continue
        for mark in marks:
            position = Position(first + mark.position.file, mark.position.offset)
            extracted.headings.append(HeadingMark(mark.level, mark.title, position))
            extracted.toc.append(TocEntry(mark.title, mark.level, *position))
    extracted.back_files = frozenset(back)
    return extracted


def _rename(body: etree._Element) -> None:
    """Turn a body into HTML in place: titles by the depth of their section, verse lines ended by `br`."""
    for node in list(body.iter()):
        name = _local(node)
        if name == "title":
            depth = sum(_local(above) == "section" for above in node.iterancestors())
            node.tag = f"h{min(max(depth, 1), 6)}"
            for line in node:
                line.tag = "span"
                line.tail = " " + (line.tail or "")
        elif name == "v":
            node.tag = "span"
            br = etree.Element("br")
            node.addnext(br)
        elif name == "a" and node.get("type") == "note":
            node.tag = "a"
            node.set("role", "doc-noteref")
        elif name:
            node.tag = _NAMES.get(name, name)


def _cover(root: etree._Element, info: etree._Element | None) -> bytes | None:
    page = next((node for node in info.iter() if _local(node) == "coverpage"), None) if info is not None else None
    picture = next((node for node in page.iter() if _local(node) == "image"), None) if page is not None else None
    if picture is None:
        return None
    href = next((value for key, value in picture.attrib.items() if str(key).endswith("href")), "")
    name = str(href).lstrip("#")
    for node in root:
        if _local(node) == "binary" and node.get("id") == name and node.text:
            if len(node.text) > _COVER_LIMIT * 3 // 2:
                return None
            try:
                picture_bytes = b64decode("".join(node.text.split()))
            except (binascii.Error, ValueError):
                return None
            return picture_bytes if 0 < len(picture_bytes) <= _COVER_LIMIT else None
    return None


def _author(node: etree._Element) -> str:
    parts = [_words(node, name) for name in ("first-name", "middle-name", "last-name")]
    return " ".join(filter(None, parts)) or _words(node, "nickname")


def _words(node: etree._Element | None, name: str) -> str:
    found = next((child for child in node if _local(child) == name), None) if node is not None else None
    return " ".join("".join(map(str, found.itertext())).split()) if found is not None else ""


def _local(node: etree._Element) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
