"""What is deleted for good: books nobody has a right to, readers, channels, words older than they are kept.

Footnotes outlive the words of their answers, so that old buttons still answer (P8). A row that others point at stays as
an empty shell: work that was under way when somebody was forgotten lands in it instead of failing.
"""

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, delete, exists, func, or_, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.model import Forgotten
from core.store import meetings, memos, schema
from core.store.blobs import Originals
from core.store.engines import Engines, lock_content
from core.store.segments import EXTRACTIVE
from core.store.words import blank_answers, blank_questions, replies_of

_channel = schema.channel.c
_rights = schema.rights.c
_extraction = schema.extraction.c
_question = schema.question.c
_turn = schema.turn.c
_place = schema.place.c
_upload = schema.upload.c
_COMING = _upload.state == "accepted"
_opened = schema.opened.c
_spent = schema.spent.c
_call = schema.llm_call.c

_NOBODY = ""
"""The platform of a channel that was forgotten, and the reader of a question whose reader was."""


class Forgetting:
    """Deletes; every method is one transaction and tells how much went. Who may ask for it is decided elsewhere."""

    def __init__(self, engines: Engines, originals: Originals) -> None:
        self._engines = engines
        self._originals = originals

    async def reader(self, platform: str, reader: str, today: str, at: datetime) -> Forgotten:
        """Everything about one reader of a platform. What was asked in a group keeps its answer; private ones go whole.

        What the reader spent `today` ("2026-03-01") stays counted until the day is over: forgetting lifts no cap.
        """
        who = f"{platform}:{reader}"
        here = select(_channel.id).where(_channel.platform == platform)
        mine = and_(_question.reader == reader, _question.channel.in_(here))
        async with self._engines.write() as connection:
            private = await blank_answers(connection, _answers_to(and_(mine, _question.private)))
            questions = await blank_questions(connection, mine)
            ended = {"state": "failed", "ended_at": at}
            still = update(schema.question).where(mine, _question.state.in_(("accepted", "kept")))
            await connection.execute(still.values(**ended))
            await connection.execute(update(schema.question).where(mine).values(reader=_NOBODY, locale=None))
            for column in (_rights.added_by, _rights.limit_by):
                named = update(schema.rights).where(column == reader, _rights.channel.in_(here))
                await connection.execute(named.values({column: _NOBODY}))
            uploads = update(schema.upload).where(_upload.reader == reader, _upload.channel.in_(here))
            await connection.execute(uploads.values(reader=_NOBODY, locale=None))
            places = await _deleted(
                connection, delete(schema.place).where(_place.reader == reader, _place.channel.in_(here))
            )
            entries = await meetings.forget_reader(connection, here, reader)
            button, flag = schema.button.c, schema.flag.c
            theirs = or_(button.reader == reader, _says(button.action, f'"by":{json.dumps(reader)}'))
            await connection.execute(delete(schema.button).where(theirs, button.channel.in_(here)))
            await memos.forget_reader(connection, platform, reader)
            turns = select(_turn.id).where(_turn.channel.in_(here))
            await connection.execute(delete(schema.flag).where(flag.reader == reader, flag.turn.in_(turns)))
            opened = await _deleted(connection, delete(schema.opened).where(_opened.reader == who))
            counted = or_(_spent.scope == f"reader:{who}", _spent.scope.startswith(f"passages:{who}:", autoescape=True))
            await connection.execute(delete(schema.spent).where(counted, _spent.period < today))
        return Forgotten(questions=questions, places=places, passages=opened, entries=entries) + private

    async def channel(self, channel: int) -> tuple[Forgotten, tuple[str, ...]]:
        """Everything of a channel, and the books it had: `book_text` deletes those nobody else has a right to."""
        async with self._engines.write() as connection:
            lock = select(_channel.platform, _channel.external).where(_channel.id == channel).with_for_update()
            for platform, external in (await connection.execute(lock)).all():
                await memos.forget_channel(connection, platform, external)
            return await _empty(connection, channel)

    async def book(self, channel: int, sha256: str) -> Forgotten:
        """What a channel has of a book: its right, its limit, places, the words of answers from it. The text: `book_text`."""
        async with self._engines.write() as connection:
            lock = select(_channel.current).where(_channel.id == channel).with_for_update()
            if (await connection.execute(lock)).scalar_one_or_none() == sha256:
                nothing = update(schema.channel).where(_channel.id == channel)
                await connection.execute(nothing.values(current=None))
            here = and_(_turn.channel == channel, _mentions(sha256))
            unanswered = and_(_question.channel == channel, _question.book == sha256)
            asked = or_(_question.id.in_(select(_turn.question).where(here)), unanswered)
            ended = update(schema.question).where(unanswered, _question.state.in_(("accepted", "kept")))
            await connection.execute(ended.values(state="failed", ended_at=_question.accepted_at))
            questions = await blank_questions(connection, asked)
            found = Forgotten(questions=questions) + await blank_answers(connection, here)
            mine = (_place.channel == channel, _place.book == sha256)
            entries = await meetings.forget_book(connection, sha256, channel)
            places = await _deleted(connection, delete(schema.place).where(*mine))
            # Nobody waits for what had been brought and was cut short by a disk or a database.
            cut = update(schema.upload).where(_upload.channel == channel, _upload.sha256 == sha256, _COMING)
            await connection.execute(cut.values(state="failed", ended_at=_upload.accepted_at))
            right = (_rights.channel == channel, _rights.book == sha256)
            books = await _deleted(connection, delete(schema.rights).where(*right))
            return found + Forgotten(books=books, places=places, entries=entries)

    async def everywhere(self, sha256: str) -> tuple[int, ...]:
        """The channels that have, or had, a right to the book, or brought it."""
        rights = select(_rights.channel).where(_rights.book == sha256)
        uploads = select(_upload.channel).where(_upload.sha256 == sha256, _COMING)
        async with self._engines.read() as connection:
            return tuple((await connection.execute(rights.union(uploads))).scalars())

    async def book_text(self, sha256: str, since: datetime) -> Forgotten:
        """Delete what is stored of a book, when nobody has a right to it, nobody took it away at `since` or later (it
        can be brought back), and no upload of its bytes is under way.

        A channel's limit and its readers' places stay: the book may come back, and taking it away lifts nothing.
        """
        async with self._engines.write() as connection:
            await lock_content(connection, sha256)
            right = (_rights.book == sha256, or_(_rights.removed_at.is_(None), _rights.removed_at >= since))
            wanted = select(_rights.id).where(*right).with_for_update()
            coming = select(_upload.id).where(_upload.sha256 == sha256, _COMING)
            for query in (wanted, coming):
                if (await connection.execute(query)).first() is not None:
                    return Forgotten()
            found = await _delete_text(connection, sha256)
            named = update(schema.rights).where(_rights.book == sha256, _rights.filename != "")
            await connection.execute(named.values(filename=""))
            sent = update(schema.upload).where(_upload.sha256 == sha256, _upload.filename != "")
            await connection.execute(sent.values(filename=""))
            # Inside the transaction: an upload of these bytes waits for it, finds no file and puts its own.
            return found + Forgotten(originals=await self._originals.delete(sha256))

    async def original(self, sha256: str) -> None:
        """Delete the file of an upload that became no book, unless a book or another upload needs it."""
        coming = select(_upload.id).where(_upload.sha256 == sha256, _COMING)
        async with self._engines.write() as connection:
            await lock_content(connection, sha256)
            for query in (select(_extraction.id).where(_extraction.book == sha256), coming):
                if (await connection.execute(query)).first() is not None:
                    return
            await self._originals.delete(sha256)

    async def unwanted(self, since: datetime) -> tuple[str, ...]:
        """The books of which something is stored, though nobody has a right to them or had at `since` or later."""
        right = and_(_rights.book == _extraction.book, or_(_rights.removed_at.is_(None), _rights.removed_at >= since))
        books = select(_extraction.book).where(~exists().where(right)).distinct()
        async with self._engines.read() as connection:
            found = set((await connection.execute(books)).scalars())
        return tuple(sorted(found | set(await self._originals.old()) - await self.stored()))

    async def stored(self) -> set[str]:
        """The books whose text is stored or about to be."""
        coming = select(_upload.sha256).where(_COMING)
        async with self._engines.read() as connection:
            return set((await connection.execute(select(_extraction.book).union(coming))).scalars())

    async def old_words(self, questions: datetime | None, history: datetime | None) -> Forgotten:
        """Blank the questions that ended before `questions`, and questions and answers before `history`. None: keep them."""
        ended = _question.state.in_(("done", "failed"))
        found = Forgotten()
        async with self._engines.write() as connection:
            for before in filter(None, (questions, history)):
                old = and_(ended, _question.ended_at < before)
                found += Forgotten(questions=await blank_questions(connection, old))
                await connection.execute(update(schema.question).where(old).values(reader=_NOBODY, locale=None))
            if history is not None:
                found += await blank_answers(connection, _turn.asked_at < history)
                found += Forgotten(entries=await meetings.forget_old(connection, history))
        return found

    async def leftovers(self, today: str, lately: datetime) -> Forgotten:
        """What counts for a day that is over, and what work under way wrote of what had just been forgotten.

        `lately`: answers since then are looked at; an upload from before that is not under way any more, where an event is
        what would take it up, nor is a question whose event was dealt with before that.
        """
        told = exists().where(schema.event.c.platform == _channel.platform)
        by_events = select(_channel.id).where(told)
        dealt_with = exists().where(schema.event.c.key == _question.event, schema.event.c.done_at < lately)
        orphan = and_(_call.book.is_not(None), _call.book.not_in(select(_extraction.book)))
        daily = or_(*(_spent.scope.startswith(kind) for kind in ("reader:", "channel:", "passages:")))
        async with self._engines.write() as connection:
            stuck = update(schema.upload).where(_COMING, _upload.accepted_at < lately, _upload.channel.in_(by_events))
            await connection.execute(stuck.values(state="failed", ended_at=_upload.accepted_at))
            told_so = update(schema.question).where(_question.state == "accepted", dealt_with)
            await connection.execute(told_so.values(state="failed", ended_at=_question.accepted_at))
            await connection.execute(delete(schema.opened).where(_opened.day < today))
            await connection.execute(
                delete(schema.spent).where(daily, func.length(_spent.period) == len(today), _spent.period < today)
            )
            found = Forgotten(replies=await _deleted(connection, delete(schema.llm_call).where(orphan)))
            left = select(_channel.id).where(_channel.platform == _NOBODY, _holds_something())
            for channel in (await connection.execute(left)).scalars().all():
                found += (await _empty(connection, channel))[0]
            late = await _late(connection, lately)
            if late:
                found += await blank_answers(connection, _turn.id.in_(late))
        return found


def _answers_to(questions: ColumnElement[bool]) -> ColumnElement[bool]:
    """The answers to these questions, and what stood in for them while the provider was down (that has no question)."""
    interim = exists().where(questions, _question.channel == _turn.channel, _question.text == _turn.asked)
    return or_(_turn.question.in_(select(_question.id).where(questions)), and_(_turn.question.is_(None), interim))


def _mentions(sha256: str) -> ColumnElement[bool]:
    return _says(_turn.books, sha256)


def _says(column: ColumnElement[Any], words: str) -> ColumnElement[bool]:
    """Whether these words stand in a column of JSON, as it is written there."""
    return type_coerce(column, Text).contains(words, autoescape=True)


def _holds_something() -> ColumnElement[bool]:
    of_channels = [table for table in schema.metadata.tables.values() if "channel" in table.c]
    return or_(*(exists().where(table.c.channel == _channel.id) for table in of_channels))


async def _empty(connection: AsyncConnection, channel: int) -> tuple[Forgotten, tuple[str, ...]]:
    had = (await connection.execute(select(_rights.book).where(_rights.channel == channel))).scalars().all()
    turns = select(_turn.id).where(_turn.channel == channel)
    replies = await replies_of(connection, _turn.channel == channel)
    await connection.execute(delete(schema.flag).where(schema.flag.c.turn.in_(turns)))
    entries = await meetings.forget_channel(connection, channel)
    gone = {
        table.name: await _deleted(connection, delete(table).where(table.c.channel == channel))
        for table in (
            schema.footnote,
            schema.delivery,
            schema.letter,
            schema.button,
            schema.turn,
            schema.question,
            schema.upload,
            schema.place,
            schema.rights,
        )
    }
    shell: dict[str, Any] = {"platform": _NOBODY, "external": str(channel), "settings": {}, "current": None}
    await connection.execute(update(schema.channel).where(_channel.id == channel).values(**shell))
    found = Forgotten(
        books=gone["rights"],
        questions=gone["question"],
        answers=gone["turn"],
        places=gone["place"],
        replies=replies,
        entries=entries,
    )
    return found, tuple(had)


async def _delete_text(connection: AsyncConnection, sha256: str) -> Forgotten:
    mine = select(_extraction.id).where(_extraction.book == sha256)
    summaries = select(func.count()).select_from(schema.segment)
    summaries = summaries.where(
        schema.segment.c.extraction.in_(mine), schema.segment.c.stamp.not_like(f"{EXTRACTIVE}%")
    )
    summarised: int = (await connection.execute(summaries)).scalar_one()
    await connection.execute(delete(schema.job).where(schema.job.c.book == sha256))
    entries = await meetings.forget_book(connection, sha256)
    for table in (schema.segment, schema.piece, schema.spine_file):
        await connection.execute(delete(table).where(table.c.extraction.in_(mine)))
    books = await _deleted(connection, delete(schema.extraction).where(_extraction.book == sha256))
    await connection.execute(delete(schema.job).where(schema.job.c.book == sha256))
    replies = await _deleted(connection, delete(schema.llm_call).where(_call.book == sha256))
    opened = await _deleted(connection, delete(schema.opened).where(_opened.book == sha256))
    answers = await blank_answers(connection, _mentions(sha256))
    kept = or_(
        exists().where(_rights.book == schema.book.c.sha256), exists().where(_place.book == schema.book.c.sha256)
    )
    await connection.execute(delete(schema.book).where(schema.book.c.sha256 == sha256, ~kept))
    return answers + Forgotten(
        books=min(1, books), summaries=summarised if books else 0, replies=replies, passages=opened, entries=entries
    )


async def _late(connection: AsyncConnection, since: datetime) -> Collection[str]:
    """Answers that were stored after their channel had forgotten a book they draw on."""
    query = select(_turn.id, _turn.channel, _turn.books).where(
        _turn.asked_at >= since, type_coerce(_turn.document, Text) != "[]"
    )
    turns = (await connection.execute(query)).all()
    rights = select(_rights.channel, _rights.book).where(_rights.channel.in_({row.channel for row in turns}))
    known = {(row.channel, row.book) for row in await connection.execute(rights)} if turns else set()
    return [row.id for row in turns if any((row.channel, sha256) not in known for sha256, *_ in row.books)]


async def _deleted(connection: AsyncConnection, statement: Any) -> int:
    return max(0, (await connection.execute(statement)).rowcount)
