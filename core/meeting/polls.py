"""The next book: proposals and polls about them, plain or ranked, closed by hand or at a time of the club's own clock."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from core import hours, words
from core.errors import Missing, ReaderError
from core.meeting.means import Means, manages
from core.meeting.tally import Count, count
from core.model import Conversation, Letter, Reader
from core.progress import UNDO
from core.store import NominationRow, PollRow

MOST = 10
"""Proposals of one poll: two rows of buttons."""
LONGEST = 120


@dataclass(frozen=True, slots=True)
class Poll:
    """A poll with its candidates. `closed` tells whether ballots still count."""

    row: PollRow
    candidates: tuple[NominationRow, ...]
    closed: bool
    voters: int
    count: Count


class Polls:
    """Proposes, opens, votes, closes."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def nominate(self, conversation: Conversation, reader: Reader, title: str) -> tuple[NominationRow, ...]:
        """Propose a book; all that wait for a poll. The same title again changes nothing."""
        title = " ".join(title.split()).strip('"“”„«»')
        if not any(map(str.isalnum, title)) or len(title) > LONGEST:
            raise ReaderError("next_title", most=LONGEST)
        channel = await self._means.channel(conversation)
        waiting = await self._means.store.polls.nominations(channel)
        if words.fold(title) not in {words.fold(one.title) for one in waiting}:
            if len(waiting) >= MOST:
                raise ReaderError("next_full", most=MOST)
            row = NominationRow(self._means.new_id(), title, reader.id)
            await self._means.store.polls.nominate(channel, row, self._means.now())
        return await self._means.store.polls.nominations(channel)

    async def waiting(self, conversation: Conversation) -> tuple[NominationRow, ...]:
        """What is proposed and not voted on yet."""
        return await self._means.store.polls.nominations(await self._means.channel(conversation))

    async def withdraw(self, conversation: Conversation, reader: Reader, number: int) -> None:
        """Take a proposal back: whoever made it, or whoever manages the chat."""
        waiting = await self.waiting(conversation)
        if not 1 <= number <= len(waiting):
            raise Missing("next_no_such", number=number)
        if not reader.manages and waiting[number - 1].reader != reader.id:
            raise ReaderError("managers_only")
        channel = await self._means.channel(conversation)
        await self._means.store.polls.withdraw(channel, waiting[number - 1].id)

    async def open(
        self, conversation: Conversation, reader: Reader, *, event: str, ranked: bool, until: datetime | None = None
    ) -> Poll:
        """Vote on what is proposed; `until` is the wall clock of the channel's zone. For whoever manages the chat.

        `event`: the key of the platform's event. The same one again, after a crash, gives the poll that it opened.
        """
        manages(reader)
        means = self._means
        channel = await means.channel(conversation)
        id = hashlib.sha256(event.encode()).hexdigest()[:32]
        row = await means.store.polls.get(channel)
        if row is None or row.id != id:
            if row is not None and row.open_at(means.now()):
                raise ReaderError("next_open_already")
            if len(await self.waiting(conversation)) < 2:
                raise ReaderError("next_too_few")
            closes = None
            if until is not None:
                zone = hours.zone_of(await means.store.shelf.settings(channel))
                closes = hours.moment(until, zone)
                if closes <= means.now():
                    raise ReaderError("schedule_past", when=f"{until:%Y-%m-%d %H:%M}", zone=zone.key)
            row = PollRow(id, conversation, ranked, reader.id, means.now(), closes, None)
            if not await means.store.polls.open(channel, row):
                raise ReaderError("next_open_already")
        if row.closes_at is not None:
            await means.post.owe(Letter(f"poll:{id}", conversation, "reminder", row.closes_at, {"poll": id}))
        return await self._poll(channel, row)

    async def latest(self, conversation: Conversation) -> Poll | None:
        channel = await self._means.channel(conversation)
        row = await self._means.store.polls.get(channel)
        return None if row is None else await self._poll(channel, row)

    async def vote(
        self,
        conversation: Conversation,
        reader: Reader,
        poll: str,
        choice: str | None,
        *,
        native: bool = False,
        back: bool = False,
    ) -> tuple[str, ...]:
        """A reader's choice (ranked: the next best one), None takes it back; the titles of the ballot as it is now.

        `native`: given in a poll of the platform, which took it: it counts until the closing is on record, since until then
        the reader saw the poll open. `back`: this choice is taken back, unless the reader has changed it since. Raises
        ReaderError `next_late` when the poll is closed.
        """
        means = self._means
        channel = await means.channel(conversation)
        row = await means.store.polls.get(channel, poll)
        if row is None:
            raise Missing("unknown_button")
        candidates = {one.id: one.title for one in await means.store.polls.nominations(channel, poll)}

        def changed(before: tuple[str, ...]) -> tuple[str, ...]:
            if back:
                return tuple(one for one in before if one != choice)
            if choice is None:
                return ()
            if row.ranked:
                return before if choice in before else (*before, choice)
            return (choice,)

        mine = await means.store.polls.cast(channel, poll, reader.id, changed, means.now(), until_recorded=native)
        if mine is None:
            raise ReaderError("next_late")
        return tuple(candidates[one] for one in mine if one in candidates)

    async def closable(self, conversation: Conversation, reader: Reader) -> str:
        """The id of the latest poll, which `close` would end for this reader. Raises as that does."""
        means = self._means
        row = await means.store.polls.get(await means.channel(conversation))
        if row is None or (row.closed_at is not None and row.closed_at < means.now() - UNDO):
            raise Missing("next_none_open")
        if not reader.manages and row.reader != reader.id:
            raise ReaderError("managers_only")
        return row.id

    async def close(self, conversation: Conversation, reader: Reader) -> Poll:
        """End the latest poll: for whoever manages the chat or opened it.

        One that was closed less than 15 minutes ago is given again: what said so may have been lost in a crash.
        """
        poll = await self.closable(conversation, reader)
        await self._means.store.polls.close(poll, self._means.now())
        return await self.ended(conversation, poll)

    async def reopen(self, conversation: Conversation, reader: Reader, poll: str) -> Poll:
        """Take the closing back within 15 minutes, unless the next poll is open by then."""
        manages(reader)
        channel = await self._means.channel(conversation)
        now = self._means.now()
        done = await self._means.store.polls.reopen(channel, poll, now - UNDO, now)
        if done is None:
            raise ReaderError("next_open_already")
        if not done:
            raise Missing("next_not_reopened")
        again = await self._means.store.polls.get(channel, poll)
        assert again is not None
        return await self._poll(channel, again)

    async def ended(self, conversation: Conversation, poll: str) -> Poll:
        """A poll whose time is over. Raises Missing for one that was reopened or is not here."""
        means = self._means
        channel = await means.channel(conversation)
        row = await means.store.polls.get(channel, poll)
        if row is None or row.open_at(means.now()):
            raise Missing("next_none_open")
        if row.closed_at is None:
            await means.store.polls.close(poll, row.closes_at or means.now())
        return await self._poll(channel, row)

    async def _poll(self, channel: int, row: PollRow) -> Poll:
        candidates = await self._means.store.polls.nominations(channel, row.id)
        ballots = await self._means.store.polls.ballots(row.id)
        counted = count([one.id for one in candidates], ballots.values(), ranked=row.ranked)
        closed = not row.open_at(self._means.now())
        return Poll(row, candidates, closed, len(ballots), counted)
