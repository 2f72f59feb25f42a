"""Journey 1, upload -> book: accept durably, read in the box, store, give the channel its right; resume what a crash cut."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from core.arrivals import Arrivals
from core.errors import BadBook, BrokenPromise, Missing, ReaderError
from core.formats import recognition
from core.formats.reading import MAX_UPLOAD, Read, reading
from core.model import Accepted, BookCard, Contents, LibraryEvent, Notice, Reading, Ready, Refused, Upload
from core.retrieval.ranks import Ranks
from core.store import Store, UploadRow

_REPLACES = "replaces:"
"""The channel's setting that names, for the event of an upload under way, the book it replaces."""


class Library:
    """Adds books. The same bytes are read once for everybody; rights stay with each channel."""

    def __init__(
        self, store: Store, ranks: Ranks, now: Callable[[], datetime], children: int, recognise: str = ""
    ) -> None:
        """`children`: books read at once; `recognise`: languages for optical recognition ("eng+spa"), "" = not allowed."""
        self._store = store
        self._ranks = ranks
        self._now = now
        self._recognise = recognise if recognition.installed() else ""
        self._children = asyncio.Semaphore(children)
        self._reading: dict[str, asyncio.Lock] = {}
        self.arrivals = Arrivals()

    async def add(self, upload: Upload, replaces: str | None = None) -> AsyncGenerator[LibraryEvent, None]:
        """Take a file in, in the place of a book it `replaces`. Once `Accepted` is out, a crash loses nothing.

        Raises BadBook, OperatorError.
        """
        size = await asyncio.to_thread(_size, upload.path)
        if size == 0:
            raise BadBook("book_empty")
        if size > MAX_UPLOAD:
            raise BadBook("book_too_large", size=-(-size // 1_000_000), limit=MAX_UPLOAD // 1_000_000)
        channel = await self._store.shelf.channel(upload.conversation, self._now())
        with self.arrivals.expecting(channel, upload.filename):
            sha256 = await self._store.originals.put(upload.path)
            if replaces is not None:  # on record before the upload: a restart goes on with both
                await self._store.shelf.change_settings(channel, {_REPLACES + upload.event: replaces})
            row = await self._store.inbox.accept_upload(upload, channel, sha256, size, self._now())
            if not await asyncio.to_thread(row.upload.path.is_file):  # dropped with a failed upload of the same bytes
                await self._store.originals.put(upload.path)
            yield Accepted(upload.filename, size)
            async with aclosing(self._take_in(row, upload.password, upload.accept_partial)) as events:
                async for event in events:
                    yield event

    async def resume(self, platform: str) -> AsyncGenerator[LibraryEvent, None]:
        """Take up the uploads a crash left unfinished; one that cannot become a book is named, the rest go on.

        Raises OperatorError (a full disk, a database that is away): what is left stays accepted for the next start.
        """
        rows = await self._store.inbox.unfinished_uploads(platform)
        with ExitStack() as together:
            each = [together.enter_context(ExitStack()) for _ in rows]
            for row, one in zip(rows, each, strict=True):
                one.enter_context(self.arrivals.expecting(row.channel, row.upload.filename))
            for row, one in zip(rows, each, strict=True):
                with one:
                    try:
                        async for event in self._take_in(row, None, row.upload.accept_partial):
                            yield event
                    except (ReaderError, BrokenPromise) as error:
                        yield Refused(row.upload.filename, Notice(error.key, error.params))

    async def _take_in(
        self, row: UploadRow, password: str | None, accept_partial: bool
    ) -> AsyncGenerator[LibraryEvent, None]:
        event, sha256 = row.upload.event, row.sha256
        replaces = (await self._store.shelf.settings(row.channel)).get(_REPLACES + event)
        known = await self._store.shelf.permitted(row.channel, sha256)
        try:
            async with self._reading.setdefault(sha256, asyncio.Lock()):
                contents = await self._store.books.contents(sha256)
                if contents is None:
                    yield Reading("extract")
                    title = Path(row.upload.filename).stem
                    contents = await self._read(sha256, title, password, accept_partial)
                elif not known and await self._asks_something(row, contents):
                    yield Reading("extract")
                    async with self._box(sha256, None, password, accept_partial):
                        pass  # it was readable
        except (ReaderError, BrokenPromise) as error:
            await self._store.inbox.fail_upload(event, Notice(error.key, error.params), self._now())
            if replaces is not None:
                await self._store.shelf.change_settings(row.channel, {_REPLACES + event: None})
            await self._drop_unused(sha256)
            raise
        await self._store.shelf.grant(
            row.channel,
            sha256,
            contents.text_version,
            row.upload.reader.id,
            row.upload.filename,
            self._now(),
            replaces=replaces,
        )
        await self._store.inbox.finish_upload(event, self._now())
        if replaces is not None:
            await self._store.shelf.change_settings(row.channel, {_REPLACES + event: None})
        card = await self._store.shelf.card(row.channel, sha256)
        if card is None:  # taken off the shelf between two lines
            raise Missing("book_removed")
        yield Ready(card, known)

    async def again(self, channel: int, card: BookCard, reader: str) -> BookCard:
        """Read the kept file of a channel's book once more: its text as this program reads it now.

        The club's limit stays, and older notes go on opening what they opened. Raises BadBook, OperatorError, BrokenPromise,
        and Missing `book_removed` when it was taken away or forgotten meanwhile.
        """
        async with self._reading.setdefault(card.sha256, asyncio.Lock()):
            contents = await self._read(card.sha256, card.title, None, accept_partial=True)
        await self._store.shelf.grant(
            channel, card.sha256, contents.text_version, reader, card.title, self._now(), still_here=True
        )
        found = await self._store.shelf.card(channel, card.sha256)
        if found is None:  # taken off the shelf between two lines
            raise Missing("book_removed")
        return found

    async def _read(self, sha256: str, title: str, password: str | None, accept_partial: bool) -> Contents:
        """Extract in the boxed child, keep the rank table it builds, store everything in one transaction.

        What is stored is made ready while the child is at the table; nothing is written before that is whole.
        `title` is that of a book that does not say its own.
        """
        rank = self._ranks.path(sha256, "new")
        await asyncio.to_thread(rank.parent.mkdir, parents=True, exist_ok=True)
        async with self._box(sha256, rank, password, accept_partial) as read:
            book = read.book if read.book.title else replace(read.book, title=title)
            await self._store.books.save(sha256, book, self._now(), after=read.ranked)
        with suppress(
            FileNotFoundError
        ):  # a sweep took it: the book was forgotten meanwhile; who searches has it built
            await asyncio.to_thread(rank.replace, self._ranks.path(sha256, book.text_version))
        contents = await self._store.books.contents(sha256, book.text_version)
        if contents is None:
            raise BrokenPromise("book_not_stored")
        return contents

    @asynccontextmanager
    async def _box(
        self, sha256: str, rank: Path | None, password: str | None, accept_partial: bool
    ) -> AsyncIterator[Read]:
        """The book as the boxed child reads it, with recognised pages where that is allowed."""
        path = await self._store.originals.checked(sha256)
        async with self._children, AsyncExitStack() as box:
            try:
                read = await box.enter_async_context(
                    reading(path, rank_path=rank, password=password, accept_partial=accept_partial, sha256=sha256)
                )
            except BadBook as error:
                if error.key not in ("book_is_scan", "book_half_scan") or not self._recognise:
                    raise
                read = await box.enter_async_context(self._recognised(path, rank))
            yield read

    async def _asks_something(self, row: UploadRow, contents: Contents) -> bool:
        """Whether a PDF known from another channel wants a password, or a word about its picture pages, from this one too.

        What one channel knew or chose is no right of another's (P9): the file is read once more, and the text stays.
        """
        return bool(contents.blind) or await asyncio.to_thread(_may_be_locked, self._store.originals.path(row.sha256))

    @asynccontextmanager
    async def _recognised(self, path: Path, rank: Path | None) -> AsyncIterator[Read]:
        """Picture pages read by machine. The copy with the text layer is only read, never kept."""
        with tempfile.TemporaryDirectory(prefix="loccit-") as folder:
            copy = Path(folder) / "recognised.pdf"
            await recognition.recognise(path, copy, self._recognise)
            async with reading(copy, rank_path=rank, accept_partial=True) as read:
                read.book = replace(read.book, machine_read=True)
                yield read

    async def _drop_unused(self, sha256: str) -> None:
        """Delete the original of a failed upload, unless a book or another upload needs it."""
        async with self._reading.setdefault(sha256, asyncio.Lock()):
            await self._store.forgetting.original(sha256)


def _may_be_locked(path: Path) -> bool:
    """True for a PDF that names an encryption; its trailer, where the name stands, is never compressed."""
    data = path.read_bytes()
    return data.lstrip()[:5] == b"%PDF-" and b"/Encrypt" in data


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError as error:
        raise BadBook("file_not_found", name=path.name) from error
    except PermissionError as error:
        raise BadBook("file_not_readable", name=path.name) from error
