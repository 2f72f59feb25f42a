"""How fast we write: a budget of its own for each chat, so that one that has to wait never delays another.

Final texts wait for their turn and always get it; edits on the way are dropped when the budget is short. Figures:
telegram.constants.FloodLimit (20 a minute in a group, one a second in a chat, 30 a second altogether).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pace:
    """The vendor's limits, a little below what it allows: clocks and the way there differ."""

    group: int = 19
    """Messages and edits a group takes in `window` seconds."""
    window: float = 61.0
    burst: int = 4
    """Messages a chat takes at once before it has to keep to one in `gap` seconds."""
    gap: float = 1.0
    altogether: int = 25
    """Messages a second over all chats."""
    spare: int = 7
    """Of a group's budget, what edits on the way leave to final texts."""
    action_gap: float = 4.0
    """Seconds between two "typing" in one chat; it shows for five."""


@dataclass(slots=True)
class _Budget:
    taken: deque[float] = field(default_factory=deque)
    tokens: float = 0.0
    filled: float = -1e9
    blocked_until: float = -1e9
    acted: float = -1e9
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Limiter:
    """Ask before each message. `clock` counts seconds steadily."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]], pace: Pace) -> None:
        self._clock = clock
        self._sleep = sleep
        self._pace = pace
        self._budgets: dict[int, _Budget] = {}
        self._all: deque[float] = deque()

    async def final(self, chat: int) -> None:
        """Wait until a text that must arrive may be sent; texts of one chat go in the order they asked."""
        budget = self._budget(chat)
        async with budget.turn:
            while (wait := self._wait(chat, budget, self._pace.group)) > 0:
                await self._sleep(wait)
            self._take(budget)

    def edit(self, chat: int) -> bool:
        """True when an edit on the way may be made now; it is counted then."""
        budget = self._budget(chat)
        if budget.turn.locked() or self._wait(chat, budget, self._pace.group - self._pace.spare) > 0:
            return False
        self._take(budget)
        return True

    def action(self, chat: int) -> bool:
        """True when "typing" may be said now."""
        budget, now = self._budget(chat), self._clock()
        if now < budget.blocked_until or now - budget.acted < self._pace.action_gap:
            return False
        budget.acted = now
        return True

    def hold(self, chat: int, seconds: float) -> None:
        """The vendor said to wait: this chat alone."""
        budget = self._budget(chat)
        budget.blocked_until = max(budget.blocked_until, self._clock() + seconds)

    def _budget(self, chat: int) -> _Budget:
        return self._budgets.setdefault(chat, _Budget())

    def _wait(self, chat: int, budget: _Budget, most: int) -> float:
        """Seconds until one more fits."""
        now, pace = self._clock(), self._pace
        while budget.taken and budget.taken[0] <= now - pace.window:
            budget.taken.popleft()
        while self._all and self._all[0] <= now - 1.0:
            self._all.popleft()
        waits = [budget.blocked_until - now]
        if chat < 0 and len(budget.taken) >= most:  # groups have negative ids
            waits.append(budget.taken[-most] + pace.window - now)
        tokens = min(float(pace.burst), budget.tokens + (now - budget.filled) / pace.gap) if pace.gap else 1.0
        if tokens < 1.0:
            waits.append((1.0 - tokens) * pace.gap)
        if len(self._all) >= pace.altogether:
            waits.append(self._all[-pace.altogether] + 1.0 - now)
        return max(waits)

    def _take(self, budget: _Budget) -> None:
        now, pace = self._clock(), self._pace
        if pace.gap:
            budget.tokens = min(float(pace.burst), budget.tokens + (now - budget.filled) / pace.gap) - 1.0
        budget.filled = now
        budget.taken.append(now)
        self._all.append(now)
