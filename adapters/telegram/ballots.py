"""Polls that Telegram shows itself: opened in place of our buttons, their votes handed to the desk, ended when it says so."""

import logging
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial

from adapters.lanes import Lanes
from adapters.telegram import view
from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.group import Groups
from adapters.telegram.incoming import Heard
from adapters.telegram.line import Gone, Moved, Refused, Unwritable
from adapters.telegram.payloads import Spot
from core.errors import ReaderError
from core.model import Ballot, Conversation, Reader

log = logging.getLogger(__name__)

_MEMO = "poll:"


@dataclass(frozen=True, slots=True)
class _Shown:
    """Where a poll of ours stands as one of Telegram's; `chat` is the id that the chat had then."""

    poll: str
    chat: int
    message: int
    options: tuple[str, ...]


class Ballots:
    """Knows which of Telegram's polls is which of ours. `caught_up`: everything people did while we were away was heard."""

    def __init__(self, connection: Connection, groups: Groups, lanes: Lanes) -> None:
        self._connection = connection
        self._groups = groups
        self._lanes = lanes
        self._shown: dict[str, _Shown] = {}
        self._sending = 0
        self._early: list[Heard] = []
        self._uncounted: Counter[str] = Counter()
        self._stopped: set[str] = set()
        self.caught_up = False

    async def recall(self) -> None:
        """Which polls were open before this start."""
        kept = await self._connection.club.post.recall_all(PLATFORM, _MEMO)
        for key, value in kept.items():
            shown = _Shown(value["poll"], value["chat"], value["message"], tuple(value["options"]))
            self._shown[key.removeprefix(_MEMO)] = shown

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
        await post.sending(where, key, 0)
        self._sending += 1
        try:
            message, id = await self._connection.line.send_poll(place, *fitting)
            self._shown[id] = _Shown(ballot.poll, place.chat, message, tuple(option for option, _ in ballot.options))
        except (Refused, Unwritable) as error:
            log.info("no poll here", extra={"chat": place.chat, "error": type(error).__name__})
            await post.withdrawn(key, 0)
            return False
        finally:
            self._sending -= 1
            early, self._early = self._early, []
            for heard in early:
                self.take(heard)
        await post.remember(PLATFORM, _MEMO + id, asdict(self._shown[id]))
        await post.sent(where, key, 0, str(message))
        return True

    # Votes

    def chat(self, id: str) -> int:
        """The chat in which a poll of Telegram's stands; 0 when that is not known."""
        shown = self._shown.get(id)
        return 0 if shown is None else self._groups.now(shown.chat)

    def take(self, heard: Heard) -> None:
        """Count a vote when everything that was said in its chat before it is done."""
        if heard.name not in self._shown and self._sending:
            self._early.append(heard)  # perhaps in the poll that is being sent: its id is not known before the reply
            return
        self._uncounted[heard.name] += 1
        self._lanes.add(str(self.chat(heard.name)), partial(self._count, heard))

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
        await self._connection.club.post.finish(heard.key)

    # The end

    async def settled(self, poll: str) -> bool:
        """Whether a poll whose time is over can be counted: Telegram takes no more votes, and ours are counted.

        False at first, also while all goes well: a vote of the last moment has until the next look to be heard.
        """
        id = self._of(poll)
        if id is None:
            return True
        if id not in self._stopped:
            await self._stop(id)
            return False
        return self.caught_up and not self._uncounted[id]

    async def end(self, poll: str) -> None:
        """The poll is closed on our side: end it on Telegram's and forget it."""
        id = self._of(poll)
        if id is None:
            return
        if id not in self._stopped:
            await self._stop(id)
        await self._connection.club.post.forget(PLATFORM, _MEMO + id)
        self._shown.pop(id, None)
        self._stopped.discard(id)

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
        if self._groups.now(shown.chat) == shown.chat:  # else it stayed behind in the group that became a supergroup
            try:
                await self._connection.line.stop_poll(shown.chat, shown.message)
            except (Gone, Refused, Unwritable, Moved) as error:
                log.info("a poll could not be ended", extra={"chat": shown.chat, "error": type(error).__name__})
        self._stopped.add(id)

    def _of(self, poll: str) -> str | None:
        return next((id for id, shown in self._shown.items() if shown.poll == poll), None)
