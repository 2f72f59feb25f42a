"""What summarising a book will take, and how far it is. Stdlib only."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from core.model.book import Notice
from core.model.club import Conversation

IndexState = Literal["waiting", "queued", "running", "paused", "cancelled", "failed", "done"]
"""waiting: for somebody's yes. paused: goes on by itself. failed: somebody has to mend something first."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left to be done for a book, as far as that can be told beforehand."""

    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    """Roughly, at a hosted model's usual pace."""
    amount: Decimal | None = None
    """Money, in the unit of the prices; None when no price is set."""
    asks: bool = False
    """True when it is more than is spent unasked: summarising waits for a yes."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """How many of a book's segments a model has been asked about. Until all are, extractions stand in."""

    done: int
    total: int
    state: IndexState
    notice: Notice | None = None
    """Why it is paused or failed."""
    until: datetime | None = None
    """When a paused one goes on, at the latest."""


@dataclass(frozen=True, slots=True)
class IndexNews:
    """What changed for a book of a channel: what a progress card shows from now on."""

    conversation: Conversation
    sha256: str
    title: str
    indexed: Indexed
