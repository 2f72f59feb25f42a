"""P7: kill -9 at any moment. What was acknowledged is finished after a restart, and each question has one answer."""

import asyncio
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import BadBook, LoccitError, Missing, UpstreamError
from core.model import Answered, ChatRequest, LibraryEvent, Question, Ready, Upload
from tests.books.pdfs import half_scanned
from tests.bot.running import environment
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.fakes.model import ScriptedModel, Step
from tests.promises.kills import kill_and_judge
from tests.promises.shelves import write_every_format


async def test_twenty_kills_lose_no_acknowledged_upload_and_no_question_and_answer_none_twice(tmp_path: Path) -> None:
    counted = await kill_and_judge(tmp_path, 20)
    assert counted["uploads"] >= 10
    assert counted["questions"] >= 10


async def test_a_kill_of_the_chat_right_after_a_book_has_arrived_loses_nothing(tmp_path: Path) -> None:
    """The real program over pipes: killed as soon as it said that the file had arrived."""
    [book, *_] = write_every_format(tmp_path)
    data = tmp_path / "data"
    for _ in range(2):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "chat", "--data", str(data)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"/add {book}\n".encode())
        while b"small.epub has arrived." not in (line := await process.stdout.readline()):
            assert line, "the chat ended"
        process.kill()
        await process.wait()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "chat", "--data", str(data)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"A Book" in out
    assert b"chapters" in out


# What a restart finds, step by step and without a kill: a row, and how far its work had come.


async def resumed(club: TestClub) -> list[object]:
    return [event async for event in club.club.resume(ROOM.platform)]


async def waiting(club: TestClub, event: str, text: str = "What ink?", book: str | None = None) -> None:
    """A question that was acknowledged and not begun."""
    channel = await club.store.shelf.channel(ROOM, club.clock())
    await club.store.inbox.accept_question(Question(event, ROOM, MEMBER, text, book), channel, club.clock())


async def test_questions_are_taken_up_oldest_first_and_once(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for number in range(5):
            await waiting(club, f"q{number}", f"What ink was the log {number} kept in?")
    async with open_club(tmp_path) as club:
        answered = [event.turn.question for event in await resumed(club) if isinstance(event, Answered)]
        assert answered == [f"What ink was the log {number} kept in?" for number in range(5)]
        assert await resumed(club) == []


async def test_an_event_delivered_again_after_the_answer_gives_the_same_answer(tmp_path: Path) -> None:
    model = ScriptedModel(["Ink [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        first = await club.ask("What ink?", event="once")
    async with open_club(tmp_path, ScriptedModel([])) as club:
        again = await club.ask("What ink?", event="once")
        assert again == first
        assert len(await club.store.turns.history(await club.store.shelf.channel(ROOM, club.clock()))) == 1


async def test_the_same_event_asked_ten_times_at_once_is_answered_once(tmp_path: Path) -> None:
    model = ScriptedModel(["Ink [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turns = await asyncio.gather(*(club.ask("What ink?", event="once") for _ in range(10)))
    assert len({turn.id for turn in turns}) == 1
    assert len(model.requests) == 1


async def test_the_same_file_uploaded_five_times_at_once_is_one_book(tmp_path: Path) -> None:
    [path, *_] = write_every_format(tmp_path)

    async def add(club: TestClub, event: str) -> LibraryEvent:
        return [step async for step in club.club.add_book(Upload(event, ROOM, MEMBER, path, path.name))][-1]

    async with open_club(tmp_path / "data") as club:
        ready = await asyncio.gather(*(add(club, f"event-{number % 3}") for number in range(5)))
        assert all(isinstance(step, Ready) for step in ready)
        assert len(await club.club.shelf(ROOM)) == 1


async def test_a_question_whose_waiting_is_given_up_is_taken_up_at_the_next_start(tmp_path: Path) -> None:
    """Cancelled between any two events: the row stays, and the next start answers it once."""
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for number in range(3):
            steps = club.club.questions.ask(Question(f"q{number}", ROOM, MEMBER, "What ink was the log kept in?"))
            await anext(steps)
            await steps.aclose()
    async with open_club(tmp_path) as club:
        assert sum(isinstance(event, Answered) for event in await resumed(club)) == 3
        assert await resumed(club) == []


async def test_a_question_about_a_book_that_is_gone_holds_up_no_other(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await waiting(club, "gone", "What ink?", book="The Book That Went")
        await waiting(club, "here", "What ink was the log kept in?")
    async with open_club(tmp_path) as club:
        answered = [event.turn.question for event in await resumed(club) if isinstance(event, Answered)]
        assert answered == ["What ink was the log kept in?"]
    async with open_club(tmp_path) as club:
        assert await resumed(club) == []  # what cannot be answered is not asked again at each start


async def test_questions_wait_through_a_start_that_cannot_answer_them(tmp_path: Path) -> None:
    """A model whose process dies in the midst (any other error than ours): nothing is marked as done."""

    class Death(BaseException):
        pass

    def dies(request: ChatRequest) -> Step:
        raise Death

    async with open_club(tmp_path, ScriptedModel(dies)) as club:
        await club.shelve(lantern_house())
        await waiting(club, "q", "What ink was the log kept in?")
        with pytest.raises(Death):
            await resumed(club)
    async with open_club(tmp_path) as club:
        assert [event.turn.question for event in await resumed(club) if isinstance(event, Answered)] == [
            "What ink was the log kept in?"
        ]


async def test_an_upload_that_cannot_be_read_is_told_once_and_holds_up_no_other(tmp_path: Path) -> None:
    data = tmp_path / "data"
    [good, *_] = write_every_format(tmp_path)
    bad = tmp_path / "bad.epub"
    bad.write_bytes(good.read_bytes()[:300])
    async with open_club(data) as club:
        channel = await club.store.shelf.channel(ROOM, club.clock())
        for number, path in enumerate((bad, good, bad)):
            sha256 = await club.store.originals.put(path)
            sent = Upload(f"u{number}", ROOM, MEMBER, path, path.name)
            await club.store.inbox.accept_upload(sent, channel, sha256, path.stat().st_size, club.clock())
    async with open_club(data) as club:
        ready = [event.card.title for event in await resumed(club) if isinstance(event, Ready)]
        assert ready == ["A Book"]
        assert await resumed(club) == []
        with pytest.raises(BadBook):
            async for _ in club.club.add_book(Upload("again", ROOM, MEMBER, bad, bad.name)):
                pass


async def test_what_was_told_stays_told_when_the_clock_goes_backwards(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        first = await club.ask("What ink was the log kept in?")
        club.clock.now -= timedelta(days=400)
        second = await club.ask("Whose coat was in the suitcase?")
        latest = await club.club.questions.latest(ROOM)
        assert latest is not None
        assert latest.id == second.id != first.id


async def test_an_error_that_was_told_ends_the_question(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        with pytest.raises(LoccitError):
            await club.ask("What ink?")
        assert await resumed(club) == []
        await club.shelve(lantern_house())
        with pytest.raises(Missing, match="no_such_book"):
            await club.ask("What ink?", book="nothing like it", event="q")
        assert await resumed(club) == []


async def test_a_question_taken_up_again_is_about_the_book_it_was_asked_about(tmp_path: Path) -> None:
    """Meanwhile another book came and was chosen: neither "which book" nor an answer from the wrong one."""
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        steps = club.club.questions.ask(Question("q", ROOM, MEMBER, "What ink was the log kept in?"))
        await anext(steps)
        await steps.aclose()
        await club.shelve(replace(lantern_house(), title="The Second House"))
        await club.club.use(ROOM, MEMBER, "The Second House")
    async with open_club(tmp_path) as club:
        [answered] = [event for event in await resumed(club) if isinstance(event, Answered)]
        assert [book for book, _ in answered.turn.books] == [sha256]


async def test_a_kept_question_about_a_book_that_is_gone_holds_up_no_other(tmp_path: Path) -> None:
    down = ScriptedModel([UpstreamError("model_down"), UpstreamError("model_down")])
    async with open_club(tmp_path, down) as club:
        gone = await club.shelve(lantern_house())
        await club.shelve(replace(lantern_house(), title="The Second House"))
        for number, book in enumerate((gone, "The Second House")):
            question = Question(f"q{number}", ROOM, MEMBER, "What ink was the log kept in?", book, patient=True)
            assert [event async for event in club.club.questions.ask(question)]
        assert await club.club.questions.keeps(ROOM.platform)
        await club.club.remove(ROOM, MEMBER, gone)
    async with open_club(tmp_path, ScriptedModel(["Ink [f1-0-42]."])) as club:
        events = [event async for event in club.club.questions.answer_kept(ROOM.platform)]
        assert sum(isinstance(event, Answered) for event in events) == 1
        assert not await club.club.questions.keeps(ROOM.platform)


async def test_pages_that_may_be_left_out_stay_permitted_over_a_crash(tmp_path: Path) -> None:
    """The reader chose to go on without the pages that are pictures; the resumed upload does not ask again."""
    scan = half_scanned(tmp_path / "half.pdf")
    data = tmp_path / "data"
    async with open_club(data) as club:
        steps = club.club.add_book(Upload("u", ROOM, MEMBER, scan, scan.name, accept_partial=True))
        await anext(steps)
        await steps.aclose()
    async with open_club(data) as club:
        assert [type(event) for event in await resumed(club)][-1:] == [Ready]
        [card] = await club.club.shelf(ROOM)
        assert card.warnings
