"""What passes between a platform and the club and must survive a crash: events, deliveries, letters. Stdlib only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.model.club import Conversation


@dataclass(frozen=True, slots=True)
class Event:
    """Something a platform told us, kept before the platform hears that it arrived.

    `key` is unique over all platforms (`telegram:chat:message`); events of one `lane` (a chat) are dealt with in the
    order they came. `payload` is what the adapter needs to deal with it, as JSON values.
    """

    key: str
    platform: str
    lane: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that shows part of what we had to say. `message` is None while it is not known whether it was taken."""

    part: int
    message: str | None
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    """Something to be said unasked from `due` on. `id` is unique: the same letter is owed once."""

    id: str
    conversation: Conversation
    kind: str
    due: datetime
    params: Mapping[str, Any] = field(default_factory=dict)
