"""Where code begins and ends in a stream of Markdown. Each answer may be None: not to be told before more text arrives."""

import re

SPAN = 400
"""Characters a code span may have; a backtick without its partner within that is a plain character."""
_INFO = 64
"""Characters after an opening fence within which its line must end."""

_BEFORE_FENCE = re.compile(r"(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*\Z")
_FENCE_END = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*(?=\n|\Z)")
_FENCE_END_BEGINNING = re.compile(r"[ \t>]*[`~]*[ \t]*\Z")
_SPAN_END = re.compile(r"`+|\n[ \t]*\n")


def opens_fence(text: str, end: int, run: str, line: str, final: bool) -> bool | None:
    """True when `run`, which ends at `end` and has `line` before it on its line, opens a fence."""
    if len(run) < 3 or not _BEFORE_FENCE.match(line):
        return False
    newline = text.find("\n", end, end + _INFO)
    short = len(text) - end < _INFO
    if newline < 0 and short and not final:
        return None
    info = text[end:newline] if newline >= 0 else text[end:]
    return (newline >= 0 or short) and (run[0] == "~" or "`" not in info)


def closes_fence(text: str, at: int, fence: str, final: bool) -> int | None:
    """Where the closing fence that begins at `at`, a line's beginning, ends; -1 when none begins there."""
    end = _FENCE_END.match(text, at)
    if not final and (end is None or end.end() == len(text)) and len(text) - at < _INFO and may_close_fence(text, at):
        return None
    return end.end() if end and end[1][0] == fence[0] and len(end[1]) >= len(fence) else -1


def may_close_fence(text: str, at: int) -> bool:
    """True when everything from `at` may be the beginning of a closing fence."""
    return _FENCE_END_BEGINNING.match(text, at) is not None


def closes_span(text: str, end: int, run: str, final: bool) -> int | None:
    """Where the backticks that match `run`, which ends at `end`, begin; -1 when nothing matches it."""
    for match in _SPAN_END.finditer(text, end, end + SPAN):
        if match[0] == run:
            return match.start() if final or match.end() < len(text) else None  # the run may go on
        if "\n" in match[0]:
            return -1
    return -1 if final or len(text) - end > SPAN else None
