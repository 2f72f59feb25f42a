"""Documents: from settled Markdown to the tree of `core.model.document`, to plain text, Markdown or HTML, and into parts."""

from core.document.addresses import stands
from core.document.hypertext import html
from core.document.parsing import parse
from core.document.printing import cites, markdown, plain
from core.document.splitting import Part, split

__all__ = ["Part", "cites", "html", "markdown", "parse", "plain", "split", "stands"]
