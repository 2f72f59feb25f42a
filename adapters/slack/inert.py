"""Text that does nothing: no mention, no link, no picture from a name, whatever a book or a model wrote. Pure.

Slack reads `<…>` in every text that is not rich text, and turns bare addresses and `:names:` into links and pictures. Its
three characters are escaped as it asks; elsewhere an invisible word joiner parts what would be recognised. With the
joiners removed a text is what it was, letter for letter.
"""

import re

JOINER = "\u2060"
_PARTED = re.compile(
    r"(?<=:)(?=//)"  # an address with its scheme
    r"|(?<=@)(?=\w)"  # @here, a mail address
    r"|(?<=[^\W_]\.)(?=[^\W\d_]{2})"  # a bare address: www.name, name.org
    r"|(?<=:)(?=[\w+'-]+:)"  # :name: becomes a picture
)
_MARKDOWN = re.compile(r"[\\`*_~\[\]()#|!]")
_LINE_START = re.compile(r"^([ \t]*)([-+=>]|&gt;)", re.MULTILINE)


def escaped(text: str) -> str:
    """The three characters Slack reads, as entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def inert(text: str) -> str:
    """`text` for a field that Slack reads as its own markup."""
    return escaped(_PARTED.sub(JOINER, text))


def inert_markdown(text: str) -> str:
    """`text` for a field that Slack reads as Markdown; shows the same words."""
    marked = _MARKDOWN.sub(lambda found: "\\" + found[0] + (JOINER if found[0] == "]" else ""), inert(text))
    return _LINE_START.sub(r"\1" + JOINER + r"\2", marked)
