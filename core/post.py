"""What passes between platforms and the club and must survive a crash: events in, messages out, letters, buttons."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from core import hours
from core.errors import Missing
from core.model import Conversation, Delivery, Event, Letter, Reader
from core.store import Store


class Post:
    """The adapters' memory. What a method has taken is on record when it returns, whatever becomes of this process."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._store = store
        self._now = now
        self._new_id = new_id

    # In: what a platform told us

    async def receive(self, event: Event) -> bool:
        """Keep an event; False when it is known already. Tell the platform that it arrived after this, not before."""
        return await self._store.events.receive(event, self._now())

    async def unfinished(self, platform: str) -> tuple[Event, ...]:
        """The events a stop or a crash left undone, oldest first."""
        return await self._store.events.unfinished(platform)

    async def finish(self, key: str) -> None:
        """The event has been dealt with: it is not taken up again, and what it said is forgotten here."""
        await self._store.events.finish(key, self._now())

    # Out: what stands where

    async def sending(self, conversation: Conversation, key: str, part: int) -> None:
        """About to send part `part` of what answers `key`. A part that stays like this may or may not have been taken."""
        await self._store.deliveries.begin(await self._channel(conversation), key, part, self._now())

    async def sent(
        self, conversation: Conversation, key: str, part: int, message: str, turn: str | None = None
    ) -> None:
        """The platform took it, as this message (its id there); `turn` is the answer it shows part of."""
        if not await self._store.deliveries.confirm(key, part, message, turn):
            channel = await self._channel(conversation)
            await self._store.deliveries.record(channel, key, part, message, turn, self._now())

    async def delivered(self, key: str) -> dict[int, Delivery]:
        """What was sent or begun for `key`, by part: after a restart it is gone on with, not said again."""
        return await self._store.deliveries.of(key)

    async def withdrawn(self, key: str, part: int) -> None:
        """The message was deleted, or it is sure that the platform never took it."""
        await self._store.deliveries.withdraw(key, part)

    async def turn_of(self, conversation: Conversation, message: str) -> str | None:
        """The id of the answer that a message of ours shows; None for any other message."""
        return await self._store.deliveries.turn_of(await self._channel(conversation), message)

    async def messages(self, conversation: Conversation, turn: str) -> tuple[str, ...]:
        """The messages that show an answer, first part first."""
        return await self._store.deliveries.messages(await self._channel(conversation), turn)

    # Letters: what is to be said unasked

    async def owe(self, letter: Letter) -> bool:
        """Put a letter into the outbox; False when one with this id was put there before."""
        return await self._store.letters.owe(await self._channel(letter.conversation), letter)

    async def due(self, platform: str) -> tuple[Letter, ...]:
        """The letters to be said by now, longest due first.

        What only reminds waits while the channel has its quiet hours, also when the platform was away at the right time.
        """
        now = self._now()
        found = []
        for letter in await self._store.letters.due(platform, now):
            if letter.kind in hours.SILENT:
                settings = await self._store.shelf.settings(await self._channel(letter.conversation))
                if hours.quiet_until(settings, now) is not None:
                    continue
            found.append(letter)
        return tuple(found)

    async def done(self, letter: str) -> None:
        """The letter was said."""
        await self._store.letters.done(letter, self._now())

    async def tear_up(self, letter: str) -> None:
        """The letter need not be said any more."""
        await self._store.letters.tear_up(letter)

    # Buttons that are no footnotes

    async def buttons(
        self, conversation: Conversation, actions: Sequence[Mapping[str, Any]], reader: Reader | None = None
    ) -> tuple[str, ...]:
        """An opaque id for each action (JSON values), at most 40 bytes; with `reader` nobody else may press them."""
        ids = tuple(self._new_id() for _ in actions)
        who = None if reader is None else reader.id
        made = dict(zip(ids, actions, strict=True))
        await self._store.buttons.make(await self._channel(conversation), made, who, self._now())
        return ids

    async def pressed(self, conversation: Conversation, reader: Reader, button: str) -> Mapping[str, Any]:
        """What a button does. Raises Missing `unknown_button` for a foreign, old or forged id, `not_your_button`."""
        found = await self._store.buttons.find(button)
        if found is None or found.channel != await self._channel(conversation):
            raise Missing("unknown_button")
        if found.reader is not None and found.reader != reader.id:
            raise Missing("not_your_button")
        return found.action

    # What an adapter remembers

    async def remember(self, platform: str, key: str, value: Any, until: datetime | None = None) -> None:
        """Keep a JSON value over restarts, for good or `until` then."""
        await self._store.memos.keep(platform, key, value, until)

    @property
    def shared(self) -> bool:
        """Whether other processes may serve the same platforms on this database."""
        return self._store.memos.shared

    async def claim(self, platform: str, key: str, owner: str, until: datetime) -> bool:
        """Hold a key for `owner` until then, against other processes; False while another one holds it."""
        return await self._store.memos.claim(platform, key, owner, until, self._now())

    async def recall(self, platform: str, key: str) -> Any:
        """The value kept under `key`; None when there is none or its time is over."""
        return await self._store.memos.recall(platform, key, self._now())

    async def recall_all(self, platform: str, prefix: str) -> dict[str, Any]:
        """All values whose key begins with `prefix`."""
        return await self._store.memos.recall_all(platform, prefix, self._now())

    async def forget(self, platform: str, key: str) -> None:
        """Drop the value kept under `key`."""
        await self._store.memos.drop(platform, key)

    async def _channel(self, conversation: Conversation) -> int:
        return await self._store.shelf.channel(conversation, self._now())
