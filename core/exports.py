"""A chat as a Markdown file: each answer with its notes, each note with its exact passage and position. Pure."""

from collections.abc import Sequence

from core import document
from core.errors import LoccitError
from core.model import Paragraph, Passage, Text, Turn
from core.strings import say, tell


def chat(parts: Sequence[str], locale: str | None) -> str:
    """The whole file."""
    return "\n\n---\n\n".join([f"# {say('export_title', locale)}", *parts]) + "\n"


def turn(turn: Turn, notes: Sequence[Passage | LoccitError], locale: str | None) -> str:
    """One question with its answer; `notes` are its opened footnotes in order, or why one no longer opens."""
    asked = turn.asked_at.strftime("%Y-%m-%d %H:%M UTC")
    lines = [f"## {_literal(' '.join(turn.question.split()))}", f"*{asked}*"]
    lines += [f"*{_literal(tell(notice, locale))}*" for notice in turn.answer.notices]
    lines.append(document.markdown(turn.answer.document))
    for footnote, passage in zip(turn.answer.footnotes, notes, strict=True):
        if isinstance(passage, LoccitError):
            lines.append(f"**[{footnote.number}]** {_literal(say(passage.key, locale, **passage.params))}")
            continue
        where = " · ".join(filter(None, (passage.title, passage.heading, passage.label, f"“{passage.opening}”")))
        quoted = "\n".join(f"> {_literal(line)}" for line in passage.quote.split("\n"))
        lines.append(f"**[{footnote.number}]** {_literal(where)} · `{passage.tag}`\n\n{quoted}")
    return "\n\n".join(lines)


def _literal(text: str) -> str:
    """Words that must not be read as Markdown."""
    return document.markdown((Paragraph((Text(text),)),))
