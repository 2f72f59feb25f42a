"""How far channels and readers have come, as it is kept: per book, with who changed it, one step back."""

import pytest

from core.errors import Missing
from core.model import Conversation
from core.store import Store
from tests.core.stores import NOON, ROOM, book_of, minute, sha

OTHER = Conversation("console", "elsewhere")


async def _shelved(store: Store, conversation: Conversation = ROOM) -> int:
    channel = await store.shelf.channel(conversation, NOON)
    await store.books.save(sha(1), book_of("some text"), NOON)
    await store.shelf.grant(channel, sha(1), "1", "reader-1", "tale.epub", NOON)
    return channel


async def test_a_limit_is_kept_with_who_set_it_and_can_be_taken_back_once(store: Store) -> None:
    channel, other = await _shelved(store), await _shelved(store, OTHER)
    assert await store.progress.limit_words(channel, sha(1)) is None
    await store.progress.set_limit(channel, sha(1), "finished 1", "ann", minute(1))
    await store.progress.set_limit(channel, sha(1), "finished 2", "bo", minute(5))
    assert await store.progress.changed_by(channel, sha(1)) == ("bo", minute(5))
    assert not await store.progress.take_back(channel, sha(1), minute(6))
    assert await store.progress.take_back(channel, sha(1), minute(5))
    assert not await store.progress.take_back(channel, sha(1), minute(0))
    assert await store.progress.limit_words(channel, sha(1)) == "finished 1"
    assert await store.progress.changed_by(channel, sha(1)) is None
    assert await store.progress.limit_words(other, sha(1)) is None
    card = await store.shelf.card(channel, sha(1))
    assert card is not None
    assert card.limit_words == "finished 1"


async def test_a_limit_stays_while_its_book_is_away(store: Store) -> None:
    channel = await _shelved(store)
    await store.progress.set_limit(channel, sha(1), "finished 1", "ann", minute(1))
    await store.shelf.withdraw(channel, sha(1), minute(2))
    assert await store.progress.limit_words(channel, sha(1)) == "finished 1"
    assert not await store.progress.take_back(channel, sha(1), minute(0))
    with pytest.raises(Missing, match="book_not_on_shelf"):
        await store.progress.set_limit(channel, sha(1), "all", "ann", minute(3))
    await _shelved(store)
    assert await store.progress.limit_words(channel, sha(1)) == "finished 1"


async def test_each_reader_has_a_place_of_their_own(store: Store) -> None:
    channel, other = await _shelved(store), await _shelved(store, OTHER)
    for words in ("finished 1", "finished 2 › Ünï 🐻"):
        await store.progress.set_place(channel, sha(1), "ann", words, minute(1))
        assert await store.progress.place(channel, sha(1), "ann") == words
    assert await store.progress.place(channel, sha(1), "bo") is None
    assert await store.progress.place(other, sha(1), "ann") is None
    await store.progress.set_place(channel, sha(1), "ann", None, minute(2))
    assert await store.progress.place(channel, sha(1), "ann") is None
