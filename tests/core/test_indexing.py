"""Summaries behind a conversation: they come by themselves, wait out an outage, and never stand in anybody's way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from core import tags
from core.errors import LoccitError, OperatorError, UpstreamError
from core.ledgered import Ledgered
from core.model import ChatEvent, ChatRequest, Said
from core.retrieval import Budgets, Evidence, Ranks, Source, Tools
from core.spending import Terms
from core.store import Store, Summary
from core.summaries import Indexing, Jobs, Summaries
from tests.clubs import ROOM, lantern_house, open_club
from tests.core.stores import NOON, book_of, sha
from tests.fakes.model import ScriptedModel, Step

TEXTS = ("The lamp was lit at six and Ann came.", "A storm came in and the glass broke.")


async def _nobody_waits(seconds: float) -> None:
    raise AssertionError("nothing should wait")


async def _shelve(store: Store, number: int) -> None:
    await store.books.save(sha(number), book_of(*(f"{text} {number}" for text in TEXTS), title=f"Tale {number}"), NOON)
    channel = await store.shelf.channel(ROOM, NOON)
    await store.shelf.grant(channel, sha(number), "1", "ann", "tale.epub", NOON)


def _indexing(
    store: Store, model: ScriptedModel, sleep: Callable[[float], Awaitable[None]] = _nobody_waits
) -> Indexing:
    summaries = Summaries(store, Ledgered(model, store.ledger, lambda: NOON))
    jobs = Jobs(store, summaries, Terms(), now=lambda: NOON, new_id=map(str, count()).__next__, sleep=sleep)
    return Indexing(store, jobs, now=lambda: NOON, sleep=sleep)


async def _until(reached: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that shows only in the database or a journal."""
    async with asyncio.timeout(30):
        while not await reached():  # noqa: ASYNC110  # nobody tells of rows
            await asyncio.sleep(0.01)


async def _summarised(store: Store, *numbers: int) -> None:
    """Wait until a model has been asked about every segment of these books."""

    async def reached() -> bool:
        return not {sha(number) for number in numbers} & {book for book, _ in await store.books.unsummarised()}

    await _until(reached)


async def test_books_are_summarised_behind_oldest_first_and_a_new_one_when_it_is_noticed(sqlite_store: Store) -> None:
    await _shelve(sqlite_store, 1)
    model = ScriptedModel(lambda request: f"Words {len(model.requests)}.")
    indexing = _indexing(sqlite_store, model)
    indexing.start()
    try:
        await _summarised(sqlite_store, 1)
        await _shelve(sqlite_store, 2)
        indexing.notice()
        await _summarised(sqlite_store, 2)
    finally:
        await indexing.close()
    assert len(model.requests) == 4


@pytest.mark.parametrize(
    ("error", "waited"),
    [
        (UpstreamError("model_rate_limited", retry_after=100), [100, 100, 120]),
        (OperatorError("database_unavailable"), [30, 60, 120]),
        (OperatorError("disk_full"), [30, 60, 120]),
    ],
)
async def test_what_passes_by_itself_is_waited_out(
    sqlite_store: Store, error: LoccitError, waited: list[float]
) -> None:
    await _shelve(sqlite_store, 1)
    waits: list[float] = []
    down = True

    async def sleep(seconds: float) -> None:
        nonlocal down
        waits.append(seconds)
        down = len(waits) < 3

    def answer(request: ChatRequest) -> Step:
        return error if down else "Words."

    indexing = _indexing(sqlite_store, ScriptedModel(answer), sleep)
    indexing.start()
    try:
        await _summarised(sqlite_store, 1)
    finally:
        await indexing.close()
    assert waits == waited


async def test_what_the_operator_must_mend_stops_it_until_the_next_book(sqlite_store: Store) -> None:
    await _shelve(sqlite_store, 1)
    refused = asyncio.Event()

    def answer(request: ChatRequest) -> Step:
        if refused.is_set():
            return "Words."
        refused.set()
        return OperatorError("model_key_refused")

    indexing = _indexing(sqlite_store, ScriptedModel(answer))
    indexing.start()
    try:
        await refused.wait()
        await _shelve(sqlite_store, 2)
        indexing.notice()
        await _summarised(sqlite_store, 1, 2)
    finally:
        await indexing.close()


async def test_a_damaged_book_keeps_no_other_from_its_turn(sqlite_store: Store) -> None:
    await _shelve(sqlite_store, 1)
    await _shelve(sqlite_store, 2)
    async with sqlite_store.books._engines.write() as connection:
        await connection.exec_driver_sql("UPDATE piece SET text = x'00' WHERE extraction = 1 AND file = 0")
    indexing = _indexing(sqlite_store, ScriptedModel(lambda _: "Words."))
    indexing.start()
    try:
        await _summarised(sqlite_store, 2)
    finally:
        await indexing.close()


@dataclass
class _Stuck:
    """Never says a word."""

    name: str = "stuck"
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.asked.set()
        await asyncio.Event().wait()
        yield Said("")


async def test_a_club_that_closes_in_the_midst_of_summaries_closes_at_once_and_goes_on_the_next_time(
    tmp_path: Path,
) -> None:
    stuck = _Stuck()
    async with open_club(tmp_path, stuck) as here:
        await here.shelve(lantern_house())
        here.club.summaries.work_behind()
        await asyncio.wait_for(stuck.asked.wait(), 30)
    async with open_club(tmp_path, ScriptedModel(lambda _: "Words.")) as here:
        here.club.summaries.work_behind()

        async def reached() -> bool:
            return not await here.store.books.unsummarised()

        await _until(reached)


async def test_without_a_model_nothing_happens_behind_and_waiting_for_it_is_refused(tmp_path: Path) -> None:
    async with open_club(tmp_path) as here:
        book = await here.shelve(lantern_house())
        here.club.summaries.work_behind()
        with pytest.raises(OperatorError, match="index_no_model"):
            await anext(here.club.summaries.index(ROOM, book))


async def test_an_overview_delivers_the_runs_a_written_summary_cites(tmp_path: Path) -> None:
    async with open_club(tmp_path) as here:
        book = lantern_house()
        sha256 = await here.shelve(book)
        run = next(run for run in book.runs if run.file == 1)
        await here.store.books.save_summaries(
            sha256, book.text_version, {0: Summary(f"Ink {tags.tag(run)}, and no more [f77-0-9].", "summarise@1 m")}
        )
        channel = await here.store.shelf.channel(ROOM, here.clock())
        source = await Source.open(here.store, channel, sha256)
        tools = Tools(Evidence([source]), Ranks(here.store, tmp_path / "ranks"), ScriptedModel([]), Budgets())
        text = await tools.overview()
    assert f"Ink {tags.tag(run)}, and no more." in text
    assert run in tools.evidence.texts
