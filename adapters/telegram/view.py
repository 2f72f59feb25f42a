"""What is shown on Telegram: documents and buttons -> messages within the vendor's limits. Pure; sentences from core.strings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from adapters.telegram.text import Mark, Plain, render
from core.document import Part, cites, split
from core.model import Answer, Ballot, Choice, Document, Emphasis, Notice, Paragraph, Reply, Text
from core.strings import tell

TEXT = 4096
"""UTF-16 units of a message, caption and entity limits: telegram.constants of python-telegram-bot 22.8."""
CAPTION = 1024
MARKS = 100
COPIED = 256
"""Characters that a button can copy: telegram.constants."""
NOTES = 90
"""Note buttons of one part: the vendor takes 100 buttons, and other rows need some."""
ROW = 3
"""Note buttons in a row that a phone shows whole (the vendor takes 8)."""
QUESTION = 300
"""Characters of a poll's question and of an option, and how many options it takes: PollLimit there."""
OPTION = 100
OPTIONS = range(2, 13)
_NUMBERING = 16
"""Units kept free for "3/12" above a part."""
STEP = "~"
"""Stands before the id of a button that puts other text in place of what it stands in."""
_HINTS = ("try_quote", "try_without_book")
"""Notices that name a way on: here a button says it."""

Keyboard = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One message: text, or a picture with the text as its caption."""

    plain: Plain
    keyboard: Keyboard = ()
    picture: bytes | None = None


def messages(reply: Reply) -> tuple[Shown, ...]:
    """A reply of the desk; buttons under its last part, a picture with its first when the caption holds the text."""
    parts = _parts(reply.document, own=reply.passage is None)
    shown = [Shown(part) for part in parts] or [Shown(Plain("…"))]
    if reply.picture is not None and len(shown) == 1 and shown[0].plain.units <= CAPTION:
        shown[0] = replace(shown[0], picture=reply.picture)
    shown[-1] = replace(shown[-1], keyboard=tuple(row for row in reply.choices if row))
    return tuple(shown)


def answer(answer: Answer, notes: Sequence[Choice], ways: Keyboard, locale: str | None) -> tuple[Shown, ...]:
    """A settled answer with what has to be said about it: each part under 4,096 units with its own notes' buttons."""
    by_number = {note.number: choice for note, choice in zip(answer.footnotes, notes, strict=True)}
    document = answer.document + tuple(_noticed(answer.notices, locale))
    parts = _split(document, TEXT - _NUMBERING)
    shown = []
    for number, part in enumerate(parts, 1):
        mine = [by_number[cite] for cite in part.cites if cite in by_number]
        rows = tuple(tuple(mine[at : at + ROW]) for at in range(0, len(mine), ROW))
        last = number == len(parts)
        shown.append(Shown(_numbered(part.document, number, len(parts), own=False), rows + (ways if last else ())))
    return tuple(shown) or (Shown(Plain("…"), ways),)


def poll(ballot: Ballot) -> tuple[str, tuple[str, ...]] | None:
    """Question, with the time it closes at, and options as the vendor's poll takes them; None when something is too long."""
    question = render(paragraph(f"{ballot.question} {ballot.closing}".strip())).text
    options = tuple(render(paragraph(title)).text for _, title in ballot.options)
    fits = len(question) <= QUESTION and len(options) in OPTIONS and all(len(option) <= OPTION for option in options)
    return (question, options) if fits else None


def draft(document: Document, more: str = "") -> Plain:
    """An answer while it is written: its beginning, as far as one message holds it; `more` stands under it."""
    if more:
        document += (Paragraph((Emphasis((Text(more),)),)),)
    parts = _split(document, TEXT)
    return render(parts[0].document) if parts else Plain("…")


def paragraph(text: str) -> Document:
    return (Paragraph((Text(text),)),)


def sentence(text: str) -> Plain:
    """One sentence of ours; what stands in its places may come from a book or a file name."""
    return render(paragraph(text), own=True)


def captioned(shown: Shown) -> Shown:
    """The same without its picture, when the vendor does not take that one."""
    return replace(shown, picture=None)


def _noticed(notices: Iterable[Notice], locale: str | None) -> Iterable[Paragraph]:
    for notice in notices:
        if notice.key not in _HINTS:
            yield Paragraph((Emphasis((Text(tell(notice, locale)),)),))


def _parts(document: Document, *, own: bool) -> list[Plain]:
    parts = _split(document, TEXT - _NUMBERING)
    return [_numbered(part.document, number, len(parts), own=own) for number, part in enumerate(parts, 1)]


def _numbered(document: Document, number: int, count: int, *, own: bool) -> Plain:
    plain = render(document, own=own)
    if count == 1:
        return plain
    lead = f"{number}/{count}\n"
    moved = tuple(mark._replace(offset=mark.offset + len(lead)) for mark in plain.marks[:MARKS])
    return Plain(lead + plain.text, moved)


def _split(document: Document, limit: int) -> tuple[Part, ...]:
    return split(document, _measure, limit)


def _measure(document: Document) -> int:
    """UTF-16 units; more than fits when there are too many entities or notes for one message."""
    plain = render(document)
    if len(plain.marks) > MARKS or len(cites(document)) > NOTES:
        return max(plain.units, TEXT + 1)
    return plain.units


def entities(marks: Iterable[Mark]) -> list[dict[str, object]]:
    """Entities as the Bot API takes them."""
    return [
        {
            "type": mark.kind,
            "offset": mark.offset,
            "length": mark.length,
            **({"url": mark.url} if mark.url else {}),
            **({"language": mark.language} if mark.language else {}),
        }
        for mark in marks
    ]
