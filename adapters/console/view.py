"""What the dialogue looks like: values -> lines for a terminal. Pure; the sentences come from `core.strings`."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from adapters.console.text import Look, Piece, Style, harmless, wrap
from core.model import (
    Answer,
    Block,
    BookCard,
    Cite,
    Code,
    CodeBlock,
    Contents,
    Document,
    Emphasis,
    Estimate,
    Heading,
    Indexed,
    Inline,
    Limit,
    LineBreak,
    Link,
    ListBlock,
    Notice,
    Paragraph,
    ParsedBook,
    Passage,
    Position,
    Quote,
    QuoteFound,
    Table,
    Text,
)
from core.strings import say, say_limit, tell

_INDENT = "    "
_HINTS = ("try_quote", "try_without_book")
"""Notices that name a way on: here it is a command."""
_Item = TypeVar("_Item")


def model(name: str, offered: Sequence[str], look: Look) -> list[str]:
    """Which model answers, and those to choose from."""
    if name == "offline":
        return sentence(look, "console_model_offline")
    others = " · ".join(offered)
    return sentence(
        look, "console_models" if offered else "console_model", model=name, **({"offered": others} if offered else {})
    )


def failed(what: str, notice: Notice, look: Look) -> list[str]:
    """What was left open last time and cannot be finished: its name or words, and why."""
    return [*sentence(look, "console_resumed", question=what), *wrap([Piece(tell(notice, look.locale))], look)]


def sentence(look: Look, key: str, **params: str | int) -> list[str]:
    """One sentence of ours; what stands in its places may come from a book or a file name."""
    return wrap([Piece(say(key, look.locale, **params))], look)


def answer(answer: Answer, look: Look, *, dialogue: bool = True) -> list[str]:
    """The settled answer, then what has to be said about it, then, in a dialogue, how to see its passages."""
    lines = document(answer.document, look)
    for notice in answer.notices:
        said = (
            say(f"console_{notice.key}", look.locale)
            if dialogue and notice.key in _HINTS
            else tell(notice, look.locale)
        )
        lines += ["", *wrap([Piece(said, "dim")], look)]
    if answer.cut and dialogue:
        lines += ["", *wrap([Piece(say("console_continue", look.locale), "dim")], look)]
    if answer.footnotes and dialogue:
        numbers = [note.number for note in answer.footnotes]
        hint = say("console_notes", look.locale, count=len(numbers), first=min(numbers), last=max(numbers))
        lines += ["", *wrap([Piece(hint, "dim")], look)]
    return lines


def document(document: Document, look: Look) -> list[str]:
    """The blocks with a blank line between them."""
    lines: list[str] = []
    for block in document:
        lines += ([""] if lines else []) + _block(block, look, "", "")
    return lines


def _block(block: Block, look: Look, first: str, rest: str) -> list[str]:
    match block:
        case Paragraph(children):
            return wrap(_inline(children), look, first=first, rest=rest)
        case Heading(_, children):
            return wrap(_inline(children, "strong"), look, first=first, rest=rest)
        case Quote(children):
            return _blocks(children, look, first + "│ ", rest + "│ ")
        case CodeBlock(text, _, cites):
            code = [
                part
                for lead, line in _led(text.splitlines(), first, rest)
                for part in wrap([Piece(line)], look, first=lead + _INDENT, rest=rest + _INDENT)
            ]
            return code + (wrap(_inline(cites), look, first=rest, rest=rest) if cites else [])
        case ListBlock(items, ordered, start):
            lines: list[str] = []
            for number, item in enumerate(items, start):
                mark = f"{number}. " if ordered else "- "
                lines += _blocks(item.children, look, (rest if lines else first) + mark, rest + " " * len(mark))
            return lines
        case Table(rows):
            table = []
            for lead, row in _led(rows, first, rest):
                cells: list[Piece] = []
                for cell in row:
                    cells += [*([Piece(" | ")] if cells else []), *_inline(cell.children)]
                table += wrap(cells, look, first=lead, rest=rest)
            return table


def _blocks(blocks: Sequence[Block], look: Look, first: str, rest: str) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        lines += ([rest.rstrip()] if lines else []) + _block(block, look, rest if lines else first, rest)
    return lines or [first.rstrip()]


def _led(items: Iterable[_Item], first: str, rest: str) -> Iterable[tuple[str, _Item]]:
    for at, item in enumerate(items):
        yield (rest if at else first), item


def _inline(children: Iterable[Inline], style: Style = "plain") -> list[Piece]:
    pieces: list[Piece] = []
    for child in children:
        match child:
            case Text(text) | Code(text):
                pieces.append(Piece(text, style))
            case LineBreak():
                pieces.append(Piece("\n", style))
            case Emphasis(inner, strong):
                pieces += _inline(inner, "strong" if strong or style == "strong" else "emphasis")
            case Link(inner, address, live):
                pieces += _inline(inner, style)
                if live:
                    pieces.append(Piece(f" ({address})", style))
            case Cite(number):
                pieces.append(Piece(f"[{number}]", "note"))
    return pieces


def buttons(labels: Sequence[str], notes: Sequence[int], look: Look) -> list[str]:
    """What can be done with a reply of the desk: numbers to type, and words to type."""
    lines: list[str] = []
    if notes:
        hint = say("console_notes", look.locale, count=len(notes), first=min(notes), last=max(notes))
        lines += ["", *wrap([Piece(hint, "dim")], look)]
    if labels:
        shown = "  ".join(f"[{label}]" for label in labels)
        lines += ["", *wrap([Piece(say("console_buttons", look.locale, buttons=shown), "dim")], look)]
    return lines


def passage(passage: Passage, look: Look, number: int | None = None) -> list[str]:
    """The exact text in its surroundings, the quoted run marked; with a note's `number`, also the ways on."""
    lines = _place(passage, look, number)
    if passage.machine_read:
        lines += sentence(look, "console_machine_read")
    body = [Piece(passage.before, "dim"), *_quoted(passage.quote, look), Piece(passage.after, "dim")]
    lines += ["", *_trimmed(wrap(body, look, first=_INDENT, rest=_INDENT))]
    if number is not None:
        lines += ["", *_ways_on(passage, number, look)]
    return lines


def note(passage: Passage, number: int, look: Look) -> list[str]:
    """A note in short: its place and the quoted run, for an answer that is not followed by a dialogue."""
    return [*_place(passage, look, number), *wrap([Piece(passage.quote)], look, first=_INDENT, rest=_INDENT)]


def _place(passage: Passage, look: Look, number: int | None) -> list[str]:
    place = " · ".join(part for part in (passage.heading, passage.label) if part)
    title = [Piece(passage.title, "strong"), Piece(f" · {place}" if place else "")]
    return wrap([Piece(f"[{number}] ", "note"), *title] if number is not None else title, look)


def more(text: str, passage: Passage, number: int, look: Look) -> list[str]:
    """Text that a step before or after an open passage brought to light."""
    lines = _trimmed(wrap([Piece(text)], look, first=_INDENT, rest=_INDENT))
    return [*lines, "", *_ways_on(passage, number, look)]


def _quoted(text: str, look: Look) -> list[Piece]:
    """Bold on a terminal; over a pipe between »…«, which no colour is needed to see."""
    return [Piece(text, "quoted")] if look.colour else [Piece(f"»{text}«", "quoted")]


def _trimmed(lines: list[str]) -> list[str]:
    filled = [at for at, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _ways_on(passage: Passage, number: int, look: Look) -> list[str]:
    ways = [say("console_way_before", look.locale)] if passage.more_before else []
    ways += [say("console_way_after", look.locale)] if passage.more_after else []
    ways.append(say("console_way_close", look.locale, number=number))
    return wrap([Piece(" · ".join(ways), "dim")], look)


def ready(card: BookCard, known: bool, look: Look) -> list[str]:
    """The book can be asked about."""
    key = "console_known" if known else "console_ready"
    lines = sentence(look, key, book=_named(card, look), count=card.chapters)
    for warning in card.warnings:
        lines += wrap([Piece(tell(warning, look.locale))], look)
    return lines


def estimate(title: str, found: Estimate, look: Look) -> list[str]:
    """What summarising a book will take, and whether that waits for a yes; nothing when nothing is left to do."""
    if not found.calls:
        return []
    facts: dict[str, str | int] = {
        "title": title,
        "calls": found.calls,
        "tokens": -(-(found.input_tokens + found.output_tokens) // 1_000),
        "minutes": max(1, round(found.seconds / 60)),
    }
    if found.amount is None:
        lines = sentence(look, "index_estimate", **facts)
    else:
        lines = sentence(look, "index_estimate_money", **facts, money=f"{found.amount:.2f}")
    return lines + sentence(look, "index_asks", index="/index") if found.asks else lines


def indexed(title: str, found: Indexed, look: Look) -> list[str]:
    """How far a book's summaries are."""
    lines = sentence(
        look, f"index_state_{found.state}", title=title, done=found.done, total=found.total, index="/index"
    )
    if found.notice is not None:
        lines += sentence(look, found.notice.key, **found.notice.params)
    return lines


def shelf(cards: Sequence[BookCard], look: Look) -> list[str]:
    """The books of this channel by the numbers `/use` takes; the chosen one is marked in words."""
    if not cards:
        return sentence(look, "console_no_books")
    lines: list[str] = []
    for number, card in enumerate(cards, 1):
        pieces = [Piece(f"{number}. "), Piece(_named(card, look), "strong" if card.current else "plain")]
        pieces.append(Piece(" · " + say("console_chapters", look.locale, count=card.chapters)))
        if card.current and len(cards) > 1:
            pieces.append(Piece(" · " + say("console_current", look.locale)))
        lines += wrap(pieces, look, rest="   ")
    return lines


def _named(card: BookCard, look: Look) -> str:
    if not card.authors:
        return card.title
    return say("console_by", look.locale, title=card.title, authors=", ".join(card.authors))


def contents(card: BookCard, contents: Contents, look: Look) -> list[str]:
    """The contents as the book prints them, chapters with their number."""
    lines = wrap([Piece(card.title, "strong")], look)
    chapters = {chapter.start: chapter for chapter in contents.chapters}
    last = {Position(entry.file, entry.offset): at for at, entry in enumerate(contents.toc)}
    for at, entry in enumerate(contents.toc):
        place = Position(entry.file, entry.offset)
        chapter = chapters.pop(place, None) if last[place] == at else None
        indent = "  " * entry.depth
        mark = f"{chapter.number}. " if chapter else ""
        title = chapter.title if chapter else entry.title
        lines += wrap([Piece(mark + title)], look, first=indent, rest=indent + " " * len(mark))
    for chapter in chapters.values():  # a chapter that no entry of the contents begins
        lines += wrap([Piece(f"{chapter.number}. {chapter.title}")], look, first="  ", rest="     ")
    if len(lines) == 1:
        lines += sentence(look, "console_no_contents" if card.limit_words is None else "console_contents_unread")
    return lines


def reach(key: str, card: BookCard, limit: Limit, look: Look) -> list[str]:
    """How far somebody has read in a book."""
    return sentence(look, key, title=card.title, reach=say_limit(limit, look.locale))


def ahead(place: Limit, number: int, look: Look) -> list[str]:
    """A note's passage lies past the reader's own place: what that is, and how to go on."""
    return sentence(look, "console_ahead", number=number, reach=say_limit(place, look.locale))


def quotes(card: BookCard, found: QuoteFound, look: Look) -> list[str]:
    """Where words stand in the book, and whether word for word."""
    reach = say_limit(found.limit, look.locale)
    lines = sentence(look, found.told_by, count=len(found.hits), title=card.title, reach=reach)
    for hit in found.hits:
        lines += ["", *wrap([Piece(hit.heading, "strong")], look)] if hit.heading else [""]
        lines += wrap([Piece(hit.quote)], look, first=_INDENT, rest=_INDENT)
    return lines


def whole(book: ParsedBook) -> list[str]:
    """The text of a book from end to end, as it is stored but for what a terminal would obey."""
    return [line for file in book.files for line in ("", *harmless(file.text).split("\n"))][1:]


def redraw(drawn: Sequence[str], lines: Sequence[str], height: int) -> tuple[str, list[str]]:
    """Escape sequences that turn the lines on the screen (cursor below the last) into `lines`, and what is drawn then.

    Lines that already stand are left alone. Those that have scrolled out of a screen of `height` rows cannot be
    rewritten: then the whole is written once more below.
    """
    same = 0
    while same < min(len(drawn), len(lines)) and drawn[same] == lines[same]:
        same += 1
    back = len(drawn) - same
    if back >= height:
        same, back = 0, 0
    up = f"\x1b[{back}A\r\x1b[J" if back else ""
    return up + "".join(f"{line}\n" for line in lines[same:]), list(lines)
