"""What was acknowledged is on record, once, until it is finished or failed."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import BrokenPromise
from core.model import Conversation, Notice, Reader
from core.store import Store
from tests.core.stores import NOON, ROOM, Place, minute, question_of, sha, turn_of, upload_of

THREAD = Conversation("console", "local", "thread-9")


async def test_an_accepted_upload_can_be_taken_up_after_a_restart(place: Place) -> None:
    store = await place.open()
    channel = await store.shelf.channel(ROOM, NOON)
    row = await store.inbox.accept_upload(upload_of("console:1", conversation=THREAD), channel, sha(1), 99, NOON)
    assert (row.known, row.state, row.error, row.channel, row.sha256, row.size) == (
        False, "accepted", None, channel, sha(1), 99,
    )  # fmt: skip
    await store.close()
    again = await place.open()
    try:
        (kept,) = await again.inbox.unfinished_uploads("console")
        assert kept == replace(row, known=True)
        assert kept.upload == replace(
            upload_of("console:1", conversation=THREAD), path=again.originals.path(sha(1)), password=None
        )
        assert kept.at == NOON
    finally:
        await again.close()


async def test_a_password_is_never_written_down(place: Place, store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.inbox.accept_upload(upload_of("console:1"), channel, sha(1), 99, NOON)
    assert "secret" not in repr(place.raw("SELECT * FROM upload"))


async def test_the_same_event_again_is_known_and_tells_how_far_it_came(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    first = await store.inbox.accept_upload(upload_of("console:1"), channel, sha(1), 99, NOON)
    again = await store.inbox.accept_upload(upload_of("console:1"), channel, sha(2), 5, minute(1))
    assert again == replace(first, known=True)
    await store.inbox.finish_upload("console:1", minute(2))
    assert (await store.inbox.accept_upload(upload_of("console:1"), channel, sha(1), 99, NOON)).state == "done"
    await store.inbox.accept_upload(upload_of("console:2"), channel, sha(1), 99, NOON)
    error = Notice("too_large", {"limit": 50})
    await store.inbox.fail_upload("console:2", error, minute(3))
    failed = await store.inbox.accept_upload(upload_of("console:2"), channel, sha(1), 99, NOON)
    assert (failed.state, failed.error) == ("failed", error)


async def test_one_event_that_arrives_twenty_times_at_once_is_new_once(place: Place, store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    other = await place.open()
    try:
        stores = [store, other] * 10
        uploads = [one.inbox.accept_upload(upload_of("console:1"), channel, sha(1), 9, NOON) for one in stores]
        questions = [one.inbox.accept_question(question_of("console:2"), channel, NOON) for one in stores]
        assert sorted(row.known for row in await asyncio.gather(*uploads)) == [False] + [True] * 19
        assert sorted(row.known for row in await asyncio.gather(*questions)) == [False] + [True] * 19
    finally:
        await other.close()


async def test_what_was_told_once_stays_so(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.inbox.accept_upload(upload_of("console:1"), channel, sha(1), 99, NOON)
    await store.inbox.finish_upload("console:1", NOON)
    await store.inbox.fail_upload("console:1", Notice("late"), NOON)
    assert (await store.inbox.accept_upload(upload_of("console:1"), channel, sha(1), 99, NOON)).state == "done"


async def test_only_unfinished_events_of_the_platform_are_taken_up_oldest_first(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    telegram = Conversation("telegram", "7")
    there = await store.shelf.channel(telegram, NOON)
    for number in range(5):
        await store.inbox.accept_upload(upload_of(f"console:u{number}"), channel, sha(number), 9, minute(9 - number))
        await store.inbox.accept_question(question_of(f"console:q{number}"), channel, minute(9 - number))
    await store.inbox.accept_upload(upload_of("telegram:1", conversation=telegram), there, sha(9), 9, NOON)
    await store.inbox.finish_upload("console:u1", NOON)
    await store.inbox.fail_upload("console:u3", Notice("empty_file"), NOON)
    await store.inbox.fail_question("console:q0", Notice("no_book"), NOON)
    await store.turns.save(turn_of("t1"), channel, "console:q2")
    uploads = await store.inbox.unfinished_uploads("console")
    assert [row.upload.event for row in uploads] == ["console:u0", "console:u2", "console:u4"]
    questions = await store.inbox.unfinished_questions("console")
    assert [row.question.event for row in questions] == ["console:q1", "console:q3", "console:q4"]
    (row,) = await store.inbox.unfinished_uploads("telegram")
    assert row.upload.conversation == telegram
    assert await store.inbox.unfinished_uploads("slack") == ()


async def test_an_accepted_question_comes_back_whole(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    question = replace(question_of("console:1", "Who? \0 熊", THREAD), reader=Reader("r", None, manages=True))
    row = await store.inbox.accept_question(question, channel, NOON)
    expected = replace(question, text="Who? \ufffd 熊", reader=Reader("r", None))
    assert row.question == expected
    assert (row.known, row.state, row.turn, row.at) == (False, "accepted", None, NOON)
    assert await store.inbox.unfinished_questions("console") == (replace(row, known=True),)


async def test_a_question_that_was_answered_names_its_turn(store: Store) -> None:
    channel = await store.shelf.channel(ROOM, NOON)
    await store.inbox.accept_question(question_of("console:1"), channel, NOON)
    await store.turns.save(turn_of("turn-1"), channel, "console:1")
    row = await store.inbox.accept_question(question_of("console:1"), channel, minute(1))
    assert (row.known, row.state, row.turn) == (True, "done", "turn-1")


async def test_an_event_key_used_by_another_channel_is_refused_and_shows_nothing(store: Store) -> None:
    ours = await store.shelf.channel(ROOM, NOON)
    theirs = await store.shelf.channel(Conversation("console", "elsewhere"), NOON)
    await store.inbox.accept_upload(upload_of("console:1"), theirs, sha(1), 9, NOON)
    await store.inbox.accept_question(question_of("console:1"), theirs, NOON)
    with pytest.raises(BrokenPromise, match="event_reused"):
        await store.inbox.accept_upload(upload_of("console:1", Path("x")), ours, sha(2), 9, NOON)
    with pytest.raises(BrokenPromise, match="event_reused"):
        await store.inbox.accept_question(question_of("console:1"), ours, NOON)
