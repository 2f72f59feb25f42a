"""What each element of (X)HTML does to the text around it, and which links are note markers."""

from functools import lru_cache

from lxml import etree

INLINE, BLOCK, BREAK, ITEM, LIST, ROW, TABLE, CELL, PRE = range(9)
HEADING, LINK, RAISED, PICTURE, FORMULA, DRAWING, OUT = range(9, 16)
_KINDS: dict[str, int] = {}
for _kind, _names in (
    (BLOCK, "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption"),
    (BLOCK, "figure footer form header hgroup hr html legend main menu nav noscript option p section summary"),
    (HEADING, "h1 h2 h3 h4 h5 h6"),
    (BREAK, "br"),
    (ITEM, "li"),
    (LIST, "ol ul"),
    (ROW, "tr"),
    (TABLE, "table"),
    (CELL, "td th"),
    (PRE, "pre listing"),
    (LINK, "a"),
    (RAISED, "sup"),
    (PICTURE, "img"),
    (FORMULA, "math"),
    (DRAWING, "svg"),
    (OUT, "head script style template title rt rp rtc audio video iframe"),
):
    _KINDS |= dict.fromkeys(_names.split(), _kind)

_MARKER = frozenset("0123456789*†‡[]() \u00a0\n\t")
"""The characters of a note marker."""


@lru_cache(maxsize=4096)
def kind_of(tag: str) -> int:
    """What an element does, by its name with or without a namespace, in any case."""
    return _KINDS.get(tag.rpartition("}")[2].lower(), INLINE)


def name_of(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def stands_alone(element: etree._Element) -> bool:
    """True for what wraps everything its parent holds."""
    return element.getprevious() is None and element.getnext() is None


def note_target(element: etree._Element, kind: int) -> str | None:
    """Where a superscript link of digits or asterisks points; None for every other link and superscript."""
    if len(element) > 3 or (kind == RAISED and not len(element)):
        return None
    if kind == LINK:
        link: etree._Element | None = element
        parent = element.getparent()
        raised = any(name_of(child) == "sup" for child in element) or (parent is not None and name_of(parent) == "sup")
    else:
        link, raised = next((child for child in element if name_of(child) == "a"), None), True
    if not raised or link is None or not (target := link.get("href")):
        return None
    words = "".join(map(str, element.itertext()))
    return target if words.strip() and _MARKER.issuperset(words) else None
