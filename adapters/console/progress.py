"""How far somebody has read, and how far a book's summaries are, in the terminal."""

from adapters.console import view
from adapters.console.terminal import Page
from core.club import Club
from core.model import WHOLE_BOOK, Conversation, Reader
from core.strings import is_word


class Progress:
    """What is asked and said of a book's progress. `conversation` is the one chat of this terminal."""

    def __init__(self, club: Club, conversation: Conversation, reader: Reader) -> None:
        self._club = club
        self._conversation = conversation
        self._reader = reader

    async def progress(self, words: str, page: Page) -> None:
        """The club's reading limit: shown, set, or the last change taken back."""
        if is_word(words, "word_undo"):
            card, limit = await self._club.undo_progress(self._conversation, self._reader)
            key = "console_progress_undone"
        else:
            card, limit = await self._club.progress(self._conversation, self._reader, words=words or None)
            key = "console_progress_set" if words else "console_progress"
        if limit == WHOLE_BOOK and not words:
            key = "console_progress_whole"
        page.say(view.reach(key, card, limit, page.look))
        if not words:
            _, own = await self._club.place(self._conversation, self._reader, card.sha256)
            page.say(view.reach("console_place_none" if own == WHOLE_BOOK else "console_place", card, own, page.look))

    async def place(self, words: str, page: Page) -> None:
        """The reader's own place: shown or set."""
        card, limit = await self._club.place(self._conversation, self._reader, words=words or None)
        gone = "place_gone" if words else "console_place_none"
        page.say(view.reach(gone if limit == WHOLE_BOOK else "console_place", card, limit, page.look))

    async def index(self, words: str, page: Page) -> None:
        """How far the summaries of a book are; "yes" agrees to what they cost, "stop" ends them."""
        word, _, choice = words.partition(" ")
        if is_word(word, "word_yes"):
            card = await self._club.summaries.approve(self._conversation, self._reader, choice.strip() or None)
            page.say(view.sentence(page.look, "index_started", title=card.title))
        elif is_word(word, "word_stop"):
            card = await self._club.summaries.cancel(self._conversation, self._reader, choice.strip() or None)
            page.say(view.sentence(page.look, "index_cancelled_now", title=card.title, index="/index"))
        else:
            card, found = await self._club.summaries.state(self._conversation, words or None)
            page.say(view.indexed(card.title, found, page.look))
            if found.state != "done":
                page.say(
                    view.estimate(
                        card.title, await self._club.summaries.estimate(self._conversation, card.sha256), page.look
                    )
                )
