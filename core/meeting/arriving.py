"""The first hello of a server or group, once; and what works and what is missing, for whoever sets the bot up."""

from dataclasses import dataclass

from core.errors import LoccitError, Missing
from core.meeting.means import Means, manages
from core.model import BookCard, ChatRequest, Conversation, Finished, Message, Notice, Reader


@dataclass(frozen=True, slots=True)
class State:
    """What a checklist shows. `model` is None when none is set up; `failure` is why it does not answer."""

    card: BookCard | None
    books: int
    model: str | None
    milliseconds: int
    failure: Notice | None
    writable: Notice | None
    """Why nothing can be stored; None when it can."""


class Arriving:
    """Greets once, and looks at everything."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def first_time(self, conversation: Conversation) -> bool:
        """True once for each server, or for each chat of a platform that has none; kept over restarts."""
        key = f"hello:{conversation.server or conversation.channel}"
        if await self._means.post.recall(conversation.platform, key) is not None:
            return False
        await self._means.post.remember(conversation.platform, key, True)
        return True

    async def look(self, conversation: Conversation, reader: Reader) -> State:
        """Try everything. Costs one short call of the model. Raises ReaderError for who does not manage the chat."""
        manages(reader)
        means = self._means
        writable = None
        try:
            await means.post.remember(conversation.platform, f"check:{conversation.channel}", means.now().isoformat())
        except LoccitError as error:
            writable = Notice(error.key, error.params)
        shelf = await means.store.shelf.shelf(await means.channel(conversation))
        try:
            card: BookCard | None = await means.card(conversation, None)
        except Missing:
            card = shelf[0] if shelf else None
        model = await means.speaker(conversation, reader)
        if model is None:
            return State(card, len(shelf), None, 0, None, writable)
        begun, failure = means.now(), None
        request = ChatRequest(
            (Message("user", "Reply with the one word: ready"),),
            purpose="check",
            max_tokens=16,
            stamp=f"check {means.new_id()}",  # never sent: each look is a call of its own
        )
        try:
            async for event in model.stream(request):
                if isinstance(event, Finished):
                    break
        except LoccitError as error:
            failure = Notice(error.key, error.params)
        spent = round(1000 * (means.now() - begun).total_seconds())
        return State(card, len(shelf), model.name, spent, failure, writable)
