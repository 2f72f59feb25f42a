"""What is shown on Discord: documents and buttons -> messages within the vendor's limits. Pure; sentences from core.strings."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from adapters.discord.text import markdown, units
from core.document import Part, plain, split
from core.model import Answer, Attachment, Ballot, Choice, Document, Emphasis, Notice, Paragraph, Reply, Text
from core.strings import tell

CONTENT = 2_000
"""UTF-16 units of a message; the vendor says characters, and no way of counting gives more than this."""
ROWS, ROW = 5, 5
"""Rows of buttons and buttons in a row: discord.ui.View of discord.py 2.7."""
LABEL = 80
NAME = 100
"""Characters of a thread's name and of what is offered while somebody types."""
_HINTS = ("try_quote", "try_without_book")
"""Notices that name a way on: here a button says it."""

_NOTE = re.compile(r"\s*\[\d+\]")

Rows = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One message."""

    content: str
    rows: Rows = ()
    further: tuple[Choice, ...] = ()
    """Footnotes there was no room for: they go behind a button."""
    files: tuple[Attachment, ...] = ()
    ballot: Ballot | None = None
    """The poll this is, where Discord takes it; elsewhere the words and buttons are it."""


def messages(reply: Reply, *, hidden: bool = False) -> tuple[Shown, ...]:
    """A reply of the desk: buttons under its last part, files with it. `hidden`: its quotations under a spoiler."""
    parts = _split(reply.document, hidden)
    shown = [Shown(markdown(part.document, hidden=hidden)) for part in parts] or [Shown("…")]
    files = reply.attachments
    if reply.picture is not None:
        files = (*files, Attachment(_picture_name(reply.picture), reply.picture, "image"))
    ballot = reply.ballot if len(shown) == 1 else None
    shown[-1] = replace(shown[-1], rows=fitted(reply.choices), files=files, ballot=ballot)
    return tuple(shown)


def answer(answer: Answer, notes: Sequence[Choice], ways: Rows, locale: str | None) -> tuple[Shown, ...]:
    """A settled answer with what has to be said about it, each part with the buttons of its own notes."""
    by_number = {note.number: choice for note, choice in zip(answer.footnotes, notes, strict=True)}
    document = answer.document + tuple(_noticed(answer.notices, locale))
    parts = _split(document)
    shown = []
    for number, part in enumerate(parts, 1):
        mine = tuple(by_number[cite] for cite in part.cites if cite in by_number)
        under = ways if number == len(parts) else ()
        rows, further = noted(mine, ROWS - len(under))
        shown.append(Shown(markdown(part.document), rows + under, further))
    return tuple(shown) or (Shown("…", ways),)


def noted(notes: Sequence[Choice], rows: int) -> tuple[Rows, tuple[Choice, ...]]:
    """Note buttons in so many rows, and those left over; when there are such, a place is kept for the button to them."""
    room = rows * ROW
    shown = notes if len(notes) <= room else notes[: room - 1]
    return _rows(shown), tuple(notes[len(shown) :])


def with_further(shown: Shown, choice: Choice) -> Shown:
    """The same with the button that leads to the notes there was no room for, after the last note."""
    rows = [list(row) for row in shown.rows]
    at = max((at for at, row in enumerate(rows) if any(one.kind == "note" for one in row)), default=-1)
    if at < 0:
        rows.insert(0, [choice])
    elif len(rows[at]) < ROW:
        rows[at].append(choice)
    else:
        rows.insert(at + 1, [choice])
    return replace(shown, rows=tuple(tuple(row) for row in rows), further=())


def name(document: Document) -> str:
    """What a thread about this is called: its first words, without the numbers of its notes."""
    words = " ".join(_NOTE.sub("", plain(document)).split()) or "…"
    if units(words) <= NAME:
        return words
    while units(words) >= NAME:
        words = words[:-1]
    return f"{words.rstrip()}…"


def draft(document: Document) -> str:
    """An answer while it is written: its beginning, as far as one message holds it."""
    parts = _split(document)
    return markdown(parts[0].document) if parts else "…"


def sentence(text: str) -> str:
    """One sentence of ours; what stands in its places may come from a book or a file name."""
    return messages(Reply((Paragraph((Text(text),)),)))[0].content


def fitted(rows: Rows) -> Rows:
    """Rows as they are where they fit; else the same buttons closer together."""
    rows = tuple(row for row in rows if row)
    if len(rows) <= ROWS and all(len(row) <= ROW for row in rows):
        return rows
    return _rows([choice for row in rows for choice in row][: ROWS * ROW])


def _rows(choices: Sequence[Choice]) -> Rows:
    return tuple(tuple(choices[at : at + ROW]) for at in range(0, len(choices), ROW))


def _noticed(notices: Iterable[Notice], locale: str | None) -> Iterable[Paragraph]:
    for notice in notices:
        if notice.key not in _HINTS:
            yield Paragraph((Emphasis((Text(tell(notice, locale)),)),))


def _split(document: Document, hidden: bool = False) -> tuple[Part, ...]:
    return split(document, lambda part: units(markdown(part, hidden=hidden)), CONTENT)


def _picture_name(data: bytes) -> str:
    """A name whose ending makes clients show the picture."""
    kinds = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpg"), (b"GIF8", "gif"), (b"RIFF", "webp"))
    return "picture." + next((kind for begins, kind in kinds if data.startswith(begins)), "png")


def draft_end(document: Document) -> str:
    """A draft that will not go on: as much of its beginning as one message holds, and its last block."""
    body, last = document[:-1], document[-1:]
    end = markdown(last)
    parts = split(body, lambda part: units(markdown(part)), CONTENT - units(end) - 2) if body else ()
    return f"{markdown(parts[0].document)}\n\n{end}" if parts else end
