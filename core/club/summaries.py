"""Summaries of the club's books: what they will take, a yes to it, how far they are, a stop."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from core.club.channels import Channels
from core.errors import OperatorError, ReaderError
from core.model import BookCard, Conversation, Estimate, Indexed, IndexNews, Reader, Ready
from core.summaries import Indexing, Jobs, Summarised


class Summarising:
    """A book is answered from all the while. Without a model there is nothing to do."""

    def __init__(self, channels: Channels, jobs: Jobs | None, behind: Indexing | None) -> None:
        self._channels = channels
        self._jobs = jobs
        self._indexing = behind

    async def close(self) -> None:
        """Stop what goes on behind the conversation."""
        if self._indexing is not None:
            await self._indexing.close()

    def work_behind(self) -> None:
        """From now on, until `close`, write the summaries that books lack, while people ask. Nothing without a model."""
        if self._indexing is not None:
            self._indexing.start()

    async def index(
        self, conversation: Conversation, choice: str, *, refresh: bool = False
    ) -> AsyncGenerator[Summarised, None]:
        """Summarise a book and yield how it goes; `refresh` also redoes what is flagged or outdated.

        Raises OperatorError `index_no_model`, and what the provider raises: what is done stays, another call goes on.
        """
        card = await self._channels.chosen(conversation, choice)
        async with aclosing(self._work().finish(card, refresh=refresh)) as steps:
            async for step in steps:
                yield step

    async def estimate(self, conversation: Conversation, choice: str | None = None) -> Estimate:
        """What summarising a book will still take. Raises OperatorError `index_no_model`."""
        card = await self._channels.chosen(conversation, choice)
        return await self._work().estimate(card.sha256, card.text_version)

    async def state(self, conversation: Conversation, choice: str | None = None) -> tuple[BookCard, Indexed]:
        """How far a book's summaries are; it is answered from all the while. Raises OperatorError `index_no_model`."""
        card = await self._channels.chosen(conversation, choice)
        return card, await self._work().indexed(card)

    async def approve(self, conversation: Conversation, reader: Reader, choice: str | None = None) -> BookCard:
        """The yes to what summarising a book costs; what was stopped or has failed goes on too.

        Raises ReaderError for who does not manage the channel, OperatorError `index_no_model`.
        """
        card = await self._manages(conversation, reader, choice)
        await self._work().approve(card)
        if self._indexing is not None:
            self._indexing.notice()
        return card

    async def cancel(self, conversation: Conversation, reader: Reader, choice: str | None = None) -> BookCard:
        """Stop summarising a book, for all who have it: what is made stays and is used. `approve` goes on.

        Raises ReaderError for who does not manage the channel, OperatorError `index_no_model`.
        """
        card = await self._manages(conversation, reader, choice)
        await self._work().cancel(card)
        return card

    async def watch(self, platform: str) -> AsyncGenerator[IndexNews, None]:
        """How far the books of a platform's channels are: first the unfinished ones, then every change, without end.

        Without a model there is nothing to tell, and it ends.
        """
        if self._jobs is not None:
            async with aclosing(self._jobs.watch(platform)) as news:
                async for each in news:
                    yield each

    async def enlist(self, ready: Ready, conversation: Conversation | None = None) -> Ready:
        """What summarising the book will take; it begins, or waits for a yes."""
        if self._jobs is None or self._indexing is None:
            return ready
        channel = None if conversation is None else await self._channels.number(conversation)
        found = await self._jobs.enlist(ready.card.sha256, ready.card.text_version, channel)
        self._indexing.notice()
        return replace(ready, estimate=found)

    def _work(self) -> Jobs:
        if self._jobs is None:
            raise OperatorError("index_no_model")
        return self._jobs

    async def _manages(self, conversation: Conversation, reader: Reader, choice: str | None) -> BookCard:
        if not reader.manages:
            raise ReaderError("managers_only")
        return await self._channels.chosen(conversation, choice)
