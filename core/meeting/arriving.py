"""The first hello of a server or group, once; and what works and what is missing, for whoever sets the bot up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import LoccitError, Missing
from core.meeting.means import Means, manages
from core.model import BookCard, ChatRequest, Conversation, Finished, Letter, Message, Notice, Reader


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

    async def greet(self, conversation: Conversation, params: Mapping[str, Any]) -> None:
        """Owe the hello: once for each server, or for each chat of a platform that has none; kept over restarts.

        It is owed first and noted then: a crash in between owes the same letter again, which is the one owed before. The
        note outlives the letter, which goes with its channel.
        """
        post, platform = self._means.post, conversation.platform
        key = f"hello:{conversation.server or conversation.channel}"
        if await post.recall(platform, key) is not None:
            return
        await post.owe(Letter(f"{platform}:{key}", conversation, "hello", self._means.now(), params))
        await post.remember(platform, key, True)

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
