"""Passages a club saved, likes and opens most, and the sentences that were quotes of a day. Places only, never text."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, select, update

from core.model import Span
from core.store import schema
from core.store.engines import Engines, insert_new

_quotation = schema.quotation.c
_approval = schema.approval.c
_daily = schema.daily.c
_popular = schema.popular.c


@dataclass(frozen=True, slots=True)
class QuotationRow:
    id: str
    book: str
    text_version: str
    span: Span
    reader: str
    at: datetime
    votes: int = 0


@dataclass(frozen=True, slots=True)
class PopularRow:
    """A passage and how often it was opened."""

    book: str
    text_version: str
    span: Span
    presses: int


class Quotations:
    """By channel."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def save(self, channel: int, row: QuotationRow) -> bool:
        """Put a passage on the wall; False when it hangs there."""
        async with self._engines.write() as connection:
            values = {
                "id": row.id,
                "channel": channel,
                **_place(row.book, row.text_version, row.span),
                "reader": row.reader,
                "at": row.at,
            }
            return await insert_new(connection, schema.quotation, values) is not None

    async def all(self, channel: int) -> tuple[QuotationRow, ...]:
        """The wall, the most liked first, then the newest."""
        votes = func.count(_approval.reader).label("votes")
        query = (
            select(schema.quotation, votes)
            .outerjoin(schema.approval, _approval.quotation == _quotation.id)
            .where(_quotation.channel == channel)
            .group_by(*schema.quotation.c)
            .order_by(votes.desc(), _quotation.at.desc(), _quotation.id)
        )
        async with self._engines.read() as connection:
            return tuple(
                QuotationRow(row.id, row.book, row.text_version, _span(row), row.reader, row.at, row.votes)
                for row in await connection.execute(query)
            )

    async def vote(self, channel: int, quotation: str, reader: str) -> bool | None:
        """Like a quotation, or take that back; True when it is liked now, None when there is no such one here."""
        mine = (_approval.quotation == quotation, _approval.reader == reader)
        async with self._engines.write() as connection:
            if (await connection.execute(_lock(channel, quotation))).one_or_none() is None:
                return None
            if (await connection.execute(delete(schema.approval).where(*mine))).rowcount:
                return False
            values = {"quotation": quotation, "reader": reader, "channel": channel}
            await insert_new(connection, schema.approval, values)
            return True

    async def remove(self, channel: int, quotation: str) -> None:
        async with self._engines.write() as connection:
            mine = (_quotation.id == quotation, _quotation.channel == channel)
            await connection.execute(_lock(channel, quotation))
            await connection.execute(
                delete(schema.approval).where(_approval.quotation == quotation, _approval.channel == channel)
            )
            await connection.execute(delete(schema.quotation).where(*mine))

    # The quote of the day

    async def of_letter(self, letter: str) -> PopularRow | None:
        """What a letter brought, or is to bring again after a crash."""
        async with self._engines.read() as connection:
            row = (await connection.execute(select(schema.daily).where(_daily.letter == letter))).one_or_none()
        return None if row is None else PopularRow(row.book, row.text_version, _span(row), 0)

    async def shown(self, channel: int, book: str, text_version: str) -> dict[Span, int]:
        """How often each sentence of a book was the quote of a day here."""
        query = (
            select(_daily.file, _daily.start, _daily.end, func.count().label("times"))
            .where(_daily.channel == channel, _daily.book == book, _daily.text_version == text_version)
            .group_by(_daily.file, _daily.start, _daily.end)
        )
        async with self._engines.read() as connection:
            return {_span(row): row.times for row in await connection.execute(query)}

    async def show(self, channel: int, letter: str, book: str, text_version: str, span: Span) -> None:
        async with self._engines.write() as connection:
            values = {"letter": letter, "channel": channel, **_place(book, text_version, span)}
            await insert_new(connection, schema.daily, values)

    # What is opened most

    async def opened(self, channel: int, week: str, book: str, text_version: str, span: Span) -> None:
        """Somebody opened a passage."""
        key = {"channel": channel, "week": week, **_place(book, text_version, span)}
        mine = update(schema.popular).where(
            _popular.channel == channel,
            _popular.week == week,
            _popular.book == book,
            _popular.text_version == text_version,
            _popular.file == span.file,
            _popular.start == span.start,
        )
        async with self._engines.write() as connection:
            if (await connection.execute(mine.values(presses=_popular.presses + 1))).rowcount == 0:
                await insert_new(connection, schema.popular, {**key, "presses": 1})

    async def most_opened(self, channel: int, weeks: tuple[str, ...]) -> tuple[PopularRow, ...]:
        """The passages opened in these weeks, the most opened first."""
        presses = func.sum(_popular.presses).label("times")
        columns = (_popular.book, _popular.text_version, _popular.file, _popular.start, _popular.end)
        query = select(*columns, presses).where(_popular.channel == channel, _popular.week.in_(weeks))
        query = query.group_by(*columns).order_by(presses.desc(), *columns)
        async with self._engines.read() as connection:
            return tuple(
                PopularRow(row.book, row.text_version, _span(row), int(row.times))
                for row in await connection.execute(query)
            )

    async def forget_opened(self, channel: int, before: str) -> None:
        """Delete what was counted in weeks before this one."""
        async with self._engines.write() as connection:
            await connection.execute(delete(schema.popular).where(_popular.channel == channel, _popular.week < before))


def _lock(channel: int, quotation: str) -> Select[str]:
    """Nobody likes what is being taken down."""
    mine = select(_quotation.id).where(_quotation.id == quotation, _quotation.channel == channel)
    return mine.with_for_update()


def _place(book: str, text_version: str, span: Span) -> dict[str, Any]:
    return {"book": book, "text_version": text_version, "file": span.file, "start": span.start, "end": span.end}


def _span(row: Any) -> Span:
    return Span(row.file, row.start, row.end)
