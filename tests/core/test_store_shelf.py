"""Who may read what: rights are rows of a channel, and nothing else opens a book."""

import asyncio

import pytest

from core.errors import Missing
from core.model import Conversation
from core.store import Store
from tests.core.stores import NOON, ROOM, Place, book_of, minute, sha

OTHER = Conversation("console", "elsewhere")


async def _stored(store: Store, *numbers: int) -> None:
    for number in numbers:
        await store.books.save(sha(number), book_of("some text", title=f"Tale {number}"), NOON)


async def _grant(store: Store, channel: int, number: int, at: int, version: str = "1") -> None:
    await store.shelf.grant(channel, sha(number), version, "reader-1", "tale.epub", minute(at))


async def _shelf(store: Store, channel: int) -> list[str]:
    return [card.sha256 for card in await store.shelf.shelf(channel)]


async def test_a_channel_keeps_its_number_and_threads_share_it(store: Store) -> None:
    first = await store.shelf.channel(ROOM, NOON)
    assert await store.shelf.channel(Conversation("console", "local", "thread-9"), minute(1)) == first
    assert await store.shelf.channel(OTHER, NOON) != first
    assert await store.shelf.channel(Conversation("telegram", "local"), NOON) != first


async def test_a_channel_met_by_many_at_once_is_one_channel(place: Place, store: Store) -> None:
    numbers = await asyncio.gather(*(store.shelf.channel(ROOM, NOON) for _ in range(50)))
    assert len(set(numbers)) == 1
    assert place.raw("SELECT count(*) FROM channel") == [(1,)]


async def test_what_was_begun_under_the_id_a_chat_had_before_finds_it_under_the_new_one(
    place: Place, store: Store
) -> None:
    old, new, newest = (Conversation("telegram", name) for name in ("-1", "-100", "-200"))
    channel = await store.shelf.channel(old, NOON)
    assert not await store.shelf.move("telegram", "unknown", "-300")
    looking = [store.shelf.channel(old, NOON) for _ in range(50)]
    _, *found = await asyncio.gather(store.shelf.move("telegram", "-1", "-100"), *looking)
    assert set(found) == {channel}
    await store.shelf.move("telegram", "-100", "-200")
    assert {await store.shelf.channel(one, NOON) for one in (old, new, newest)} == {channel}
    assert place.raw("SELECT external FROM channel") == [("-200",)]


async def test_the_shelf_shows_books_in_the_order_added(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1, 2, 3)
    for at, number in enumerate((2, 3, 1)):
        await _grant(store, channel, number, at)
    cards = await store.shelf.shelf(channel)
    assert [card.title for card in cards] == ["Tale 2", "Tale 3", "Tale 1"]
    book = book_of("some text")
    card = cards[0]
    assert (card.text_version, card.authors, card.language, card.format) == ("1", book.authors, "en", "epub")
    assert (card.characters, card.files, card.chapters) == (9, 1, 1)
    assert (card.warnings, card.added_at, card.current) == (book.warnings, minute(0), False)
    assert await store.shelf.card(channel, sha(2)) == card


async def test_a_content_hash_never_grants_access(store: Store) -> None:
    """The other channel's book is stored, its hash is known, and still nothing of it can be reached from here."""
    theirs, ours = await store.shelf.channel(OTHER, NOON), await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1)
    await _grant(store, theirs, 1, 0)
    await store.books.save(sha(1), book_of("some text"), NOON)
    assert await store.shelf.permitted(theirs, sha(1))
    assert not await store.shelf.permitted(ours, sha(1))
    assert await store.shelf.card(ours, sha(1)) is None
    assert await store.shelf.shelf(ours) == ()
    assert await store.shelf.find(ours, sha(1)[:8]) == ()
    assert not await store.shelf.withdraw(ours, sha(1), NOON)
    with pytest.raises(Missing, match="book_not_on_shelf"):
        await store.shelf.use(ours, sha(1))
    assert await store.shelf.current(ours) is None
    assert await store.shelf.permitted(theirs, sha(1))


async def test_only_a_stored_book_can_be_granted(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1)
    for number, version in ((2, "1"), (1, "2")):
        with pytest.raises(Missing, match="book_not_stored"):
            await _grant(store, channel, number, 0, version)
    assert await _shelf(store, channel) == []


async def test_granting_again_keeps_the_place_and_takes_the_new_text_version(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1, 2)
    await _grant(store, channel, 1, 0)
    await _grant(store, channel, 2, 1)
    await store.books.save(sha(1), book_of("some text", text_version="2"), minute(2))
    await _grant(store, channel, 1, 3, "2")
    first, second = await store.shelf.shelf(channel)
    assert (first.sha256, first.text_version, first.added_at) == (sha(1), "2", minute(0))
    assert second.sha256 == sha(2)


async def test_a_withdrawn_book_is_gone_at_once_and_the_time_is_kept(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1, 2)
    await _grant(store, channel, 1, 0)
    await _grant(store, channel, 2, 1)
    assert await store.shelf.removed_at(channel, sha(1)) is None
    assert await store.shelf.withdraw(channel, sha(1), minute(5))
    assert not await store.shelf.withdraw(channel, sha(1), minute(6))
    assert not await store.shelf.permitted(channel, sha(1))
    assert await _shelf(store, channel) == [sha(2)]
    assert await store.shelf.removed_at(channel, sha(1)) == minute(5)


async def test_the_last_withdrawal_can_be_undone_while_it_is_recent(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1, 2, 3)
    for number in (1, 2, 3):
        await _grant(store, channel, number, number)
    await store.shelf.withdraw(channel, sha(1), minute(10))
    await store.shelf.withdraw(channel, sha(2), minute(11))
    assert await store.shelf.restore(channel, minute(12)) is None
    assert await store.shelf.restore(channel, minute(11)) == sha(2)
    assert await store.shelf.restore(channel, minute(11)) is None
    assert await store.shelf.restore(channel, minute(0)) == sha(1)
    assert await _shelf(store, channel) == [sha(1), sha(2), sha(3)]


async def test_a_book_added_again_after_it_was_withdrawn_comes_last(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1, 2)
    await _grant(store, channel, 1, 0)
    await _grant(store, channel, 2, 1)
    await store.shelf.withdraw(channel, sha(1), minute(2))
    await _grant(store, channel, 1, 3)
    assert await _shelf(store, channel) == [sha(2), sha(1)]
    assert await store.shelf.restore(channel, minute(0)) is None


async def test_the_current_book_is_the_one_chosen_while_it_is_on_the_shelf(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1, 2)
    await _grant(store, channel, 1, 0)
    await _grant(store, channel, 2, 1)
    assert await store.shelf.current(channel) is None
    await store.shelf.use(channel, sha(2))
    assert [card.current for card in await store.shelf.shelf(channel)] == [False, True]
    with pytest.raises(Missing):
        await store.shelf.use(channel, sha(3))
    assert await store.shelf.current(channel) == sha(2)
    await store.shelf.withdraw(channel, sha(2), minute(2))
    assert await store.shelf.current(channel) is None
    await store.shelf.restore(channel, minute(0))
    assert await store.shelf.current(channel) == sha(2)
    await store.shelf.withdraw(channel, sha(2), minute(3))
    await store.shelf.use(channel, sha(1))
    await store.shelf.restore(channel, minute(0))
    assert await store.shelf.current(channel) == sha(1)
    await store.shelf.use(channel, None)
    assert await store.shelf.current(channel) is None


async def test_books_are_found_by_the_beginning_of_their_hash_within_the_channel(store: Store) -> None:
    channel, other = await store.shelf.channel(ROOM, NOON), await store.shelf.channel(OTHER, NOON)
    ids = ["ab" + "0" * 62, "ab" + "1" * 62, "cd" + "0" * 62]
    for at, sha256 in enumerate(ids):
        await store.books.save(sha256, book_of("text"), NOON)
        await store.shelf.grant(channel, sha256, "1", "r", "f", minute(at))
    await store.shelf.grant(other, ids[2], "1", "r", "f", NOON)
    assert await store.shelf.find(channel, "AB") == (ids[0], ids[1])
    assert await store.shelf.find(channel, "ab1") == (ids[1],)
    assert await store.shelf.find(channel, "a%") == ()
    assert await store.shelf.find(other, "ab") == ()
    await store.shelf.withdraw(channel, ids[0], minute(9))
    assert await store.shelf.find(channel, "ab") == (ids[1],)


async def test_settings_are_merged_by_name(store: Store) -> None:
    channel, other = await store.shelf.channel(ROOM, NOON), await store.shelf.channel(OTHER, NOON)
    assert await store.shelf.settings(channel) == {}
    await store.shelf.change_settings(channel, {"locale": "es", "limits": {sha(1): "in 3"}})
    assert await store.shelf.change_settings(channel, {"locale": None, "spoilers": True}) == {
        "limits": {sha(1): "in 3"},
        "spoilers": True,
    }
    assert await store.shelf.settings(channel) == {"limits": {sha(1): "in 3"}, "spoilers": True}
    assert await store.shelf.settings(other) == {}


async def test_five_hundred_changes_at_once_from_two_processes_worth_of_stores_all_hold(
    place: Place, store: Store
) -> None:
    """SQLAlchemy's defaults on aiosqlite lost 433 of 500 such changes without a single error."""
    channel = await store.shelf.channel(ROOM, NOON)
    second = await place.open()
    try:
        changes = [
            (store, second)[number % 2].shelf.change_settings(channel, {f"name-{number}": number})
            for number in range(500)
        ]
        await asyncio.gather(*changes)
    finally:
        await second.close()
    assert await store.shelf.settings(channel) == {f"name-{number}": number for number in range(500)}


async def test_everything_on_the_shelf_survives_a_restart(place: Place) -> None:
    store = await place.open()
    channel = await store.shelf.channel(ROOM, NOON)
    await _stored(store, 1)
    await _grant(store, channel, 1, 0)
    await store.shelf.use(channel, sha(1))
    before = await store.shelf.shelf(channel)
    await store.close()
    again = await place.open()
    try:
        assert await again.shelf.channel(ROOM, minute(1)) == channel
        assert await again.shelf.shelf(channel) == before
        assert before[0].current
    finally:
        await again.close()
