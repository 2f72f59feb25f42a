"""Uploads and questions as durable rows with a unique event key, written before work starts (P7)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, Table, select, update
from sqlalchemy.engine import Row

from core.errors import BrokenPromise
from core.model import Conversation, Notice, Question, Reader, Upload
from core.store import schema
from core.store.blobs import Originals
from core.store.engines import Engines, insert_new, lock_content
from core.store.structure import pack_notice, unpack_notice

AnyRow = Row[*tuple[Any, ...]]
State = Literal["accepted", "kept", "done", "failed"]
"""`kept`: a question that was quoted to meanwhile and is answered when the provider is back."""


@dataclass(frozen=True, slots=True)
class UploadRow:
    """An upload on record. `upload.path` is the stored original; passwords are never stored (always None)."""

    upload: Upload
    channel: int
    sha256: str
    size: int
    state: State
    error: Notice | None
    at: datetime
    known: bool
    """True when this event had been accepted before: its state tells how far it came."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question on record. `turn` is the id of its answer once it has one."""

    question: Question
    channel: int
    state: State
    turn: str | None
    error: Notice | None
    at: datetime
    known: bool


class Inbox:
    """Events that were acknowledged to a platform, and how far each came.

    `Reader.manages` is not kept: who may do what is asked again, never remembered.
    An event key that comes back from another channel is BrokenPromise `event_reused`.
    """

    def __init__(self, engines: Engines, originals: Originals) -> None:
        self._engines = engines
        self._originals = originals

    async def accept_upload(self, upload: Upload, channel: int, sha256: str, size: int, at: datetime) -> UploadRow:
        """Record the upload; its bytes must already be in `Originals`. The row on record when the event is known.

        `size` is in bytes. Acknowledge to the platform only after this has returned.
        """
        row, known = await self._accept(
            schema.upload,
            _uploads(),
            {
                **_sender(upload.event, upload.conversation, upload.reader, channel, at),
                "filename": upload.filename,
                "sha256": sha256,
                "size": size,
                "accept_partial": upload.accept_partial,
            },
            sha256,
        )
        return self._upload(row, known)

    async def finish_upload(self, event: str, at: datetime) -> None:
        """The book is stored and on the shelf."""
        await self._end(schema.upload, event, "done", None, at)

    async def fail_upload(self, event: str, error: Notice, at: datetime) -> None:
        """The upload ended with a sentence. It is not taken up again."""
        await self._end(schema.upload, event, "failed", error, at)

    async def unfinished_uploads(self, platform: str) -> tuple[UploadRow, ...]:
        """Accepted but neither finished nor failed, oldest first: what a start takes up."""
        async with self._engines.read() as connection:
            rows = await connection.execute(_open(_uploads(), schema.upload, platform, "accepted"))
            return tuple(self._upload(row, True) for row in rows)

    async def accept_question(self, question: Question, channel: int, at: datetime) -> QuestionRow:
        """Record the question before any work; the row on record when the event is known."""
        row, known = await self._accept(
            schema.question,
            _questions(),
            {
                **_sender(question.event, question.conversation, question.reader, channel, at),
                "text": question.text,
                "book": question.book,
                "limit_words": question.limit_words,
                "evidence_tokens": question.evidence_tokens,
                "reply_to": question.reply_to,
                "without_book": question.without_book,
                "every_book": question.every_book,
                "private": question.private,
                "go_on": question.go_on,
                "server": question.conversation.server,
            },
        )
        return _question(row, known)

    async def question(self, event: str) -> QuestionRow | None:
        """The question of this event."""
        async with self._engines.read() as connection:
            row = (await connection.execute(_questions().where(schema.question.c.event == event))).one_or_none()
        return None if row is None else _question(row, True)

    async def fail_question(self, event: str, error: Notice, at: datetime) -> None:
        """The question ended with a sentence instead of an answer. (`Turns.save` finishes one that is answered.)"""
        await self._end(schema.question, event, "failed", error, at)

    async def unfinished_questions(self, platform: str) -> tuple[QuestionRow, ...]:
        """Accepted but neither answered, kept nor failed, oldest first."""
        return await self._open_questions(platform, "accepted")

    async def keep_question(self, event: str) -> None:
        """The provider is down: the question was quoted to meanwhile and stays open."""
        mine = update(schema.question).where(schema.question.c.event == event, schema.question.c.state == "accepted")
        async with self._engines.write() as connection:
            await connection.execute(mine.values(state="kept"))

    async def kept_questions(self, platform: str) -> tuple[QuestionRow, ...]:
        """Questions that wait for the provider, oldest first."""
        return await self._open_questions(platform, "kept")

    async def _open_questions(self, platform: str, state: State) -> tuple[QuestionRow, ...]:
        async with self._engines.read() as connection:
            rows = await connection.execute(_open(_questions(), schema.question, platform, state))
            return tuple(_question(row, True) for row in rows)

    async def _accept(
        self, table: Table, query: Select[*tuple[Any, ...]], values: dict[str, Any], content: str | None = None
    ) -> tuple[AnyRow, bool]:
        async with self._engines.write() as connection:
            if content is not None:  # whoever deletes these bytes has done so or finds this row
                await lock_content(connection, content)
            made = await insert_new(connection, table, values)
            row = (await connection.execute(query.where(table.c.event == values["event"]))).one()
        if row.channel != values["channel"]:
            # Whatever stands in that row is another channel's.
            raise BrokenPromise("event_reused")
        return row, made is None

    async def _end(self, table: Table, event: str, state: State, error: Notice | None, at: datetime) -> None:
        """Only an open event ends: what was told to people once stays so."""
        values = {"state": state, "error": pack_notice(error) if error else None, "ended_at": at}
        mine = update(table).where(table.c.event == event, table.c.state.in_(("accepted", "kept")))
        async with self._engines.write() as connection:
            await connection.execute(mine.values(**values))

    def _upload(self, row: AnyRow, known: bool) -> UploadRow:
        upload = Upload(
            event=row.event,
            conversation=Conversation(row.platform, row.external, row.thread),
            reader=Reader(row.reader, row.locale),
            path=self._originals.path(row.sha256),
            filename=row.filename,
            accept_partial=row.accept_partial,
        )
        error = unpack_notice(row.error) if row.error else None
        return UploadRow(upload, row.channel, row.sha256, row.size, row.state, error, row.accepted_at, known)


def _sender(event: str, conversation: Conversation, reader: Reader, channel: int, at: datetime) -> dict[str, Any]:
    return {
        "event": event,
        "channel": channel,
        "thread": conversation.thread,
        "reader": reader.id,
        "locale": reader.locale,
        "state": "accepted",
        "error": None,
        "accepted_at": at,
    }


def _with_channel(table: Table) -> Select[*tuple[Any, ...]]:
    return select(table, schema.channel.c.platform, schema.channel.c.external).join(
        schema.channel, schema.channel.c.id == table.c.channel
    )


def _uploads() -> Select[*tuple[Any, ...]]:
    return _with_channel(schema.upload)


def _questions() -> Select[*tuple[Any, ...]]:
    answered = schema.turn.c.question == schema.question.c.id
    return _with_channel(schema.question).add_columns(schema.turn.c.id.label("turn")).outerjoin(schema.turn, answered)


def _open(query: Select[*tuple[Any, ...]], table: Table, platform: str, state: State) -> Select[*tuple[Any, ...]]:
    query = query.where(table.c.state == state, schema.channel.c.platform == platform)
    return query.order_by(table.c.id)


def _question(row: AnyRow, known: bool) -> QuestionRow:
    question = Question(
        event=row.event,
        conversation=Conversation(row.platform, row.external, row.thread, row.server),
        reader=Reader(row.reader, row.locale),
        text=row.text,
        book=row.book,
        limit_words=row.limit_words,
        evidence_tokens=row.evidence_tokens,
        reply_to=row.reply_to,
        without_book=row.without_book,
        every_book=row.every_book,
        private=row.private,
        go_on=row.go_on,
    )
    error = unpack_notice(row.error) if row.error else None
    return QuestionRow(question, row.channel, row.state, row.turn, error, row.accepted_at, known)
