"""Forgetting in the terminal: said first, done at the next yes."""

from collections.abc import Awaitable, Callable
from functools import partial

from adapters.console import view
from adapters.console.here import HERE, PLATFORM
from adapters.console.terminal import Page
from core.club import Club
from core.errors import ReaderError
from core.model import Forgotten, Reader


class Forgetting:
    """What can be forgotten, and what of it waits for a yes."""

    def __init__(self, club: Club, reader: Reader) -> None:
        self._club = club
        self._reader = reader
        self._unsure: Callable[[], Awaitable[Forgotten]] | None = None

    def take(self) -> Callable[[], Awaitable[Forgotten]] | None:
        """What is forgotten if the line just typed is a yes; it is asked about once."""
        unsure, self._unsure = self._unsure, None
        return unsure

    async def forget(self, words: str, page: Page) -> None:
        """Say what would go and wait for a yes; any other line keeps it."""
        what, _, choice = words.partition(" ")
        match what.lower():
            case "me":
                self._unsure = partial(self._club.forget_reader, PLATFORM, self._reader.id)
                page.say(view.sentence(page.look, "console_forget_me"))
            case "channel":
                self._unsure = partial(self._club.forget_channel, HERE, self._reader)
                page.say(view.sentence(page.look, "console_forget_channel"))
            case "book" if choice.strip():
                card = await self._club.book(HERE, choice.strip())
                self._unsure = partial(self._forget_book, card.sha256)
                page.say(view.sentence(page.look, "console_forget_book", title=card.title))
            case _:
                raise ReaderError("console_forget_what")

    async def _forget_book(self, sha256: str) -> Forgotten:
        return (await self._club.forget_book(HERE, self._reader, sha256))[1]
