"""A chat as a Markdown file. Pure."""

from collections.abc import Sequence

from core import document
from core.errors import LoccitError
from core.exports.told import Opened, Told, place, position
from core.model import Paragraph, Text
from core.strings import say, tell


def as_markdown(chat: Sequence[Told], locale: str | None) -> str:
    """The whole file."""
    parts = [f"# {say('export_title', locale)}", *(_turn(told, locale) for told in chat)]
    return "\n\n---\n\n".join(parts) + "\n"


def _turn(told: Told, locale: str | None) -> str:
    turn = told.turn
    lines = [f"## {_literal(' '.join(turn.question.split()))}", f"*{told.asked}*"]
    lines += [f"*{_literal(tell(notice, locale))}*" for notice in turn.answer.notices]
    lines.append(document.markdown(turn.answer.document))
    lines += [note_as_markdown(note, locale) for note in told.notes]
    return "\n\n".join(lines)


def note_as_markdown(note: Opened, locale: str | None) -> str:
    """One note with its exact source and passage, or why it does not open."""
    passage = note.passage
    if isinstance(passage, LoccitError):
        return f"**[{note.number}]** {_literal(say(passage.key, locale, **passage.params))}"
    quoted = "\n".join(f"> {_literal(line)}" for line in passage.quote.split("\n"))
    link = f" · [{say('web_open', locale)}](<{note.link}>)" if note.link else ""
    return f"**[{note.number}]** {_literal(place(passage))} · `{position(passage)}`{link}\n\n{quoted}"


def _literal(text: str) -> str:
    """Words that must not be read as Markdown."""
    return document.markdown((Paragraph((Text(text),)),))
