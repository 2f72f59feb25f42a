"""P1 to P5 of one turn, judged from outside by what went over the wire and what a reader saw; none of our own rules are used.

The judge is simple on purpose: it reads the requests of a turn as a provider would, and compares with them.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.document import cites
from core.model import (
    Block,
    Cell,
    Cite,
    Code,
    CodeBlock,
    Document,
    Drafting,
    Emphasis,
    Heading,
    Inline,
    Item,
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
    Turn,
)

Request = Mapping[str, Any]

RAW = re.compile(
    r"(?<![A-Za-z0-9])[fFｆ][\s_]*[-:#.=/]?\d+\s*[-–—−‐]\s*\d|[\[［]\s*[fFｆ][_\s]*(?:[-:#.=/]?\d|[-:#.=/]?\s*\Z)|[\[［]\s*\d+\s*[-–—−‐]\s*\d+\s*[-–—−‐]\s*\d"
)
"""What no reader may see: a tag, a damaged one, or the beginning of one where a text ends. Without a number it is none."""
_TAG = re.compile(r"\[f\d+-\d+-\d+\]")
_FENCED = re.compile(r"^(=====+) book text: [^\n]*\n(.*?)\n\1 end of book text", re.M | re.S)
_PAIRS = tuple(
    re.compile(pair) for pair in ("“([^“”]*)”", "«([^«»]*)»", "„([^“”„]*)[“”]", '"([^"]*)"', "「([^「」]*)」")
)
_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})
_ELLIPSIS = re.compile(r"\[?(?:…|\.\.\.)\]?")


def consulted(requests: Sequence[Request]) -> str:
    """The book text of a turn's requests: results of tools, and what stands fenced in a user's message."""
    found: dict[str, None] = {}
    for request in requests:
        for message in request["messages"]:
            content = str(message.get("content") or "")
            if message["role"] == "tool":
                found[content] = None
            elif message["role"] == "user":
                found.update((text, None) for _, text in _FENCED.findall(content))
    return "\n".join(found)


def judge(requests: Sequence[Request], turn: Turn, drafts: Sequence[Drafting], titles: Sequence[str] = ()) -> list[str]:
    """What is wrong with an answered turn about a book; empty when P1 to P5 held.

    `requests` are the turn's requests for an answer, in order (not the picker's); `titles` are those of books and
    chapters, which may stand in quotation marks like the words of the question.
    """
    faults: list[str] = []
    first = consulted(requests[:1])
    if not first:
        faults.append("P1: the first request shows nothing of the book")
    given = consulted(requests)
    tags = set(_TAG.findall(given))
    words = _folded(" ".join((_TAG.sub(" ", given), turn.question, *titles)))
    shown: list[tuple[str, Document, Sequence[Any]]] = [
        *(("draft", draft.document, draft.footnotes) for draft in drafts),
        ("answer", turn.answer.document, turn.answer.footnotes),
    ]
    for name, document, notes in shown:
        faults += [f"P2: {name}: {note.tag} was not delivered" for note in notes if note.tag not in tags]
        numbers = {note.number for note in notes}
        if missing := [number for number in cites(document) if number not in numbers]:
            faults.append(f"P2: {name}: marks {missing} without a note")
        faults += [f"P2: {name}: a tag shows in {line!r}" for line in lines(document) if RAW.search(line)]
        for line in lines(document, code=False):
            faults += [
                f"P5: {name}: {quoted!r} is no quotation" for quoted in quotations(line) if not _in(quoted, words)
            ]
    faults += _pretences(turn, words)
    return faults


def _pretences(turn: Turn, words: str) -> Iterator[str]:
    answer = turn.answer
    if answer.outcome == "grounded":
        if not answer.footnotes:
            yield "P4: grounded without a note"
    elif (answer.footnotes or cites(answer.document)) and not _only_quotes(turn, words):
        yield f"P4: {answer.outcome} with notes"


def _only_quotes(turn: Turn, words: str) -> bool:
    """True when the one note of an answer that was not found stands behind a block quote of the delivered text, whole."""
    quotes = [block for block in turn.answer.document if isinstance(block, Quote)]
    others = tuple(block for block in turn.answer.document if not isinstance(block, Quote))
    if turn.answer.outcome != "not_in_book" or len(turn.answer.footnotes) != 1 or cites(others):
        return False
    noted = [quote for quote in quotes if cites((quote,))]
    return len(noted) == 1 and all(_in(line, words) for line in lines((noted[0],)))


def quotations(line: str) -> list[str]:
    """What stands between quotation marks in one line of prose."""
    return [quoted for pair in _PAIRS for quoted in pair.findall(line)]


def _in(quoted: str, words: str) -> bool:
    """True when each part of the quotation stands in the words, whole words only."""
    for part in _ELLIPSIS.split(_folded(quoted)):
        bare = part.strip(" .,;:!?'\"-()")
        if bare and not re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", words):
            return False
    return True


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).translate(_SAME).casefold().split())


def lines(document: Document, *, code: bool = True) -> list[str]:
    """The text of a document, one string for each paragraph, heading or cell, without notes; `code` tells whether code counts."""
    return [line for block in document for line in _lines(block, code)]


def _lines(node: Block | Item | Cell, code: bool) -> Iterator[str]:
    match node:
        case CodeBlock(text):
            if code:
                yield text
        case Quote(children) | Item(children):
            for child in children:
                yield from _lines(child, code)
        case ListBlock(items):
            for item in items:
                yield from _lines(item, code)
        case Table(rows):
            for row in rows:
                for cell in row:
                    yield from _lines(cell, code)
        case Paragraph(children) | Cell(children) | Heading(children=children):
            yield "".join(_text(child, code) for child in children)


def _text(node: Inline, code: bool) -> str:
    match node:
        case Text(text):
            return text
        case Code(text):
            return text if code else " "
        case Emphasis(children) | Link(children):
            return "".join(_text(child, code) for child in children)
        case LineBreak():
            return " "
        case Cite():
            return ""
