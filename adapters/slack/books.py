"""A book that arrives: fetched at once, read with one message that tells how far, then its card."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from adapters.slack import view
from adapters.slack.door import Door, Rejected, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.sending import Sender
from core.club import Club
from core.desk import Desk
from core.errors import BadBook, LoccitError, OperatorError, ReaderError
from core.model import Accepted, Choice, Paragraph, Reader, Reading, Ready, Refused, Text, Upload
from core.strings import say

log = logging.getLogger(__name__)

MOST = 50 * 1024 * 1024
"""Bytes of a book (DESIGN section 4): what announces more is not fetched."""
EDIT_GAP = 2.0
"""Seconds between two edits of the progress message."""
SHELVED = "shelf:"
"""Memo: this channel has had a book; the home page looks only there."""


class Books:
    """Takes files in."""

    def __init__(
        self, club: Club, desk: Desk, door: Door, sender: Sender, folder: Path, clock: Callable[[], float]
    ) -> None:
        self._club = club
        self._desk = desk
        self._door = door
        self._sender = sender
        self._folder = folder
        self._clock = clock

    async def add(
        self,
        place: Where,
        reader: Reader,
        key: str,
        file: str,
        shown_as: str,
        *,
        number: int = 0,
        partly: bool = False,
        password: str = "",
    ) -> None:
        """Fetch a file and make it a book of this channel; `shown_as`: the key of the message that tells how far it is.

        `password`: what was written beside the file, tried where it is locked.

        Raises LoccitError, Rejected, Unreachable.
        """
        told = await self._described(file)
        name, size = str(told.get("name") or "book"), int(told.get("size") or 0)
        if size > MOST:
            raise ReaderError("slack_too_big", file=name, size=size // 2**20, most=MOST // 2**20)
        address = str(told.get("url_private_download") or told.get("url_private") or "")
        path = self._folder / f"{file}-{number}"
        progress = _Progress(self._sender, place, shown_as, self._clock, reader.locale)
        try:
            await progress.say(say("slack_fetching", reader.locale, file=name))
            await self._door.download(address, path, MOST)
            await self._read(
                place,
                reader,
                Upload(
                    f"{key}:{file}" + (":partly" if partly else ""),
                    place.conversation,
                    reader,
                    path,
                    name,
                    password=password or None,
                    accept_partial=partly,
                ),
                progress,
            )
        except BadBook as error:
            if error.key != "book_half_scan":
                raise
            await progress.offer(error, await self._anyway(place, reader, file, password))
        finally:
            with suppress(OSError):
                await asyncio.to_thread(path.unlink)

    async def _described(self, file: str) -> dict[str, Any]:
        try:
            return dict((await self._door.call("files.info", file=file)).get("file") or {})
        except Rejected as rejected:
            if rejected.error == "missing_scope":
                raise OperatorError("slack_no_file_scope") from rejected
            if rejected.error in ("file_not_found", "file_deleted"):
                raise ReaderError("slack_file_gone") from rejected
            raise

    async def _read(self, place: Where, reader: Reader, upload: Upload, progress: "_Progress") -> None:
        async with aclosing(self._club.add_book(upload)) as events:
            async for event in events:
                match event:
                    case Accepted(filename):
                        await progress.say(say("slack_accepted", reader.locale, file=filename))
                    case Reading(stage):
                        await progress.say(say(f"console_reading_{stage}", reader.locale))
                    case Ready():
                        await self._ready(place, reader, event, progress)
                    case Refused():
                        pass

    async def _ready(self, place: Where, reader: Reader, event: Ready, progress: "_Progress") -> None:
        reply = await self._desk.ready(place.conversation, reader, event, private=place.private)
        await progress.done(view.messages(reply.document, reply.choices, locale=reader.locale))
        await self._club.post.remember("slack", SHELVED + place.channel, place.team)
        if reply.picture:
            name = "cover.png" if reply.picture.startswith(b"\x89PNG") else "cover.jpg"
            alt = say("slack_cover", reader.locale, title=event.card.title)
            try:
                await self._door.upload(name, reply.picture, alt, place.channel, place.thread)
            except (Rejected, Unreachable):
                log.info("no cover: files may not be written here")

    async def _anyway(self, place: Where, reader: Reader, file: str, password: str) -> tuple[Choice, ...]:
        action: dict[str, Any] = {"do": "add_anyway", "file": file, "password": password}
        [id] = await self._club.post.buttons(place.conversation, [action], reader)
        return (Choice(say("add_anyway", reader.locale), id, "act"),)


class _Progress:
    """The one message about an upload; edits are spaced, the last word always comes."""

    def __init__(self, sender: Sender, place: Where, key: str, clock: Callable[[], float], locale: str | None) -> None:
        self._sender = sender
        self._place = place
        self._key = key
        self._clock = clock
        self._locale = locale
        self._last = float("-inf")

    async def say(self, text: str) -> None:
        if self._clock() - self._last < EDIT_GAP:
            return
        await self.done((view.words(text),))
        self._last = self._clock()

    async def done(self, messages: tuple[view.Message, ...]) -> None:
        await self._sender.bring(self._place, self._key, messages, locale=self._locale)

    async def offer(self, error: LoccitError, choices: tuple[Choice, ...]) -> None:
        text = say(error.key, self._locale, **error.params)
        await self.done(view.messages((Paragraph((Text(text),)),), (choices,)))
