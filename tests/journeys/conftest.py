"""The rooms every journey is run in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.journeys.room import ConsoleRoom, Room

_ROOMS = {"console": ConsoleRoom}


@pytest.fixture(params=sorted(_ROOMS))
async def room(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Room]:
    room: Room = _ROOMS[request.param](tmp_path)
    yield room
    await room.close()
