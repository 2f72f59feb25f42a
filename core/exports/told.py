"""What an export is made of: answers as they may be told today, their notes opened or refused."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import tags
from core.errors import LoccitError
from core.model import Passage, Turn


@dataclass(frozen=True, slots=True)
class Opened:
    """A note: its passage, or why it no longer opens."""

    number: int
    passage: Passage | LoccitError
    link: str | None = None
    """Where the reading view shows it."""


@dataclass(frozen=True, slots=True)
class Told:
    """One question with its answer."""

    turn: Turn
    notes: Sequence[Opened]

    @property
    def asked(self) -> str:
        return self.turn.asked_at.strftime("%Y-%m-%d %H:%M UTC")


def position(passage: Passage) -> str:
    """The exact range in its own book, also where an answer draws on several: what finds the passage in this edition."""
    return tags.tag(passage.span)


def place(passage: Passage) -> str:
    """Where a passage stands, in words, and how it begins: what finds it in another edition."""
    return " · ".join(filter(None, (passage.title, passage.heading, passage.label, f"“{passage.opening}”")))
