"""A tree of whatever calls itself XML or (X)HTML: strict XML first, then an HTML parser, then a second one.

Nothing here opens a file or a socket, and no entity is expanded but the named characters of HTML.
"""

import re
from html.entities import html5
from typing import TYPE_CHECKING

from lxml import etree

from core.formats.decode import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_OWN = frozenset(("amp", "lt", "gt", "quot", "apos"))
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,300}\?>")
_SELF_CLOSED = re.compile(r"<([A-Za-z][A-Za-z0-9:_-]*)((?:\s[^<>]*)?)/>")
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_FIT = re.compile("[\t\n\r -\ufffd]*")
"""Told in a fraction of the time that looking for what is unfit takes."""
_TAGS = re.compile(r"<[^<>]*>")
_SUBSET = re.compile(r"<!DOCTYPE[^\[>]*\[.*?\]\s*>", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"[a-z_][a-z0-9_.-]*")


def parse(data: bytes | str, *, html: bool = False) -> etree._Element | None:
    """The root of the tree, or None when there is nothing to parse. `html` says that it does not claim to be XML.

    Never raises for bad markup: what the strict parser refuses goes to two lenient ones.
    """
    text = _prepare(data if isinstance(data, str) else decode(data))
    if not text.strip():
        return None
    root = None if html else _parse_xml(text)
    return _parse_html(text) if root is None else root


def parse_xml(data: bytes | str) -> etree._Element | None:
    """The root of an XML document (package, navigation, FictionBook); mended where it is broken, None where hopeless."""
    text = _prepare(data if isinstance(data, str) else decode(data))
    root = _parse_xml(text)
    # Without its own declarations an entity bomb is a few unknown names.
    return _parse_xml(_SUBSET.sub("", text, count=1), recover=True) if root is None else root


def _prepare(text: str) -> str:
    """Named characters of HTML resolved; the declaration (of an encoding no longer true) and unfit characters gone."""
    text = _DECLARATION.sub("", text, count=1) if text[:200].lstrip().startswith("<?xml") else text
    if not _FIT.fullmatch(text):
        text = _UNFIT.sub("", text)
    return _NAMED.sub(_resolve, text) if "&" in text else text


def _resolve(found: re.Match[str]) -> str:
    name = found[1]
    return found[0] if name in _XML_OWN else html5.get(name + ";", found[0])


def _parse_xml(text: str, *, recover: bool = False) -> etree._Element | None:
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def _parse_html(text: str) -> etree._Element | None:
    text = _SELF_CLOSED.sub(_expand, _SUBSET.sub("", text, count=1))
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    # At its limit of depth libxml2 stops and hands out what it has. When less than half of the text is left, it was lost.
    whole = root is not None and all(entry.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)
    if root is not None and whole and 2 * sum(map(len, root.itertext())) >= len(_TAGS.sub("", text).strip()):
        return root
    return _parse_deep(text)


def _expand(found: re.Match[str]) -> str:
    """`<a id="x"/>` is an open tag to an HTML parser and would swallow what follows."""
    name = found[1]
    return found[0] if name.lower() in _VOID else f"<{name}{found[2]}></{name}>"


def _parse_deep(text: str) -> etree._Element | None:
    """The tree as lexbor sees it, which minds no depth, copied without recursion."""
    from selectolax.lexbor import LexborHTMLParser  # few books come here

    node = LexborHTMLParser(text).root
    builder = etree.TreeBuilder()
    opened: list[tuple[LexborNode, str]] = []
    while node is not None:
        tag = node.tag or ""
        following = None
        if tag == "-text":
            builder.data(_UNFIT.sub("", node.text_content or ""))
        elif _NAME.fullmatch(tag):
            attributes = node.attributes.items()
            builder.start(
                tag, {name: _UNFIT.sub("", value or "") for name, value in attributes if _NAME.fullmatch(name)}
            )
            opened.append((node, tag))
            following = node.child
            if following is None:
                opened.pop()
                builder.end(tag)
        following = following or node.next
        while following is None and opened:
            node, tag = opened.pop()
            builder.end(tag)
            following = node.next
        node = following
    root: etree._Element = builder.close()
    return root
