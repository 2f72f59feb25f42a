"""How far a text may be read: the words of limits applied to the contents of one text. Pure."""

from core.errors import ReaderError
from core.limits import read_limit
from core.model import WHOLE_BOOK, Contents, Limit, Position


def kept_limit(words: str | None, contents: Contents, *, paged: bool) -> Limit:
    """A limit from the store; None when nobody has set one.

    Words that say nothing in this text (they were agreed on for another one of the same book) permit nothing of it.
    """
    if words is None:
        return WHOLE_BOOK
    try:
        return read_limit(words, contents, paged=paged)
    except ReaderError:
        return Limit(words, Position(0, 0))
