"""Slack's rates: tiers by method, about one message a second and channel. Over them: 429 with whole seconds to wait."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

BURST = 3.0
"""Messages a channel takes at once before one a second holds (the vendor allows short bursts and names no number)."""

TIERS = {
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "chat.appendStream": 100,
    "chat.update": 50,
    "chat.delete": 50,
    "chat.postEphemeral": 100,
    "conversations.info": 50,
    "conversations.members": 100,
    "conversations.replies": 50,
    "users.info": 100,
    "users.conversations": 50,
    "usergroups.users.list": 20,
    "files.info": 100,
    "files.getUploadURLExternal": 100,
    "files.completeUploadExternal": 100,
    "reactions.add": 50,
    "views.open": 100,
    "views.update": 100,
    "views.publish": 100,
}
"""Calls a minute and workspace (Tier 2: 20, Tier 3: 50, Tier 4: 100)."""


@dataclass
class _Bucket:
    level: float
    at: float


@dataclass
class Rates:
    clock: Callable[[], float]
    enforced: bool = True
    refused: int = 0
    _buckets: dict[tuple[str, str], _Bucket] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def wait(self, method: str, channel: str) -> int | None:
        """None when the call may pass, else the seconds for Retry-After."""
        self._counts[method] += 1
        if not self.enforced:
            return None
        if method == "chat.postMessage":
            return self._take((method, channel), 1.0, BURST)
        if method in TIERS:
            return self._take((method, ""), TIERS[method] / 60, float(TIERS[method]))
        return None

    def _take(self, name: tuple[str, str], per_second: float, capacity: float) -> int | None:
        now = self.clock()
        bucket = self._buckets.setdefault(name, _Bucket(capacity, now))
        bucket.level = min(capacity, bucket.level + (now - bucket.at) * per_second)
        bucket.at = now
        if bucket.level >= 1:
            bucket.level -= 1
            return None
        self.refused += 1
        return max(1, math.ceil((1 - bucket.level) / per_second))
