"""Lines of the contents by what people call them: titles, parts of titles, paths such as "Part II › 3"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import words as wording
from core.limits.numerals import LABELS, NUMERAL, WRITTEN, number_of
from core.model import Contents, Position

PATH = " › "
"""Between the titles of a path, as passages print it."""

_SEPARATOR = re.compile(r"\s*(?:›|>|→|::)\s*|\s+/\s+")
_PRINTED = re.compile(
    rf"(?:(?:{'|'.join(sorted(LABELS))})\.? +({NUMERAL}|{'|'.join(sorted(WRITTEN))})\b|({NUMERAL})(?=[.:)]| *[–—-]))"
)


@dataclass(frozen=True, slots=True)
class Node:
    """A line of the contents with all below it."""

    title: str
    """As the chapter has it, where it is one."""
    names: tuple[str, ...]
    path: tuple[str, ...]
    """Titles from the outermost to its own."""
    above: tuple[tuple[str, ...], ...]
    """The names of each line it stands under."""
    start: Position
    end: Position
    """Where the next line of the same depth or above begins, or a later one that the file puts before that."""
    chapters: tuple[int, ...]
    """Numbers of the chapters in it, itself included."""


def nodes_of(contents: Contents, end: Position) -> list[Node]:
    """The contents in their order, then chapters that no line names. `end` is the end of the book."""
    chapters = {chapter.start: chapter for chapter in contents.chapters}
    starts = [Position(entry.file, entry.offset) for entry in contents.toc]
    leaf = {start: at for at, start in enumerate(starts)}  # of a part and its first chapter, the chapter
    found: list[Node] = []
    stack: list[tuple[int, Node]] = []
    for at, entry in enumerate(contents.toc):
        after = at + 1
        while after < len(contents.toc) and contents.toc[after].depth > entry.depth:
            after += 1
        while stack and stack[-1][0] >= entry.depth:
            stack.pop()
        chapter = chapters.get(starts[at]) if leaf[starts[at]] == at else None
        title = chapter.title if chapter else entry.title
        under = [node for _, node in stack]
        node = Node(
            title,
            tuple(dict.fromkeys((entry.title, title))),
            (*(above.title for above in under), title),
            tuple(above.names for above in under),
            starts[at],
            min((end, *starts[after:])),
            tuple(sorted({chapters[start].number for start in starts[at:after] if start in chapters})),
        )
        found.append(node)
        stack.append((entry.depth, node))
    named = set(starts)
    for chapter in contents.chapters:
        if chapter.start not in named:
            title = chapter.title
            found.append(Node(title, (title,), (title,), (), chapter.start, chapter.end, (chapter.number,)))
    return found


def matching(rest: str, nodes: Sequence[Node]) -> list[Node]:
    """The lines that folded words name: by the whole title, else by the title without its label, else by words of it."""
    parts = [part for part in _SEPARATOR.split(rest) if part.strip()]
    return _named(rest, (), nodes) or (_named(parts[-1], parts[:-1], nodes) if len(parts) > 1 else [])


def prints(number: int, node: Node) -> bool:
    """True when the book itself gives a line this number ("Chapter III" for 3)."""
    return any(str(number) in (_loose(name), _printed(name)) for name in node.names)


def _named(last: str, above: Sequence[str], nodes: Sequence[Node]) -> list[Node]:
    under = [node for node in nodes if _stands_under(above, node)]
    ways: tuple[Callable[[str, str], bool], ...] = (
        lambda wanted, name: _key(wanted) == _key(name),
        lambda wanted, name: _loose(wanted) == _loose(name),
        lambda wanted, name: _loose(wanted) == _printed(name),
        lambda wanted, name: _telling(wanted) and f" {_key(wanted)} " in f" {_key(name)} ",
    )
    for way in ways:
        found = [node for node in under if _key(last) and any(way(last, name) for name in node.names)]
        if above and last.isdecimal():  # below a part, the number may be the one /toc prints
            found += [node for node in under if node.chapters == (int(last),) and node not in found]
        if found:
            return found
    return []


def _stands_under(above: Sequence[str], node: Node) -> bool:
    lines = iter(node.above)
    return all(
        any(
            any(_loose(wanted) == _loose(name) or f" {_key(wanted)} " in f" {_key(name)} " for name in names)
            for names in lines
        )
        for wanted in above
    )


def _telling(wanted: str) -> bool:
    """True when a part of a title is more than stop words: "the" names no chapter."""
    return bool(wording.terms(wanted, wording.guess_language(wanted)))


def _key(title: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in wording.fold(title)).split())


def _loose(title: str) -> str:
    """The title without a leading "Chapter", a lone numeral as digits."""
    parts = _key(title).split()
    if len(parts) > 1 and parts[0] in LABELS:
        parts = parts[1:]
    if len(parts) == 1 and (number := number_of(parts[0])) is not None:
        return str(number)
    return " ".join(parts)


def _printed(title: str) -> str:
    """The number before a title ("II. Storm", "Chapter 2: Storm") as digits; empty when there is none."""
    found = _PRINTED.match(wording.fold(title).strip())
    return str(number_of(found[1] or found[2], written=True)) if found else ""
