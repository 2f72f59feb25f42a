"""Books come back exactly as they went in, or not at all."""

import asyncio
import random
from dataclasses import replace

import pytest

from core.errors import BrokenPromise, Missing
from core.model import ParsedBook, Segment, Span
from core.store import Store, Summary
from core.store.structure import PIECE
from tests.core.stores import NOON, ROOM, Place, book_of, minute, sha

LONG = "".join(chr(0x61 + n % 26) if n % 7 else " " for n in range(PIECE * 3 + 5))


async def test_a_book_comes_back_as_it_was_saved(store: Store) -> None:
    book = book_of("It was a bear.", "", LONG, "Ünïcode 熊が来た 🐻 \u202e", title="Tale 🐻")
    await store.books.save(sha(1), book, NOON)
    assert await store.books.parsed(sha(1), "1") == book
    assert await store.books.cover(sha(1), "1") == book.cover
    assert await store.books.segments(sha(1), "1") == book.segments


async def test_a_book_is_written_only_after_what_its_caller_waits_for(store: Store) -> None:
    async def fails() -> None:
        raise Missing("nothing")

    async def looks() -> None:
        assert await store.books.contents(sha(1)) is None

    with pytest.raises(Missing):
        await store.books.save(sha(1), book_of("It was a bear."), NOON, after=fails)
    await store.books.save(sha(1), book_of("It was a bear."), NOON, after=looks)
    assert await store.books.contents(sha(1)) is not None


async def test_contents_hold_the_structure_without_the_text(store: Store) -> None:
    book = book_of("It was a bear.", "", "Then it left.")
    await store.books.save(sha(1), book, NOON)
    contents = await store.books.contents(sha(1))
    assert contents is not None
    assert (contents.lengths, contents.labels, contents.joins) == ((14, 0, 13), ("p0", "p1", "p2"), (" ", None, None))
    assert (contents.toc, contents.chapters, contents.pages) == (book.toc, book.chapters, book.pages)
    assert contents.blind == (1,)
    assert await store.books.contents(sha(2)) is None
    assert await store.books.contents(sha(1), "other") is None


async def test_the_latest_text_version_is_meant_when_none_is_named(store: Store) -> None:
    await store.books.save(sha(1), book_of("old text", text_version="9"), NOON)
    await store.books.save(sha(1), book_of("new text", text_version="10"), minute(1))
    contents = await store.books.contents(sha(1))
    assert contents is not None
    assert contents.text_version == "10"
    assert await store.books.text(sha(1), "9", Span(0, 0, 3)) == "old"
    assert await store.books.text(sha(1), "10", Span(0, 0, 3)) == "new"


async def test_a_thousand_random_spans_read_back_exactly(store: Store) -> None:
    rng = random.Random(7)
    alphabet = "abc \n.é熊🐻\u0301"
    texts = ["".join(rng.choices(alphabet, k=size)) for size in (1, PIECE - 1, PIECE, PIECE + 1, PIECE * 4, 50)]
    await store.books.save(sha(1), book_of(*texts), NOON)

    async def read(count: int) -> None:
        for _ in range(count):
            file = rng.randrange(len(texts))
            start = rng.randrange(len(texts[file]))
            length = rng.choice([1, 40, 700, PIECE, PIECE * 2])
            end = min(len(texts[file]), start + length)
            assert await store.books.text(sha(1), "1", Span(file, start, end)) == texts[file][start:end]

    await asyncio.gather(*(read(125) for _ in range(8)))


async def test_spans_at_the_seams_between_pieces_read_back_exactly(store: Store) -> None:
    await store.books.save(sha(1), book_of(LONG), NOON)
    for seam in (PIECE, PIECE * 2, PIECE * 3, len(LONG)):
        for start, end in ((seam - 1, seam), (seam - 2, min(seam + 2, len(LONG))), (0, seam)):
            assert await store.books.text(sha(1), "1", Span(0, start, end)) == LONG[start:end]
    assert await store.books.file_text(sha(1), "1", 0) == LONG


async def test_a_file_without_text_has_no_runs_and_an_empty_text(store: Store) -> None:
    await store.books.save(sha(1), book_of("text", ""), NOON)
    assert await store.books.file_text(sha(1), "1", 1) == ""
    assert await store.books.runs(sha(1), "1", 1) == ()


async def test_runs_come_back_in_reading_order(store: Store) -> None:
    book = book_of("first file with several runs in it, more than one", "second file", run=7)
    await store.books.save(sha(1), book, NOON)
    for file in (0, 1):
        assert await store.books.runs(sha(1), "1", file) == tuple(run for run in book.runs if run.file == file)


async def test_saving_the_same_book_again_changes_nothing(store: Store) -> None:
    await store.books.save(sha(1), book_of("the first text"), NOON)
    await store.books.save(sha(1), book_of("another text"), minute(1))
    assert await store.books.file_text(sha(1), "1", 0) == "the first text"


async def test_the_same_book_saved_by_many_at_once_is_stored_once(place: Place, store: Store) -> None:
    other = await place.open()
    try:
        saves = [each.books.save(sha(1), book_of(LONG), NOON) for each in [store, other] * 6]
        await asyncio.gather(*saves)
    finally:
        await other.close()
    assert place.raw("SELECT count(*) FROM piece") == [(4,)]
    assert await store.books.file_text(sha(1), "1", 0) == LONG


async def test_what_is_not_stored_is_missing(store: Store) -> None:
    await store.books.save(sha(1), book_of("text"), NOON)
    for sha256, version in ((sha(2), "1"), (sha(1), "2")):
        reads = (
            store.books.text(sha256, version, Span(0, 0, 1)),
            store.books.file_text(sha256, version, 0),
            store.books.runs(sha256, version, 0),
            store.books.segments(sha256, version),
            store.books.parsed(sha256, version),
            store.books.cover(sha256, version),
        )
        for read in reads:
            with pytest.raises(Missing, match="book_not_stored"):
                await read


async def test_a_span_past_the_end_of_its_file_is_refused_not_shortened(store: Store) -> None:
    await store.books.save(sha(1), book_of("short", LONG), NOON)
    for span in (
        Span(0, 0, 6),
        Span(0, 5, 6),
        Span(1, 0, len(LONG) + 1),
        Span(1, PIECE * 9, PIECE * 9 + 1),
        Span(2, 0, 1),
    ):
        with pytest.raises(BrokenPromise, match="text_damaged"):
            await store.books.text(sha(1), "1", span)


def _flipped(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


async def test_one_flipped_bit_of_text_is_refused_and_never_shown(place: Place, store: Store) -> None:
    await store.books.save(sha(1), book_of(LONG), NOON)
    ((data,),) = place.raw("SELECT text FROM piece WHERE number = 1")
    place.raw("UPDATE piece SET text = ? WHERE number = 1", _flipped(bytes(data)))
    inside, across = Span(0, PIECE + 9, PIECE + 19), Span(0, PIECE - 5, PIECE + 5)
    reads = [store.books.text(sha(1), "1", span) for span in (inside, across)]
    for read in (*reads, store.books.file_text(sha(1), "1", 0), store.books.parsed(sha(1), "1")):
        with pytest.raises(BrokenPromise, match="text_damaged"):
            await read
    assert await store.books.text(sha(1), "1", Span(0, 0, 9)) == LONG[:9]


async def test_a_piece_that_turns_up_in_another_place_is_refused(place: Place, store: Store) -> None:
    await store.books.save(sha(1), book_of(LONG), NOON)
    place.raw("DELETE FROM piece WHERE number = 1")
    place.raw("UPDATE piece SET number = 1 WHERE number = 2")
    with pytest.raises(BrokenPromise, match="text_damaged"):
        await store.books.text(sha(1), "1", Span(0, PIECE + 9, PIECE + 19))
    with pytest.raises(BrokenPromise, match="text_damaged"):
        await store.books.file_text(sha(1), "1", 0)


@pytest.mark.parametrize("damage", ["runs", "length"])
async def test_damaged_runs_are_refused(place: Place, store: Store, damage: str) -> None:
    await store.books.save(sha(1), book_of("some text that has runs"), NOON)
    if damage == "runs":
        ((data,),) = place.raw("SELECT runs FROM spine_file")
        place.raw("UPDATE spine_file SET runs = ?", _flipped(bytes(data)))
    else:
        place.raw("UPDATE spine_file SET length = length + 1")
    with pytest.raises(BrokenPromise, match="text_damaged"):
        await store.books.runs(sha(1), "1", 0)


async def test_a_damaged_structure_is_refused(place: Place, store: Store) -> None:
    await store.books.save(sha(1), book_of("some text"), NOON)
    ((data,),) = place.raw("SELECT structure FROM extraction")
    place.raw("UPDATE extraction SET structure = ?", bytes(data).replace(b"[9]", b"[8]"))
    with pytest.raises(BrokenPromise, match="text_damaged"):
        await store.books.contents(sha(1))


async def test_a_summary_is_kept_with_its_segment(place: Place, store: Store) -> None:
    book = book_of("one", "two")
    await store.books.save(sha(1), book, NOON)
    await store.books.save_summaries(sha(1), "1", {1: Summary("It says two [f1-0-3].", "p1 m1")})
    await store.books.save_summaries(sha(1), "1", {1: Summary("It says \0two.", "p2 m1", ("short",))})
    first, second = await store.books.segments(sha(1), "1")
    assert first.summary is None
    assert second == replace(book.segments[1], summary="It says \ufffdtwo.", stamp="p2 m1", flags=("short",))
    assert (await store.books.parsed(sha(1), "1")).segments == (first, second)
    place.raw("UPDATE segment SET summary = 'It says three.' WHERE sequence = 1")
    with pytest.raises(BrokenPromise, match="text_damaged"):
        await store.books.segments(sha(1), "1")


async def test_a_summary_for_a_segment_that_is_not_there_is_refused(store: Store) -> None:
    await store.books.save(sha(1), book_of("one"), NOON)
    with pytest.raises(BrokenPromise):
        await store.books.save_summaries(sha(1), "1", {0: Summary("words", "p1"), 7: Summary("words", "p1")})
    with pytest.raises(Missing):
        await store.books.save_summaries(sha(1), "2", {0: Summary("words", "p1")})
    assert (await store.books.segments(sha(1), "1"))[0].summary is None


async def test_what_stands_in_fills_gaps_and_replaces_nothing(store: Store) -> None:
    await store.books.save(sha(1), book_of("one", "two"), NOON)
    await store.books.save_summaries(sha(1), "1", {0: Summary("written", "summarise@1 m")})
    standing = {at: Summary(f"extract {at}", "extractive@1") for at in (0, 1)}
    await store.books.save_summaries(sha(1), "1", standing, fill=True)
    assert [segment.summary for segment in await store.books.segments(sha(1), "1")] == ["written", "extract 1"]


async def test_books_on_a_shelf_wait_until_a_model_was_asked_about_every_segment(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    for number in (1, 2, 3):
        await store.books.save(sha(number), book_of("one", "two"), NOON)
    for number in (1, 2):
        await store.shelf.grant(channel, sha(number), "1", "ann", "tale.epub", NOON)
    await store.books.save_summaries(sha(1), "1", {0: Summary("written", "summarise@1 m")})
    await store.books.save_summaries(sha(1), "1", {1: Summary("extract", "extractive@1")})
    assert await store.books.unsummarised() == ((sha(1), "1"), (sha(2), "1"))
    await store.books.save_summaries(sha(1), "1", {1: Summary("extract", "extractive@1 after 2", ("refused",))})
    assert await store.books.unsummarised() == ((sha(2), "1"),)
    await store.shelf.withdraw(channel, sha(2), NOON)
    assert await store.books.unsummarised() == ()


async def test_titles_with_letters_that_a_database_refuses_are_stored(store: Store) -> None:
    book = book_of("text", title="A\0 \ud800 tale")
    segment = Segment(0, "Part\0", book.segments[0].start, book.segments[0].end)
    await store.books.save(sha(1), replace(book, segments=(segment,)), NOON)
    back = await store.books.parsed(sha(1), "1")
    assert back.title == "A\ufffd \ufffd tale"
    assert back.segments[0].title == "Part\ufffd"


@pytest.mark.parametrize("runs", [(Span(0, 0, 9),), (Span(0, 2, 4), Span(0, 0, 2)), (Span(0, 2, 2),)])
async def test_runs_that_do_not_fit_their_file_are_not_stored(store: Store, runs: tuple[Span, ...]) -> None:
    book: ParsedBook = replace(book_of("text"), runs=runs)
    with pytest.raises(ValueError, match="does not fit"):
        await store.books.save(sha(1), book, NOON)
    assert await store.books.contents(sha(1)) is None
