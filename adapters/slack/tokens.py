"""The bot's token, which may expire: one refresher for listeners and background work alike.

With rotation a token lasts twelve hours, and each refresh token serves once: two refreshes at a time would lose the pair.
So there is one lock, and the new pair is on disk before it is used.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import OperatorError
from core.post import Post

PLATFORM = "slack"
_EARLY = timedelta(minutes=30)
_MEMO = "token"

Exchange = Callable[[str], Awaitable[dict[str, Any]]]
"""A refresh token -> Slack's answer to `oauth.v2.access`."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """What refreshing needs; the refresh token is the first one, later ones are kept in the database."""

    client_id: str
    client_secret: str = field(repr=False)
    refresh_token: str = field(repr=False)


class Token:
    """Gives the token that is good now."""

    def __init__(
        self,
        token: str,
        rotation: Rotation | None = None,
        post: Post | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._token = token
        self._rotation = rotation
        self._post = post
        self._now = now
        self._refresh_token = rotation.refresh_token if rotation else ""
        self._until: datetime | None = None
        self._lock = asyncio.Lock()
        self._loaded = rotation is None

    async def current(self, exchange: Exchange) -> str:
        """The token to use now, refreshed when it ends soon. Raises OperatorError when Slack refuses the refresh."""
        if self._rotation is None:
            return self._token
        async with self._lock:
            await self._load()
            if self._until is not None and self._until - self._now() > _EARLY:
                return self._token
            return await self._refresh(exchange)

    async def expired(self, token: str, exchange: Exchange) -> bool:
        """Slack said that `token` has expired: True when there is another to try."""
        if self._rotation is None:
            return False
        async with self._lock:
            await self._load()
            if self._token == token:
                await self._refresh(exchange)
            return True

    async def _load(self) -> None:
        if self._loaded or self._rotation is None or self._post is None:
            return
        kept = await self._post.recall(PLATFORM, _MEMO)
        # A first refresh token other than the one the kept pair came from: the operator has put in a new pair.
        if kept and kept["first"] == self._rotation.refresh_token[-8:]:
            self._token, self._refresh_token = kept["token"], kept["refresh"]
            self._until = datetime.fromisoformat(kept["until"])
        self._loaded = True

    async def _refresh(self, exchange: Exchange) -> str:
        assert self._rotation is not None, "nothing to refresh with"
        assert self._post is not None, "a new pair has to be kept"
        answer = await exchange(self._refresh_token)
        if not answer.get("ok"):
            raise OperatorError("slack_refresh_refused")
        self._token, self._refresh_token = str(answer["access_token"]), str(answer["refresh_token"])
        self._until = self._now() + timedelta(seconds=int(answer["expires_in"]))
        kept = {
            "first": self._rotation.refresh_token[-8:],
            "token": self._token,
            "refresh": self._refresh_token,
            "until": self._until.isoformat(),
        }
        await self._post.remember(PLATFORM, _MEMO, kept)
        return self._token
