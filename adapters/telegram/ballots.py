"""Polls that Telegram shows itself: opened in place of our buttons, their votes handed to the desk, ended before they are counted."""

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial

from adapters.lanes import Lanes
from adapters.telegram import view
from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.group import Groups
from adapters.telegram.incoming import Heard
from adapters.telegram.line import Gone, Moved, Refused, Unwritable
from adapters.telegram.payloads import Spot
from core.errors import ReaderError, UpstreamError
from core.model import Ballot, Conversation, Reader

log = logging.getLogger(__name__)

_MEMO = "poll:"
_PATIENCE = 5.0
"""Seconds that votes have to be told after Telegram was told to take no more; they come within a blink."""

_NEAR = 8
"""Messages of a chat among which one is looked for that was sent just before. Each look counts as a message of ours."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """Where a poll of ours stands as one of Telegram's; `chat` is the id that the chat had then.

    `final`: the votes that Telegram took for each option, () where it did not say; None while it takes votes.
    """

    poll: str
    chat: int
    message: int
    options: tuple[str, ...]
    final: tuple[int, ...] | None = None


class Ballots:
    """Knows which of Telegram's polls is which of ours. `caught_up`: everything people did while we were away was heard."""

    def __init__(self, connection: Connection, groups: Groups) -> None:
        self._connection = connection
        self._groups = groups
        self._lanes = Lanes()
        """A lane for each poll: who closes it from the chat's lane can wait for its votes."""
        self._shown: dict[str, _Shown] = {}
        self._sending: set[str] = set()
        self._early: list[Heard] = []
        self._uncounted: Counter[str] = Counter()
        self._news = asyncio.Condition()
        self.caught_up = False

    async def close(self) -> None:
        await self._lanes.close()

    async def recall(self) -> None:
        """Which polls were open before this start."""
        kept = await self._connection.club.post.recall_all(PLATFORM, _MEMO)
        for key, value in kept.items():
            final = value.get("final")
            shown = _Shown(value["poll"], value["chat"], value["message"], tuple(value["options"]))
            self._shown[key.removeprefix(_MEMO)] = replace(shown, final=None if final is None else tuple(final))

    async def show(self, where: Conversation, place: Spot, key: str, ballot: Ballot) -> bool:
        """Open the poll as what answers `key`; False when it does not fit or Telegram does not take it."""
        fitting = view.poll(ballot)
        if fitting is None:
            return False
        post = self._connection.club.post
        known = self._of(ballot.poll)
        if known is not None:  # sent before a crash, but for this line on record
            await post.sent(where, key, 0, str(self._shown[known].message))
            return True
        before = (await post.delivered(key)).get(0)
        begun = before is not None and before.message is None  # a crash came between, and perhaps it stands there
        await post.sending(where, key, 0)
        self._sending.add(ballot.poll)
        try:
            message, id, again = await self._connection.line.send_poll(place, *fitting)
            self._shown[id] = _Shown(ballot.poll, place.chat, message, tuple(option for option, _ in ballot.options))
        except (Refused, Unwritable) as error:
            log.info("no poll here", extra={"chat": place.chat, "error": type(error).__name__})
            await post.withdrawn(key, 0)
            return False
        finally:
            self._sending.discard(ballot.poll)
            early, self._early = self._early, []
            for heard in early:
                self.take(heard)
        await post.remember(PLATFORM, _MEMO + id, asdict(self._shown[id]))
        await post.sent(where, key, 0, str(message))
        if begun or again:
            await self._stop_unknown(place.chat, message)
        return True

    async def _stop_unknown(self, chat: int, message: int) -> None:
        """A poll whose sending was never confirmed may stand a little before this one: no vote in it would be counted."""
        known = {shown.message for shown in self._shown.values() if shown.chat == chat}
        for earlier in range(max(1, message - _NEAR), message):
            if earlier not in known:
                with suppress(Gone, Refused, Unwritable, Moved):  # whatever else that message is
                    await self._connection.line.stop_poll(chat, earlier)

    # Votes

    def chat(self, id: str) -> int:
        """The chat in which a poll of Telegram's stands; 0 when that is not known."""
        shown = self._shown.get(id)
        return 0 if shown is None else self._groups.now(shown.chat)

    def take(self, heard: Heard) -> None:
        """Count a vote when those that were given in its poll before it are."""
        if heard.name not in self._shown and self._sending:
            self._early.append(heard)  # perhaps in the poll that is being sent: its id is not known before the reply
            return
        self._uncounted[heard.name] += 1
        self._lanes.add(heard.name, partial(self._count, heard))

    async def _count(self, heard: Heard) -> None:
        """One vote. Should it fail on anything but the vote itself, it stays on record and is counted after the next start."""
        try:
            shown = self._shown.get(heard.name)
            if shown is None or not (heard.choice is None or heard.choice < len(shown.options)):
                log.info("a vote in no poll of ours")
            else:
                choice = None if heard.choice is None else shown.options[heard.choice]
                where = Conversation(PLATFORM, str(self.chat(heard.name)))
                await self._connection.desk.vote(where, Reader(str(heard.user)), shown.poll, choice)
        except ReaderError as error:
            log.info("a vote did not count", extra={"key": error.key})
        finally:
            self._uncounted -= Counter((heard.name,))
            async with self._news:
                self._news.notify_all()
        await self._connection.club.post.finish(heard.key)

    async def stands(self, poll: str) -> bool:
        """Whether a poll is still there for people to vote in."""
        shown = self._shown.get(self._of(poll) or "")
        if shown is None or shown.final is not None or self._groups.now(shown.chat) != shown.chat:
            return False
        return await self._connection.line.stands(shown.chat, shown.message)

    # The end

    async def gather(self, poll: str) -> None:
        """Before a poll is counted: have Telegram take no more votes, and wait until those it took are counted.

        For seconds at most: a vote by our own buttons makes the two counts differ, too. Raises UpstreamError while we do not
        hear what was voted.
        """
        if poll not in self._sending:
            id = self._of(poll)
            if id is None:
                return
            await self._stop(id)
            if await self._in_time(id) or (self.caught_up and not self._uncounted[id]):
                return
        raise UpstreamError("next_votes_unread", platform="Telegram")

    async def _in_time(self, id: str) -> bool:
        """Whether as many votes as Telegram took are counted, now or soon."""
        over = asyncio.Event()

        async def wait() -> None:
            await self._connection.host.sleep(_PATIENCE)
            over.set()
            async with self._news:
                self._news.notify_all()

        waiting = asyncio.create_task(wait())
        try:
            async with self._news:  # held while it is looked, so that nothing is counted unseen between look and wait
                while not (agrees := await self._agrees(id)) and not over.is_set():
                    await self._news.wait()
            return agrees
        finally:
            waiting.cancel()

    async def _agrees(self, id: str) -> bool:
        shown = self._shown.get(id)
        if shown is None:  # counted meanwhile
            return True
        if not shown.final or self._uncounted[id]:
            return False
        latest = await self._connection.club.meeting.polls.latest(Conversation(PLATFORM, str(self.chat(id))))
        if latest is None or latest.row.id != shown.poll:
            return True
        votes = latest.count.rounds[0] if latest.count.rounds else {}
        return shown.final == tuple(votes.get(option, 0) for option in shown.options)

    async def end(self, poll: str) -> None:
        """The poll is closed on our side: end it on Telegram's and forget it."""
        id = self._of(poll)
        if id is None:
            return
        await self._stop(id)
        self._shown.pop(id, None)
        await self._connection.club.post.forget(PLATFORM, _MEMO + id)

    async def tidy(self, chat: int | None = None) -> None:
        """End what is not open on our side any more: closed before a crash, or forgotten. All, or those of one chat."""
        for id, shown in list(self._shown.items()):
            if chat is None or self.chat(id) == self._groups.now(chat):
                where = Conversation(PLATFORM, str(self.chat(id)))
                latest = await self._connection.club.meeting.polls.latest(where)
                if latest is None or latest.row.id != shown.poll or latest.row.closed_at is not None:
                    await self.end(shown.poll)

    async def _stop(self, id: str) -> None:
        """Have Telegram take no more votes. Where that cannot be done there is nobody who could vote, or nothing to end."""
        shown = self._shown[id]
        if shown.final is not None:
            return
        final: tuple[int, ...] = ()
        if self._groups.now(shown.chat) == shown.chat:  # else it stayed behind in the group that became a supergroup
            try:
                final = await self._connection.line.stop_poll(shown.chat, shown.message)
            except (Gone, Refused, Unwritable, Moved) as error:
                log.info("a poll could not be ended", extra={"chat": shown.chat, "error": type(error).__name__})
        if id in self._shown and not self._shown[id].final:  # two may have told it to stop: one hears what it took
            self._shown[id] = replace(shown, final=final)
            await self._connection.club.post.remember(PLATFORM, _MEMO + id, asdict(self._shown[id]))

    def _of(self, poll: str) -> str | None:
        return next((id for id, shown in self._shown.items() if shown.poll == poll), None)
