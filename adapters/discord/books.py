"""A book arrives: fetched at once (links end), read, one message that says how far it is and becomes the ready card."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import discord

from adapters.discord import deliveries, view
from adapters.discord.connection import Connection
from adapters.discord.spots import Spot, Who
from adapters.discord.view import Shown, sentence
from core.errors import BadBook, UpstreamError
from core.model import Accepted, Choice, Reader, Reading, Ready, Upload
from core.strings import say

log = logging.getLogger(__name__)

MOST = 50_000_000
"""Bytes of a book that is read at all (DESIGN section 4); asked before the download."""
HOSTS = ("cdn.discordapp.com", "media.discordapp.net")
"""Where the vendor keeps files; nothing else is fetched, whatever a message says."""
_STALL = 60.0
"""Seconds without a byte after which a download counts as lost."""


@dataclass(frozen=True, slots=True)
class File:
    """An attachment; `message` and `channel` say where a fresh link is found when this one has ended (0: nowhere)."""

    id: int
    name: str
    size: int
    url: str
    channel: int = 0
    message: int = 0
    password: str | None = None
    partly: bool = False
    """True once the reader chose to go on without picture pages."""

    @staticmethod
    def of(attachment: discord.Attachment, channel: int = 0, message: int = 0) -> "File":
        name = attachment.title or attachment.filename
        ending = Path(attachment.filename).suffix
        if ending and not name.endswith(ending):  # the title is the name as it was, but for the ending
            name += ending
        return File(attachment.id, name, attachment.size, attachment.url, channel, message)

    @staticmethod
    def read(fields: Mapping[str, object]) -> "File":
        return File(**fields)  # type: ignore[arg-type]  # what `asdict` made of one


class Books:
    """Takes books in. `api_host`: where an overridden vendor lives; its files are fetched too."""

    def __init__(self, connection: Connection, api_host: str | None = None) -> None:
        self._connection = connection
        self._api_host = api_host

    async def ask(self, file: File, who: Who, reader: Reader, spot: Spot, key: str) -> None:
        """Somebody sent a file to nobody in particular: ask whether it is for the club. Nothing is fetched for that."""
        desk, where = self._connection.desk, who.conversation
        reply = await desk.seen(where, reader, file.name, file.size, asdict(file), event=key)
        if reply is not None:
            await deliveries.show(self._connection, where, spot, key, view.messages(reply))

    async def take(self, file: File, who: Who, reader: Reader, spot: Spot, key: str) -> None:
        """Fetch the file and add it. Raises LoccitError, whose sentence takes the place of the progress message."""
        if file.size > MOST:
            raise BadBook("book_too_large", size=-(-file.size // 1_000_000), limit=MOST // 1_000_000)
        connection = self._connection
        target = connection.host.folder / connection.host.new_id()
        said = Shown(sentence(say("discord_accepted", reader.locale, file=file.name)))
        # The link may end and the message may go: the bytes come first, the words beside them.
        fetching = asyncio.create_task(self._fetch(file, target))
        try:
            [message] = await deliveries.show(connection, who.conversation, spot, key, [said])
            await fetching
            upload = Upload(
                key, who.conversation, reader, target, file.name, password=file.password, accept_partial=file.partly
            )
            await self._add(upload, file, who, reader, spot, message)
        finally:
            fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)
            with suppress(OSError):
                target.unlink(missing_ok=True)

    async def _add(self, upload: Upload, file: File, who: Who, reader: Reader, spot: Spot, message: int) -> None:
        connection, where = self._connection, who.conversation
        try:
            async with aclosing(connection.club.add_book(upload)) as events:
                async for event in events:
                    match event:
                        case Accepted():
                            pass
                        case Reading(stage):
                            words = say(f"discord_reading_{stage}", reader.locale, file=upload.filename)
                            await connection.line.edit(spot, message, Shown(sentence(words)))
                        case Ready():
                            card = await connection.desk.ready(where, reader, event, private=who.direct)
                            await deliveries.show(connection, where, spot, upload.event, view.messages(card))
        except BadBook as error:
            if error.key != "book_half_scan":
                raise
            [id] = await connection.club.post.buttons(where, [{"do": "anyway", "file": asdict(file)}], reader)
            rows = ((Choice(say("add_anyway", reader.locale), f"anyway:{id}"),),)
            said = Shown(sentence(say(error.key, reader.locale, **error.params)), rows)
            await deliveries.show(connection, where, spot, upload.event, [said])

    async def _fetch(self, file: File, target: Path) -> None:
        """Raises BadBook when the file is not there any more, UpstreamError when the vendor fails."""
        url = file.url
        for fresh in (False, True):
            if fresh:
                url = await self._fresh(file)
            try:
                if await self._download(url, target):
                    return
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise UpstreamError("discord_download_failed") from error
        raise BadBook("discord_file_gone")

    async def _fresh(self, file: File) -> str:
        """The link as the message tells it now. Raises BadBook when it is gone."""
        if not file.message:
            raise BadBook("discord_file_gone")
        channel = self._connection.client.get_partial_messageable(file.channel)
        try:
            message = await channel.fetch_message(file.message)
        except (discord.NotFound, discord.Forbidden) as error:
            raise BadBook("discord_file_gone") from error
        for attachment in message.attachments:
            if attachment.id == file.id:
                return attachment.url
        raise BadBook("discord_file_gone")

    async def _download(self, url: str, target: Path) -> bool:
        """False when the link has ended."""
        if not self._permitted(url):
            log.warning("refused to fetch from a host that is not the vendor's")
            return False
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=_STALL)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status in (401, 403, 404, 410):
                return False
            response.raise_for_status()
            size = 0
            with await asyncio.to_thread(target.open, "wb") as out:
                async for piece in response.content.iter_chunked(1 << 18):
                    size += len(piece)
                    if size > MOST:
                        raise BadBook("book_too_large", size=-(-size // 1_000_000), limit=MOST // 1_000_000)
                    await asyncio.to_thread(out.write, piece)
        return True

    def _permitted(self, url: str) -> bool:
        parts = urlsplit(url)
        if parts.scheme == "https" and parts.hostname in HOSTS:
            return True
        return self._api_host is not None and parts.netloc == self._api_host
