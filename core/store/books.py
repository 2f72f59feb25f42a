"""Books as read: text in hashed pieces, runs, structure, segments; one extraction per (content, text version)."""

from collections.abc import Collection
from datetime import datetime

from core.model import Contents, ParsedBook, Segment, Span
from core.store.engines import Engines


class Books:
    """What extraction knew, read back exactly or not at all: every read checks the stored hash.

    Nothing here looks at rights: ask `Shelf.permitted` first.
    Reads of a book or text version that is not stored raise Missing `book_not_stored`;
    bytes that do not match their hash raise BrokenPromise `text_damaged`.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def save(self, sha256: str, book: ParsedBook, at: datetime) -> None:
        """Store a book whole or not at all. The same (content, text version) again changes nothing."""
        raise NotImplementedError

    async def contents(self, sha256: str, text_version: str | None = None) -> Contents | None:
        """The structure without the text; the latest text version when none is named. None when it is not stored."""
        raise NotImplementedError

    async def text(self, sha256: str, text_version: str, span: Span) -> str:
        """Exactly the characters of the span. A span that reaches past its file is `text_damaged`."""
        raise NotImplementedError

    async def file_text(self, sha256: str, text_version: str, file: int) -> str:
        """The whole canonical text of one spine file."""
        raise NotImplementedError

    async def runs(self, sha256: str, text_version: str, file: int) -> tuple[Span, ...]:
        """The runs of one spine file in reading order."""
        raise NotImplementedError

    async def segments(self, sha256: str, text_version: str) -> tuple[Segment, ...]:
        """All segments in reading order, each with its summary when one has been stored."""
        raise NotImplementedError

    async def save_summary(
        self, sha256: str, text_version: str, sequence: int, summary: str, stamp: str, flags: Collection[str] = ()
    ) -> None:
        """Put a summary on a segment, in place of an earlier one.

        `stamp` says what made it (prompt version, model); `flags` what is doubtful about it.
        """
        raise NotImplementedError

    async def cover(self, sha256: str, text_version: str) -> bytes | None:
        """The cover picture as stored in the book, when it has one."""
        raise NotImplementedError

    async def parsed(self, sha256: str, text_version: str) -> ParsedBook:
        """The whole book as it was saved, with summaries made since. Slow (all text is read and checked)."""
        raise NotImplementedError
