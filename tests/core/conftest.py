"""Stores on both databases: a test that takes `place` or `store` runs on SQLite and on PostgreSQL."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.store import Store
from tests.core.stores import Place
from tests.empty import make_empty
from tests.parts import needs_postgres
from tests.postgres import Server, running_server

_PATIENCE = 10.0  # seconds


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Place:
    return Place("", tmp_path / "data")


@pytest.fixture
def postgres_place(tmp_path: Path, postgres_server: Server) -> Iterator[Place]:
    """What a test or its programs leave connected is named here: otherwise some later test stumbles over it."""
    yield Place(postgres_server.new_place(), tmp_path / "data")
    ends = time.monotonic() + _PATIENCE
    while (left := postgres_server.connected()) and time.monotonic() < ends:
        time.sleep(0.01)
    assert not left


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=needs_postgres)])
def place(request: pytest.FixtureRequest) -> Place:
    found = request.getfixturevalue(f"{request.param}_place")
    assert isinstance(found, Place)
    return found


@pytest.fixture
def other_place(place: Place, tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """A second empty place on the same database engine."""
    if not place.url:
        return Place("", tmp_path / "other")
    server = request.getfixturevalue("postgres_server")
    assert isinstance(server, Server)
    return Place(server.new_place(), tmp_path / "other")


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    if not place.url:
        make_empty(place.folder)
    opened = await place.open()
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_store(sqlite_place: Place) -> AsyncIterator[Store]:
    """For tests of what does not depend on the database."""
    make_empty(sqlite_place.folder)
    opened = await sqlite_place.open()
    yield opened
    await opened.close()
