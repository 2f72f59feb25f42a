"""A chat as one file, Markdown or HTML: each answer with its notes, each note with its exact passage and position. Pure."""

from typing import Literal

from core.exports.markdown import as_markdown, note_as_markdown
from core.exports.told import Opened, Told
from core.exports.webpage import as_html

Form = Literal["md", "html"]

__all__ = ["Form", "Opened", "Told", "as_html", "as_markdown", "note_as_markdown"]
