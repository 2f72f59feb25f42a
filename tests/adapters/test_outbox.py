"""The outbox as every platform drains it: what fails stays due, what nobody can be told is done, nothing holds up another."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import aiohttp
import pytest

from adapters.console.desk import AtTheDesk
from adapters.console.terminal import Page, Terminal
from adapters.outbox import Nowhere, Outbox
from core.desk import Desk
from core.document import plain
from core.errors import BrokenPromise, Missing, OperatorError, UpstreamError
from core.model import Conversation, Letter, Reader, Reply
from tests.adapters.web_served import HERE as WEB
from tests.adapters.web_served import serve_web
from tests.clubs import TestClub, open_club

HERE = Conversation("console", "here")


class Failing(Desk):
    """A desk that fails on some letters for once."""

    failures: dict[str, Exception]

    async def letter(self, letter: Letter) -> Reply | None:
        if letter.id in self.failures:
            raise self.failures.pop(letter.id)
        return await super().letter(letter)


@dataclass
class Room:
    """Where letters are said, unless a letter's showing fails for once."""

    club: TestClub
    desk: Failing
    said: list[str] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.outbox = Outbox(self.club.club.post, self.desk, "console", self.show, ready=self.ready)

    async def show(self, letter: Letter, reply: Reply) -> None:
        assert plain(reply.document)
        if letter.id in self.failures:
            raise self.failures.pop(letter.id)
        self.said.append(letter.id)

    async def ready(self, letter: Letter) -> bool:
        return letter.id not in self.held

    async def owe(self, *ids: str, kind: str = "hello") -> None:
        for id in ids:
            await self.club.club.post.owe(Letter(id, HERE, kind, self.club.clock()))

    async def due(self) -> list[str]:
        return [letter.id for letter in await self.club.club.post.due("console")]


@asynccontextmanager
async def room(folder: Path) -> AsyncIterator[Room]:
    async with open_club(folder) as club:
        desk = Failing(club.club, str)
        desk.failures = {}
        yield Room(club, desk)


@pytest.mark.parametrize(
    "error",
    [
        OperatorError("disk_full"),
        OperatorError("database_unavailable"),
        UpstreamError("platform_unreachable", platform="Slack"),
        BrokenPromise("setting_unknown"),
        ConnectionResetError(),
        KeyError("ours"),
    ],
)
@pytest.mark.parametrize("where", ["desk", "platform"])
async def test_a_letter_stays_due_when_a_disk_a_database_a_network_or_we_fail(
    tmp_path: Path, where: str, error: Exception
) -> None:
    async with room(tmp_path) as here:
        await here.owe("1", "2", "3")
        (here.desk.failures if where == "desk" else here.failures)["2"] = error
        await here.outbox.look()
        assert here.said == ["1", "3"]
        assert await here.due() == ["2"]
        await here.outbox.look()
        assert here.said == ["1", "3", "2"]
        assert await here.due() == []


async def test_a_letter_is_done_when_only_a_reader_would_be_told_or_it_has_no_place_or_nothing_to_say(
    tmp_path: Path,
) -> None:
    async with room(tmp_path) as here:
        await here.owe("1", "2", "3")
        await here.owe("0", kind="of the future")
        here.desk.failures["1"] = Missing("unknown_button")
        here.failures["2"] = Nowhere()
        await here.outbox.look()
        assert here.said == ["3"]
        assert await here.due() == []


async def test_a_letter_waits_until_the_platform_is_ready_for_it(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.owe("1", "2")
        here.held.add("1")
        await here.outbox.look()
        assert here.said == ["2"]
        here.held.clear()
        await here.outbox.look()
        assert here.said == ["2", "1"]


async def test_a_failure_that_lasts_stands_in_the_log_in_full_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with room(tmp_path) as here:
        await here.owe("1")
        for _ in range(3):
            here.failures["1"] = ConnectionResetError()
            await here.outbox.look()
        told = [record for record in caplog.records if record.name == "adapters.outbox"]
        assert len(told) == 3
        assert [bool(record.exc_info) for record in told] == [True, False, False]


async def test_a_database_that_is_away_for_long_does_not_fill_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rounds = 0
    async with room(tmp_path) as here:
        await here.owe("1")
        with closing(sqlite3.connect(tmp_path / "loccit.db", isolation_level=None)) as database:
            database.execute("ALTER TABLE letter RENAME TO away")

            async def sleep(_: float) -> None:
                nonlocal rounds
                rounds += 1
                if rounds == 3:
                    database.execute("ALTER TABLE away RENAME TO letter")
                if rounds == 4:
                    await asyncio.Event().wait()

            draining = asyncio.create_task(here.outbox.drain(sleep))
            while not here.said:  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)
    told = [bool(record.exc_info) for record in caplog.records if record.name == "adapters.outbox"]
    assert told == [True, False, False]


async def test_a_nudge_brings_the_next_look_at_once_and_the_end_ends_it(tmp_path: Path) -> None:
    async def never(_: float) -> None:
        await asyncio.Event().wait()

    async with room(tmp_path) as here:
        draining = asyncio.create_task(here.outbox.drain(never))
        try:
            for id in ("1", "2"):
                await here.owe(id)
                here.outbox.nudge()
                async with asyncio.timeout(10):
                    while id not in here.said:  # noqa: ASYNC110  # rows
                        await asyncio.sleep(0.01)
        finally:
            draining.cancel()
            await asyncio.wait({draining})
        assert draining.cancelled()


# The two that share a shelf


async def _owe(club: TestClub, where: Conversation) -> None:
    """A letter that we fail on, before one that can be said."""
    await club.club.post.owe(Letter("1", where, "hello", club.clock(), {"more": "a sentence that is missing"}))
    await club.club.post.owe(Letter("2", where, "hello", club.clock()))


async def _due(club: TestClub) -> list[str]:
    return [letter.id for letter in await club.club.post.due("console")]


async def test_in_the_terminal_a_letter_that_we_fail_on_waits_and_holds_up_no_other(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        where, shown = Conversation("console", "local"), StringIO()
        desk = AtTheDesk(club.club, where, Reader("local", "en"), lambda: "id", tmp_path)
        await _owe(club, where)
        for _ in range(2):
            await desk.letters(Page(Terminal(StringIO(), shown, locale="en", colour=False)))
        assert shown.getvalue().count("Hello.") == 1
        assert await _due(club) == ["1"]


async def test_on_the_page_a_letter_that_we_fail_on_waits_and_holds_up_no_other(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        await _owe(club, WEB)
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{served.address}/news") as news,
            asyncio.timeout(10),
        ):
            while b"Hello." not in await news.content.readline():
                pass
            while await _due(club) != ["1"]:  # noqa: ASYNC110  # rows
                await asyncio.sleep(0.02)
