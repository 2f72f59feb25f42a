"""What is removed, replaced or forgotten is gone from every file; what somebody else has a right to stays; notes answer."""

import asyncio
import hashlib
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import BadBook, Missing, OperatorError, ReaderError
from core.lifecycle import Keeping
from core.model import (
    ChatEvent,
    ChatRequest,
    Conversation,
    Event,
    Finished,
    Forgotten,
    Limit,
    Question,
    Reader,
    Ready,
    Said,
    Upload,
    Usage,
)
from core.spending import Terms
from core.strings import LOCALES, say
from core.strings.counts import counted
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, open_club, said
from tests.fakes.model import ScriptedModel

CANARY = "Quendrilo"
"""A name no file holds but those that the book, its questions or its answers were written to."""
KEEPER = Reader("keeper", "en", manages=True)
GUEST = Reader("guest-77", "en")
_DAYS = "\n\n".join(f"On day {number} nothing came but gulls and a little rain from the west." for number in range(20))
STORY = f"""# Chapter 1

The log of {CANARY} was kept in green ink. Nobody read it.

{_DAYS}

# Chapter 2

A storm broke the lamp on the ninth of May. {CANARY} mended it.

{_DAYS.replace("On day", "In week")}
"""


def book(folder: Path, text: str = STORY, name: str = "tale.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


async def add(club: TestClub, path: Path, event: str, where: Conversation = ROOM, replaces: str | None = None) -> Ready:
    upload = Upload(event, where, MEMBER, path, path.name)
    steps = [step async for step in club.club.add_book(upload, replaces=replaces)]
    assert isinstance(steps[-1], Ready)
    return steps[-1]


def holding(folder: Path, word: str) -> Sequence[str]:
    """The files that hold a word, rank tables and the database's log among them."""
    found = [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return sorted(str(path.relative_to(folder)) for path in found)


def compact(folder: Path) -> None:
    """Pages that were freed keep their bytes until they are used again; what is asked here is what rows hold."""
    connection = sqlite3.connect(folder / "loccit.db")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


async def test_a_removed_book_can_come_back_for_a_while_and_is_then_gone_from_every_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_club(data, ScriptedModel(lambda _: f"{CANARY} wrote in green ink [f0-5-49].")) as club:
        card = (await add(club, book(tmp_path), "one")).card
        await club.ask(f"What ink did {CANARY} use?")
        note = (await club.ask("What ink?")).answer.footnotes
        await club.club.remove(ROOM, KEEPER)
        club.clock.pass_minutes(14)
        assert await club.club.sweep() == Forgotten()
        await club.club.undo(ROOM, KEEPER)
        assert (await club.club.shelf(ROOM))[0].sha256 == card.sha256
        await club.club.remove(ROOM, KEEPER)
        club.clock.pass_minutes(17)
        gone = await club.club.sweep()
        assert (gone.books, gone.originals, gone.answers) == (1, 1, 2)
        assert await club.club.sweep() == Forgotten()
        for one in note:
            with pytest.raises(Missing, match="book_removed"):
                await club.club.passages.press(ROOM, one.id)
        with pytest.raises(Missing, match="nothing_to_undo"):
            await club.club.undo(ROOM, KEEPER)
        latest = await club.club.questions.latest(ROOM)
        assert latest is not None
        assert said(latest) == say("answer_forgotten")
        with pytest.raises(Missing, match="nothing_to_export"):
            await club.club.passages.export(ROOM)
    # The question about the book is the reader's own; it stays until it is forgotten or too old.
    compact(data)
    assert holding(data, f"What ink did {CANARY}") in ([], ["loccit.db"])
    assert holding(data, f"{CANARY} mended") == []
    assert holding(data, "wrote in green ink") == []
    assert list((data / "ranks").glob("*")) == []
    assert [path for path in (data / "originals").rglob("*") if path.is_file()] == []


async def test_a_book_that_another_channel_reads_stays_for_it_and_only_for_it(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        await add(club, book(tmp_path), "one")
        await add(club, book(tmp_path), "two", ELSEWHERE)
        here = (await club.ask("What was the log kept in?")).answer.footnotes[0]
        there = (await club.ask("What was the log kept in?", conversation=ELSEWHERE)).answer.footnotes[0]
        opened = await club.club.passages.press(ELSEWHERE, there.id)
        _, gone = await club.club.forget_book(ROOM, KEEPER, "1")
        assert (gone.books, gone.originals, gone.summaries, gone.answers, gone.questions) == (1, 0, 0, 1, 1)
        club.clock.pass_minutes(60)
        assert not (await club.club.sweep()).books
        assert await club.club.passages.press(ELSEWHERE, there.id) == opened
        with pytest.raises(Missing, match="book_removed"):
            await club.club.passages.press(ROOM, here.id)
        assert await club.club.shelf(ROOM) == ()
        assert (await club.ask("What broke?", conversation=ELSEWHERE)).answer.footnotes


async def test_a_forgotten_book_is_gone_at_once_with_questions_answers_and_places(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_club(data, ScriptedModel(lambda _: f"{CANARY} wrote in green ink [f0-5-49].")) as club:
        await add(club, book(tmp_path), "one")
        await club.club.place(ROOM, GUEST, words="50 %")
        await club.ask(f"What ink did {CANARY} use?")
        with pytest.raises(ReaderError, match="managers_only"):
            await club.club.forget_book(ROOM, GUEST, "1")
        card, gone = await club.club.forget_book(ROOM, KEEPER, "1")
        assert card.title
        assert (gone.books, gone.originals, gone.questions, gone.answers, gone.places) == (1, 1, 1, 1, 1)
        assert gone.replies >= 1
        with pytest.raises(Missing):
            await club.club.undo(ROOM, KEEPER)
        again = await add(club, book(tmp_path), "two")
        assert not again.known
        assert again.card.limit_words is None
        assert (await club.ask("What broke on the ninth of May?")).answer.footnotes or True
        await club.club.forget_book(ROOM, KEEPER, "1")
    compact(data)
    assert holding(data, CANARY) == []


async def test_a_reader_is_forgotten_and_what_others_wrote_stays(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_club(data, terms=Terms(passages_day=100_000)) as club:
        await add(club, book(tmp_path), "one")
        await club.club.place(ROOM, GUEST, words="50 %")
        await club.club.place(ROOM, MEMBER, words="50 %")
        turn = await club.ask("Who mended the lamp, says the guest?", reader=GUEST)
        mine = await club.ask("Who mended the lamp, says a member?")
        for note in turn.answer.footnotes:
            await club.club.passages.press(ROOM, note.id, reader=GUEST)
        gone = await club.club.forget_reader("console", GUEST.id)
        assert (gone.questions, gone.places, gone.answers) == (1, 1, 0)
        assert gone.passages >= 1
        assert await club.club.forget_reader("console", GUEST.id) == Forgotten()
        texts = [
            turn.question for turn in await club.store.turns.history(await club.store.shelf.channel(ROOM, club.clock()))
        ]
        assert texts == ["", "Who mended the lamp, says a member?"]
        assert (await club.club.passages.press(ROOM, mine.answer.footnotes[0].id)).quote
        assert (await club.club.place(ROOM, MEMBER))[1] != Limit()
        club.clock.pass_minutes(60 * 24)
        await club.club.sweep()
    compact(data)
    assert holding(data, "says the guest") == []
    assert holding(data, GUEST.id) == []


async def test_who_forgets_oneself_does_not_get_a_new_allowance(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data", terms=Terms(passages_day=900)) as club:
        await add(club, book(tmp_path), "one")
        ink = (await club.ask("green ink")).answer.footnotes[0]
        lamp = (await club.ask("Who mended the lamp in the storm?")).answer.footnotes[0]
        assert (await club.club.passages.press(ROOM, ink.id, reader=GUEST)).quote
        with pytest.raises(ReaderError, match="cap_passages"):
            await club.club.passages.press(ROOM, lamp.id, reader=GUEST)
        await club.club.forget_reader("console", GUEST.id)
        with pytest.raises(ReaderError, match="cap_passages"):
            await club.club.passages.press(ROOM, lamp.id, reader=GUEST)
        club.clock.pass_minutes(60 * 24)
        assert (await club.club.passages.press(ROOM, lamp.id, reader=GUEST)).quote


async def test_a_forgotten_channel_begins_anew_and_others_notice_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_club(data) as club:
        await add(club, book(tmp_path), "one")
        await add(club, book(tmp_path, STORY.replace("lamp", "bell"), "other.md"), "two", ELSEWHERE)
        note = (await club.ask("What was the log kept in?")).answer.footnotes[0]
        other = (await club.ask("What broke the bell?", conversation=ELSEWHERE)).answer.footnotes[0]
        with pytest.raises(ReaderError, match="managers_only"):
            await club.club.forget_channel(ROOM, GUEST)
        gone = await club.club.forget_channel(ROOM, KEEPER)
        assert (gone.books, gone.originals, gone.questions, gone.answers) == (1, 1, 1, 1)
        assert await club.club.forget_channel(ROOM, KEEPER) == Forgotten()
        with pytest.raises(Missing, match="unknown_note"):
            await club.club.passages.press(ROOM, note.id)
        assert await club.club.shelf(ROOM) == ()
        assert await club.club.questions.latest(ROOM) is None
        assert (await club.club.passages.press(ELSEWHERE, other.id)).quote
    compact(data)
    assert holding(data, "broke the lamp") == []


async def test_a_new_edition_takes_place_use_and_limit_of_the_old_one(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        old = (await add(club, book(tmp_path), "one")).card
        club.clock.pass_minutes(1)
        await add(club, book(tmp_path, "# Other\n\nAnother tale.\n", "second.md"), "two")
        await club.club.use(ROOM, MEMBER, old.sha256)
        await club.club.progress(ROOM, KEEPER, words="50 %")
        note = (await club.ask("What was the log kept in?")).answer.footnotes[0]
        ready = await add(club, book(tmp_path, STORY + "\nA new last line.\n"), "three", replaces=old.sha256)
        shelf = await club.club.shelf(ROOM)
        assert [card.sha256 for card in shelf] == [ready.card.sha256, shelf[1].sha256]
        assert (shelf[0].current, shelf[0].limit_words) == (True, "50%")
        with pytest.raises(Missing, match="book_removed"):
            await club.club.passages.press(ROOM, note.id)
        assert (await club.club.undo(ROOM, KEEPER)).sha256 == old.sha256
        assert (await club.club.passages.press(ROOM, note.id)).quote
        settings = await club.store.shelf.settings(await club.store.shelf.channel(ROOM, club.clock()))
        assert settings == {}


async def test_a_new_edition_that_is_no_book_leaves_the_old_one_alone(tmp_path: Path) -> None:
    bad = tmp_path / "bad.epub"
    bad.write_bytes(b"PK\x03\x04 but no archive")
    async with open_club(tmp_path / "data") as club:
        old = (await add(club, book(tmp_path), "one")).card
        with pytest.raises(BadBook):
            await add(club, bad, "two", replaces="1")
        assert [card.sha256 for card in await club.club.shelf(ROOM)] == [old.sha256]
        assert await club.store.shelf.settings(await club.store.shelf.channel(ROOM, club.clock())) == {}


async def test_a_replacement_cut_by_a_crash_is_one_after_the_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_club(data) as club:
        old = (await add(club, book(tmp_path), "one")).card
        upload = Upload("two", ROOM, MEMBER, book(tmp_path, STORY + "\nMore.\n"), "new.md")
        steps = club.club.add_book(upload, replaces="1")
        await anext(steps)  # Accepted
        await steps.aclose()
    async with open_club(data) as club:
        async for _ in club.club.resume("console"):
            pass
        [card] = await club.club.shelf(ROOM)
        assert card.sha256 != old.sha256


async def test_words_are_kept_as_long_as_the_settings_say_and_notes_for_ever(tmp_path: Path) -> None:
    keeping = Keeping(questions=timedelta(days=7), history=timedelta(days=30))
    async with open_club(tmp_path / "data", keeping=keeping) as club:
        await add(club, book(tmp_path), "one")
        turn = await club.ask("Who mended the lamp?")
        channel = await club.store.shelf.channel(ROOM, club.clock())
        club.clock.pass_minutes(60 * 24 * 6)
        assert await club.club.sweep() == Forgotten()
        club.clock.pass_minutes(60 * 24 * 2)
        assert await club.club.sweep() == Forgotten(questions=1)
        [kept] = await club.store.turns.history(channel)
        assert (kept.question, kept.answer.document) == ("", turn.answer.document)
        club.clock.pass_minutes(60 * 24 * 30)
        gone = await club.club.sweep()
        assert (gone.questions, gone.answers) == (0, 1)
        [kept] = await club.store.turns.history(channel)
        assert kept.answer.document == ()
        assert (await club.club.passages.press(ROOM, turn.answer.footnotes[0].id)).quote
        later = await club.ask("And what broke it?", reply_to=turn.id)
        assert later.question


async def test_sweeps_and_uploads_of_the_same_bytes_at_once_leave_a_whole_book(tmp_path: Path) -> None:
    """Eight times the book's last right has just ended while somebody sends it again."""
    path = book(tmp_path)
    async with open_club(tmp_path / "data") as club:
        card = (await add(club, path, "first")).card
        for number in range(8):
            await club.club.remove(ROOM, KEEPER)
            club.clock.pass_minutes(60)
            delay = number * 0.002

            async def sweep(seconds: float = delay) -> None:
                await asyncio.sleep(seconds)
                await club.club.sweep()

            await asyncio.gather(add(club, path, f"again-{number}"), sweep(), sweep())
            assert [each.sha256 for each in await club.club.shelf(ROOM)] == [card.sha256]
            await club.store.originals.checked(card.sha256)
            parsed = await club.store.books.parsed(card.sha256, card.text_version)
            assert CANARY in parsed.files[0].text
            assert (await club.ask("green ink", event=f"q-{number}")).answer.footnotes


class _Waiting:
    """A model that answers when it is told to."""

    name = "waiting"

    def __init__(self, answer: Callable[[], Awaitable[str]]) -> None:
        self._answer = answer

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        yield Said(await self._answer())
        yield Finished("stop", Usage(1, 10, 5))


async def test_an_answer_under_way_ends_before_its_book_is_forgotten(tmp_path: Path) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    data = tmp_path / "data"

    async def waits() -> str:
        started.set()
        await go_on.wait()
        return f"{CANARY} wrote in green ink [f0-5-49]."

    async with open_club(data, _Waiting(waits)) as club:
        await add(club, book(tmp_path), "one")
        asking = asyncio.create_task(club.ask("What ink?"))
        await started.wait()
        forgetting = asyncio.create_task(club.club.forget_book(ROOM, KEEPER, "1"))
        await asyncio.sleep(0.05)
        go_on.set()
        await asyncio.gather(asking, forgetting, return_exceptions=True)
        await club.club.sweep()
    compact(data)
    assert holding(data, CANARY) == []


def _in_the_way(data: Path, path: Path) -> Path:
    """A folder where a book's rank table is to be written."""
    folder = data / "ranks" / f"{hashlib.sha256(path.read_bytes()).hexdigest()}-new.rank"
    (folder / "full").mkdir(parents=True)
    return folder


async def _cut_short(club: TestClub, data: Path, path: Path, event: str, where: Conversation = ROOM) -> None:
    """An upload that a disk or a database ended: it stays accepted."""
    in_the_way = _in_the_way(data, path)
    with pytest.raises(OperatorError):
        await add(club, path, event, where)
    shutil.rmtree(in_the_way)


@pytest.mark.parametrize("everywhere", [True, False])
async def test_an_upload_that_a_disk_ended_keeps_no_book_from_being_forgotten(tmp_path: Path, everywhere: bool) -> None:
    data = tmp_path / "data"
    async with open_club(data) as club:
        await _cut_short(club, data, book(tmp_path), "one")
        card = (await add(club, book(tmp_path), "two")).card
        if everywhere:
            await club.club.forget_everywhere(card.sha256)
        else:
            await club.club.forget_book(ROOM, KEEPER, "1")
        assert not club.store.originals.path(card.sha256).exists()
    compact(data)
    assert holding(data, CANARY) == []


async def test_an_upload_whose_message_was_dealt_with_is_not_waited_for(tmp_path: Path) -> None:
    data = tmp_path / "data"
    where = Conversation("telegram", "7")
    async with open_club(data) as club:
        await club.club.post.receive(Event("one", "telegram", "7", {}))
        await _cut_short(club, data, book(tmp_path), "one", where)
        await club.club.post.finish("one")
        for path in (data / "originals").glob("??/??/*"):
            os.utime(path, (0, 0))
        await club.club.sweep()
        assert len(await club.store.inbox.unfinished_uploads("telegram")) == 1  # it may be under way
        club.clock.pass_minutes(26 * 60)
        await club.club.sweep()
        assert await club.store.inbox.unfinished_uploads("telegram") == ()
        await club.club.sweep()
    assert holding(data / "originals", CANARY) == []


async def test_a_question_whose_message_was_dealt_with_without_an_answer_keeps_no_words_for_ever(
    tmp_path: Path,
) -> None:
    where = Conversation("telegram", "7")
    async with open_club(tmp_path, keeping=Keeping(questions=timedelta(days=1))) as club:
        channel = await club.store.shelf.channel(where, club.clock())
        for event in ("told", "waits"):
            await club.club.post.receive(Event(event, "telegram", "7", {}))
            await club.store.inbox.accept_question(Question(event, where, GUEST, CANARY), channel, club.clock())
        await club.club.post.finish("told")  # with a sentence: the database was away
        club.clock.pass_minutes(26 * 60)
        for _ in range(2):
            await club.club.sweep()
        told, waits = [await club.store.inbox.question(event) for event in ("told", "waits")]
        assert told is not None
        assert (told.state, told.question.text) == ("failed", "")
        assert waits is not None
        assert (waits.state, waits.question.text) == ("accepted", CANARY)


@pytest.mark.parametrize("forgotten", [True, False])
async def test_a_book_forgotten_or_removed_while_it_is_read_anew_does_not_come_back(
    tmp_path: Path, forgotten: bool
) -> None:
    data = tmp_path / "data"
    async with open_club(data) as club:
        await add(club, book(tmp_path), "one")
        reading = asyncio.create_task(club.club.editions.again(ROOM, KEEPER, "1"))
        while not reading.done() and not any("new" in path.name for path in (data / "ranks").iterdir()):  # noqa: ASYNC110  # nobody tells of files
            await asyncio.sleep(0)  # until the child is at it
        if forgotten:
            await club.club.forget_book(ROOM, KEEPER, "1")
        else:
            await club.club.remove(ROOM, KEEPER, "1")
        with pytest.raises(Missing, match="book_removed"):
            await reading
        assert await club.club.shelf(ROOM) == ()
        if not forgotten:
            await club.club.undo(ROOM, KEEPER)
            assert len(await club.club.shelf(ROOM)) == 1
        await club.club.sweep()
    if forgotten:
        compact(data)
        assert holding(data, CANARY) == []


async def test_a_reader_forgotten_while_an_answer_is_made_leaves_no_words(tmp_path: Path) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    data = tmp_path / "data"

    async def waits() -> str:
        started.set()
        await go_on.wait()
        return "It was green ink [f0-5-49]."

    async with open_club(data, _Waiting(waits)) as club:
        await add(club, book(tmp_path), "one")
        asking = asyncio.create_task(club.ask("What ink, says the guest?", reader=GUEST))
        await started.wait()
        await club.club.forget_reader("console", GUEST.id)
        go_on.set()
        assert (await asking).answer.document
        club.clock.pass_minutes(60 * 24)
        await club.club.sweep()
    compact(data)
    assert holding(data, "says the guest") == []
    assert holding(data, GUEST.id) == []


async def test_everywhere_means_every_channel(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        card = (await add(club, book(tmp_path), "one")).card
        await add(club, book(tmp_path), "two", ELSEWHERE)
        gone = await club.club.forget_everywhere(card.sha256)
        assert (gone.books, gone.originals) == (2, 1)
        assert await club.club.shelf(ROOM) == await club.club.shelf(ELSEWHERE) == ()
        assert await club.club.forget_everywhere(card.sha256) == Forgotten()


def test_counts_are_told_in_every_language() -> None:
    gone = Forgotten(books=1, questions=3, places=1)
    assert counted(gone, "en") == "1 book, 3 questions, 1 place"
    for locale in LOCALES:
        assert counted(gone, locale).count(",") == 2
        assert counted(Forgotten(), locale) == say("forgotten_nothing", locale)
    assert counted(replace(gone, books=0), "es") == "3 preguntas, 1 lugar de lectura"
