"""What a club keeps together, on both databases: written, read back, counted once, gone with channel, reader and book."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from core.errors import ReaderError
from core.model import Cite, Letter, Paragraph, Span, Text
from core.store import (
    AppointmentRow,
    DiscussionRow,
    NominationRow,
    PollRow,
    QuotationRow,
    RemarkRow,
    Store,
    TopicRow,
)
from core.store.meetings import TABLES
from tests.core.stores import NOON, READER, ROOM, Place, book_of, minute, sha

DOCUMENT = (Paragraph((Text("Why green? 雨"), Cite(1))),)
TODAY = "2026-03-01"


def chosen(*choices: str) -> Callable[[tuple[str, ...]], Sequence[str]]:
    """A ballot of these, whatever stood there before."""
    return lambda _: choices


async def _filled(store: Store) -> int:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.books.save(sha(1), book_of("A tale of rain. " * 9), NOON)
    await store.shelf.grant(channel, sha(1), "1", READER.id, "tale.epub", NOON)
    row = DiscussionRow("d1", ROOM, READER.id, sha(1), "1", "finished 1", None, NOON)
    topics = [TopicRow(f"t{at}", "d1", at or None, DOCUMENT, (Span(0, 0, 9),), False) for at in range(4)]
    await store.discussions.begin(channel, row, topics)
    await store.discussions.remark(channel, "e1", RemarkRow("t1", READER.id, "Because of the 🐻", NOON))
    date = AppointmentRow("a1", ROOM, sha(1), "finished 1", "2026-03-05T19:00", "UTC", minute(60), READER.id)
    await store.appointments.add(channel, [date])
    await store.quotations.save(channel, QuotationRow("q1", sha(1), "1", Span(0, 0, 9), READER.id, NOON))
    await store.quotations.vote(channel, "q1", READER.id)
    await store.quotations.show(channel, "l1", sha(1), "1", Span(0, 0, 9))
    await store.quotations.opened(channel, "2026-W09", sha(1), "1", Span(0, 0, 9))
    for id in ("n1", "n2"):
        await store.polls.nominate(channel, NominationRow(id, f"Book {id}", READER.id), NOON)
    await store.polls.open(channel, PollRow("p1", ROOM, True, READER.id, NOON, minute(60), None))
    await store.polls.cast(channel, "p1", READER.id, chosen("n2", "n1"), NOON)
    return channel


def _counts(place: Place) -> dict[str, int]:
    return {table.name: place.raw(f"SELECT count(*) FROM {table.name}")[0][0] for table in TABLES}


async def test_a_discussion_is_read_back_exchanged_rewritten_and_posted_once(store: Store) -> None:
    channel = await _filled(store)
    found = await store.discussions.latest(channel, None, posted=False, reader=READER.id)
    assert found is not None
    assert (found.id, found.conversation, found.limit_words) == ("d1", ROOM, "finished 1")
    topics = await store.discussions.topics("d1")
    assert [topic.place for topic in topics] == [1, 2, 3, None]
    assert topics[0].document == DOCUMENT
    assert topics[0].runs == (Span(0, 0, 9),)
    assert await store.discussions.exchange("t2")
    assert await store.discussions.exchange("t2")  # pressed twice
    assert not await store.discussions.exchange("t3")  # none is left
    await store.discussions.rewrite("t1", (Paragraph((Text("Why?"),)),))
    await store.discussions.keep("t3", True)
    assert [(topic.id, topic.place, topic.kept) for topic in await store.discussions.topics("d1")] == [
        ("t2", 0, False),
        ("t1", 1, True),
        ("t0", 2, False),
        ("t3", 3, True),
    ]
    letters = [Letter(f"d1:{number}", ROOM, "discussion", NOON, {"number": number}) for number in range(2)]
    assert await store.discussions.post(channel, "d1", ["t1", "t3"], letters, minute(1))
    assert not await store.discussions.post(channel, "d1", ["t1"], [], minute(2))
    assert await store.letters.due(ROOM.platform, NOON) == tuple(letters)
    for late in (store.discussions.exchange("t1"), store.discussions.keep("t1", False)):
        with pytest.raises(ReaderError, match="discuss_posted"):
            await late
    assert [topic.id for topic in await store.discussions.topics("d1")] == ["t1", "t3"]
    assert await store.discussions.latest(channel, None, posted=False) is None
    assert not await store.discussions.remark(channel, "e1", RemarkRow("t1", "x", "again", NOON))
    assert [remark.words for remark in await store.discussions.remarks(["t1"])] == ["Because of the 🐻"]
    assert await store.discussions.topic(channel + 1, "t1") is None
    assert await store.discussions.get(channel + 1, "d1") is None


async def test_quotations_are_unique_liked_and_counted(store: Store) -> None:
    channel = await _filled(store)
    assert not await store.quotations.save(channel, QuotationRow("q2", sha(1), "1", Span(0, 0, 9), "other", minute(1)))
    assert await store.quotations.save(channel, QuotationRow("q3", sha(1), "1", Span(0, 9, 12), "other", minute(1)))
    assert [(row.id, row.votes) for row in await store.quotations.all(channel)] == [("q1", 1), ("q3", 0)]
    assert await store.quotations.vote(channel, "q1", READER.id) is False
    assert await store.quotations.vote(channel, "nothing", READER.id) is None
    assert await store.quotations.vote(channel + 1, "q1", READER.id) is None
    await store.quotations.opened(channel, "2026-W09", sha(1), "1", Span(0, 0, 9))
    assert [row.presses for row in await store.quotations.most_opened(channel, ("2026-W09",))] == [2]
    await store.quotations.forget_opened(channel, "2026-W10")
    assert await store.quotations.most_opened(channel, ("2026-W09",)) == ()
    await store.quotations.show(channel, "l1", sha(1), "1", Span(0, 9, 12))  # a letter brings one
    assert await store.quotations.shown(channel, sha(1), "1") == {Span(0, 0, 9): 1}


async def test_a_ballot_after_the_closing_does_not_count(store: Store) -> None:
    channel = await _filled(store)
    assert await store.polls.cast(channel, "p1", "b", chosen("n1"), minute(59))
    assert await store.polls.cast(channel, "p1", "c", chosen("n1"), minute(60)) is None
    assert await store.polls.cast(channel + 1, "p1", "c", chosen("n1"), minute(1)) is None
    await store.polls.close("p1", minute(30))
    assert await store.polls.cast(channel, "p1", "b", chosen("n2"), minute(31)) is None
    assert await store.polls.ballots("p1") == {READER.id: ("n2", "n1"), "b": ("n1",)}
    assert not await store.polls.reopen(channel, "p1", minute(31), minute(32))
    assert await store.polls.reopen(channel, "p1", minute(20), minute(32))
    assert await store.polls.cast(channel, "p1", "b", chosen(), minute(90)) == ()
    assert set(await store.polls.ballots("p1")) == {READER.id}


async def test_dates_to_come_are_listed_moved_and_removed(store: Store) -> None:
    channel = await _filled(store)
    assert [row.id for row in await store.appointments.of(channel, NOON)] == ["a1"]
    await store.appointments.move("a1", "2026-03-06T19:00", "UTC", minute(90))
    assert (await store.appointments.of(channel, minute(89)))[0].local == "2026-03-06T19:00"
    assert await store.appointments.of(channel, minute(90)) == ()
    assert await store.appointments.remove(channel + 1, ["a1"]) == 0
    assert await store.appointments.remove(channel, ["a1"]) == 1


@pytest.mark.parametrize("what", ["channel", "reader", "book"])
async def test_all_of_it_goes_with_channel_reader_or_book(store: Store, place: Place, what: str) -> None:
    channel = await _filled(store)
    assert all(_counts(place).values())
    match what:
        case "channel":
            await store.forgetting.channel(channel)
            assert not any(_counts(place).values())
        case "reader":
            await store.discussions.post(channel, "d1", ["t1"], [], NOON)  # one that nobody else has seen would go
            await store.forgetting.reader(ROOM.platform, READER.id, TODAY, NOON)
            left = _counts(place)
            assert left["remark"] == left["approval"] == left["ballot"] == 0
            assert left["discussion"] == left["quotation"] == left["poll"] == 1
            named = [table.name for table in TABLES if "reader" in table.c]
            assert not [name for name in named for (reader,) in place.raw(f"SELECT reader FROM {name}") if reader]
        case _:
            await store.forgetting.book(channel, sha(1))
            gone = {"discussion", "topic", "remark", "appointment", "quotation", "approval", "daily", "popular"}
            assert {name for name, count in _counts(place).items() if not count} == gone
            assert await store.forgetting.book_text(sha(1), NOON + timedelta(days=1))


async def test_a_quotation_that_is_taken_down_while_others_like_it_is_gone_and_nobody_stumbles(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    for number in range(10):
        id = f"w{number}"
        await store.quotations.save(channel, QuotationRow(id, sha(1), "1", Span(0, number, number + 9), "a", NOON))
        likes = [store.quotations.vote(channel, id, f"reader {reader}") for reader in range(4)]
        await asyncio.gather(*likes[:2], store.quotations.remove(channel, id), *likes[2:])
    assert await store.quotations.all(channel) == ()
