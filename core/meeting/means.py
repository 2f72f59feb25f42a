"""What the rooms of a meeting share: store, clock, ids, the book as it may be seen now, and the channel's model."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core import choosing
from core.asking import MODEL_SETTING
from core.errors import ReaderError
from core.model import (
    BookCard,
    ChatModel,
    ChatRequest,
    Conversation,
    Finished,
    Footnote,
    Message,
    Notice,
    Payer,
    Reader,
    Said,
    Span,
)
from core.post import Post
from core.prompts import Prompt
from core.retrieval import Budgets, Ranks, Source
from core.spending import Paying, Purse
from core.store import Store


@dataclass(frozen=True, slots=True)
class Means:
    """`model` gives a channel's model by its setting (None: the default); `fallback` stands for "none is set up"."""

    store: Store
    post: Post
    ranks: Ranks
    model: Callable[[str | None], ChatModel]
    fallback: ChatModel
    window: Callable[[], Awaitable[int]] | None
    purse: Purse
    now: Callable[[], datetime]
    new_id: Callable[[], str]

    async def count(
        self, conversation: Conversation, reader: Reader | None, source: Source, runs: Iterable[Span]
    ) -> None:
        """Count what a reader is shown of a book against what one may open in a day. Raises ReaderError past that."""
        for run in runs if reader is not None else ():
            start, end = source.place_of(run.first), source.place_of(run.last)
            who = f"{conversation.platform}:{reader.id}" if reader is not None else ""
            await self.purse.press(who, source.sha256, source.card.title, source.characters, start, end)

    async def channel(self, conversation: Conversation) -> int:
        return await self.store.shelf.channel(conversation, self.now())

    async def card(self, conversation: Conversation, choice: str | None) -> BookCard:
        """The book that words name; None: the one in use or the only one. Raises Missing as `choosing.chosen` does."""
        return choosing.chosen(await self.store.shelf.shelf(await self.channel(conversation)), choice)

    async def source(self, conversation: Conversation, card: BookCard, mine: Reader | None = None) -> Source:
        """The book up to the club's limit of now, and for `mine` also up to that reader's own place."""
        channel = await self.channel(conversation)
        source = await Source.open(self.store, channel, card.sha256, text_version=card.text_version)
        if mine is not None:
            source = source.within(await self.store.progress.place(channel, card.sha256, mine.id))
        return source

    async def speaker(self, conversation: Conversation, reader: Reader) -> ChatModel | None:
        """The channel's model, at this reader's expense; None when there is none that writes."""
        settings = await self.store.shelf.settings(await self.channel(conversation))
        model = self.model(settings.get(MODEL_SETTING))
        if model is self.fallback:
            return None
        return Paying(model, Payer(conversation.platform, conversation.channel, reader.id, conversation.server))

    async def budgets(self) -> Budgets:
        return Budgets() if self.window is None else Budgets.within(await self.window())

    async def reply(self, model: ChatModel, prompt: Prompt, purpose: str, book: str) -> tuple[str, str]:
        """What the model says, whole, and why it stopped. Raises UpstreamError or OperatorError."""
        said, reason = [], ""
        request = ChatRequest(
            (Message("system", prompt.system), Message("user", prompt.user)),
            purpose=purpose,
            stamp=prompt.stamp,
            book=book,
        )
        async for event in model.stream(request):
            if isinstance(event, Said):
                said.append(event.text)
            elif isinstance(event, Finished):
                reason = event.reason
        return "".join(said), reason

    async def keep_notes(self, conversation: Conversation, notes: Sequence[Footnote], about: str = "") -> None:
        """Let the buttons of these notes answer from now on; `about` names what they stand under."""
        await self.store.turns.keep_notes(await self.channel(conversation), notes, about or self.new_id())


def manages(reader: Reader) -> None:
    """Raises ReaderError for somebody who does not manage the chat."""
    if not reader.manages:
        raise ReaderError("managers_only")


def failed(key: str, params: object) -> tuple[Notice, ...]:
    """What is said when the model failed and the book is quoted in its place."""
    return (Notice(key, dict(params) if isinstance(params, dict) else {}), Notice("interim_quotes"))
