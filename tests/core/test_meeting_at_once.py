"""Two people, or two presses, at the same moment: what is looked at and then changed happens once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.document import plain
from core.errors import Missing, ReaderError
from core.model import ChatEvent, ChatRequest, Reply
from core.store import NominationRow, PollRow
from tests.clubs import MEMBER, ROOM, lantern_house, open_club
from tests.core.stores import NOON, Place
from tests.core.test_discussions import DRAFT, KEEPER, command, desk_of, drained, press
from tests.fakes.model import ScriptedModel
from tests.parts import needs_postgres

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


async def test_two_presses_of_one_ballot_at_once_both_count(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        for title in "ABCD":
            await command(club, f"next {title}")
        poll = await command(club, "next vote ranked")
        await asyncio.gather(*(press(club, poll, f"Vote {number}", MEMBER) for number in range(1, 5)))
        channel = await club.store.shelf.channel(ROOM, club.clock())
        [row] = [await club.store.polls.get(channel)]
        assert row is not None
        [ballot] = (await club.store.polls.ballots(row.id)).values()
        assert len(ballot) == 4


@needs_postgres
async def test_two_processes_open_one_vote_and_lose_no_proposal(postgres_place: Place) -> None:
    one, other = await postgres_place.open(), await postgres_place.open()
    try:
        channel = await one.shelf.channel(ROOM, NOON)
        for id in ("n1", "n2"):
            await one.polls.nominate(channel, NominationRow(id, f"Book {id}", MEMBER.id), NOON)
        rows = [PollRow(f"p{number}", ROOM, False, MEMBER.id, NOON, None, None) for number in range(6)]
        opened = await asyncio.gather(
            *(store.polls.open(channel, row) for store, row in zip([one, other] * 3, rows, strict=True))
        )
        assert opened.count(True) == 1
        latest = await other.polls.get(channel)
        assert latest == rows[opened.index(True)]
        assert len(await other.polls.nominations(channel, latest.id)) == 2
        assert await one.polls.open(channel, latest)  # the same event told again
    finally:
        await one.close()
        await other.close()


async def test_a_closing_is_not_taken_back_while_the_next_vote_is_open(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        for title in "AB":
            await command(club, f"next {title}")
        await command(club, "next vote")
        closed = await command(club, "next close")
        for title in "CD":
            await command(club, f"next {title}")
        club.clock.pass_minutes(1)
        await command(club, "next vote")
        with pytest.raises(ReaderError, match="next_open_already"):
            await press(club, closed, "Undo")
        await command(club, "next close")
        with pytest.raises(Missing, match="next_not_reopened"):  # what is closed and reopened is the latest
            await press(club, closed, "Undo")


async def test_other_questions_wanted_at_once_leave_a_question_in_every_place(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss")
        await asyncio.gather(*(press(club, draft, f"Another {number}") for number in (1, 2, 3)))
        channel = await club.store.shelf.channel(ROOM, club.clock())
        row = await club.store.discussions.latest(channel, None, posted=False)
        assert row is not None
        places = [topic.place for topic in await club.store.discussions.topics(row.id) if topic.place]
        assert places == [1, 2, 3, 4, 5]


async def test_what_was_posted_while_another_question_was_sought_stays_as_it_was_posted(tmp_path: Path) -> None:
    seeking, go_on = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
            if self.requests:
                seeking.set()
                await go_on.wait()
            async for event in super().stream(request):
                yield event

    five = "\n".join(DRAFT.splitlines()[:5])
    more = "\n".join(DRAFT.splitlines()[5:])
    async with open_club(tmp_path, Slow([five, more])) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss")
        another = asyncio.create_task(press(club, draft, "Another 1"))
        await seeking.wait()
        await press(club, draft, "Post")
        go_on.set()
        with pytest.raises(ReaderError, match="discuss_posted"):
            await another
        _, topics = await club.club.meeting.discussions.held(ROOM)
        assert len(topics) == 5
        turns = [await club.store.turns.get(topic.id) for topic in topics]
        assert all(turns), "each of them was posted"
        assert len(await drained(club)) == 6
