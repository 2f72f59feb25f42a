"""Answers and the footnotes that buttons carry."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from core.errors import BrokenPromise
from core.model import Answer, Conversation, Dropped, Limit, Notice, Reader
from core.store import Pressed, Store
from tests.core.stores import NOON, ROOM, Place, minute, question_of, turn_of

THREAD = Conversation("console", "local", "thread-9")


async def test_a_turn_comes_back_as_it_was_saved(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    turn = turn_of("turn-1", ["note-a", "note-b"], THREAD, "Wer? 熊 \U0001f43b")
    answer = replace(
        turn.answer,
        dropped=(Dropped("[f9-1-2]", "not_in_evidence"),),
        notices=(Notice("reach_whole"), Notice("count", {"count": 3})),
    )
    turn = replace(turn, answer=answer)
    assert await store.turns.save(turn, channel, None) == turn
    assert await store.turns.get("turn-1") == turn
    assert await store.turns.get("turn-2") is None


async def test_a_turn_without_notes_evidence_or_limit_comes_back_too(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    bare = replace(turn_of("turn-1"), answer=Answer((), (), "chat"), books=(), evidence=(), limit=Limit(), stamps={})
    await store.turns.save(bare, channel, None)
    assert await store.turns.get("turn-1") == bare


async def test_times_are_kept_as_utc(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    local = NOON.astimezone(timezone(timedelta(hours=-3)))
    await store.turns.save(replace(turn_of("turn-1"), asked_at=local), channel, None)
    turn = await store.turns.get("turn-1")
    assert turn is not None
    assert turn.asked_at == NOON
    assert turn.asked_at.utcoffset() == timedelta(0)
    with pytest.raises(Exception, match="without a zone"):
        await store.shelf.channel(Conversation("console", "new"), datetime(2026, 1, 1))  # noqa: DTZ001 - the point


async def test_a_question_gets_one_answer_however_many_try(place: Place, store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.inbox.accept_question(question_of("console:1"), channel, NOON)
    other = await place.open()
    try:
        saves = [
            one.turns.save(turn_of(f"turn-{number}", [f"note-{number}"]), channel, "console:1")
            for number, one in enumerate([store, other] * 10)
        ]
        turns = await asyncio.gather(*saves)
    finally:
        await other.close()
    assert len({turn.id for turn in turns}) == 1
    assert await store.turns.history(channel) == (turns[0],)
    assert place.raw("SELECT count(*) FROM footnote") == [(1,)]
    assert await store.inbox.unfinished_questions("console") == ()


async def test_an_answer_needs_its_question_on_record_in_the_same_channel(store: Store) -> None:
    ours = await store.shelf.channel(ROOM, NOON)
    theirs = await store.shelf.channel(Conversation("console", "elsewhere"), NOON)
    await store.inbox.accept_question(question_of("console:1"), theirs, NOON)
    for event in ("console:1", "console:2"):
        with pytest.raises(BrokenPromise, match="question_not_on_record"):
            await store.turns.save(turn_of("turn-1"), ours, event)
    assert await store.turns.get("turn-1") is None
    assert await store.turns.history(theirs) == ()


async def test_a_turn_or_note_without_an_id_is_not_stored(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    for turn in (turn_of(""), turn_of("turn-1", [""])):
        with pytest.raises(ValueError, match="ids"):
            await store.turns.save(turn, channel, None)


async def test_nothing_of_a_turn_is_stored_when_a_note_cannot_be(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.turns.save(turn_of("turn-1", ["note-a"]), channel, None)
    await store.inbox.accept_question(question_of("console:1"), channel, NOON)
    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.turns.save(turn_of("turn-2", ["note-b", "note-a"]), channel, "console:1")
    assert await store.turns.get("turn-2") is None
    assert await store.turns.footnote("note-b") is None
    assert len(await store.inbox.unfinished_questions("console")) == 1


async def test_the_latest_turn_is_known_after_a_restart(place: Place) -> None:
    store = await place.open()
    channel = await store.shelf.channel(ROOM, NOON)
    assert await store.turns.latest(channel) is None
    for number in range(3):
        await store.turns.save(replace(turn_of(f"turn-{number}"), asked_at=minute(-number)), channel, None)
    await store.close()
    again = await place.open()
    try:
        latest = await again.turns.latest(channel)
        assert latest is not None
        assert latest.id == "turn-2"
    finally:
        await again.close()


async def test_history_is_in_order_and_a_thread_has_its_own(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    for number in range(4):
        await store.turns.save(turn_of(f"main-{number}", [f"m{number}"]), channel, None)
        await store.turns.save(turn_of(f"thread-{number}", [f"t{number}"], THREAD), channel, None)
    assert [turn.id for turn in await store.turns.history(channel)] == [f"main-{number}" for number in range(4)]
    last = await store.turns.history(channel, "thread-9", 2)
    assert [turn.id for turn in last] == ["thread-2", "thread-3"]
    assert [turn.answer.footnotes[0].id for turn in last] == ["t2", "t3"]
    assert last[0].conversation == THREAD
    elsewhere = await store.shelf.channel(Conversation("console", "elsewhere"), NOON)
    assert await store.turns.history(elsewhere) == ()


async def test_the_whole_of_a_channel_has_its_threads_in_order_and_no_private_turns_of_others(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.turns.save(turn_of("main"), channel, None)
    await store.turns.save(turn_of("thread", conversation=THREAD), channel, None)
    for who in ("ana", "ben"):
        question = replace(question_of(f"event-{who}"), reader=Reader(who), private=True)
        await store.inbox.accept_question(question, channel, NOON)
        await store.turns.save(turn_of(f"of-{who}"), channel, question.event)
    assert [turn.id for turn in await store.turns.whole(channel)] == ["main", "thread", "of-ana", "of-ben"]
    assert [turn.id for turn in await store.turns.whole(channel, "ben")] == ["main", "thread", "of-ben"]


async def test_a_footnote_id_leads_to_its_place_and_its_channel(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    turn = turn_of("turn-1", ["note-a", "note-b"])
    await store.turns.save(turn, channel, None)
    assert await store.turns.footnote("note-b") == Pressed(channel, "turn-1", turn.answer.footnotes[1])
    for forged in ("note-c", "", "note-a ", "NOTE-A", "note-_", "%"):
        assert await store.turns.footnote(forged) is None


async def test_an_old_button_works_when_the_prose_of_its_turn_is_gone(place: Place, store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.turns.save(turn_of("turn-1", ["note-a"]), channel, None)
    place.raw("DELETE FROM turn")
    pressed = await store.turns.footnote("note-a")
    assert pressed is not None
    assert pressed.channel == channel


async def test_a_damaged_document_is_refused(place: Place, store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.turns.save(turn_of("turn-1"), channel, None)
    place.raw("UPDATE turn SET document = ?", '[{"node":"script","text":"x"}]')
    with pytest.raises(BrokenPromise, match="turn_damaged"):
        await store.turns.get("turn-1")
