"""Characters and links that a model writes in another way: entities, addresses. None: not to be told before more text arrives."""

import html
import re

from core.tags import OPENERS, clean

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ENTITY_BEGINNING = re.compile(r"&[#\w]{0,32}\Z")
_ADDRESS = re.compile(r"\((?:<|https?:|mailto:|www\.|#|/|\.\.?/)[^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)")
_ADDRESS_BEGINNING = re.compile(r"\((?:[^\s()]|\([^\s()]*\))*(?:\([^\s()]*)?\Z")
_ADDRESS_LENGTH = 400
"""Characters of a link's address that are left out with the link; a longer one is text."""
_MARKUP = set("\\`*_{}[]()#+-.!<>|~&")


def entity(text: str, at: int, final: bool) -> tuple[str, int] | None:
    """What to show for the ampersand at `at` and what goes with it, and where that ends.

    An opening bracket comes back bare. Letters, digits, and a dash inside a word stay as they were written.
    """
    match = _ENTITY.match(text, at)
    if match is None:
        return None if not final and _ENTITY_BEGINNING.match(text, at) else ("&", at + 1)
    shown = html.unescape(match[0])
    if shown in OPENERS:
        return shown, match.end()
    joins = at > 0 and text[at - 1].isalnum()
    if shown == match[0] or any(char.isalnum() or (joins and clean(char) == "-") for char in shown):
        return match[0], match.end()
    return "\\" + shown if shown in _MARKUP else shown, match.end()


def address_end(text: str, at: int, final: bool) -> int | None:
    """Where the address of a link that begins at `at` ends; `at` itself when none does."""
    match = _ADDRESS.match(text, at, at + _ADDRESS_LENGTH)
    short = not final and len(text) - at < _ADDRESS_LENGTH
    if match is None and short and _ADDRESS_BEGINNING.match(text, at):
        return None
    return match.end() if match else at
