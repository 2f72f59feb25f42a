"""Uploads and questions as durable rows with a unique event key, written before work starts (P7)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from core.model import Notice, Question, Upload
from core.store.blobs import Originals
from core.store.engines import Engines

State = Literal["accepted", "done", "failed"]


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
    An event key that comes back from another channel or as something else is BrokenPromise `event_reused`.
    """

    def __init__(self, engines: Engines, originals: Originals) -> None:
        self._engines = engines
        self._originals = originals

    async def accept_upload(self, upload: Upload, channel: int, sha256: str, size: int, at: datetime) -> UploadRow:
        """Record the upload; its bytes must already be in `Originals`. The row on record when the event is known.

        `size` is in bytes. Acknowledge to the platform only after this has returned.
        """
        raise NotImplementedError

    async def finish_upload(self, event: str, at: datetime) -> None:
        """The book is stored and on the shelf."""
        raise NotImplementedError

    async def fail_upload(self, event: str, error: Notice, at: datetime) -> None:
        """The upload ended with a sentence. It is not taken up again."""
        raise NotImplementedError

    async def unfinished_uploads(self, platform: str) -> tuple[UploadRow, ...]:
        """Accepted but neither finished nor failed, oldest first: what a start takes up."""
        raise NotImplementedError

    async def accept_question(self, question: Question, channel: int, at: datetime) -> QuestionRow:
        """Record the question before any work; the row on record when the event is known."""
        raise NotImplementedError

    async def fail_question(self, event: str, error: Notice, at: datetime) -> None:
        """The question ended with a sentence instead of an answer. (`Turns.save` finishes one that is answered.)"""
        raise NotImplementedError

    async def unfinished_questions(self, platform: str) -> tuple[QuestionRow, ...]:
        """Accepted but neither answered nor failed, oldest first."""
        raise NotImplementedError
