"""One pass over a page of (X)HTML: its text, and where anchors, headings, printed pages and note markers stand in it.

`parse` (core.formats.markup) makes an lxml tree of whatever calls itself (X)HTML; `read_page` turns it into a `PageText`.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from lxml import etree

from core.formats.decode import clean, squeeze, tidy
from core.formats.elements import (
    BLOCK,
    BREAK,
    CELL,
    DRAWING,
    FORMULA,
    HEADING,
    INLINE,
    LINK,
    LIST,
    PICTURE,
    PRE,
    RAISED,
    TABLE,
    kind_of,
    name_of,
    note_target,
    stands_alone,
)
from core.formats.markup import parse

__all__ = ["PageHeading", "PageText", "parse", "read_page"]

_TYPES = frozenset(("{http://www.idpf.org/2007/ops}type", "epub:type", "role"))
_HIDING = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_PRINTED = 40
"""A page break holds its page's label; what is longer (characters) is a page wrongly wrapped in one, and is text."""
# Separators waiting to be written before the next text; a stronger one wins.
_NONE, _SPACE, _TAB, _LINE, _BLANK = range(5)
_WRITTEN = ("", " ", "\t", "\n", "\n\n")

_Attributes = list[tuple[str, str]]


class PageHeading(NamedTuple):
    """A heading of the page itself: level 1 to 6, its words, and the offset where it begins."""

    level: int
    title: str
    offset: int


@dataclass(slots=True)
class PageText:
    """The text of one page. Offsets are code points into `text`, `0 <= offset <= len(text)`."""

    text: str
    anchors: dict[str, int] = field(default_factory=dict)
    """Every `id` and `a@name` -> offset of the next character written; of a duplicate the first counts."""
    headings: list[PageHeading] = field(default_factory=list)
    pages: list[tuple[str, int]] = field(default_factory=list)
    """Page breaks found in the text: printed label ("" when it has none) and offset."""
    notes: list[tuple[int, str]] = field(default_factory=list)
    """Note markers left out of the text: offset and target."""
    types: frozenset[str] = frozenset()
    """Words of `epub:type` of the body and of what directly wraps its content."""


def read_page(root: etree._Element) -> PageText:
    """The text of a tree, read once from front to back, without recursion. Unresolved entities are dropped.

    Comments are taken out of the tree on the way.
    """
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction, etree.Entity)
    page = _Pass()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if page.open(element):
                if element.text:
                    page.write(element.text)
            else:
                page.left.add(element)
                walk.skip_subtree()
        else:
            if element in page.left:
                page.left.remove(element)
            else:
                page.close(element)
            if element.tail and element is not root:
                page.write(element.tail)
    return page.result()


class _Pass:
    """The state of one reading: what is written, which separator waits, which marks wait for the next character."""

    def __init__(self) -> None:
        self.page = PageText("")
        self.left: set[etree._Element] = set()  # open elements whose content is left out
        self.parts: list[str] = []
        self.length = 0
        self.edge = _NONE
        self.anchors: list[str] = []  # waiting for the next character, as the two below
        self.labels: list[str] = []
        self.notes: list[str] = []
        self.held_from: list[int] = []  # length of the text when each open list, item, table, row and cell began
        self.lists = 0
        self.titles: list[tuple[int, int]] = []  # open headings: parts and length before them
        self.picture_title = ""  # alt text met inside the open heading
        self.pre = 0
        self.pre_from = 0
        self.pre_held = ""  # white space inside `pre` that counts only when text follows
        self.types: set[str] = set()

    # Writing.

    def write(self, raw: str) -> None:
        """Take in a text node."""
        if raw.isspace() and not self.pre:
            self.edge = self.edge or _SPACE
            return
        if self.pre:
            if text := clean(raw):
                self._write_lines(text)
            return
        text = tidy(raw)
        if not text:
            return
        if text[0] == " " and self.edge < _SPACE:
            self.edge = _SPACE
        words = text.strip(" ")
        if words:
            self._emit(words)
            if text[-1] == " ":
                self.edge = _SPACE

    def _write_lines(self, text: str) -> None:
        text = self.pre_held + text
        if self.length == self.pre_from:
            text = re.sub(r"^(?:[^\S\n]*\n)+", "", text)
        lines = text.rstrip()
        self.pre_held = text[len(lines) :]
        if lines:
            self._emit(lines)

    def _emit(self, text: str) -> None:
        if self.edge and self.parts:
            gap = _WRITTEN[self.edge]
            self.parts.append(gap)
            self.length += len(gap)
        self.edge = _NONE
        if self.anchors or self.labels or self.notes:
            self._mark(self.length)
        self.parts.append(text)
        self.length += len(text)

    def _mark(self, offset: int) -> None:
        for anchor in self.anchors:
            self.page.anchors.setdefault(anchor, offset)
        self.page.pages.extend((label, offset) for label in self.labels)
        self.page.notes.extend((offset, target) for target in self.notes)
        self.anchors.clear()
        self.labels.clear()
        self.notes.clear()

    def _part(self, strength: int) -> None:
        """Ask for a separator. At the very beginning of a list item or cell its own separator is enough."""
        if strength > self.edge and not (self.held_from and self.held_from[-1] == self.length):
            self.edge = strength

    def _replace(self, strength: int) -> None:
        """The separator between two items, rows or cells, whatever block ended the one before."""
        if self.held_from and self.length > self.held_from[-1]:
            self.edge = strength

    # Elements.

    def open(self, element: etree._Element) -> bool:
        """Begin an element; False when its content is left out."""
        kind = kind_of(element.tag)
        if (attributes := cast(_Attributes, element.items())) and self._left_out(element, kind, attributes):
            self.anchors.extend(inner for node in element.iterdescendants() if (inner := node.get("id")))
            return False
        if kind == INLINE:
            return True
        if kind == BLOCK:
            self._part(_BLANK)
        elif kind >= LINK:
            return self._open_inline(element, kind)
        elif kind == BREAK:
            self._break()
        elif kind == HEADING:
            self._part(_BLANK)
            self.titles.append((len(self.parts), self.length))
            self.picture_title = ""
        elif kind == PRE:
            self._part(_BLANK)
            self.pre += 1
            self.pre_from, self.pre_held = self.length, ""
        else:
            self._open_holder(kind)
        return True

    def _open_holder(self, kind: int) -> None:
        if kind == LIST:
            self._part(_LINE if self.lists else _BLANK)
            self.lists += 1
        elif kind == TABLE:
            self._part(_BLANK)
        else:
            self._replace(_TAB if kind == CELL else _LINE)
        self.held_from.append(self.length)

    def _open_inline(self, element: etree._Element, kind: int) -> bool:
        """Links and superscripts, which may be note markers, and what is shown by its alternative text."""
        if kind in (LINK, RAISED):
            if target := note_target(element, kind):
                self.notes.append(target)
                self.anchors.extend(inner for node in element.iterdescendants() if (inner := node.get("id")))
                return False
            return True
        if kind == PICTURE:
            self._describe(element.get("alt") or "")
        elif kind == DRAWING:
            title = next((child for child in element.iterchildren() if name_of(child) == "title"), None)
            self._describe(element.get("aria-label") or ("" if title is None else title.text) or "")
        elif kind == FORMULA:
            self.write(element.get("alttext") or "")
        return False

    def _describe(self, words: str) -> None:
        """Alternative text of three words or more is a block of its own, in brackets."""
        words = tidy(words).strip()
        self.picture_title = self.picture_title or words
        if words.count(" ") >= 2:
            self._part(_BLANK)
            self._emit(f"[{words}]")
            self.edge = _BLANK

    def _break(self) -> None:
        if self.pre:
            self.pre_held += "\n"
        else:  # two in a row are how paragraphs were made before there was `p`
            self._part(_BLANK if self.edge == _LINE else _LINE)

    def _left_out(self, element: etree._Element, kind: int, attributes: _Attributes) -> bool:
        """Note the element's anchors and types; True when it is hidden, a note marker or a page break."""
        out = False
        for name, value in attributes:
            if name == "id" or (name == "name" and kind == LINK):
                self.anchors.append(value)
            elif name == "hidden" or (name == "style" and _HIDING.search(value)):
                out = True
            elif name in _TYPES:
                types = value.split()
                if "noteref" in types or "doc-noteref" in types:
                    self.notes.append(element.get("href") or "")
                    out = True
                elif "pagebreak" in types or "doc-pagebreak" in types:
                    out = self._turn_page(element) or out
                elif not self.parts and (name_of(element) in ("html", "body") or stands_alone(element)):
                    self.types.update(types)
        return out

    def _turn_page(self, element: etree._Element) -> bool:
        words = squeeze("".join(map(str, element.itertext()))).strip()
        self.labels.append((element.get("title") or element.get("aria-label") or words[:_PRINTED]).strip())
        return len(words) <= _PRINTED

    def close(self, element: etree._Element) -> None:
        """End an element that was not left out."""
        kind = kind_of(element.tag)
        if kind == INLINE or kind >= LINK:
            return
        if kind == BLOCK:
            self._part(_BLANK)
        elif kind == HEADING:
            self._part(_BLANK)
            self._title(int(name_of(element)[1]))
        elif kind == PRE:
            self.pre -= 1
            self._part(_BLANK)
        elif kind != BREAK:
            self.held_from.pop()
            if kind == LIST:
                self.lists -= 1
            self._part(_BLANK if kind == TABLE or (kind == LIST and not self.lists) else _LINE)

    def _title(self, level: int) -> None:
        parts, length = self.titles.pop()
        written = "".join(self.parts[parts:])
        title = squeeze(written).strip() or self.picture_title
        # The words of a heading that is only a picture stand where the next text begins.
        offset = length + len(written) - len(written.lstrip()) if written else length + 2 * bool(length)
        if title:
            self.page.headings.append(PageHeading(level, title.strip("[]") if title[0] == "[" else title, offset))

    def result(self) -> PageText:
        self._mark(self.length)
        page = self.page
        page.text = "".join(self.parts)
        page.headings = [heading._replace(offset=min(heading.offset, self.length)) for heading in page.headings]
        page.types = frozenset(self.types)
        return page
