"""Who may change what a whole chat sees: whoever manages it, and whoever added the book that it is about. Pure."""

from core.errors import ReaderError
from core.model import Reader


def check_change(reader: Reader, added_by: str) -> None:
    """Raises ReaderError unless the reader manages the chat or added the book (`added_by`: the platform's id, "" = unknown).

    A reader's own place, questions and passages are everyone's and are never asked about here.
    """
    if not reader.manages and (not added_by or reader.id != added_by):
        raise ReaderError("book_managers_only")
