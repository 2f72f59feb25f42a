"""What things look like in Slack: documents -> messages of blocks, buttons, plain words for screen readers. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.slack.inert import inert
from adapters.slack.richtext import blocks, is_table
from core.document import Part, cites, plain, split
from core.model import Answer, Choice, Document, Emphasis, Paragraph, Table, Text
from core.strings import say, tell

Json = dict[str, Any]

TEXT = 3000
"""Characters of a part, as a section takes them; the top-level text has room for that as well (4,000 advised)."""
BLOCKS = 44
"""Of the 50 a message takes, those left to text: the others hold buttons."""
ROW = 25
"""Buttons in one actions block."""
NOTES = 75
"""Buttons of footnotes in one message: three blocks."""
LABEL = 75


@dataclass(frozen=True, slots=True)
class Own:
    """A button that only Slack has; `kind` is what its press is known by."""

    label: str
    id: str
    kind: str


Button = Choice | Own


@dataclass(frozen=True, slots=True)
class Message:
    """One message: `text` says in plain words what `blocks` show."""

    text: str
    blocks: list[Json] = field(default_factory=list)
    buttons: list[Json] = field(default_factory=list)
    """The blocks at the end that hold buttons, also part of `blocks`."""

    @property
    def bare(self) -> "Message":
        """The same words without blocks, for when Slack refuses those."""
        return Message(self.text)


def weigh(document: Document) -> int:
    """How full a message is with this document; TEXT is full."""
    # the vendor's table stands at the top only; one inside a list or a quotation is text
    tables = sum(1 for block in document if isinstance(block, Table) and is_table(block))
    if tables > 1:
        return TEXT + 1
    return max(
        len(inert(plain(document))),
        len(document) * TEXT // BLOCKS,
        len(cites(document)) * TEXT // NOTES,
    )


def parts(document: Document) -> tuple[Part, ...]:
    """The document in messages, none of which breaks a limit."""
    return split(document, weigh, TEXT)


def messages(
    document: Document, rows: Sequence[Sequence[Button]] = (), notes: Sequence[Choice] = (), locale: str | None = None
) -> tuple[Message, ...]:
    """The document with each part's footnotes under it and `rows` of other buttons under the last."""
    by_number = {number(choice): choice for choice in notes}
    cut = parts(document) or (Part((), ()),)
    made = []
    for at, part in enumerate(cut):
        own = [by_number[n] for n in part.cites if n in by_number]
        last = at == len(cut) - 1
        buttons = [*_rows([own], locale), *(_rows(rows, locale, len(own)) if last else [])]
        made.append(Message(inert(plain(part.document)) or "…", [*blocks(part.document), *buttons], buttons))
    return tuple(made)


def number(choice: Choice) -> int:
    """The footnote's number its label begins with; 0 for any other button."""
    digits = ""
    for letter in choice.label:
        if not letter.isdecimal():
            break
        digits += letter
    return int(digits) if digits else 0


def answer(answer: Answer, locale: str | None) -> Document:
    """The settled answer, then in italics what has to be said about it."""
    said = [Paragraph((Emphasis((Text(tell(notice, locale)),)),)) for notice in answer.notices]
    return (*answer.document, *said)


def words(text: str, rows: Sequence[Sequence[Button]] = ()) -> Message:
    """One sentence of ours, with buttons."""
    return messages((Paragraph((Text(text),)),), rows)[0]


def stoppable(text: str, locale: str | None) -> Message:
    """Text that still grows, with a button that stops it."""
    return words(text, ((Own(say("stop", locale), "stop", "stop"),),))


def _rows(rows: Sequence[Sequence[Button]], locale: str | None, first: int = 0) -> list[Json]:
    out: list[Json] = []
    at = first
    for row in rows:
        for begin in range(0, len(row), ROW):
            elements = [button(choice, at + offset, locale) for offset, choice in enumerate(row[begin : begin + ROW])]
            at += len(elements)
            out.append({"type": "actions", "elements": elements})
    return out


def button(choice: Button, at: int, locale: str | None) -> Json:
    """One button; its action is named after its kind, what it carries is the opaque id."""
    made: Json = {
        "type": "button",
        "action_id": f"{choice.kind}:{at}",
        "text": {"type": "plain_text", "text": choice.label[:LABEL] or "…", "emoji": False},
    }
    if choice.kind == "link":
        return {**made, "url": choice.id}
    if choice.kind == "note":
        made["accessibility_label"] = say("slack_footnote_spoken", locale, label=choice.label)[:LABEL]
    return {**made, "value": choice.id}
