"""What adapters keep over a restart: on both databases, and again from a store that was opened anew."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import Missing
from core.model import Conversation, Delivery, Event, Letter, Reader
from core.post import Post
from core.store import Store
from tests.core.stores import NOON, READER, ROOM, Place, minute, question_of, turn_of

OTHER = Conversation("console", "elsewhere")


def _post(store: Store, at: int = 0) -> Post:
    ids = iter(f"id-{at}-{number}" for number in range(100))
    return Post(store, now=lambda: minute(at), new_id=lambda: next(ids))


def _event(key: str, lane: str = "a") -> Event:
    return Event(key, "telegram", lane, {"text": "who kept the log?", "reply": None})


async def test_an_event_told_twice_is_kept_once_and_its_words_go_when_it_is_done(place: Place) -> None:
    store = await place.open()
    post = _post(store)
    assert await post.receive(_event("telegram:1"))
    assert not await post.receive(_event("telegram:1"))
    assert await post.receive(_event("telegram:2", "b"))
    await store.close()
    store = await place.open()
    try:
        post = _post(store)
        assert await post.unfinished("telegram") == (_event("telegram:1"), _event("telegram:2", "b"))
        assert await post.unfinished("discord") == ()
        await post.finish("telegram:1")
        assert await post.unfinished("telegram") == (_event("telegram:2", "b"),)
        assert not await post.receive(_event("telegram:1"))
        assert not any("log" in str(row) for row in place.raw("select payload from event where done_at is not null"))
    finally:
        await store.close()


async def test_done_events_are_forgotten_only_after_a_while(store: Store) -> None:
    post = _post(store)
    await post.receive(_event("telegram:1"))
    await post.receive(_event("telegram:2"))
    await post.finish("telegram:1")
    assert await store.events.forget(NOON) == 0
    assert await store.events.forget(NOON + timedelta(seconds=1)) == 1
    assert [event.key for event in await post.unfinished("telegram")] == ["telegram:2"]


async def test_a_part_that_was_begun_is_told_from_one_that_was_taken(store: Store) -> None:
    post = _post(store)
    await post.sending(ROOM, "telegram:1", 0)
    assert await post.delivered("telegram:1") == {0: Delivery(0, None)}
    await post.sent(ROOM, "telegram:1", 0, "77", "turn-1")
    await post.sent(ROOM, "telegram:1", 1, "78", "turn-1")
    assert await post.delivered("telegram:1") == {0: Delivery(0, "77", "turn-1"), 1: Delivery(1, "78", "turn-1")}
    assert await post.turn_of(ROOM, "78") == "turn-1"
    assert await post.turn_of(OTHER, "78") is None
    assert await post.messages(ROOM, "turn-1") == ("77", "78")
    await post.sent(ROOM, "telegram:1", 1, "79", "turn-1")
    assert await post.messages(ROOM, "turn-1") == ("77", "79")
    await post.withdrawn("telegram:1", 1)
    assert await post.messages(ROOM, "turn-1") == ("77",)


async def test_a_letter_waits_until_it_is_due_and_is_owed_once(store: Store) -> None:
    letter = Letter("reminder:1", Conversation("telegram", "7", "3"), "reminder", minute(10), {"words": "finished 3"})
    assert await _post(store).owe(letter)
    assert not await _post(store).owe(letter)
    assert await _post(store, 9).due("telegram") == ()
    assert await _post(store, 10).due("discord") == ()
    assert await _post(store, 10).due("telegram") == (letter,)
    await _post(store, 11).done("reminder:1")
    assert await _post(store, 12).due("telegram") == ()
    assert not await _post(store, 12).owe(letter)
    assert await _post(store).owe(Letter("reminder:2", ROOM, "reminder", minute(10)))
    await _post(store).tear_up("reminder:2")
    assert await _post(store, 12).due("console") == ()


async def test_a_button_answers_in_its_own_channel_and_to_its_own_reader(store: Store) -> None:
    post = _post(store)
    stranger = Reader("stranger")
    (open_to_all,) = await post.buttons(ROOM, [{"do": "undo"}])
    (own,) = await post.buttons(ROOM, [{"do": "forget", "what": "me"}], READER)
    assert await post.pressed(ROOM, stranger, open_to_all) == {"do": "undo"}
    assert await post.pressed(ROOM, READER, own) == {"do": "forget", "what": "me"}
    for conversation, reader, id, key in (
        (OTHER, READER, open_to_all, "unknown_button"),
        (ROOM, READER, "no-such-id", "unknown_button"),
        (ROOM, READER, "bad\0id", "unknown_button"),
        (ROOM, stranger, own, "not_your_button"),
    ):
        with pytest.raises(Missing) as refused:
            await post.pressed(conversation, reader, id)
        assert refused.value.key == key


async def test_a_memo_is_remembered_until_its_time_is_over(store: Store) -> None:
    post = _post(store)
    await post.remember("telegram", "older:7", True)
    await post.remember("telegram", "open:7:1", {"by": [1]}, minute(5))
    await post.remember("telegram", "open:7:1", {"by": [1, 2]}, minute(5))
    assert await post.recall("telegram", "older:7") is True
    assert await post.recall("slack", "older:7") is None
    assert await _post(store, 4).recall_all("telegram", "open:") == {"open:7:1": {"by": [1, 2]}}
    assert await _post(store, 5).recall("telegram", "open:7:1") is None
    await post.forget("telegram", "older:7")
    assert await post.recall("telegram", "older:7") is None


async def test_an_answer_is_brought_until_somebody_saw_it(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.inbox.accept_question(question_of("console:1"), channel, NOON)
    turn = await store.turns.save(turn_of("turn-1"), channel, "console:1")
    await store.turns.save(turn_of("turn-2"), channel, None)  # quoted meanwhile; the answer follows
    assert [(key, found.id) for key, found, _ in await store.turns.unshown("console")] == [("console:1", turn.id)]
    assert await store.turns.unshown("telegram") == ()
    await store.turns.shown(turn.id, NOON)
    assert await store.turns.unshown("console") == ()


async def test_a_key_is_held_by_one_owner_until_its_time_is_over_or_it_is_let_go(store: Store) -> None:
    early, late = _post(store), _post(store, 20)
    assert await early.claim("discord", "shard:0", "one", minute(10))
    assert not await early.claim("discord", "shard:0", "two", minute(10))
    assert await early.claim("discord", "shard:0", "one", minute(15))
    assert await late.claim("discord", "shard:0", "two", minute(30))
    assert not await late.claim("discord", "shard:0", "one", minute(30))
    await late.forget("discord", "shard:0")
    won = await asyncio.gather(*(late.claim("discord", "shard:0", f"p{n}", minute(30)) for n in range(8)))
    assert won.count(True) == 1
