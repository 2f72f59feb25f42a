"""Events on their way: kept, put into their channel's lane, done there, finished; one that waits is seen to be heard."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from adapters.host import Host
from adapters.lanes import Lanes
from adapters.slack import incoming
from adapters.slack.door import REFUSED, Door, Rejected, Unreachable
from adapters.slack.errands import Errands
from adapters.slack.incoming import Where
from adapters.slack.people import People
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError, OperatorError
from core.model import Event
from core.strings import say

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0
"""Seconds between two attempts while Slack cannot be reached."""


class Queue:
    """What is to be done. `done` is called after each event; `fatal` ends with what waiting cannot mend."""

    def __init__(
        self,
        club: Club,
        desk: Desk,
        door: Door,
        people: People,
        errands: Errands,
        host: Host,
        done: Callable[[], None],
    ) -> None:
        self._club = club
        self._desk = desk
        self._door = door
        self._people = people
        self._errands = errands
        self._host = host
        self._done = done
        self._lanes = Lanes()
        self._open: Counter[str] = Counter()
        """Events under way or waiting, by lane."""
        self._hints: dict[str, asyncio.Task[None]] = {}
        """Events that wait behind others, with the showing of it."""
        self.fatal: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def keep(self, event: Event) -> None:
        """Commit an event and put it into its lane, unless it is known."""
        if not await self._club.post.receive(event):
            return
        if event.payload["kind"] == "ask" and self._open[event.lane] and not event.payload.get("whisper"):
            self._hints[event.key] = asyncio.create_task(self._status(incoming.where(event.payload), "slack_waiting"))
        self.resume((event,))

    def resume(self, events: Iterable[Event]) -> None:
        """Take up events that are kept already."""
        for event in events:
            self._open[event.lane] += 1
            self._lanes.add(event.lane, partial(self._work, event))

    async def close(self) -> None:
        """What is under way was committed and is taken up at the next start."""
        for hint in self._hints.values():
            hint.cancel()
        await self._lanes.close()

    async def _work(self, event: Event) -> None:
        """An event's outer edge: done, told why not, or tried again once Slack can be reached."""
        pause = 1.0
        while True:
            try:
                await self._errands.run(event)
            except Unreachable:
                await self._host.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            except Rejected as rejected:
                if self.refused(rejected):
                    return  # it stands, and is taken up once the token is mended
                log.error("nothing can be said there", extra={"code": rejected.error})
            except Exception:  # noqa: BLE001  # this edge: whatever else happens is ours, and the lane goes on
                await self._unexpected(event)
            break
        try:
            await self._club.post.finish(event.key)
        finally:  # when that cannot be recorded, the event comes again at the next start; nobody waits behind it
            self._open[event.lane] -= 1
            if not self._open[event.lane]:
                del self._open[event.lane]
            await self._unhint(event)
            self._done()

    def refused(self, rejected: Rejected) -> bool:
        """True when the token is no good: then `fatal` says so."""
        if rejected.error not in REFUSED:
            return False
        if not self.fatal.done():
            self.fatal.set_exception(OperatorError("token_refused", platform="Slack", setting="SLACK_BOT_TOKEN"))
        return True

    async def _unexpected(self, event: Event) -> None:
        incident = self._host.new_id()[:8]
        log.exception("unexpected", extra={"incident": incident})
        try:
            await self._errands.unexpected(event, incident)
        except (Rejected, LoccitError) as error:
            log.warning("nor can that be said", extra={"code": str(error)})

    async def _unhint(self, event: Event) -> None:
        """Nothing is left standing under a thread, also when the answer came before the hint or was none."""
        hint = self._hints.pop(event.key, None)
        if hint is not None:
            await asyncio.wait({hint})
            await self._status(incoming.where(event.payload), None)

    async def _status(self, place: Where, key: str | None) -> None:
        try:
            reader = await self._desk.reader(place.conversation, await self._people.reader(place))
            await self._door.call(
                "assistant.threads.setStatus",
                hasty=True,
                channel_id=place.channel,
                thread_ts=place.thread,
                status=say(key, reader.locale) if key else "",
            )
        except (Rejected, Unreachable) as error:
            log.info("no status line", extra={"code": str(error)})
