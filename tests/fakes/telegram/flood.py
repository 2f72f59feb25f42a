"""Flood control: how many messages the server takes in a stretch of time, and how long it makes a bot wait."""

import math
from collections import deque
from dataclasses import dataclass, field

from tests.fakes.telegram.rules import Refusal

COUNTED = frozenset(
    {
        "sendMessage", "sendPhoto", "sendDocument", "editMessageText", "editMessageReplyMarkup", "editMessageMedia",
        "editMessageCaption", "sendPoll", "stopPoll",
    }
)  # fmt: skip


@dataclass
class Flood:
    """Limits on what is sent and edited; None = not enforced. `window` shrinks the minute for tests."""

    per_group: int | None = 20
    window: float = 60.0
    per_chat_gap: float | None = None
    """Seconds between two messages of one chat."""
    per_second: int | None = None
    """Messages a second altogether (the vendor says about 30)."""
    hits: int = 0
    """How often a request was refused."""
    most: dict[int, int] = field(default_factory=dict)
    """The most messages any window of a group held."""
    _taken: dict[int, deque[float]] = field(default_factory=dict)
    _all: deque[float] = field(default_factory=deque)

    def admit(self, chat: int, *, group: bool, at: float) -> None:
        """Count one request. Raises Refusal 429 when it is one too many."""
        taken = self._taken.setdefault(chat, deque())
        while taken and taken[0] <= at - self.window:
            taken.popleft()
        while self._all and self._all[0] <= at - 1.0:
            self._all.popleft()
        wait = 0.0
        if group and self.per_group is not None and len(taken) >= self.per_group:
            wait = taken[-self.per_group] + self.window - at
        if self.per_chat_gap is not None and taken and at - taken[-1] < self.per_chat_gap:
            wait = max(wait, taken[-1] + self.per_chat_gap - at)
        if self.per_second is not None and len(self._all) >= self.per_second:
            wait = max(wait, self._all[-self.per_second] + 1.0 - at)
        if wait > 0:
            self.hits += 1
            seconds = math.ceil(wait)
            raise Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
        taken.append(at)
        self._all.append(at)
        if group:
            self.most[chat] = max(self.most.get(chat, 0), len(taken))
