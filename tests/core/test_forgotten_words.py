"""After somebody or something was forgotten, and past the time that words are kept: in no table a word of theirs, and no name."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import LoccitError, OperatorError, UpstreamError
from core.lifecycle import Keeping
from core.model import Answered, Conversation, Question, Reader, Turn
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.core.desks import GUEST, KEEPER, answer_to, desk_of, labelled, press, type_line
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    async with open_club(tmp_path) as opened:
        yield opened


def _rows_with(folder: Path, word: str) -> set[str]:
    """The tables in which a word stands."""
    with closing(sqlite3.connect(folder / "loccit.db")) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        return {name for name in names if word in str(database.execute(f'select * from "{name}"').fetchall())}


async def _leave_words_everywhere(club: TestClub) -> Turn:
    """A question with every button that an answer can have under it, pressed and pressed again."""
    turn = await answer_to(club, Question("asked", ROOM, GUEST, "Who was Quendrilo?"))
    for row in await desk_of(club).ways_on(ROOM, GUEST, turn):
        for choice in row:
            try:
                await desk_of(club).press(ROOM, MEMBER, choice.id, event="pressed by another")
            except LoccitError:
                continue
    failed = await desk_of(club).failed(
        Question("asked", ROOM, GUEST, "Who was Quendrilo?"), OperatorError("model_quota")
    )
    assert failed is not None
    return turn


async def test_no_button_keeps_the_words_of_a_question_that_was_forgotten(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        turn = await _leave_words_everywhere(club)
        assert turn.answer.outcome == "not_in_book"
        await club.club.forget_reader(ROOM.platform, GUEST.id)
        assert _rows_with(tmp_path, "Quendrilo") == set()
        for row in await desk_of(club).ways_on(ROOM, GUEST, turn):
            for choice in row[:-1]:
                with pytest.raises(LoccitError, match="answer_forgotten"):
                    await desk_of(club).press(ROOM, MEMBER, choice.id, event="pressed late")


async def test_no_button_keeps_the_words_of_a_question_past_their_time_or_deleted(tmp_path: Path) -> None:
    keeping = Keeping(history=timedelta(days=30))
    async with open_club(tmp_path, keeping=keeping) as club:
        await club.shelve(lantern_house())
        await club.club.questions.delete(ROOM, KEEPER, (await _leave_words_everywhere(club)).id)
        assert _rows_with(tmp_path, "Quendrilo") == set()
        await answer_to(club, Question("later", ROOM, GUEST, "Who was Quendrilo?"))
        club.clock.pass_minutes(60 * 24 * 31)
        await club.club.sweep()
        assert _rows_with(tmp_path, "Quendrilo") == set()


async def test_a_draft_that_was_never_posted_goes_with_who_prepared_it(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        await type_line(club, "discuss")
        await type_line(club, "discuss edit 1 What would Quendrilo say?")
        await club.club.forget_reader(ROOM.platform, KEEPER.id)
        assert _rows_with(tmp_path, "Quendrilo") == set()


async def test_answers_to_a_discussion_are_kept_no_longer_than_other_words(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT]), keeping=Keeping(history=timedelta(days=30))) as club:
        await club.shelve(lantern_house())
        await club.club.meeting.discussions.agree(ROOM, KEEPER, True)
        await press(club, labelled(await type_line(club, "discuss"), "Post"))
        await type_line(club, "discuss answer 1 Quendrilo wrote it.", GUEST)
        assert _rows_with(tmp_path, "Quendrilo") == {"remark"}
        club.clock.pass_minutes(60 * 24 * 31)
        await club.club.sweep()
        assert _rows_with(tmp_path, "Quendrilo") == set()


async def test_no_memo_and_no_button_names_a_reader_who_was_forgotten(club: TestClub, tmp_path: Path) -> None:
    for platform in ("telegram", "discord"):
        for key in (f"private:{GUEST.id}", f"locale:{GUEST.id}", f"open:-1001:note:{GUEST.id}", f"open:1:{GUEST.id}:n"):
            await club.club.post.remember(platform, key, "en")
    await club.club.post.remember("telegram", "open:-1001:a5", {"what": "n", "messages": [], "openers": [GUEST.id, 77]})
    await club.club.post.remember("telegram", f"private:{GUEST.id}8", "en")
    file = {"id": "file-1", "name": "lantern.epub"}
    assert await desk_of(club).seen(ROOM, GUEST, "lantern.epub", 900, file, event="seen") is not None
    await club.club.forget_reader("telegram", GUEST.id)
    left = {"open:-1001:a5": {"what": "n", "messages": [], "openers": [77]}, f"private:{GUEST.id}8": "en"}
    assert await club.club.post.recall_all("telegram", "") == left
    assert len(await club.club.post.recall_all("discord", "")) == 4
    await club.club.forget_reader(ROOM.platform, GUEST.id)
    assert "button" not in _rows_with(tmp_path, GUEST.id)


async def test_a_question_about_a_forgotten_book_that_waits_goes_too(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        channel = await club.store.shelf.channel(ROOM, club.clock())
        question = Question("waits", ROOM, GUEST, "Who was Quendrilo?", sha256)
        await club.store.inbox.accept_question(question, channel, club.clock())
        await club.store.inbox.keep_question("waits")
        await club.club.forget_book(ROOM, KEEPER, sha256)
        assert _rows_with(tmp_path, "Quendrilo") == set()
        assert not await club.club.questions.keeps(ROOM.platform)


@pytest.mark.parametrize("private", [False, True])
async def test_what_is_quoted_meanwhile_keeps_no_words_of_who_was_forgotten_meanwhile(
    tmp_path: Path, private: bool
) -> None:
    async with open_club(tmp_path, ScriptedModel(lambda _: UpstreamError("model_down"))) as club:
        await club.shelve(lantern_house())
        question = Question("asked", ROOM, GUEST, "Who was Quendrilo of the green ink?", private=private, patient=True)
        done: list[object] = []
        async for event in club.club.questions.ask(question):
            if not done:
                await club.club.forget_reader(ROOM.platform, GUEST.id)
            done.append(event)
        assert isinstance(done[-1], Answered)
        assert len(done) > 1
        assert _rows_with(tmp_path, "Quendrilo") == set()
        assert not await club.club.questions.keeps(ROOM.platform)
        assert ("turn" in _rows_with(tmp_path, "lighthouse log in green")) is not private


async def test_no_memo_names_a_chat_that_was_forgotten_but_that_it_was_greeted(club: TestClub) -> None:
    where = Conversation("telegram", "-1001")
    await club.shelve(lantern_house(), where)
    post, kept = (
        club.club.post,
        {"hello:-1001": True, "direct:-1001": True, "moved:-77": -1001, "moved:-1001": -99, "seen:-10012:x": 1},
    )
    for key, value in kept.items():
        await post.remember("telegram", key, value)
    await post.remember("discord", "seen:-1001:x", 1)
    for key in ("seen:-1001:x", "check:-1001", "open:-1001:a5", "at:-1001:m7", "asked:-1001:7"):
        await post.remember("telegram", key, 1)
    await club.club.forget_channel(where, KEEPER)
    assert await post.recall_all("telegram", "") == kept
    assert await post.recall_all("discord", "") == {"seen:-1001:x": 1}


async def test_who_only_wrote_and_voted_for_the_club_hears_that_it_went(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT, DRAFT])) as club:

        async def forgets(what: str, reader: Reader) -> str:
            yes = labelled(await type_line(club, f"forget {what}", reader), "Yes, forget")
            return str((await press(club, yes, reader)).document)

        await club.shelve(lantern_house())
        await club.club.meeting.discussions.agree(ROOM, KEEPER, True)
        await press(club, labelled(await type_line(club, "discuss"), "Post"))
        await type_line(club, "discuss answer 1 He went to sea.", GUEST)
        for title in ("Emma", "Persuasion"):
            await type_line(club, f"next {title}", GUEST)
        await press(club, labelled(await type_line(club, "next vote"), "Vote 1"), GUEST)
        assert "2 entries of the club" in await forgets("me", GUEST)
        assert "nothing to forget" in await forgets("me", GUEST)
        await type_line(club, "discuss new")
        assert "1 entry of the club" in await forgets("me", KEEPER)
        assert "4 entries of the club" in await forgets("channel", KEEPER)  # what was posted, two titles, their poll
