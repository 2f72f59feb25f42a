"""P7: kill -9 at any moment. What was acknowledged is finished after a restart, and each question has one answer."""

import asyncio
import random
import sqlite3
import sys
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import BadBook, LoccitError, Missing, UpstreamError
from core.model import Answered, ChatRequest, LibraryEvent, Question, Ready, Upload
from tests.books.pdfs import half_scanned
from tests.bot.running import CHECKOUT, environment
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.fakes.model import ScriptedModel, Step
from tests.promises.shelves import write_every_format

KILLS = 20
FOLDERS = 2
"""Worked on side by side; each is killed half of the times."""


async def _live(folder: Path, name: str, seed: int, kill_after: int | None, delay: float = 0.0) -> Counter[str]:
    """Run a process of `living`; kill it `delay` seconds after so many acknowledgements. What it acknowledged."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.promises.living",
        str(folder),
        name,
        str(seed),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=CHECKOUT,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[bytes] = []
    try:
        while kill_after is None or len(lines) < kill_after:
            line = await process.stdout.readline()
            if not line:
                break
            lines.append(line)
        if kill_after is not None:
            await asyncio.sleep(delay)
    finally:
        if process.returncode is None and kill_after is not None:
            process.kill()
    rest, errors = await process.communicate()
    assert kill_after is not None or process.returncode == 0, errors.decode()
    assert b"Traceback" not in errors, errors.decode()
    lines += rest.splitlines(keepends=True)
    return Counter(line.decode().strip() for line in lines if line.endswith(b"\n"))


async def _many_lives(folder: Path, seed: int) -> Counter[str]:
    rng = random.Random(seed)
    acknowledged: Counter[str] = Counter()
    for life in range(KILLS // FOLDERS):
        # Some lives end before the resumption has ended, some in the midst of the work.
        after = rng.choice((0, 1, 1, 2, 3, 5, 8))
        delay = rng.random() * (2.0 if after == 0 else 0.1)
        acknowledged += await _live(folder, f"life{life}", seed * 100 + life, after, delay)
    acknowledged += await _live(folder, "-", 0, None)
    return acknowledged


async def test_twenty_kills_lose_no_acknowledged_upload_and_no_question_and_answer_none_twice(tmp_path: Path) -> None:
    folders = [tmp_path / f"folder{number}" for number in range(FOLDERS)]
    for folder in folders:
        folder.mkdir()
    lives = await asyncio.gather(*(_many_lives(folder, seed) for seed, folder in enumerate(folders, 1)))
    uploads = questions = 0
    for folder, acknowledged in zip(folders, lives, strict=True):
        with sqlite3.connect(folder / "data" / "loccit.db") as raw:
            states = {table: dict(raw.execute(f"SELECT event, state FROM {table}")) for table in ("upload", "question")}
            answers = Counter(
                event for (event,) in raw.execute("SELECT q.event FROM turn t JOIN question q ON q.id = t.question")
            )
            turns, orphans = raw.execute(
                "SELECT count(*), sum(question IS NULL OR question NOT IN (SELECT id FROM question)) FROM turn"
            ).fetchone()
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        raw.close()
        for line in acknowledged:
            kind, event = line.split()
            if kind != "resumed":
                assert states[kind].get(event) == "done", line
        # Rows that were not acknowledged in time may be there too; they are finished all the same.
        assert set(states["upload"].values()) <= {"done"}
        assert set(states["question"].values()) <= {"done"}
        assert set(answers) == set(states["question"])
        assert set(answers.values()) <= {1}
        assert (turns, orphans or 0) == (len(answers), 0)
        uploads += sum(line.startswith("upload") for line in acknowledged)
        questions += sum(line.startswith("question") for line in acknowledged)
        async with open_club(folder / "data") as club:
            for card in await club.club.shelf(ROOM):
                book = await club.club.dump(ROOM, card.sha256)
                assert book.runs
            latest = await club.club.latest(ROOM)
            assert (latest is not None) == bool(answers)
        assert not list((folder / "data" / "ranks").glob("*.new*"))
    assert uploads >= 10
    assert questions >= 10


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
            steps = club.club.ask(Question(f"q{number}", ROOM, MEMBER, "What ink was the log kept in?"))
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
        latest = await club.club.latest(ROOM)
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
        steps = club.club.ask(Question("q", ROOM, MEMBER, "What ink was the log kept in?"))
        await anext(steps)
        await steps.aclose()
        await club.shelve(replace(lantern_house(), title="The Second House"))
        await club.club.use(ROOM, "The Second House")
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
            assert [event async for event in club.club.ask(question)]
        assert await club.club.keeps(ROOM.platform)
        await club.club.remove(ROOM, MEMBER, gone)
    async with open_club(tmp_path, ScriptedModel(["Ink [f1-0-42]."])) as club:
        events = [event async for event in club.club.answer_kept(ROOM.platform)]
        assert sum(isinstance(event, Answered) for event in events) == 1
        assert not await club.club.keeps(ROOM.platform)


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
