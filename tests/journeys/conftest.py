"""The rooms every journey is run in."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.journeys.discord_room import DiscordRoom
from tests.journeys.room import ConsoleRoom, Room
from tests.journeys.slack_room import SlackRoom
from tests.journeys.telegram_room import TelegramRoom
from tests.journeys.web_room import WebRoom
from tests.parts import needs_chromium

_ROOMS: dict[str, Callable[[Path], Room]] = {
    "console": ConsoleRoom,
    "discord": DiscordRoom,
    "slack": SlackRoom,
    "telegram": TelegramRoom,
    "web": WebRoom,
}
_NEEDS = {"web": needs_chromium}


@pytest.fixture(params=[pytest.param(name, marks=_NEEDS.get(name, ())) for name in sorted(_ROOMS)])
async def room(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Room]:
    room = _ROOMS[request.param](tmp_path)
    yield room
    await room.close()
