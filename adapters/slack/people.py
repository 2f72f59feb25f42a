"""Who somebody is to us: their language, what others call them, and whether they may change things in a channel."""

from collections.abc import Callable
from typing import Any

from adapters.slack.door import Door, Rejected, Unreachable
from adapters.slack.incoming import Where
from core.model import Reader

_FRESH = 300.0
"""Seconds for which what Slack said about a person, channel or group is taken to hold."""


class People:
    """Asks Slack, and remembers for a while. What it will not say is taken as no."""

    def __init__(self, door: Door, clock: Callable[[], float]) -> None:
        self._door = door
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}

    async def reader(self, place: Where) -> Reader:
        """The person of this place. Workspace admins, the channel's creator and the configured group manage it."""
        user = (await self._ask("users.info", "user", place.user, include_locale="true")).get("user") or {}
        locale = str(user.get("locale") or "") or None
        manages = (
            place.private
            or bool(user.get("is_admin") or user.get("is_owner") or user.get("is_primary_owner"))
            or await self._created(place)
            or await self._in_group(place.user)
        )
        called = (user.get("profile") or {}).get("display_name") or user.get("real_name") or user.get("name") or ""
        return Reader(place.user, locale, manages=manages, name=str(called))

    async def is_bot(self, user: str) -> bool:
        """True for an account that is a program: bots are not answered."""
        found = (await self._ask("users.info", "user", user, include_locale="true")).get("user") or {}
        return bool(found.get("is_bot"))

    async def creator(self, channel: str) -> str:
        """Who made a channel; "" when Slack does not say."""
        found = (await self._ask("conversations.info", "channel", channel)).get("channel") or {}
        return str(found.get("creator") or "")

    async def _created(self, place: Where) -> bool:
        return await self.creator(place.channel) == place.user

    async def _in_group(self, user: str) -> bool:
        group = self._door.settings.managers
        if not group:
            return False
        return user in ((await self._ask("usergroups.users.list", "usergroup", group)).get("users") or ())

    async def _ask(self, method: str, name: str, value: str, **more: str) -> dict[str, Any]:
        now, key = self._clock(), (method, value)
        if key in self._known and now - self._known[key][0] < _FRESH:
            return self._known[key][1]
        try:
            answer = await self._door.call(method, hasty=False, **{name: value, **more})
        except (Rejected, Unreachable):
            return {}
        if len(self._known) > 10_000:
            self._known.clear()
        self._known[key] = (now, answer)
        return answer
