"""Answers that come later, as every platform brings them: each once, and nothing that fails on the way ends it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from adapters.kept import Kept
from adapters.outbox import Nowhere
from core.errors import UpstreamError
from core.model import Answered, Unanswered
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.fakes.model import ScriptedModel

INK = "The log was kept in green ink [f1-0-42]."
DOWN = UpstreamError("model_down")


@dataclass
class Bringer:
    """Brings answers, unless it fails first; `sleep` is short, and counts."""

    club: TestClub
    failures: dict[str, list[Exception]] = field(default_factory=dict)
    brought: list[str] = field(default_factory=list)
    tried: list[Answered | Unanswered] = field(default_factory=list)
    rounds: int = 0

    async def bring(self, event: Answered | Unanswered) -> None:
        self.tried.append(event)
        if failures := self.failures.get(event.event):
            raise failures.pop(0)
        assert isinstance(event, Answered)
        await self.club.club.questions.shown(event.turn.id)
        self.brought.append(event.event)  # whoever waits for it may look at what is on record

    async def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.rounds += 1
        await asyncio.sleep(0.01)

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not true():  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0.01)

    @asynccontextmanager
    async def bringing(self, known: frozenset[str] = frozenset()) -> AsyncIterator[Kept]:
        kept = Kept(self.club.club.questions, ROOM.platform, self.bring)
        task = asyncio.create_task(kept.drain(self.sleep, known))
        try:
            yield kept
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _keep(club: TestClub, *events: str) -> None:
    """Questions that are quoted to, which somebody saw, and that wait for the model."""
    for event in events:
        turn = await club.ask("What ink was the log kept in?", event=event, patient=True)
        await club.club.questions.shown(turn.id)


async def test_a_database_that_fails_for_a_while_does_not_end_the_bringing_nor_fill_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_club(tmp_path, ScriptedModel([DOWN, INK])) as club:
        await club.shelve(lantern_house())
        await _keep(club, "kept")
        bringer = Bringer(club)
        with closing(sqlite3.connect(tmp_path / "loccit.db", isolation_level=None)) as database:
            database.execute("ALTER TABLE question RENAME TO away")
            async with bringer.bringing():
                await bringer.until(lambda: bringer.rounds > 2)
                assert bringer.tried == []
                database.execute("ALTER TABLE away RENAME TO question")
                await bringer.until(lambda: bringer.brought == ["kept"])
        assert not await club.club.questions.keeps(ROOM.platform)
    told = [bool(record.exc_info) for record in caplog.records if record.name == "adapters.kept"]
    assert told[:3] == [True, False, False]
    assert not any(told[1:])


async def test_an_answer_that_cannot_be_brought_waits_and_holds_up_no_other(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DOWN, DOWN, DOWN, INK, INK, INK])) as club:
        await club.shelve(lantern_house())
        await _keep(club, "first", "nowhere", "last")
        bringer = Bringer(club, {"first": [OSError("cut"), OSError("cut")], "nowhere": [Nowhere()]})
        async with bringer.bringing():
            await bringer.until(lambda: bringer.brought == ["last", "first"])
        assert [event.event for event in bringer.tried] == ["first", "nowhere", "last", "first", "first"]
        assert [event async for event in club.club.questions.unshown(ROOM.platform)] == []


async def test_an_answer_that_was_deleted_while_it_waited_is_brought_to_nobody(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DOWN, INK])) as club:
        await club.shelve(lantern_house())
        await _keep(club, "kept")
        bringer = Bringer(club, {"kept": [OSError("cut")] * 1000})
        async with bringer.bringing() as kept:
            await bringer.until(lambda: bool(bringer.tried))
            answered = bringer.tried[0]
            assert isinstance(answered, Answered)
            await club.club.questions.delete(ROOM, replace(MEMBER, manages=True), answered.turn.id)
            await bringer.until(
                partial(_rounds_later, 2, kept, bringer, bringer.rounds)
            )  # what was under way has ended
            before = len(bringer.tried)
            await bringer.until(partial(_rounds_later, 2, kept, bringer, bringer.rounds))
            assert len(bringer.tried) == before


async def test_what_a_crash_left_unseen_is_brought_unless_its_question_is_taken_up_anyway(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for event in ("taken up", "unseen"):
            await club.ask("What ink was the log kept in?", event=event)
        bringer = Bringer(club)
        async with bringer.bringing(frozenset({"taken up"})):
            await bringer.until(lambda: bringer.brought == ["unseen"])


async def test_a_question_kept_meanwhile_is_answered_without_waiting_for_the_next_look(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DOWN, INK])) as club:
        await club.shelve(lantern_house())
        bringer = Bringer(club)
        async with bringer.bringing() as kept:
            await asyncio.sleep(0)
            await _keep(club, "kept")
            kept.nudge()
            await bringer.until(lambda: bringer.brought == ["kept"])


def _rounds_later(number: int, kept: Kept, bringer: Bringer, before: int) -> bool:
    kept.nudge()
    return bringer.rounds >= before + number
