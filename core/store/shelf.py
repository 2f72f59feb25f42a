"""Channels, their settings, and which books each may read: rights are (channel, book) rows, never a content hash."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, func, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import Missing
from core.model import BookCard, Conversation
from core.store import schema
from core.store.engines import Engines, insert_new
from core.store.structure import unpack_notice

_channel = schema.channel.c
_rights = schema.rights.c
_extraction = schema.extraction.c

_NUMBER = select(_channel.id).where(
    _channel.platform == bindparam("platform"), _channel.external == bindparam("external")
)
"""Made once: whatever happens begins with it."""


class Shelf:
    """The books of a channel. A channel is named by the number `channel` gives; threads share their channel's."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._moved: dict[tuple[str, str], str] = {}
        """Ids that chats had before: what was begun under one, and is still at work, finds the chat where it is now."""

    async def channel(self, conversation: Conversation, at: datetime) -> int:
        """The number of the conversation's channel, made now when it is new. `thread` plays no part."""
        names = self._names(conversation)
        async with self._engines.read() as connection:
            number: int | None = (await connection.execute(_NUMBER, names)).scalar_one_or_none()
        if number is not None:
            return number
        async with self._engines.write() as connection:
            names = self._names(conversation)  # anew: it may have moved while we waited
            await insert_new(connection, schema.channel, {**names, "settings": {}, "created_at": at})
            made: int = (await connection.execute(_NUMBER, names)).scalar_one()
            return made

    async def move(self, platform: str, old: str, new: str) -> bool:
        """A chat has another id on its platform from now on; False when nothing is known of it under the old one.

        Whatever was kept under the new id before this (an event came sooner) stays under a name of its own.
        """
        known = (_channel.platform == platform) & (_channel.external == old)
        taken = (_channel.platform == platform) & (_channel.external == new)
        done = False
        try:
            async with self._engines.write() as connection:
                row = select(_channel.id).where(known).with_for_update()
                if (await connection.execute(row)).scalar_one_or_none() is None:
                    return False
                self._moved[platform, old] = new
                aside = f"{new} before {old} moved"
                await connection.execute(update(schema.channel).where(taken).values(external=aside))
                await connection.execute(update(schema.channel).where(known).values(external=new))
            done = True
        finally:
            if not done:
                self._moved.pop((platform, old), None)
        return True

    def _names(self, conversation: Conversation) -> dict[str, str]:
        external = conversation.channel
        while (now := self._moved.get((conversation.platform, external))) is not None:
            external = now
        return {"platform": conversation.platform, "external": external}

    async def grant(
        self,
        channel: int,
        sha256: str,
        text_version: str,
        reader: str,
        filename: str,
        at: datetime,
        *,
        replaces: str | None = None,
        still_here: bool = False,
    ) -> None:
        """Put a stored book on the channel's shelf, bound to this text version.

        A book already there keeps its place and moves to the text version; one withdrawn earlier comes back at the
        end. `reader` is the platform's id of who added it. A book that it `replaces` is withdrawn in the same moment, and
        its place on the shelf, its being current and the club's limit pass over. Raises Missing `book_not_stored`;
        with `still_here` Missing `book_removed` for a book that is not on the shelf: nothing comes back then.
        """
        stored = select(_extraction.id).where(_extraction.book == sha256, _extraction.text_version == text_version)
        added = {"added_by": reader, "added_at": at, "filename": filename, "removed_at": None, "was_current": False}
        async with self._engines.write() as connection:
            if (await connection.execute(stored)).one_or_none() is None:
                raise Missing("book_not_stored")
            new = {"channel": channel, "book": sha256, "text_version": text_version, **added}
            mine = _mine(channel, sha256)
            if still_here:
                on_it = update(schema.rights).where(mine, _rights.removed_at.is_(None))
                if not (await connection.execute(on_it.values(text_version=text_version))).rowcount:
                    raise Missing("book_removed")
            elif await insert_new(connection, schema.rights, new) is None:
                await connection.execute(update(schema.rights).where(mine).values(text_version=text_version))
                back = update(schema.rights).where(mine, _rights.removed_at.is_not(None))
                await connection.execute(back.values(**added))
            if replaces is not None and replaces != sha256:
                await _take_place(connection, channel, sha256, replaces, at)

    async def withdraw(self, channel: int, sha256: str, at: datetime) -> bool:
        """Take the book off the shelf; False when it was not on it. It stops being the current book."""
        async with self._engines.write() as connection:
            lock = select(_channel.current).where(_channel.id == channel).with_for_update()
            current = (await connection.execute(lock)).scalar_one_or_none() == sha256
            gone = update(schema.rights).where(_mine(channel, sha256), _rights.removed_at.is_(None))
            done = await connection.execute(gone.values(removed_at=at, was_current=current))
            if current:
                await connection.execute(_set_current(channel, None))
            return done.rowcount > 0

    async def withdrawn(self, channel: int, since: datetime, sha256: str | None = None) -> str | None:
        """Who added the book that `restore` would bring back; None when there is nothing to undo."""
        async with self._engines.read() as connection:
            row = (await connection.execute(_last_withdrawn(channel, since, sha256))).one_or_none()
        return None if row is None else str(row.added_by)

    async def restore(self, channel: int, since: datetime, sha256: str | None = None) -> str | None:
        """Undo the last withdrawal made at `since` or later, or that of this book: its sha256, back in its old place.

        None when there is nothing to undo. It becomes current again when it was current and nothing was chosen since.
        """
        async with self._engines.write() as connection:
            lock = select(_channel.current).where(_channel.id == channel).with_for_update()
            current = (await connection.execute(lock)).scalar_one_or_none()
            row = (await connection.execute(_last_withdrawn(channel, since, sha256))).one_or_none()
            if row is None:
                return None
            back = update(schema.rights).where(_mine(channel, row.book))
            await connection.execute(back.values(removed_at=None, was_current=False))
            if row.was_current and current is None:
                await connection.execute(_set_current(channel, row.book))
            return str(row.book)

    async def shelf(self, channel: int) -> tuple[BookCard, ...]:
        """The channel's books in the order in which they were added."""
        async with self._engines.read() as connection:
            return tuple(_card(row) for row in await connection.execute(_cards(channel)))

    async def card(self, channel: int, sha256: str) -> BookCard | None:
        """The card of one book of the channel; None when it is not on the shelf."""
        async with self._engines.read() as connection:
            row = (await connection.execute(_cards(channel).where(_rights.book == sha256))).one_or_none()
        return None if row is None else _card(row)

    async def find(self, channel: int, prefix: str) -> tuple[str, ...]:
        """The books of the channel whose sha256 begins with `prefix` (hex, any case), in the order added."""
        query = _here(channel).where(func.substr(_rights.book, 1, len(prefix)) == prefix.lower())
        async with self._engines.read() as connection:
            return tuple((await connection.execute(query)).scalars())

    async def permitted(self, channel: int, sha256: str) -> bool:
        """True when the book is on the channel's shelf now."""
        async with self._engines.read() as connection:
            return await _permitted(connection, channel, sha256)

    async def removed_at(self, channel: int, sha256: str) -> datetime | None:
        """When the book was taken off the shelf (UTC); None when it is on it or never was."""
        query = select(_rights.removed_at).where(_mine(channel, sha256))
        async with self._engines.read() as connection:
            moment: datetime | None = (await connection.execute(query)).scalar_one_or_none()
        return moment

    async def use(self, channel: int, sha256: str | None) -> None:
        """Choose the channel's current book; None for no choice. Raises Missing `book_not_on_shelf`."""
        async with self._engines.write() as connection:
            # The channel's row first, as `withdraw` does: neither can overtake the other.
            await connection.execute(_set_current(channel, sha256))
            if sha256 is not None and not await _permitted(connection, channel, sha256):
                raise Missing("book_not_on_shelf")

    async def current(self, channel: int) -> str | None:
        """The sha256 of the book chosen by `use`, while it is on the shelf."""
        query = _here(channel).join(schema.channel, _channel.id == _rights.channel)
        async with self._engines.read() as connection:
            result = await connection.execute(query.where(_channel.current == _rights.book))
            sha256: str | None = result.scalar_one_or_none()
        return sha256

    async def settings(self, channel: int) -> dict[str, Any]:
        """The channel's settings by name; empty at first."""
        async with self._engines.read() as connection:
            found = await connection.execute(select(_channel.settings).where(_channel.id == channel))
            return dict(found.scalar_one())

    async def change_settings(self, channel: int, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Merge changes (JSON values by name, None removes) into the settings and return the result.

        Changes to different names made at the same time all hold.
        """
        async with self._engines.write() as connection:
            lock = select(_channel.settings).where(_channel.id == channel).with_for_update()
            before = (await connection.execute(lock)).scalar_one()
            after = {name: value for name, value in {**before, **changes}.items() if value is not None}
            await connection.execute(update(schema.channel).where(_channel.id == channel).values(settings=after))
            return after


def _mine(channel: int, sha256: str) -> Any:
    return (_rights.channel == channel) & (_rights.book == sha256)


def _last_withdrawn(channel: int, since: datetime, sha256: str | None) -> Select[*tuple[Any, ...]]:
    """Of all books, or of this one."""
    query = select(_rights.book, _rights.was_current, _rights.added_by)
    if sha256 is not None:
        query = query.where(_rights.book == sha256)
    return (
        query.where(_rights.channel == channel, _rights.removed_at >= since)
        .order_by(_rights.removed_at.desc(), _rights.id.desc())
        .limit(1)
    )


def _here(channel: int) -> Select[str]:
    """The books a channel may read, in the order added. The scope is in the query: no filter forgotten later."""
    query = select(_rights.book).where(_rights.channel == channel, _rights.removed_at.is_(None))
    return query.order_by(_rights.added_at, _rights.id)


async def _permitted(connection: AsyncConnection, channel: int, sha256: str) -> bool:
    found = await connection.execute(_PERMITTED, {"channel_id": channel, "sha256": sha256})
    return found.one_or_none() is not None


# Made once: asked on every press. Building a statement costs as much as running it.
_PERMITTED = select(_rights.id).where(
    _rights.channel == bindparam("channel_id"), _rights.book == bindparam("sha256"), _rights.removed_at.is_(None)
)


async def _take_place(connection: AsyncConnection, channel: int, new: str, old: str, at: datetime) -> None:
    lock = select(_channel.current).where(_channel.id == channel).with_for_update()
    current = (await connection.execute(lock)).scalar_one_or_none() == old
    query = select(_rights.added_at, _rights.limit_words).where(_mine(channel, old), _rights.removed_at.is_(None))
    row = (await connection.execute(query)).one_or_none()
    if row is None:  # taken away meanwhile
        return
    gone = update(schema.rights).where(_mine(channel, old))
    await connection.execute(gone.values(removed_at=at, was_current=False))
    mine = update(schema.rights).where(_mine(channel, new))
    await connection.execute(mine.values(added_at=row.added_at))
    # A limit the new book has already stands: it is the club's word on that very book.
    await connection.execute(mine.where(_rights.limit_words.is_(None)).values(limit_words=row.limit_words))
    if current:
        await connection.execute(_set_current(channel, new))


def _set_current(channel: int, sha256: str | None) -> Any:
    return update(schema.channel).where(_channel.id == channel).values(current=sha256)


def _cards(channel: int) -> Select[*tuple[Any, ...]]:
    facts = (
        "text_version",
        "title",
        "authors",
        "language",
        "format",
        "characters",
        "files",
        "chapters",
        "warnings",
        "machine_read",
    )
    return (
        _here(channel)
        .add_columns(
            _rights.added_at,
            _rights.added_by,
            _rights.limit_words,
            _channel.current,
            *(_extraction[fact] for fact in facts),
        )
        .join(schema.channel, _channel.id == _rights.channel)
        .join(
            schema.extraction,
            (_extraction.book == _rights.book) & (_extraction.text_version == _rights.text_version),
        )
    )


def _card(row: Row[*tuple[Any, ...]]) -> BookCard:
    return BookCard(
        sha256=row.book,
        text_version=row.text_version,
        title=row.title,
        authors=tuple(row.authors),
        language=row.language,
        format=row.format,
        characters=row.characters,
        files=row.files,
        chapters=row.chapters,
        added_at=row.added_at,
        current=row.current == row.book,
        warnings=tuple(unpack_notice(warning) for warning in row.warnings),
        machine_read=row.machine_read,
        limit_words=row.limit_words,
        added_by=row.added_by,
    )
