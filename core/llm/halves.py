"""Characters that JSON can write and no text may hold: the two halves of one that was escaped as a pair. Pure."""

import re

_HALF = re.compile("[\ud800-\udfff]")


def paired(text: str) -> str:
    """`text` with halves that belong together as one character; what stays alone becomes U+FFFD."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Pairing:
    """The same for a text in pieces: a first half at the end of a piece waits for the next one."""

    def __init__(self) -> None:
        self._waiting = ""

    def feed(self, piece: str) -> str:
        """What of the text is whole now."""
        if not piece:
            return ""
        piece, self._waiting = self._waiting + piece, ""
        if "\ud800" <= piece[-1] <= "\udbff":
            piece, self._waiting = piece[:-1], piece[-1]
        return paired(piece)
