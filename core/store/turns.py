"""Turns: questions with their settled answers, and the footnotes whose ids the buttons carry (P8)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import BrokenPromise
from core.model import WHOLE_BOOK, Answer, Conversation, Dropped, Footnote, Limit, Position, Span, Turn, Usage
from core.store import schema
from core.store.codec import decode_document, encode_document
from core.store.engines import Engines, insert_new
from core.store.structure import pack_notice, unpack_notice

AnyRow = Row[*tuple[Any, ...]]

_turn = schema.turn.c
_question = schema.question.c
_footnote = schema.footnote.c

# Made once: what a press runs. Building a statement costs as much as running it.
_PRESSED = select(schema.footnote).where(_footnote.id == bindparam("note"))


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a button's id stands for. The caller checks `channel` against the one it was pressed in."""

    channel: int
    turn: str
    footnote: Footnote


class Turns:
    """Answers on record. A turn is stored before it is shown."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def save(self, turn: Turn, channel: int, question_event: str | None) -> Turn:
        """Store the turn with its footnotes and finish the question, all in one transaction.

        A question gets one answer: when its event has a turn already, that one is returned and nothing is written.
        Ids (of the turn, of each footnote) are chosen by the caller; a footnote without one is a ValueError.
        `question_event` must be on record (`Inbox.accept_question`), from the same channel.
        """
        if not turn.id or not all(footnote.id for footnote in turn.answer.footnotes):
            raise ValueError("a turn and its footnotes need ids before they are stored")
        async with self._engines.write() as connection:
            question = None
            if question_event is not None:
                asked = select(_question.id, _question.reader, _question.private)
                asked = asked.where(_question.event == question_event, _question.channel == channel)
                # The question's row is locked: of two processes that answer it, one waits and finds the other's turn.
                row = (await connection.execute(asked.with_for_update())).one_or_none()
                if row is None:
                    raise BrokenPromise("question_not_on_record")
                question = row.id
                if not row.reader:  # forgotten while the answer was made
                    turn = _without_words(turn, private=row.private)
                earlier = await _read(connection, _turns().where(_turn.question == question))
                if earlier:
                    return earlier[0]
            await connection.execute(insert(schema.turn), _as_values(turn, channel, question))
            notes = [_footnote_values(footnote, channel, turn.id) for footnote in turn.answer.footnotes]
            if notes:
                await connection.execute(insert(schema.footnote), notes)
            if question is not None:
                done = update(schema.question).where(_question.id == question)
                await connection.execute(done.values(state="done", error=None, ended_at=turn.asked_at))
        return turn

    async def keep_notes(self, channel: int, notes: Sequence[Footnote], about: str) -> None:
        """Let buttons of notes answer that stand under no answer; `about` is kept in the place of its id."""
        if not all(note.id for note in notes):
            raise ValueError("footnotes need ids before they are stored")
        if notes:
            async with self._engines.write() as connection:
                await connection.execute(
                    insert(schema.footnote), [_footnote_values(note, channel, about) for note in notes]
                )

    async def get(self, id: str) -> Turn | None:
        """The turn with this id."""
        return await self._one(_turns().where(_turn.id == id))

    async def shown(self, id: str, at: datetime) -> None:
        """Somebody saw the answer: it need not be brought any more."""
        seen = update(schema.turn).where(_turn.id == id, _turn.shown_at.is_(None))
        async with self._engines.write() as connection:
            await connection.execute(seen.values(shown_at=at))

    async def unshown(self, platform: str) -> tuple[tuple[str, Turn, bool], ...]:
        """The answers nobody saw yet, oldest first, each with the key of its question's event, and whether that was asked in
        private and without the book.
        """
        asked = (_question.event, (_question.private & _question.without_book).label("alone"))
        query = _turns().add_columns(*asked).join(schema.question, _question.id == _turn.question)
        query = query.where(schema.channel.c.platform == platform, _turn.shown_at.is_(None)).order_by(_turn.sequence)
        async with self._engines.read() as connection:
            rows = {row.id: row for row in (await connection.execute(query)).all()}
            found = await _read(connection, query)
            return tuple((rows[turn.id].event, turn, bool(rows[turn.id].alone)) for turn in found)

    async def flag(self, id: str, reader: str, at: datetime) -> None:
        """A reader calls the answer wrong."""
        async with self._engines.write() as connection:
            await insert_new(connection, schema.flag, {"turn": id, "reader": reader, "at": at})

    async def asker(self, id: str) -> str | None:
        """The platform's id of who asked; None when the turn answers no question on record."""
        query = select(_question.reader).join(schema.turn, _question.id == _turn.question).where(_turn.id == id)
        async with self._engines.read() as connection:
            found: str | None = (await connection.execute(query)).scalar_one_or_none()
        return found

    async def alone(self, id: str) -> str | None:
        """The platform's id of who was told this in private ("" = forgotten since); None for what everybody saw."""
        query = select(_question.reader).join(schema.turn, _question.id == _turn.question)
        async with self._engines.read() as connection:
            asked = query.where(_turn.id == id, _question.private)
            found: str | None = (await connection.execute(asked)).scalar_one_or_none()
        return found

    async def delete(self, id: str) -> None:
        """Forget the turn, its notes and the words of its question. The question stays answered."""
        mine = select(_turn.question).where(_turn.id == id).scalar_subquery()
        async with self._engines.write() as connection:
            await connection.execute(update(schema.question).where(_question.id == mine).values(text=""))
            await connection.execute(delete(schema.footnote).where(_footnote.turn == id))
            await connection.execute(delete(schema.flag).where(schema.flag.c.turn == id))
            await connection.execute(delete(schema.turn).where(_turn.id == id))

    async def latest(self, channel: int, thread: str | None = None, *, reader: str | None = None) -> Turn | None:
        """The last turn of the channel itself or of one of its threads: what a bare footnote number means."""
        newest = await self.history(channel, thread, 1, reader=reader)
        return newest[0] if newest else None

    async def history(
        self, channel: int, thread: str | None = None, last: int | None = None, *, reader: str | None = None
    ) -> tuple[Turn, ...]:
        """The turns of the channel itself or of one thread, in order; only the `last` ones when given. `reader`: as `whole`."""
        query = _told_to(reader).where(_turn.channel == channel)
        query = query.where(_turn.thread.is_(None) if thread is None else _turn.thread == thread)
        query = query.order_by(_turn.sequence.desc()).limit(last)
        async with self._engines.read() as connection:
            return tuple(reversed(await _read(connection, query)))

    async def whole(
        self, channel: int, reader: str | None = None, *, since: datetime | None = None
    ) -> tuple[Turn, ...]:
        """The turns of the channel and of all its threads, in order; with a `reader`, without what others asked in private ("": anybody)."""
        query = _told_to(reader).where(_turn.channel == channel)
        if since is not None:
            query = query.where(_turn.asked_at >= since)
        async with self._engines.read() as connection:
            return tuple(await _read(connection, query.order_by(_turn.sequence)))

    async def footnote(self, id: str) -> Pressed | None:
        """What a button's id stands for; None for an id that was never given out."""
        if id != schema.clean(id):  # characters no database takes: nobody was ever given such an id
            return None
        async with self._engines.read() as connection:
            row = (await connection.execute(_PRESSED, {"note": id})).one_or_none()
        return None if row is None else Pressed(row.channel, row.turn, _as_footnote(row))

    async def _one(self, query: Select[*tuple[Any, ...]]) -> Turn | None:
        async with self._engines.read() as connection:
            turns = await _read(connection, query)
        return turns[0] if turns else None


def _without_words(turn: Turn, *, private: bool) -> Turn:
    answer = replace(turn.answer, document=(), notices=()) if private else turn.answer
    return replace(turn, question="", answer=answer)


def _turns() -> Select[*tuple[Any, ...]]:
    return select(schema.turn, schema.channel.c.platform, schema.channel.c.external).join(
        schema.channel, schema.channel.c.id == _turn.channel
    )


def _told_to(reader: str | None) -> Select[*tuple[Any, ...]]:
    query = _turns().outerjoin(schema.question, _question.id == _turn.question)
    if reader is None:
        return query
    mine = and_(_question.reader == reader, _question.reader != "")
    return query.where(or_(_turn.question.is_(None), _question.private.is_(False), mine))


async def _read(connection: AsyncConnection, query: Select[*tuple[Any, ...]]) -> list[Turn]:
    rows = (await connection.execute(query)).all()
    notes: dict[str, list[Footnote]] = {row.id: [] for row in rows}
    if rows:
        mine = select(schema.footnote).where(_footnote.turn.in_(notes)).order_by(_footnote.number)
        for note in await connection.execute(mine):
            notes[note.turn].append(_as_footnote(note))
    return [_as_turn(row, notes[row.id]) for row in rows]


def _as_values(turn: Turn, channel: int, question: int | None) -> dict[str, Any]:
    answer = turn.answer
    position = turn.limit.position
    return {
        "id": turn.id,
        "question": question,
        "channel": channel,
        "thread": turn.conversation.thread,
        "reply_to": turn.reply_to,
        "asked": turn.question,
        "document": encode_document(answer.document),
        "outcome": answer.outcome,
        "dropped": [(dropped.raw, dropped.reason) for dropped in answer.dropped],
        "notices": [pack_notice(notice) for notice in answer.notices],
        "books": [
            (*book, *_packed(limit)) for book, limit in zip_longest(turn.books, (None, *turn.further_limits)) if book
        ],
        "evidence": turn.evidence,
        "calls": turn.usage.calls,
        "input_tokens": turn.usage.input_tokens,
        "output_tokens": turn.usage.output_tokens,
        "model": turn.model,
        "stamps": dict(turn.stamps),
        "limit_words": turn.limit.words,
        "limit_file": None if position is None else position.file,
        "limit_offset": None if position is None else position.offset,
        "asked_at": turn.asked_at,
        "first_text_ms": turn.first_text_ms,
        # an answer to no question on record only stands in for a later one
        "shown_at": None if question is not None else turn.asked_at,
    }


def _as_turn(row: AnyRow, footnotes: Sequence[Footnote]) -> Turn:
    try:
        document = decode_document(row.document)
    except ValueError as error:
        raise BrokenPromise("turn_damaged") from error
    answer = Answer(
        document=document,
        footnotes=tuple(footnotes),
        outcome=row.outcome,
        dropped=tuple(Dropped(raw, reason) for raw, reason in row.dropped),
        notices=tuple(unpack_notice(notice) for notice in row.notices),
    )
    position = None if row.limit_file is None else Position(row.limit_file, row.limit_offset)
    return Turn(
        id=row.id,
        conversation=Conversation(row.platform, row.external, row.thread),
        question=row.asked,
        answer=answer,
        books=tuple((sha256, text_version) for sha256, text_version, *_ in row.books),
        evidence=tuple(tuple(Span(*run) for run in window) for window in row.evidence),
        usage=Usage(row.calls, row.input_tokens, row.output_tokens),
        model=row.model,
        limit=Limit(row.limit_words, position),
        asked_at=row.asked_at,
        stamps=row.stamps,
        reply_to=row.reply_to,
        further_limits=tuple(_unpacked(limit) for _, _, *limit in row.books[1:]),
        first_text_ms=row.first_text_ms,
    )


def _packed(limit: Limit | None) -> tuple[Any, ...]:
    """A limit of a further book, as it stands behind the book's version; nothing for the whole book."""
    return () if limit is None or limit.position is None else (limit.words, *limit.position)


def _unpacked(stored: Sequence[Any]) -> Limit:
    return Limit(stored[0], Position(*stored[1:])) if stored else WHOLE_BOOK


def _footnote_values(footnote: Footnote, channel: int, turn: str) -> dict[str, Any]:
    return {
        "id": footnote.id,
        "channel": channel,
        "turn": turn,
        "number": footnote.number,
        "book": footnote.book,
        "text_version": footnote.text_version,
        "file": footnote.span.file,
        "start": footnote.span.start,
        "end": footnote.span.end,
        "tag": footnote.tag,
    }


def _as_footnote(row: AnyRow) -> Footnote:
    span = Span(row.file, row.start, row.end)
    return Footnote(row.number, row.tag, row.book, row.text_version, span, row.id)
