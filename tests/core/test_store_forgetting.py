"""Deleting for good, on both databases: what goes, what stays, and what happens when somebody brings it back meanwhile."""

import asyncio
from datetime import timedelta
from pathlib import Path

from core.model import Forgotten, Usage
from core.store import Store
from tests.core.filled import fill, rows
from tests.core.stores import NOON, READER, ROOM, Place, book_of, question_of, sha, turn_of, upload_of

TODAY = "2026-03-01"
LATER = NOON + timedelta(hours=1)


def _write(path: Path, number: int) -> None:
    path.write_bytes(b"book %d" % number)


async def add(store: Store, channel: int, source: Path, number: int = 0) -> str:
    """A book on a shelf, with its original."""
    _write(source, number)
    sha256 = await store.originals.put(source)
    await store.books.save(sha256, book_of("Once upon a time. " * 40), NOON)
    await store.shelf.grant(channel, sha256, "1", READER.id, "tale.epub", NOON)
    return sha256


async def record(store: Store, key: str, sha256: str) -> None:
    await store.ledger.record(
        key * 64, purpose="summarise", stamp="s", model="m", book=sha256, result={}, usage=Usage(1, 1, 1), at=NOON
    )


async def test_a_channel_with_rows_in_every_table_leaves_an_empty_shell(place: Place, tmp_path: Path) -> None:
    await fill(place, tmp_path)
    store = await place.open()
    try:
        channel = await store.shelf.channel(ROOM, NOON)
        gone, books = await store.forgetting.channel(channel)
        assert (gone.books, gone.questions, gone.answers, gone.places) == (2, 3, 1, 1)
        for sha256 in books:
            await store.forgetting.book_text(sha256, LATER)
        again, none = await store.forgetting.channel(channel)
        assert (again, none) == (Forgotten(), ())
        # Work that was under way writes into the shell, and the next round clears it.
        await store.inbox.accept_question(question_of("late", "Who came late?"), channel, NOON)
        assert (await store.forgetting.leftovers(TODAY, NOON)).questions == 1
        assert await store.shelf.channel(ROOM, NOON) != channel
    finally:
        await store.close()
    found = await rows(place)
    left = {name for name, kept in found.items() if kept}
    assert left <= {"channel", "model", "event", "memo", "spent", "charge", "opened", "llm_call"} | _of_nobody(found)
    assert "Who came" not in str({name: kept for name, kept in found.items() if name != "event"})


def _of_nobody(found: dict[str, list[dict[str, object]]]) -> set[str]:
    """Tables none of whose rows has a channel, a reader or a book: nothing there is anybody's."""
    own = {"channel", "reader", "book", "extraction", "turn", "added_by"}
    return {name for name, kept in found.items() if kept and not own & kept[0].keys()}


async def test_a_reader_goes_from_every_table(place: Place, tmp_path: Path) -> None:
    await fill(place, tmp_path)
    store = await place.open()
    try:
        gone = await store.forgetting.reader("console", READER.id, "2026-03-02", NOON)
        assert (gone.questions, gone.answers, gone.places, gone.passages) == (3, 1, 1, 1)
        assert await store.forgetting.reader("console", READER.id, "2026-03-02", NOON) == Forgotten()
        assert await store.inbox.kept_questions("console") == ()
        assert await store.inbox.unfinished_questions("console") == ()
        assert (await store.turns.footnote("n1")) is not None
    finally:
        await store.close()
    found = await rows(place)
    found.pop("event")  # the platform's own words, emptied when they are dealt with
    holding = {name for name, kept in found.items() if READER.id in str(kept)}
    assert holding == set()
    assert "Who came" not in str(found)


async def test_a_book_two_channels_have_goes_when_the_second_lets_go(
    place: Place, store: Store, tmp_path: Path
) -> None:
    here = await store.shelf.channel(ROOM, NOON)
    there = await store.shelf.channel(type(ROOM)("console", "there"), NOON)
    sha256 = await add(store, here, tmp_path / "a")
    await store.shelf.grant(there, sha256, "1", READER.id, "tale.epub", NOON)
    await record(store, "a", sha256)
    assert (await store.forgetting.book(here, sha256)).books == 1
    assert await store.forgetting.book_text(sha256, LATER) == Forgotten()
    await store.shelf.withdraw(there, sha256, NOON)
    assert await store.forgetting.book_text(sha256, NOON) == Forgotten()  # it can still be brought back
    assert await store.forgetting.unwanted(LATER) == (sha256,)
    gone = await store.forgetting.book_text(sha256, LATER)
    assert (gone.books, gone.originals, gone.replies) == (1, 1, 1)
    assert await store.forgetting.unwanted(LATER) == ()
    assert await store.books.contents(sha256) is None
    assert not store.originals.path(sha256).exists()
    # The club's limit outlives the book: taking it away lifts nothing.
    assert place.raw("SELECT count(*) FROM rights") == [(1,)]


async def test_an_upload_under_way_keeps_its_bytes_and_the_book(store: Store, tmp_path: Path) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    sha256 = await add(store, channel, tmp_path / "a")
    await store.shelf.withdraw(channel, sha256, NOON)
    await store.inbox.accept_upload(upload_of("again"), channel, sha256, 6, LATER)
    assert await store.forgetting.book_text(sha256, LATER) == Forgotten()
    await store.forgetting.original(sha256)
    assert await store.originals.sound(sha256) is not None
    await store.shelf.grant(channel, sha256, "1", READER.id, "tale.epub", LATER)
    await store.inbox.finish_upload("again", LATER)
    assert await store.forgetting.book_text(sha256, LATER) == Forgotten()
    assert await store.books.contents(sha256) is not None


async def test_bytes_that_are_sent_while_they_are_deleted_are_there_afterwards(
    place: Place, store: Store, tmp_path: Path
) -> None:
    """Two processes: one sweeps, one takes the same file in. Either the book is kept, or its bytes are put again."""
    other = await place.open()
    try:
        channel = await store.shelf.channel(ROOM, NOON)
        for number in range(12):
            file = tmp_path / f"book{number}"
            sha256 = await add(store, channel, file, number)
            await store.shelf.withdraw(channel, sha256, NOON)

            async def take_in(name: str = sha256, source: Path = file, at: int = number) -> None:
                await asyncio.sleep(at * 0.001)
                await other.originals.put(source)
                await other.inbox.accept_upload(upload_of(f"u{at}"), channel, name, 6, LATER)
                if await other.originals.sound(name) is None:
                    await other.originals.put(source)

            await asyncio.gather(store.forgetting.book_text(sha256, LATER), take_in())
            assert await store.originals.sound(sha256) is not None
            assert await store.forgetting.book_text(sha256, LATER) == Forgotten()
    finally:
        await other.close()


async def test_what_a_summary_under_way_recorded_of_a_forgotten_book_goes_with_the_next_round(store: Store) -> None:
    await record(store, "b", sha(9))
    await store.ledger.record(
        "c" * 64, purpose="answer", stamp="s", model="m", book="", result={}, usage=Usage(1, 1, 1), at=NOON
    )
    assert (await store.forgetting.leftovers(TODAY, NOON)).replies == 1
    assert await store.ledger.find("b" * 64) is None
    assert await store.ledger.find("c" * 64) is not None


async def test_an_answer_stored_after_its_book_was_forgotten_loses_its_words(store: Store, tmp_path: Path) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.turns.save(turn_of("t1", ["n1"]), channel, None)
    assert (await store.forgetting.leftovers(TODAY, NOON - timedelta(days=1))).answers == 1
    [turn] = await store.turns.history(channel)
    assert (turn.answer.document, [note.id for note in turn.answer.footnotes]) == ((), ["n1"])


async def test_old_words_go_and_what_waits_stays(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    for event in ("done", "open", "kept"):
        await store.inbox.accept_question(question_of(event, f"Who came, {event}?"), channel, NOON)
    await store.turns.save(turn_of("t1", ["n1"], question="Who came, done?"), channel, "done")
    await store.inbox.keep_question("kept")
    assert await store.forgetting.old_words(NOON, NOON) == Forgotten()
    assert await store.forgetting.old_words(None, None) == Forgotten()
    assert await store.forgetting.old_words(LATER, None) == Forgotten(questions=1)
    assert await store.forgetting.old_words(LATER, LATER) == Forgotten(answers=1)
    assert await store.forgetting.old_words(LATER, LATER) == Forgotten()
    assert [row.question.text for row in await store.inbox.unfinished_questions("console")] == ["Who came, open?"]
    assert [row.question.text for row in await store.inbox.kept_questions("console")] == ["Who came, kept?"]
    [turn] = await store.turns.history(channel)
    assert (turn.question, turn.answer.document) == ("", ())
    assert await store.turns.footnote("n1") is not None
