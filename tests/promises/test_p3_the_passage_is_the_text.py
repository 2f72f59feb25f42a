"""P3: what a press shows is the stored text at those offsets, letter for letter, or a refusal; no model has a part in it."""

import random
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.errors import BrokenPromise, Missing
from core.model import ChatRequest, ParsedBook, Passage, Span
from core.tags import tag
from tests.clubs import ROOM, TestClub, lantern_house, open_club
from tests.fakes.model import Says, ScriptedModel, Step
from tests.parts import SHARED, needs_shared
from tests.promises.shelves import REAL, upload, write_every_format

RUNS = 1_000


def refuse(request: ChatRequest) -> Step:
    raise AssertionError(f"a model was asked: {request.purpose}")


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    """A club whose model fails the test when it is asked anything."""
    async with open_club(tmp_path / "data", ScriptedModel(refuse)) as club:
        yield club


def faults(passage: Passage, book: ParsedBook, run: Span) -> list[str]:
    """What is wrong with an opened run, by the text that `dump` gives."""
    text = book.files[run.file].text
    found = []
    if passage.span != run or passage.tag != tag(run):
        found.append("another place")
    if passage.quote != text[run.start : run.end]:
        found.append("another text")
    # The surroundings may reach over file ends; what stands in the run's own file must be the text around it.
    head, tail = text[: run.start], text[run.end :]
    before, after = passage.before, passage.after
    if not (head.endswith(before) or (before.endswith(head.lstrip()) and passage.first.file < run.file)):
        found.append("what stands before is not the text before")
    if not (tail.startswith(after) or (after.startswith(tail.rstrip()) and passage.last.file > run.file)):
        found.append("what stands after is not the text after")
    if passage.first.file == run.file == passage.last.file:
        whole = text[passage.first.offset : passage.last.offset]
        if before + passage.quote + after != whole:
            found.append("before, quote and after are not one stretch")
    if (not passage.more_before) and passage.first.file == 0 and book.runs[0].first != passage.first:
        found.append("the book does not begin there")
    return found


async def press_many(club: TestClub, sha256: str, count: int, rng: random.Random) -> None:
    book = await club.club.dump(ROOM, sha256)
    chosen = list(book.runs) if len(book.runs) <= count else rng.sample(book.runs, count)
    for run in chosen:
        before, after = rng.choice((0, 0, 1, 3)), rng.choice((0, 0, 1, 3))
        passage = await club.club.passages.open_tag(ROOM, sha256, tag(run), before=before, after=after)
        assert faults(passage, book, run) == [], (book.format, run, passage)


async def test_every_run_of_a_small_book_in_every_format_opens_as_its_exact_text(
    club: TestClub, tmp_path: Path
) -> None:
    formats = set()
    for path in write_every_format(tmp_path):
        sha256 = await upload(club, path)
        book = await club.club.dump(ROOM, sha256)
        formats.add(book.format)
        assert len(book.runs) >= 9, path
        await press_many(club, sha256, len(book.runs), random.Random(3))
    assert formats == {"epub", "pdf", "txt", "md", "html", "fb2", "docx"}


@needs_shared
async def test_a_thousand_random_runs_of_real_books_in_every_format_open_as_their_exact_text(club: TestClub) -> None:
    assert SHARED is not None
    rng = random.Random(1_003)
    for name in REAL:
        sha256 = await upload(club, SHARED / "books" / name)
        await press_many(club, sha256, RUNS // len(REAL), rng)


async def test_a_note_shows_what_its_tag_shows_whatever_the_answer_said_about_it(tmp_path: Path) -> None:
    model = ScriptedModel(["The ink was red, “black” even [f1-0-42]. It was a quiet place [f1-101-131]."])
    async with open_club(tmp_path, model) as club:
        sha256 = await club.shelve(lantern_house())
        turn = await club.ask("What ink was the log kept in?")
        asked = len(model.requests)
        for note in turn.answer.footnotes:
            pressed = await club.club.passages.press(ROOM, note.id)
            assert pressed == await club.club.passages.open_tag(ROOM, sha256, note.tag)
            assert pressed.quote in lantern_house().files[note.span.file].text
    assert len(turn.answer.footnotes) == 2
    assert len(model.requests) == asked


async def test_nothing_but_an_exact_run_opens(club: TestClub) -> None:
    book = lantern_house()
    sha256 = await club.shelve(book)
    runs = set(book.runs)
    refused = 0
    for file in (*range(len(book.files)), 4, 99):
        for start in range(0, 125, 14):
            for end in range(start - 2, 125, 11):
                span = Span(file, start, end)
                if span in runs or end < 0:
                    continue
                with pytest.raises(Missing) as missing:
                    await club.club.passages.open_tag(ROOM, sha256, tag(span))
                assert missing.value.key == "not_a_run"
                refused += 1
    assert refused > 200


TABLES = (("piece", "text"), ("spine_file", "runs"), ("extraction", "structure"))


@pytest.mark.parametrize(("table", "column"), TABLES)
async def test_a_flipped_bit_anywhere_in_what_is_stored_is_a_refusal_and_never_another_text(
    table: str, column: str, tmp_path: Path
) -> None:
    """Bytes of every stored piece are changed one at a time behind the store's back; each must be noticed."""
    rng = random.Random(f"{table}.{column}")
    data = tmp_path / "data"
    small = next(path for path in write_every_format(tmp_path) if path.suffix == ".epub")
    async with open_club(data, ScriptedModel(refuse)) as club:
        sha256 = await upload(club, small)
        book = await club.club.dump(ROOM, sha256)
    noticed = flips = 0
    for _ in range(12):
        with sqlite3.connect(data / "loccit.db") as connection:
            rows = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
            row, value = rng.choice([row for row in rows if row[1]])
            changed = _flip(value, rng)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))
        connection.close()
        flips += 1
        async with open_club(data, ScriptedModel(refuse)) as club:
            refused = [run for run in book.runs if not await _opens(club, sha256, book, run)]
            noticed += bool(refused)
        with sqlite3.connect(data / "loccit.db") as connection:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        connection.close()
    assert noticed == flips


async def _opens(club: TestClub, sha256: str, book: ParsedBook, run: Span) -> bool:
    """True when the run opens as its true text, False when it is refused; anything else fails."""
    try:
        passage = await club.club.passages.open_tag(ROOM, sha256, tag(run))
    except BrokenPromise as broken:
        return broken.key != "text_damaged"  # another refusal counts as not noticed
    assert faults(passage, book, run) == []
    return True


def _flip(value: str | bytes, rng: random.Random) -> str | bytes:
    """One bit of one byte, such that the column still reads as what it is."""
    data = bytearray(value.encode("utf-8") if isinstance(value, str) else value)
    while True:
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        data[at] ^= 1 << bit
        if not isinstance(value, str):
            return bytes(data)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            data[at] ^= 1 << bit


async def test_a_model_that_is_down_changes_nothing_about_a_press(tmp_path: Path) -> None:
    model = ScriptedModel([Says("Ink [f1-0-42].")])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink was the log kept in?")
        before = await club.club.passages.press(ROOM, turn.answer.footnotes[0].id)
    async with open_club(tmp_path, ScriptedModel(refuse)) as club:
        assert await club.club.passages.press(ROOM, turn.answer.footnotes[0].id) == before
