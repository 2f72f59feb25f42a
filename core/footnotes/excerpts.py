"""Block quotes are how a whole sentence of the book is given: a true one stays letter for letter.

A sentence often begins or ends inside dialogue, with a mark whose partner stands in another sentence; taking such a
mark away would make the quotation untrue. So a block-quote line whose text (tags aside, typography folded) stands in
the evidence together with its marks is left alone. A line that does not end like a sentence goes on in the next one,
so that no true beginning covers for a false end. Any other line gets what all prose gets.
"""

import re
from typing import Literal, NamedTuple

from core.footnotes.marks import GONE
from core.tags import NOTE

HELD = 700
"""Characters a block-quote line may have: the offline reader gives sentences as long as that."""
_LINES = 12
"""Lines that one wrapped sentence may have."""
_TAIL = 32
"""Characters at the end of a line that may be a note and marks of emphasis."""

_SPACES = r"[ \t]{0,32}"
_HEAD = re.compile(rf"{_SPACES}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]{_SPACES})?(?:>{_SPACES}){{1,8}}")
_HEAD_BEGINNING = re.compile(rf"{_SPACES}(?:(?:[-*+]|\d{{1,9}}(?:[.)]|\Z))(?:[ \t]{_SPACES}|\Z))?\Z")
_ENDED = re.compile(rf"(?:[.!?…。！？」』”’»›\"']|{GONE}|{NOTE.pattern})[\s*_]*\Z")


class Excerpt(NamedTuple):
    """A block-quote line from its first word (`begin`) to its end, where the line break or nothing follows."""

    begin: int
    end: int


def excerpt(text: str, at: int, final: bool) -> Excerpt | Literal[False] | None:
    """The block-quote line that begins at `at`, a line's beginning; False when none does, None when more text is needed."""
    head = _HEAD.match(text, at)
    if head is None:
        return None if not final and _HEAD_BEGINNING.match(text, at) else False
    begin = end = head.end()
    for _ in range(_LINES):
        newline = text.find("\n", end)
        end = len(text) if newline < 0 else newline
        if _too_long(text[begin:end]):
            return False
        if newline < 0:
            return Excerpt(begin, end) if final else None
        if _ENDED.search(text, max(begin, end - _TAIL), end):
            return Excerpt(begin, end)
        following = _HEAD.match(text, end + 1)
        after = following.end() if following else end + 1
        if not final and (after == len(text) or (following is None and _HEAD_BEGINNING.match(text, after))):
            return None
        if following is None or text[after : after + 1] in ("", "\n"):
            return Excerpt(begin, end)
        end = after
    return False


def _too_long(line: str) -> bool:
    """Escapes and notes are not counted, but nothing waits for ever."""
    return len(line) > 2 * HELD or len(NOTE.sub("", line).strip(f" \t{GONE}")) - line.count("\\") > HELD
