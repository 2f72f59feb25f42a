"""A limit's words -> the first character not permitted, in one text of a book. Never past what the words mean."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from core import words as wording
from core.errors import ReaderError
from core.limits.naming import PATH, Node, matching, nodes_of, prints
from core.limits.spelling import Spelled, take_apart
from core.model import WHOLE_BOOK, Contents, Limit, Position

CHOICES = 8
"""Chapters named when a title fits more than one."""
_LONGEST = 80
"""Characters of the reader's words that a refusal repeats."""


def read_limit(words: str, contents: Contents, *, paged: bool = False, shown: Position | None = None) -> Limit:
    """The limit that words set in this text, its words in our own spelling.

    "in X" ends where X begins (for a chapter: where the one before it ends), "finished X" and a bare X where X ends;
    a page or a share is read to its end. `paged`: the files are pages. `shown`: how far titles may be named in a
    refusal (None: all). Raises ReaderError, one sentence each.
    """
    return _Reading(contents, paged, shown).read(words)


class _Reading:
    def __init__(self, contents: Contents, paged: bool, shown: Position | None) -> None:
        self._contents = contents
        self._paged = paged
        self._shown = shown
        self._starts = (0, *accumulate(contents.lengths))
        last = len(contents.lengths) - 1
        self._end = Position(last, contents.lengths[last]) if last >= 0 else Position(0, 0)

    def read(self, words: str) -> Limit:
        spelled = take_apart(words)
        if spelled is None:
            raise ReaderError("limit_unreadable", words="")
        if spelled.kind == "start":
            return Limit("start", Position(0, 0))
        if spelled.kind == "all":
            return WHOLE_BOOK
        if spelled.share is not None:
            return self._share(*spelled.share)
        if spelled.number is not None:
            return self._numbered(spelled, spelled.number)
        if spelled.numeral is not None and 0 < spelled.numeral <= len(self._contents.chapters):
            return self._spelled_out(spelled, spelled.numeral)
        if spelled.page is not None and (limit := self._page(spelled.page, spelled.inside)) is not None:
            return limit
        return self._titled(spelled, words)

    # Chapters

    def _numbered(self, spelled: Spelled, number: int) -> Limit:
        chapters = self._contents.chapters
        if spelled.labelled:
            self._ask_back_if_printed_elsewhere(number)
        if not chapters:
            raise ReaderError("limit_no_chapters")
        if number == 0:
            return Limit("start", Position(0, 0))
        if number > len(chapters):
            raise ReaderError("limit_no_such_chapter", number=number, count=len(chapters))
        return self._chapter(number, spelled.inside)

    def _spelled_out(self, spelled: Spelled, number: int) -> Limit:
        """ "Chapter IX" is the ninth, unless another line is called so too: then it is ambiguous."""
        nodes, called = self._nodes(), wording.words(spelled.rest)
        ours = [node for node in nodes if node.chapters == (number,)]
        alike = [*matching(spelled.rest, nodes), *matching(str(number), nodes)]
        theirs = [
            node
            for node in alike
            if node.chapters != (number,)  # "Part II" is not meant by "chapter II"
            and (len(node.chapters) < 2 or any(wording.words(name) == called for name in node.names))
        ]
        if theirs:
            raise self._which([*ours, *theirs])
        return self._numbered(replace(spelled, labelled=True), number)

    def _chapter(self, number: int, inside: bool) -> Limit:
        return Limit(f"in {number}", self._end_of(number - 1)) if inside else self._finished(number)

    def _finished(self, number: int) -> Limit:
        return Limit(f"finished {number}", self._end_of(number))

    def _end_of(self, number: int) -> Position:
        """Where a chapter ends, or a later one begins that the file puts before that; 0 = before the first."""
        chapters = self._contents.chapters
        own = chapters[number - 1].end if number else self._end
        return min((own, *(later.start for later in chapters[number:])))

    def _ask_back_if_printed_elsewhere(self, number: int) -> None:
        """ "Chapter 3" in a book that prints this number on another chapter than the third is ambiguous."""
        chapters = [node for node in self._nodes() if len(node.chapters) == 1]
        ours = [node for node in chapters if node.chapters == (number,)]
        theirs = [node for node in chapters if prints(number, node)]
        if theirs and not any(prints(number, node) for node in ours):
            raise self._which([*ours, *theirs])

    # Titles

    def _nodes(self) -> list[Node]:
        return nodes_of(self._contents, self._end)

    def _titled(self, spelled: Spelled, words: str) -> Limit:
        found = matching(spelled.rest, self._nodes())
        targets = {node.chapters or (node.start,) for node in found}
        if len(targets) > 1:
            raise self._which(found)
        if found:
            return self._node(found[0], spelled.inside)
        if spelled.everything and not spelled.inside:
            return WHOLE_BOOK
        if spelled.page is not None:
            raise self._no_page(spelled.page)
        key = "limit_no_such_title" if self._contents.toc or self._contents.chapters else "limit_unreadable"
        raise ReaderError(key, words=" ".join(words.split())[:_LONGEST])

    def _node(self, node: Node, inside: bool) -> Limit:
        if node.chapters:
            return self._chapter(node.chapters[0] if inside else node.chapters[-1], inside)
        if inside:  # its title lies at the limit and is not kept; what has been read before it is named instead
            read = [chapter.number for chapter in self._contents.chapters if chapter.end <= node.start]
            return self._finished(max(read)) if read else Limit("start", Position(0, 0))
        return self._kept(f"finished {PATH.join(node.path)}", node.end)

    def _kept(self, words: str, position: Position) -> Limit:
        """The limit under these words, if they lead to this position again; else as the share of the text before it."""
        try:
            again = self._once_more(words)
        except ReaderError:
            again = None
        if again == position:
            return Limit(words, position)
        characters = self._starts[position.file] + position.offset
        return self._share(100 * characters // max(self._starts[-1], 1), 1)

    def _once_more(self, words: str) -> Position | None:
        spelled = take_apart(words)
        if spelled is None or spelled.kind != "named" or spelled.number is not None or spelled.share is not None:
            return None
        if spelled.numeral is not None and spelled.numeral <= len(self._contents.chapters):
            return None
        if spelled.page is not None:
            place = self._page_place(spelled.page)
            return place[1] if place else None
        found = matching(spelled.rest, self._nodes())
        return found[0].end if len({node.start for node in found}) == 1 and not spelled.inside else None

    def _which(self, nodes: Sequence[Node]) -> ReaderError:
        """The choices, by number and title; a title past `shown` is not named."""
        named = []
        for node in dict.fromkeys(nodes):
            later = self._shown is not None and node.start >= self._shown
            number = f"{node.chapters[0]}." if len(node.chapters) == 1 else ""
            if not later:
                named.append(f"{number} {PATH.join(node.path)}".strip())
            elif node.chapters:
                named.append(str(node.chapters[0]))
        if not named:
            return ReaderError("limit_which_later")
        more = [" …"] if len(named) > CHOICES else []
        return ReaderError("limit_which", choices=" · ".join(named[:CHOICES]) + "".join(more))

    # Pages and shares

    def _page(self, label: str, inside: bool) -> Limit | None:
        place = self._page_place(label)
        if place is None:
            return None
        start, end = place
        if not inside:
            return self._kept(f"page {label}", end)
        before = [name for name, at in self._pages() if at < start]
        if not before:
            return Limit("start", Position(0, 0))
        return self._kept(f"page {before[-1]}", start)

    def _page_place(self, label: str) -> tuple[Position, Position] | None:
        """Where a page begins and ends: the printed one, else that of the file; of two alike, the earlier."""
        pages = self._pages()
        starts = sorted({start for _, start in pages})
        found = sorted(start for name, start in pages if name == wording.fold(label))
        if not found and self._paged and label.isdecimal() and 1 <= int(label) <= len(self._contents.lengths):
            found = [Position(int(label) - 1, 0)]
        if not found:
            return None
        after = bisect_right(starts, found[0])
        return found[0], starts[after] if after < len(starts) else self._end

    def _pages(self) -> list[tuple[str, Position]]:
        """Pages in reading order by their folded label; a page of a paged file that prints none goes by its number."""
        if self._paged:
            labels = self._contents.labels
            marked = {Position(mark.file, mark.offset): mark.label for mark in self._contents.pages}
            places = [Position(file, 0) for file in range(len(labels))]
            return [(wording.fold(labels[at.file] or marked.get(at, "") or str(at.file + 1)), at) for at in places]
        marks = sorted((Position(mark.file, mark.offset), wording.fold(mark.label)) for mark in self._contents.pages)
        return [(label, at) for at, label in marks]

    def _no_page(self, label: str) -> ReaderError:
        if not self._paged and not self._contents.pages:
            return ReaderError("limit_no_pages")
        return ReaderError("limit_no_such_page", page=label)

    def _share(self, numerator: int, denominator: int) -> Limit:
        if numerator > 100 * denominator:
            raise ReaderError("limit_past_hundred")
        if numerator == 100 * denominator:
            return WHOLE_BOOK
        if numerator == 0:
            return Limit("start", Position(0, 0))
        whole, part = divmod(numerator, denominator)
        decimals = f".{part:0{len(str(denominator)) - 1}d}".rstrip("0").rstrip(".") if part else ""
        at = self._starts[-1] * numerator // (100 * denominator)
        file = min(bisect_right(self._starts, at) - 1, max(len(self._contents.lengths) - 1, 0))
        return Limit(f"{whole}{decimals}%", Position(file, at - self._starts[file]))
