"""A book arrives: fetched, read, one message that says how far it is and becomes the ready card."""

from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict
from pathlib import Path

from adapters.telegram import deliveries, view
from adapters.telegram.connection import Connection, conversation, spot
from adapters.telegram.incoming import File, Heard
from adapters.telegram.line import Refused
from adapters.telegram.payloads import Sent, Spot
from adapters.telegram.view import Shown, sentence
from core.errors import BadBook
from core.model import Accepted, Choice, Conversation, Reader, Reading, Ready, Upload
from core.strings import say

CLOUD = 20_000_000
"""Bytes Telegram's own server gives to a bot: telegram.constants.FileSizeLimit."""
MOST = 50_000_000
"""Bytes of a book that is read at all (DESIGN section 4); asked before the download."""


class Arrivals:
    """Takes books in."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def ask(self, heard: Heard, reader: Reader) -> None:
        """Somebody sent a file to nobody in particular: ask whether it is for the club. Nothing is fetched for that."""
        file = heard.file
        if file is None:
            return
        where = conversation(heard)
        desk = self._connection.desk
        reply = await desk.seen(where, reader, file.name, file.size, asdict(file), event=heard.key)
        if reply is not None:
            await deliveries.show(self._connection, where, spot(heard), heard.key, view.messages(reply))

    async def let_be(self, chat: int, event: str) -> None:
        """It is not: the question is taken away."""
        for part, found in (await self._connection.club.post.delivered(event)).items():
            if found.message is not None:
                await self._connection.line.delete(chat, deliveries.message_of(found.message))
            await self._connection.club.post.withdrawn(event, part)

    async def take(self, heard: Heard, reader: Reader) -> None:
        """Fetch the document and add it. Raises LoccitError, whose sentence takes the place of the progress message."""
        file = heard.file
        if file is None:
            return
        if self._connection.cloud and file.size > CLOUD:
            raise BadBook("telegram_too_large", size=-(-file.size // 1_000_000))
        if file.size > MOST:
            raise BadBook("book_too_large", size=-(-file.size // 1_000_000), limit=MOST // 1_000_000)
        where, place = conversation(heard), spot(heard)
        said = say("telegram_accepted", reader.locale, file=file.name)
        [message] = await deliveries.show(self._connection, where, place, heard.under, [Shown(sentence(said))])
        target = self._connection.host.folder / self._connection.host.new_id()
        try:
            await self._fetch(file, target)
            upload = Upload(
                heard.key,
                where,
                reader,
                target,
                file.name,
                password=heard.words or None,
                accept_partial=heard.partly,
            )
            await self._add(upload, heard, reader, where, place, message)
        finally:
            with suppress(OSError):
                target.unlink(missing_ok=True)

    async def _fetch(self, file: File, target: Path) -> None:
        try:
            await self._connection.line.fetch(file.id, target)
        except Refused as error:
            if "too big" in str(error).lower():
                raise BadBook("telegram_too_large", size=-(-file.size // 1_000_000)) from error
            raise BadBook("telegram_file_gone") from error

    async def _add(
        self, upload: Upload, heard: Heard, reader: Reader, where: Conversation, place: Spot, message: Sent
    ) -> None:
        connection = self._connection
        try:
            async with aclosing(connection.club.add_book(upload)) as events:
                async for event in events:
                    match event:
                        case Accepted():
                            pass
                        case Reading(stage):
                            plain = sentence(say(f"telegram_reading_{stage}", reader.locale, file=upload.filename))
                            await connection.line.edit_soon(place.chat, message, Shown(plain))
                        case Ready():
                            card = await connection.desk.ready(where, reader, event, private=heard.private)
                            await deliveries.show(connection, where, place, heard.under, view.messages(card))
        except BadBook as error:
            if error.key != "book_half_scan":
                raise
            action = {"do": "anyway", "file": asdict(heard.file) if heard.file else {}, "words": heard.words}
            [id] = await connection.club.post.buttons(where, [action], reader)
            rows = ((Choice(say("add_anyway", reader.locale), id),),)
            plain = sentence(say(error.key, reader.locale, **error.params))
            await deliveries.show(connection, where, place, heard.under, [Shown(plain, rows)])


def unpack_file(action: object) -> File | None:
    """The document a button that goes on without picture pages is about."""
    return File(**action) if isinstance(action, Mapping) and action else None
