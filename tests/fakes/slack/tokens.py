"""Bot tokens and their rotation: a refresh token serves once, and using one ends the pair it belonged to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.slack.calls import Refused
from tests.fakes.slack.world import APP, BOT, TEAM

CLIENT, SECRET = "1.2", "fake-client-secret"
APP_TOKEN = "xapp-1-fake"


@dataclass
class Tokens:
    clock: Callable[[], float]
    bot: str = "xoxb-1-fake"
    refresh_token: str = "xoxe-1-fake-1"
    life: float = 43_200.0
    """Seconds a rotated token lasts (12 hours at the vendor)."""
    until: float = float("inf")
    rotations: int = 0
    dead: set[str] = field(default_factory=set)

    def valid(self, token: str) -> bool:
        return token == self.bot and self.clock() < self.until

    def why_not(self, token: str) -> str:
        if token == self.bot or token in self.dead:
            return "token_expired"
        return "invalid_auth" if token else "not_authed"

    def expire(self) -> None:
        self.until = self.clock()

    def refresh(self, client: str, secret: str, refresh_token: str) -> dict[str, Any]:
        if (client, secret) != (CLIENT, SECRET):
            raise Refused("invalid_client_id")
        if refresh_token != self.refresh_token:
            raise Refused("invalid_refresh_token", ours=True)
        self.rotations += 1
        self.dead.add(self.bot)
        self.bot = f"xoxe.xoxb-1-fake-{self.rotations}"
        self.refresh_token = f"xoxe-1-fake-{self.rotations + 1}"
        self.until = self.clock() + self.life
        return {
            "access_token": self.bot,
            "token_type": "bot",
            "refresh_token": self.refresh_token,
            "expires_in": int(self.life),
            "app_id": APP,
            "bot_user_id": BOT,
            "team": {"id": TEAM, "name": "Club"},
            "scope": "",
        }
