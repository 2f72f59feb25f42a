"""Books of the club that are read anew: the same file once more, or another file in the place of an earlier edition."""

from collections.abc import Callable
from datetime import datetime

from core.club.channels import Channels
from core.club.summaries import Summarising
from core.errors import ReaderError
from core.library import Library
from core.model import BookCard, Conversation, Reader, Ready
from core.rights import check_change
from core.spending import Terms
from core.store import Store


class Editions:
    """Who may bring books, and what becomes of those that are here already."""

    def __init__(
        self,
        store: Store,
        channels: Channels,
        library: Library,
        summaries: Summarising,
        terms: Terms,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._channels = channels
        self._library = library
        self._summaries = summaries
        self._terms = terms
        self._now = now

    async def admit(self, conversation: Conversation, reader: Reader) -> None:
        """Raises ReaderError for somebody who may not add books here, by the operator's lists or the channel's setting."""
        self._terms.admit_upload(conversation, reader)
        settings = await self._store.shelf.settings(await self._channels.number(conversation))
        if settings.get("uploads") == "managers" and not reader.manages:
            raise ReaderError("uploads_managers_only")

    async def again(self, conversation: Conversation, reader: Reader, choice: str) -> tuple[BookCard, bool]:
        """Read a book's file once more; the book, and whether its text is another now. The club's limit stays.

        Raises ReaderError for who may not change the book, BadBook and OperatorError as adding it does.
        """
        card = await self._channels.chosen(conversation, choice)
        check_change(reader, card.added_by)
        await self.admit(conversation, reader)
        read = await self._library.again(await self._channels.number(conversation), card, reader.id)
        await self._summaries.enlist(Ready(read, known=True), conversation)
        return read, read.text_version != card.text_version

    async def earlier(self, conversation: Conversation, card: BookCard) -> BookCard | None:
        """The other book of this title on the channel's shelf, when there is exactly one."""
        others = [
            other
            for other in await self._channels.shelf(conversation)
            if other.sha256 != card.sha256 and other.title.casefold() == card.title.casefold()
        ]
        return others[0] if len(others) == 1 else None

    async def replace(self, conversation: Conversation, reader: Reader, old: str, new: str) -> BookCard:
        """Let one book of the shelf take the place of another: its use and the club's limit; the book that stays.

        The other one can be brought back for UNDO. Raises ReaderError for who may not change it.
        """
        gone, card = [await self._channels.chosen(conversation, book) for book in (old, new)]
        check_change(reader, gone.added_by)
        await self._store.shelf.grant(
            await self._channels.number(conversation),
            card.sha256,
            card.text_version,
            card.added_by,
            card.title,
            self._now(),
            replaces=gone.sha256,
            still_here=True,
        )
        return card
