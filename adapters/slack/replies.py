"""What the desk says, brought: in the thread, to one person, or through the response URL of a command."""

import logging

from adapters.slack import view
from adapters.slack.door import Door, Rejected, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.sending import Sender
from core.model import Reader, Reply
from core.strings import say

log = logging.getLogger(__name__)


class Replies:
    """Brings replies."""

    def __init__(self, door: Door, sender: Sender) -> None:
        self._door = door
        self._sender = sender

    async def bring(
        self, place: Where, reader: Reader, reply: Reply, key: str, *, url: str | None = None, quiet: bool = False
    ) -> None:
        """Show a reply; what is private, or `quiet`, goes to the reader alone where others read along."""
        messages = view.messages(reply.document, reply.choices, locale=reader.locale)
        await self.show(place, reader, reply, messages, key, url=url, quiet=quiet)

    async def show(
        self,
        place: Where,
        reader: Reader,
        reply: Reply,
        messages: tuple[view.Message, ...],
        key: str,
        *,
        url: str | None = None,
        quiet: bool = False,
    ) -> None:
        """A reply whose messages are made already."""
        if place.private or not (reply.private or quiet):
            await self._openly(place, reader, messages, key, url)
        else:
            for message in messages:
                await self._sender.whisper(place, message, reader.locale, url=url)
        for file in reply.attachments:
            await self._file(place, reader, file.name, file.data, url)
        if reply.picture and (place.private or not reply.private):
            await self._file(place, reader, "page.png", reply.picture, url)

    async def _openly(
        self, place: Where, reader: Reader, messages: tuple[view.Message, ...], key: str, url: str | None
    ) -> None:
        try:
            await self._sender.bring(place, key, messages, locale=reader.locale)
        except Rejected as rejected:
            if url is None or rejected.error not in ("not_in_channel", "channel_not_found"):
                raise
            await self._sender.whisper(place, view.words(say("slack_invite", reader.locale)), url=url)

    async def _file(self, place: Where, reader: Reader, name: str, data: bytes, url: str | None) -> None:
        try:
            await self._door.upload(name, data, name, place.channel, place.thread)
        except (Rejected, Unreachable) as error:
            log.warning("a file could not be sent", extra={"code": str(error)})
            await self._sender.whisper(place, view.words(say("slack_no_file", reader.locale)), url=url)
