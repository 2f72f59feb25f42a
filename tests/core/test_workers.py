"""`loccit worker`: several processes on one PostgreSQL queue, one killed, one frozen, and nothing paid twice or damaged."""

import asyncio
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from core.formats.runs import cut_runs
from core.model import Conversation, Segment, SpineFile
from core.store import Store
from tests import programs
from tests.books.lantern_epub import lantern_house
from tests.books.long_text import chapter
from tests.bot.running import environment, loccit
from tests.clubs import book_of
from tests.core.stores import NOON, ROOM, Place, sha
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import Honest, summarise
from tests.parts import needs_postgres

_BOOKS, _PARTS, _IN_FLIGHT = 4, 8, 8


def _slow(request: JsonObject) -> Reply:
    return Reply(summarise(request).text, timing=Timing(first=0.3))


async def shelve(store: Store, number: int, parts: int, conversation: Conversation = ROOM) -> None:
    """Put a book on the shelf as if it had been uploaded; no two share a sentence."""
    texts = [f"Book {number}", *("\n\n".join(chapter(number * 50 + at, 12_000)) for at in range(1, parts + 1))]
    files = [SpineFile(at, "", text) for at, text in enumerate(texts)]
    runs = [run for file in files for run in cut_runs(file)]
    book = book_of(files, runs, [f"Part {at}" for at in range(1, parts + 1)], f"Book {number}")
    await store.books.save(sha(number), book, NOON)
    channel = await store.shelf.channel(conversation, NOON)
    await store.shelf.grant(channel, sha(number), book.text_version, "ann", "tale.epub", NOON)


async def start_worker(place: Place, fake: FakeOpenAI) -> programs.Program:
    """A worker that is up."""
    settings = environment(
        LOCCIT_DATA=str(place.folder),
        LOCCIT_DATABASE_URL=place.url,
        LOCCIT_LLM_BASE_URL=fake.url,
        LOCCIT_LLM_MODEL="fake",
    )
    process = await programs.start(programs.LOCCIT, "worker", environment=settings, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    assert b"summaries" in await asyncio.wait_for(process.stderr.readline(), 60)
    return process


def _done(place: Place) -> int:
    return int(place.raw("SELECT count(*) FROM job WHERE state = 'done'")[0][0])


async def _until_done(place: Place, books: int) -> None:
    async with asyncio.timeout(90):
        while await asyncio.to_thread(_done, place) < books:  # noqa: ASYNC110  # nobody tells of rows
            await asyncio.sleep(0.1)


@needs_postgres
async def test_a_killed_and_a_frozen_worker_are_replaced_and_one_that_wakes_damages_nothing(
    postgres_place: Place,
) -> None:
    place = postgres_place
    store = await place.open()
    async with AsyncExitStack() as stack, FakeOpenAI(_slow) as fake:
        stack.push_async_callback(store.close)
        for number in range(1, _BOOKS + 1):
            await shelve(store, number, _PARTS)
        killed, frozen = await start_worker(place, fake), await start_worker(place, fake)
        try:
            await asyncio.wait_for(fake.wait_for_chats(12), 60)
            killed.kill()
            frozen.send_signal(signal.SIGSTOP)
            await killed.wait()
            fresh = await start_worker(place, fake)
            try:
                await _until_done(place, _BOOKS)
                before = await _segments(store)
                asked = len(fake.chats)
                frozen.send_signal(signal.SIGCONT)
                await asyncio.sleep(2)
                assert await _segments(store) == before
                assert len(fake.chats) <= asked + _IN_FLIGHT  # what had passed its last look when it froze
                assert frozen.returncode is None
                for worker in (frozen, fresh):
                    worker.terminate()
                assert [await worker.wait() for worker in (frozen, fresh)] == [0, 0]
            finally:
                _end(fresh)
        finally:
            _end(killed)
            _end(frozen)
        times = Counter(entry.text for entry in fake.chats)
        assert len(times) == _BOOKS * _PARTS
        assert sum(times.values()) <= _BOOKS * _PARTS + 2 * _IN_FLIGHT
        assert all(segment.summary and not segment.flags for segment in before)
    assert place.raw("SELECT count(*) FROM llm_call") == [(_BOOKS * _PARTS,)]


async def _segments(store: Store) -> list[Segment]:
    return [segment for number in range(1, _BOOKS + 1) for segment in await store.books.segments(sha(number), "test-1")]


def _end(process: programs.Program) -> None:
    if process.returncode is None:
        process.kill()


@needs_postgres
async def test_a_queue_whose_opening_is_cancelled_leaves_nothing_connected(postgres_place: Place) -> None:
    """`postgres_place` looks for what stays."""
    store = await postgres_place.open()
    try:
        assert store.queue is not None
        await store.queue.drop_dead()
        await store.queue.close()
        for pause in range(40):
            opening = asyncio.create_task(store.queue.drop_dead())
            await asyncio.sleep(pause / 1000)
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
            await store.queue.close()
    finally:
        await store.close()


@needs_postgres
async def test_processes_that_begin_at_the_same_moment_make_the_queue_once(postgres_place: Place) -> None:
    stores = await asyncio.gather(*(postgres_place.open() for _ in range(3)))
    try:
        await shelve(stores[0], 1, 1)
        pending = await stores[0].jobs.pending()
        queues = [store.queue for store in stores if store.queue is not None]
        await asyncio.gather(*(queue.put(pending) for queue in queues))
        assert len(queues) == 3
        assert postgres_place.raw("SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'") == [(1,)]
        assert await queues[0].drop_dead() == 0
    finally:
        await asyncio.gather(*(store.close() for store in stores))


@pytest.mark.parametrize("url", ["", "sqlite:///elsewhere.db"])
def test_without_a_server_a_worker_is_refused_with_one_sentence(tmp_path: Path, url: str) -> None:
    ran = loccit("worker", data=tmp_path / "data", cwd=tmp_path, LOCCIT_DATABASE_URL=url)
    assert (ran.code, ran.out) == (1, "")
    assert "PostgreSQL" in ran.sentence


@pytest.mark.parametrize("summaries", ["here", "workers"])
async def test_a_chat_on_a_server_ends_well(summaries: str, postgres_place: Place) -> None:
    """Its queue holds connections through tasks of its own: with these gone it cannot be closed."""
    book = await asyncio.to_thread(lantern_house, postgres_place.folder.parent)
    async with FakeOpenAI(Honest()) as fake:
        ran = await asyncio.to_thread(
            loccit,
            "chat",
            book,
            data=postgres_place.folder,
            stdin="What did Mara keep the log in?\n1\n",
            LOCCIT_DATABASE_URL=postgres_place.url,
            LOCCIT_LLM_BASE_URL=fake.url,
            LOCCIT_LLM_MODEL="fake",
            LOCCIT_SUMMARIES=summaries,
        )
    assert (ran.code, ran.err) == (0, "")
    assert "»Green Ink«" in ran.out
