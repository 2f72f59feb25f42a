"""Channels, their settings, and which books each may read: rights are (channel, book) rows, never a content hash."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.model import BookCard, Conversation
from core.store.engines import Engines


class Shelf:
    """The books of a channel. A channel is named by the number `channel` gives; threads share their channel's."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def channel(self, conversation: Conversation, at: datetime) -> int:
        """The number of the conversation's channel, made now when it is new. `thread` plays no part."""
        raise NotImplementedError

    async def grant(
        self, channel: int, sha256: str, text_version: str, reader: str, filename: str, at: datetime
    ) -> None:
        """Put a stored book on the channel's shelf, bound to this text version.

        A book already there keeps its place and moves to the text version; one withdrawn earlier comes back at the
        end. `reader` is the platform's id of who added it. Raises Missing `book_not_stored`.
        """
        raise NotImplementedError

    async def withdraw(self, channel: int, sha256: str, at: datetime) -> bool:
        """Take the book off the shelf; False when it was not on it. It stops being the current book."""
        raise NotImplementedError

    async def restore(self, channel: int, since: datetime) -> str | None:
        """Undo the last withdrawal made at `since` or later: the book's sha256, back in its old place.

        None when there is nothing to undo. It becomes current again when it was current and nothing was chosen since.
        """
        raise NotImplementedError

    async def shelf(self, channel: int) -> tuple[BookCard, ...]:
        """The channel's books in the order in which they were added."""
        raise NotImplementedError

    async def card(self, channel: int, sha256: str) -> BookCard | None:
        """The card of one book of the channel; None when it is not on the shelf."""
        raise NotImplementedError

    async def find(self, channel: int, prefix: str) -> tuple[str, ...]:
        """The books of the channel whose sha256 begins with `prefix` (hex, any case), in the order added."""
        raise NotImplementedError

    async def permitted(self, channel: int, sha256: str) -> bool:
        """True when the book is on the channel's shelf now."""
        raise NotImplementedError

    async def removed_at(self, channel: int, sha256: str) -> datetime | None:
        """When the book was taken off the shelf (UTC); None when it is on it or never was."""
        raise NotImplementedError

    async def use(self, channel: int, sha256: str | None) -> None:
        """Choose the channel's current book; None for no choice. Raises Missing `book_not_on_shelf`."""
        raise NotImplementedError

    async def current(self, channel: int) -> str | None:
        """The sha256 of the book chosen by `use`, while it is on the shelf."""
        raise NotImplementedError

    async def settings(self, channel: int) -> dict[str, Any]:
        """The channel's settings by name; empty at first."""
        raise NotImplementedError

    async def change_settings(self, channel: int, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Merge changes (JSON values by name, None removes) into the settings and return the result.

        Changes to different names made at the same time all hold.
        """
        raise NotImplementedError
