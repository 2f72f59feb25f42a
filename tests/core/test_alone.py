"""What is one reader's alone stays so, by whatever way it is asked for; rights count at the moment when something is done."""

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from core.document import plain
from core.errors import ReaderError
from core.model import ChatRequest, Question, Reader
from core.spending import Caps, Prices, Terms
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.core.desks import GROUP, GUEST, KEEPER, answer_to, desk_of, labelled, press, type_line
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    async with open_club(tmp_path) as opened:
        yield opened


# Rights


async def test_who_may_organise_no_more_does_nothing_with_the_draft_they_still_have(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT, DRAFT])) as club:
        await club.shelve(lantern_house())
        draft = await type_line(club, "discuss")
        edit = labelled(draft, "Edit 1").id
        former = replace(KEEPER, manages=False)
        for label in ("Keep 1", "Another 1", "Edit 1", "Post"):
            with pytest.raises(ReaderError, match="book_managers_only"):
                await press(club, labelled(draft, label), former)
        with pytest.raises(ReaderError, match="book_managers_only"):
            await desk_of(club).filled(ROOM, former, edit, "All of you, listen to me.", event="form")
        with pytest.raises(ReaderError, match="book_managers_only"):
            await type_line(club, "discuss edit 1 All of you, listen to me.", former)
        assert await club.club.post.due(ROOM.platform) == ()
        await press(club, labelled(draft, "Post"))  # rights given back are rights
        assert await club.club.post.due(ROOM.platform) != ()


# One's own place


async def test_nobody_else_is_told_where_one_reader_is(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await type_line(club, "place finished 1", GUEST)
    openly = await type_line(club, "progress", GUEST)
    assert not openly.private
    assert "your own place" not in plain(openly.document)
    assert "your own place" in plain((await type_line(club, "progress", GUEST, private=True)).document)


async def test_a_place_that_a_search_named_warns_before_it_shows_what_the_reader_has_not_read(club: TestClub) -> None:
    await club.shelve(lantern_house())
    found = await type_line(club, "quote one suitcase", GUEST)
    open_it = labelled(found, "Open 1")
    assert "suitcase" in plain((await press(club, open_it, GUEST)).document)
    await type_line(club, "place finished 1", GUEST)
    warned = await press(club, open_it, GUEST)
    assert warned.private
    assert warned.passage is None
    assert "suitcase" not in plain(warned.document)
    shown = await press(club, labelled(warned, "Show it anyway"), GUEST)
    assert shown.passage is not None
    assert shown.passage.ahead is not None
    moved = await press(club, labelled(warned, "Update my place"), GUEST)
    assert "suitcase" in plain(moved.document)
    assert (await club.club.place(ROOM, GUEST))[1].words == "finished 2"


async def test_what_stands_around_a_place_that_a_search_named_ends_at_the_readers_own(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await type_line(club, "place finished 1", GUEST)
    found = await type_line(club, "quote nobody in Carrow", GUEST)
    shown = await press(club, labelled(found, "Open 1"), GUEST)
    assert shown.passage is not None
    assert "suitcase" not in plain(shown.document)
    assert not shown.passage.more_after


# What was asked without the book, where others are


def _aside(event: str, reader: Reader = GUEST, text: str = "Is the Xanthine of Carrow real?") -> Question:
    return Question(event, GROUP, reader, text, without_book=True, private=True)


async def test_what_one_was_told_alone_is_part_of_nobody_elses_question(tmp_path: Path) -> None:
    seen: list[ChatRequest] = []

    def model(request: ChatRequest) -> str:
        seen.append(request)
        return "It is an Obeliscolychny." if "general" in str(request.stamp) else "Why green ink? [f1-0-42]"

    async with open_club(tmp_path, ScriptedModel(model)) as club:
        await club.shelve(lantern_house(), GROUP)
        aside = await answer_to(club, _aside("aside"))
        assert aside.answer.outcome == "general_knowledge"
        before = len(seen)
        for reader in (MEMBER, GUEST):  # an answer to all, also to the one who was told
            await answer_to(club, Question(f"by {reader.id}", GROUP, reader, "And the ink?", reply_to=aside.id))
        assert not [request for request in seen[before:] if "Xanthine" in str(request.messages)]
        latest = await club.club.questions.latest(GROUP, openly=True)
        assert latest is not None
        await answer_to(club, _aside("last"))
        now = await club.club.questions.latest(GROUP, openly=True)
        assert now is not None
        assert now.id == latest.id


async def test_shorter_and_longer_of_what_one_was_told_alone_are_for_that_one_too(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel(lambda _: "It is an Obeliscolychny.")) as club:
        await club.shelve(lantern_house(), GROUP)
        aside = await answer_to(club, _aside("aside"))
        [row] = await desk_of(club).ways_on(GROUP, GUEST, aside)
        more = await press(club, row[-1], GUEST, GROUP)
        asked = await desk_of(club).press(GROUP, GUEST, labelled(more, "Shorter").id, event="shorter")
        assert isinstance(asked, Question)
        assert asked.without_book


async def test_a_file_for_all_holds_nothing_that_was_asked_in_private(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel(lambda _: "It is an Obeliscolychny.")) as club:
        await club.shelve(lantern_house(), GROUP)
        await answer_to(club, Question("open", GROUP, MEMBER, "What ink was the log kept in?"))
        await answer_to(club, _aside("aside"))
        thread = replace(GROUP, thread="8")
        await answer_to(club, Question("open in a thread", thread, MEMBER, "What ink was the log kept in?"))
        await answer_to(club, replace(_aside("aside in a thread"), conversation=thread))
        for reader, where in ((MEMBER, GROUP), (GUEST, GROUP), (MEMBER, thread)):
            reply = await type_line(club, "export", reader, where)
            assert not [file for file in reply.attachments if b"Xanthine" in file.data]
        alone = await type_line(club, "export", GUEST, GROUP, private=True)
        assert [file for file in alone.attachments if b"Xanthine" in file.data]


async def test_a_digest_lists_nothing_that_was_asked_without_the_book_and_only_quoted_to_at_a_cap(
    tmp_path: Path,
) -> None:
    terms = Terms(Prices(Decimal(1), Decimal(1)), Caps(reader_day=Decimal(0)))
    model = ScriptedModel(lambda _: "It is an Obeliscolychny.")
    async with open_club(tmp_path, model, terms=terms) as club:
        await club.shelve(lantern_house(), GROUP)
        await club.club.meeting.digests.set(GROUP, KEEPER, True)
        turn = await answer_to(club, _aside("aside"))
        assert (turn.answer.outcome, turn.model) == ("not_in_book", "offline")
        club.clock.pass_minutes(60 * 24 * 7)
        for letter in await club.club.post.due(GROUP.platform):
            reply = await desk_of(club).letter(letter)
            assert reply is None or "Xanthine" not in plain(reply.document)
