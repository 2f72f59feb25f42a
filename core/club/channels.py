"""Channels by what adapters call them: their number in the store, their shelf, the book that words name there."""

from collections.abc import Callable
from datetime import datetime

from core import choosing
from core.model import BookCard, Conversation
from core.retrieval import Source
from core.store import Store


class Channels:
    """What every part of the club asks first."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def number(self, conversation: Conversation) -> int:
        """The number of the conversation's channel; threads share their channel's."""
        return await self._store.shelf.channel(conversation, self._now())

    async def shelf(self, conversation: Conversation) -> tuple[BookCard, ...]:
        """The channel's books in the order they came; `current` marks the one in use."""
        return await self._store.shelf.shelf(await self.number(conversation))

    async def chosen(self, conversation: Conversation, choice: str | None) -> BookCard:
        """The book that words name; None: the one in use or the only one. Raises Missing as `choosing.chosen` does."""
        return choosing.chosen(await self.shelf(conversation), choice)

    async def source(self, conversation: Conversation, card: BookCard) -> Source:
        """The one gate to the book's text, up to the channel's limit."""
        channel = await self.number(conversation)
        return await Source.open(self._store, channel, card.sha256, text_version=card.text_version)
