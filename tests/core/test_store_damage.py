"""One flipped bit in anything that is stored of a book is a refusal, never another text. Every column in turn."""

import random
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from core.errors import BrokenPromise
from core.model import Accepted, Refused, Span, Upload
from core.ranking import BrokenTable, RankTable
from core.retrieval import Ranks, Source
from core.store import Store, Summary
from tests.books import pdfs
from tests.clubs import MEMBER, ROOM, open_club
from tests.core.stores import NOON, Place, book_of, sha

TEXTS = ("The bear went over the mountain. " * 900, "", "Grüße, 雨 and a “bear” 🐻. " * 20)
BOOK = book_of(*TEXTS)
VERSION = BOOK.text_version
QUESTION = "Where did the bear go over?"

# What refuses to be another book: everything that is hashed. The sums stand beside the data and are flipped as well.
COLUMNS = [
    ("extraction", "structure"),
    ("extraction", "structure_hash"),
    ("piece", "text"),
    ("piece", "hash"),
    ("piece", "number"),
    ("spine_file", "length"),
    ("spine_file", "runs"),
    ("spine_file", "runs_hash"),
    ("segment", "title"),
    ("segment", "summary"),
    ("segment", "start_file"),
    ("segment", "start_offset"),
    ("segment", "end_file"),
    ("segment", "end_offset"),
    ("segment", "hash"),
]


def flipped(value: Any, rng: random.Random) -> Any:
    if isinstance(value, int):
        return value ^ (1 << rng.randrange(8))
    if isinstance(value, str):
        at = rng.randrange(len(value))
        return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]
    data = bytearray(value)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


async def everything(store: Store) -> dict[str, Any]:
    """Each way of reading a book: what it gives, or that it refuses."""
    books = store.books
    reads: dict[str, Awaitable[Any]] = {
        "contents": books.contents(sha(1), VERSION),
        "segments": books.segments(sha(1), VERSION),
        "parsed": books.parsed(sha(1), VERSION),
    }
    for file, text in enumerate(TEXTS):
        reads[f"file {file}"] = books.file_text(sha(1), VERSION, file)
        reads[f"runs {file}"] = books.runs(sha(1), VERSION, file)
        if text:
            reads[f"span {file}"] = books.text(sha(1), VERSION, Span(file, len(text) // 2, len(text) // 2 + 30))
            reads[f"last {file}"] = books.text(sha(1), VERSION, Span(file, len(text) - 9, len(text)))
    found: dict[str, Any] = {}
    for name, read in reads.items():
        try:
            found[name] = await read
        except BrokenPromise:
            found[name] = None
    return found


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=[f"{table}.{column}" for table, column in COLUMNS])
async def test_a_flipped_bit_is_refused_wherever_it_is_read_and_nothing_else_is(
    table: str, column: str, store: Store, place: Place
) -> None:
    rng = random.Random(f"{table}.{column}")
    await store.books.save(sha(1), BOOK, NOON)
    made = {0: Summary("A summary [f0-0-40].", "s@1 m"), 1: Summary("Another.", "s@1 m")}
    await store.books.save_summaries(sha(1), VERSION, made)
    sound = await everything(store)
    key = {"extraction": ("id",), "piece": ("file", "number"), "spine_file": ("file",), "segment": ("sequence",)}[table]
    which = " AND ".join(f"{name} = ?" for name in key)
    rows = place.raw(f"SELECT {', '.join(key)}, {column} FROM {table}")
    rows = [row for row in rows if row[-1] not in ("", b"", None)]
    assert rows
    for *names, value in rows:
        broken = flipped(value, rng)
        update = f"UPDATE {table} SET {column} = ? WHERE {which}"
        place.raw(update, broken, *names)
        found = await everything(store)
        refused = [name for name, got in found.items() if got is None]
        assert refused, (names, value, broken)
        assert {name: got for name, got in found.items() if got is not None and got != sound[name]} == {}
        back = (
            names
            if column not in key
            else [broken if name == column else old for name, old in zip(key, names, strict=True)]
        )
        place.raw(update, value, *back)
    assert await everything(store) == sound


async def test_an_upload_whose_bytes_changed_before_it_was_read_becomes_no_book(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "tale.txt"
    file.write_text("The bear went over the mountain.\n" * 40, encoding="utf-8")
    async with open_club(data) as club:
        steps = club.club.add_book(Upload("one", ROOM, MEMBER, file, file.name))
        assert isinstance(await anext(steps), Accepted)
        await steps.aclose()
        [original] = [path for path in (data / "originals").rglob("*") if path.is_file()]
    original.write_bytes(original.read_bytes().replace(b"bear", b"boar", 1))
    async with open_club(data) as club:
        [*_, refused] = [step async for step in club.club.resume("console")]
        assert isinstance(refused, Refused)
        assert refused.notice.key == "original_damaged"
        assert await club.club.shelf(ROOM) == ()


async def test_a_page_of_a_damaged_original_is_not_drawn_and_its_text_still_opens(tmp_path: Path) -> None:
    sheet = pdfs.Sheet()
    sheet.page()
    sheet.line("The keeper counted seven ships before dawn.")
    sheet.document.save(tmp_path / "log.pdf")
    async with open_club(tmp_path / "data") as club:
        async for _ in club.club.add_book(Upload("one", ROOM, MEMBER, tmp_path / "log.pdf", "log.pdf")):
            pass
        note = (await club.ask("How many ships?")).answer.footnotes[0]
        [original] = [path for path in (tmp_path / "data" / "originals").rglob("*") if path.is_file()]
        sound = original.read_bytes()
        original.write_bytes(sound[:-9] + bytes([sound[-9] ^ 4]) + sound[-8:])
        assert await club.club.passages.picture(ROOM, note.id) == ()
        assert "seven ships" in (await club.club.passages.press(ROOM, note.id)).quote
        original.write_bytes(sound)
        assert await club.club.passages.picture(ROOM, note.id) != ()


async def test_a_flipped_bit_in_a_rank_table_changes_no_text_and_no_place(tmp_path: Path, sqlite_store: Store) -> None:
    """Wherever it lies, what is found are true runs; a table that can tell that it is damaged is built again."""
    store, rng = sqlite_store, random.Random(7)
    await store.books.save(sha(1), BOOK, NOON)
    channel = await store.shelf.channel(ROOM, NOON)
    await store.shelf.grant(channel, sha(1), VERSION, "r", "tale", NOON)
    source = await Source.open(store, channel, sha(1))
    ranks = Ranks(store, tmp_path)
    true_runs = set(BOOK.runs)
    sound = await ranks.search(source, QUESTION)
    assert sound.windows
    path = ranks.path(sha(1), VERSION)
    data = path.read_bytes()
    told = 0
    for _ in range(60):
        await ranks.forget(sha(1), VERSION)
        broken = bytearray(data)
        broken[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        try:
            RankTable.open(path).close()
        except BrokenTable:
            told += 1
        found = await ranks.search(source, QUESTION)
        for window in found.windows:
            assert set(window.runs) <= true_runs
        for run in found.windows[0].runs[:2] if found.windows else ():
            assert await source.text(run) == TEXTS[run.file][run.start : run.end]
    assert told
    ranks.close()
