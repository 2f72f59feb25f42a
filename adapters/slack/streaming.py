"""The answer while it is being written: Slack's native stream, edits of one message where that is not to be had.

The latest text wins: no queue, one call at a time, and a 429 only pauses. What is shown here is replaced by the settled
answer, so that nothing but the final edit has to be right to the last character.
"""

import asyncio
import logging
from collections.abc import Callable

from adapters.slack import view
from adapters.slack.door import Door, Rejected, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.inert import inert_markdown
from core.document import plain
from core.model import Document
from core.post import Post
from core.strings import say

log = logging.getLogger(__name__)

BEGIN = 40
"""Characters before the first text is shown: a stream that begins with one word looks broken."""
GAP, EDIT_GAP = 0.7, 3.0
"""Seconds between two pieces, by stream and by edit (the tiers allow 100 and 50 a minute and workspace)."""
MOST = 2600
"""Characters shown while writing: what a first part holds. The rest comes with the settled answer."""
_BUSY = {"ratelimited"}
_UNABLE_FOR = 3600.0
"""Seconds for which a workspace that cannot stream is not asked again."""


class Streams:
    """What is known about streaming in this workspace."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._unable_until = float("-inf")

    @property
    def able(self) -> bool:
        return self.clock() >= self._unable_until

    def fail(self) -> None:
        self._unable_until = self.clock() + _UNABLE_FOR


class Draft:
    """One answer being written. `name` is the message it stands in, once there is one."""

    def __init__(self, door: Door, post: Post, streams: Streams, place: Where, key: str, locale: str | None) -> None:
        self._door = door
        self._post = post
        self._streams = streams
        self._place = place
        self._key = key
        self.locale = locale
        self._latest: Document = ()
        self._shown = ""
        self._mode = "stream" if streams.able else "edit"
        self._next = 0.0
        self._work: asyncio.Task[None] | None = None
        self.name: str | None = None
        self.streaming = False
        self.stopped = asyncio.Event()
        """Set when a reader stopped it: by Slack's own sign, or by the button where there is no stream."""

    async def status(self, text: str) -> None:
        """The line under the thread that says what is going on; "" takes it away. Not every workspace has it."""
        if self._place.thread is None:
            return
        try:
            await self._door.call(
                "assistant.threads.setStatus",
                hasty=True,
                channel_id=self._place.channel,
                thread_ts=self._place.thread,
                status=text,
            )
        except (Rejected, Unreachable):
            log.debug("no status line here")

    def show(self, document: Document) -> None:
        """Show this soon, unless something newer comes first."""
        self._latest = document
        if self._work is None and self._mode != "off":
            self._work = asyncio.create_task(self._push())

    async def settle(self) -> None:
        """No more pieces; the stream is ended so that the message can be edited."""
        self._mode = "off"
        if (work := self._work) is not None:
            await asyncio.wait({work}, timeout=5)
            work.cancel()
        if self.streaming and self.name is not None:
            self.streaming = False
            try:
                await self._door.call("chat.stopStream", channel=self._place.channel, ts=self.name)
            except (Rejected, Unreachable):
                log.info("stream could not be ended; the edit will tell")

    def drop(self) -> None:
        """No more pieces, and no more waiting either: the process ends, or the answer stands."""
        self._mode = "off"
        if self._work is not None:
            self._work.cancel()

    async def _push(self) -> None:
        """Show what is newest until nothing is new."""
        try:
            while self._mode != "off":
                text = self._due()
                if text is None:
                    return
                if (wait := self._next - self._streams.clock()) > 0:
                    await asyncio.sleep(wait)
                    continue
                await self._piece(text)
        finally:
            self._work = None

    def _due(self) -> str | None:
        """All that is to be shown now: whole words, so that what is shown only ever grows."""
        text = plain(self._latest)[:MOST]
        cut = max(text.rfind(" "), text.rfind("\n")) + 1
        text = text[:cut]
        if len(text) <= len(self._shown) or (not self._shown and len(text) < BEGIN):
            return None
        if self._mode == "stream" and not text.startswith(self._shown):
            return None  # held back until it extends what is shown
        return text

    async def _piece(self, text: str) -> None:
        gap = GAP if self._mode == "stream" else EDIT_GAP
        self._next = self._streams.clock() + gap
        try:
            if self._mode == "stream":
                await self._stream(text)
            else:
                await self._edit(text)
            self._shown = text
        except Unreachable:
            self._next = self._streams.clock() + 5
        except Rejected as rejected:
            self._met(rejected)

    def _met(self, rejected: Rejected) -> None:
        if rejected.error == "stopped_by_user":
            self.streaming = False
            self._mode = "off"
            self.stopped.set()
        elif rejected.error in _BUSY and self.name is None:
            self._mode = "off"  # too many at once: the settled answer comes in one piece
        elif rejected.error in _BUSY:
            self._next = self._streams.clock() + (rejected.retry_after or 5)
        elif self.streaming:  # message_not_in_streaming_state: Slack closed it
            self.streaming = False
            self._mode = "edit"
        elif self._mode == "stream":
            log.info("no streaming here", extra={"code": rejected.error})
            self._streams.fail()
            self._mode = "edit"
        else:
            self._mode = "off"

    async def _stream(self, text: str) -> None:
        place, piece = self._place, inert_markdown(text[len(self._shown) :])
        if self.name is not None:
            await self._door.call(
                "chat.appendStream", hasty=True, channel=place.channel, ts=self.name, markdown_text=piece
            )
            return
        await self._post.sending(place.conversation, self._key, 0)
        try:
            answer = await self._door.call(
                "chat.startStream",
                hasty=True,
                channel=place.channel,
                thread_ts=place.thread,
                recipient_team_id=place.team,
                recipient_user_id=place.user,
                markdown_text=piece,
            )
        except Rejected:
            await self._post.withdrawn(self._key, 0)
            raise
        self.name, self.streaming = str(answer["ts"]), True
        await self._post.sent(place.conversation, self._key, 0, self.name)

    async def _edit(self, text: str) -> None:
        message = view.stoppable(f"{text.rstrip()} …", self.locale)
        safe = {"parse": "none", "unfurl_links": False, "unfurl_media": False}
        body = {"channel": self._place.channel, "text": message.text, "blocks": message.blocks, **safe}
        if self.name is not None:
            await self._door.call("chat.update", hasty=True, ts=self.name, **body)
            return
        await self._post.sending(self._place.conversation, self._key, 0)
        try:
            answer = await self._door.call("chat.postMessage", hasty=True, thread_ts=self._place.thread, **body)
        except Rejected:
            await self._post.withdrawn(self._key, 0)
            raise
        self.name = str(answer["ts"])
        await self._post.sent(self._place.conversation, self._key, 0, self.name)


def searching(locale: str | None) -> str:
    """The status while evidence is looked for."""
    return say("slack_searching", locale)
