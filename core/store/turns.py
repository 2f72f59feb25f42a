"""Turns: questions with their settled answers, and the footnotes whose ids the buttons carry (P8)."""

from dataclasses import dataclass

from core.model import Footnote, Turn
from core.store.engines import Engines


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
        """
        raise NotImplementedError

    async def get(self, id: str) -> Turn | None:
        """The turn with this id."""
        raise NotImplementedError

    async def of_question(self, event: str) -> Turn | None:
        """The answer to this question, when it has one."""
        raise NotImplementedError

    async def latest(self, channel: int, thread: str | None = None) -> Turn | None:
        """The last turn of the channel itself or of one of its threads: what a bare footnote number means."""
        raise NotImplementedError

    async def history(self, channel: int, thread: str | None = None, last: int | None = None) -> tuple[Turn, ...]:
        """The turns of the channel itself or of one thread, in order; only the `last` ones when given."""
        raise NotImplementedError

    async def footnote(self, id: str) -> Pressed | None:
        """What a button's id stands for; None for an id that was never given out."""
        raise NotImplementedError
