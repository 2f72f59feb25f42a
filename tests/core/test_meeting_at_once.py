"""Two people, or two presses, at the same moment: what is looked at and then changed happens once."""

import asyncio
from pathlib import Path

import pytest

from core.document import plain
from core.errors import ReaderError
from core.model import Reply
from tests.clubs import ROOM, lantern_house, open_club
from tests.core.test_discussions import DRAFT, KEEPER, command, desk_of, drained, press
from tests.fakes.model import ScriptedModel

AT_ONCE = 4


async def test_a_draft_is_posted_once_and_the_other_presses_are_told_so(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss")
        presses = [press(club, draft, "Post") for _ in range(AT_ONCE)]
        done = await asyncio.gather(*presses, return_exceptions=True)
        told = [one for one in done if isinstance(one, ReaderError)]
        assert [one.key for one in told] == ["discuss_posted"] * (AT_ONCE - 1), done
        assert len(await drained(club)) == 6


@pytest.mark.parametrize(
    ("before", "line", "after", "count"),
    [
        (["next A", "next B"], "next vote", "next", "1. A"),
        ([], "next Emma", "next", "Emma"),
        ([], "schedule finished 2 2026-06-01", "schedule", "2026-06-01"),
    ],
)
async def test_the_same_said_at_once_is_there_once(
    tmp_path: Path, before: list[str], line: str, after: str, count: str
) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for first in before:
            await command(club, first)
        name, _, words = line.partition(" ")

        async def say(number: int) -> object:
            return await desk_of(club).command(ROOM, KEEPER, name, words, event=f"e{number}")

        done = await asyncio.gather(*(say(number) for number in range(AT_ONCE)), return_exceptions=True)
        assert all(isinstance(one, Reply | ReaderError) for one in done), done
        assert plain((await command(club, after)).document).count(count) == 1
