"""Rate limits the vendor's way: buckets by route and channel told in headers, one limit for all, and 429."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

GLOBAL_PER_SECOND = 50
PER_BUCKET = 5
WINDOW = 5.0
"""Seconds; 5 per 5 s and channel is what others observed. The vendor refuses to document it, so clients read the headers."""


@dataclass(frozen=True)
class Verdict:
    headers: Mapping[str, str]
    retry_after: float | None = None
    everywhere: bool = False


class Buckets:
    """`window` is the length of a bucket in seconds; tests with many messages shorten it."""

    def __init__(self, clock: Callable[[], float], window: float = WINDOW, per_second: int = GLOBAL_PER_SECOND) -> None:
        self._clock = clock
        self.window = window
        self._per_second = per_second
        self._used: dict[tuple[str, str], tuple[float, int]] = {}
        self._all: deque[float] = deque()
        self.forced: deque[tuple[float, bool]] = deque()
        """Scripted refusals: (seconds to wait, for all routes)."""

    def spend(self, bucket: str, major: str, *, counted_globally: bool = True) -> Verdict:
        """Count one request. Interactions do not count towards the limit for all (`counted_globally`)."""
        now = self._clock()
        if self.forced and counted_globally:
            seconds, everywhere = self.forced.popleft()
            return Verdict(self._headers(bucket, 0, now + seconds, seconds), seconds, everywhere)
        if counted_globally:
            while self._all and self._all[0] <= now - 1:
                self._all.popleft()
            if len(self._all) >= self._per_second:
                wait = self._all[0] + 1 - now
                return Verdict({"X-RateLimit-Global": "true", "Retry-After": f"{wait:.3f}"}, wait, True)
        begins, used = self._used.get((bucket, major), (now, 0))
        if now >= begins + self.window:
            begins, used = now, 0
        ends = begins + self.window
        if used >= PER_BUCKET:
            return Verdict(self._headers(bucket, 0, ends, ends - now), ends - now)
        self._used[bucket, major] = (begins, used + 1)
        if counted_globally:
            self._all.append(now)
        return Verdict(self._headers(bucket, PER_BUCKET - used - 1, ends, ends - now))

    @staticmethod
    def _headers(bucket: str, remaining: int, reset: float, after: float) -> dict[str, str]:
        return {
            "X-RateLimit-Bucket": bucket,
            "X-RateLimit-Limit": str(PER_BUCKET),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": f"{reset:.3f}",
            "X-RateLimit-Reset-After": f"{max(after, 0.001):.3f}",
        }
