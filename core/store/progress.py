"""How far a channel has read each of its books, and how far each reader says to be. Words; `core.limits` reads them."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, select, update

from core.errors import Missing
from core.store import schema
from core.store.engines import Engines, insert_new

_rights = schema.rights.c
_place = schema.place.c


class Progress:
    """Limits by (channel, book). A limit outlives the removal of its book, so that taking it away lifts nothing."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def limit_words(self, channel: int, sha256: str) -> str | None:
        """The club's limit, whether or not the book is on the shelf now; None while nobody has said."""
        query = select(_rights.limit_words).where(_rights.channel == channel, _rights.book == sha256)
        async with self._engines.read() as connection:
            words: str | None = (await connection.execute(query)).scalar_one_or_none()
        return words

    async def set_limit(self, channel: int, sha256: str, words: str, reader: str, at: datetime) -> None:
        """Set the club's limit; `reader` is the platform's id of who did. The one before is kept for `take_back`.

        Said once more, it is no change: the one before stays what it was.
        Raises Missing `book_not_on_shelf`.
        """
        async with self._engines.write() as connection:
            row = (await connection.execute(_lock(channel, sha256))).one_or_none()
            if row is None:
                raise Missing("book_not_on_shelf")
            if row.limit_words == words:
                return
            values = {"limit_words": words, "limit_before": row.limit_words, "limit_by": reader, "limit_at": at}
            await connection.execute(update(schema.rights).where(_mine(channel, sha256)).values(**values))

    async def take_back(self, channel: int, sha256: str, since: datetime, words: str | None = None) -> bool:
        """Undo the last change of the club's limit, if it was made at `since` or later (and to these words); once."""
        async with self._engines.write() as connection:
            row = (await connection.execute(_lock(channel, sha256))).one_or_none()
            if row is None or row.limit_at is None or row.limit_at < since:
                return False
            if words is not None and row.limit_words != words:
                return False
            values = {"limit_words": row.limit_before, "limit_before": None, "limit_by": None, "limit_at": None}
            await connection.execute(update(schema.rights).where(_mine(channel, sha256)).values(**values))
            return True

    async def changed_by(self, channel: int, sha256: str) -> tuple[str, datetime] | None:
        """Who set the club's limit last, and when; None when nobody did or it was taken back."""
        query = select(_rights.limit_by, _rights.limit_at).where(_mine(channel, sha256))
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None or row.limit_by is None else (row.limit_by, row.limit_at)

    async def place(self, channel: int, sha256: str, reader: str) -> str | None:
        """The reader's own place; None when there is none."""
        query = select(_place.limit_words).where(_whose(channel, sha256, reader))
        async with self._engines.read() as connection:
            words: str | None = (await connection.execute(query)).scalar_one_or_none()
        return words

    async def places(self, channel: int, sha256: str) -> tuple[str, ...]:
        """All readers' own places in a book of a channel, without the readers."""
        query = select(_place.limit_words).where(_place.channel == channel, _place.book == sha256)
        async with self._engines.read() as connection:
            return tuple((await connection.execute(query.order_by(_place.reader))).scalars())

    async def set_place(self, channel: int, sha256: str, reader: str, words: str | None, at: datetime) -> None:
        """Set the reader's own place; None takes it away."""
        mine = _whose(channel, sha256, reader)
        async with self._engines.write() as connection:
            if words is None:
                await connection.execute(delete(schema.place).where(mine))
                return
            new = {"channel": channel, "book": sha256, "reader": reader, "limit_words": words, "set_at": at}
            await insert_new(connection, schema.place, new)
            await connection.execute(update(schema.place).where(mine).values(limit_words=words, set_at=at))


def _mine(channel: int, sha256: str) -> Any:
    return (_rights.channel == channel) & (_rights.book == sha256)


def _whose(channel: int, sha256: str, reader: str) -> Any:
    return (_place.channel == channel) & (_place.book == sha256) & (_place.reader == reader)


def _lock(channel: int, sha256: str) -> Select[*tuple[Any, ...]]:
    query = select(_rights.limit_words, _rights.limit_before, _rights.limit_at)
    return query.where(_mine(channel, sha256), _rights.removed_at.is_(None)).with_for_update()
