"""The rooms every journey is run in."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from pytest_asyncio import is_async_test

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Journeys run in the session's loop, where one browser serves all of them."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(autouse=True)
def _browsing(browsing: None) -> None:
    """Whoever opens the browser, it is closed at the end."""


@pytest_asyncio.fixture(
    loop_scope="session", params=[pytest.param(name, marks=_NEEDS.get(name, ())) for name in sorted(_ROOMS)]
)
async def room(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Room]:
    room = _ROOMS[request.param](tmp_path)
    yield room
    await room.close()
