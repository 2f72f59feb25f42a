"""A book's summaries as a job: asked about, agreed to, stopped, done by one run at a time, each channel in its turn."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest

from core.errors import Missing, OperatorError, ReaderError, UpstreamError
from core.ledgered import Ledgered
from core.model import (
    ChatEvent,
    ChatRequest,
    Conversation,
    Finished,
    IndexNews,
    IndexState,
    Reader,
    Ready,
    Said,
    Upload,
    Usage,
)
from core.spending import Prices, Terms
from core.store import Store, Summary
from core.summaries import Jobs, Summaries
from core.summaries.jobs import Busy
from core.summaries.work import Superseded
from tests.books.long_text import write_long_text
from tests.clubs import ELSEWHERE, MEMBER, ROOM, Clock, TestClub, lantern_house, open_club
from tests.core.stores import NOON, Place, book_of, minute, sha
from tests.fakes.model import ScriptedModel, Step

MANAGER = Reader("manager", "en", manages=True)
PRICED = Terms(Prices(Decimal(3), Decimal(15)), ask_above=Decimal("0.000001"))
BOOK = book_of("The lamp was lit.", "A storm came in.", "Ann slept.", "Ben woke.")


def _words(_: ChatRequest) -> Step:
    return "Words."


async def _shelve(store: Store, number: int, conversation: Conversation = ROOM) -> int:
    await store.books.save(sha(number), replace(BOOK, title=f"Tale {number}"), NOON)
    channel = await store.shelf.channel(conversation, NOON)
    await store.shelf.grant(channel, sha(number), "1", "ann", "tale.epub", NOON)
    return channel


def _jobs(store: Store, model: "ScriptedModel | Held", clock: Clock | None = None) -> Jobs:
    summaries = Summaries(store, Ledgered(model, store.ledger, lambda: NOON), parallel=1)
    names = count()
    return Jobs(
        store,
        summaries,
        Terms(),
        now=clock or (lambda: NOON),
        new_id=lambda: f"{id(summaries)}-{next(names)}",
        sleep=asyncio.sleep,
    )


async def _run(jobs: Jobs, number: int = 1) -> None:
    async for _ in jobs.run(sha(number), "1"):
        pass


async def _state(store: Store, number: int = 1) -> IndexState:
    return (await store.jobs.indexed(sha(number), "1")).state


@dataclass
class Held:
    """Answers each request once it is let go."""

    name: str = "held"
    text: str = "Words."
    asked: int = 0
    let: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.asked += 1
        self.waiting.set()
        await self.let.wait()
        yield Said(self.text)
        yield Finished("stop", Usage(1, 10, 5))


async def _add(here: TestClub, path: Path, conversation: Conversation = ROOM) -> Ready:
    upload = Upload(f"e-{conversation.channel}", conversation, MEMBER, path, path.name)
    last = [event async for event in here.club.add_book(upload)][-1]
    assert isinstance(last, Ready)
    return last


async def test_a_dear_book_waits_for_a_yes_that_survives_a_restart_and_is_answered_meanwhile(tmp_path: Path) -> None:
    path = write_long_text(tmp_path / "long.md", chapters=3)
    model = ScriptedModel(lambda request: "Words." if request.purpose == "summarise" else "I cannot tell.")
    async with open_club(tmp_path / "data", model, terms=PRICED) as here:
        ready = await _add(here, path)
        assert ready.estimate is not None
        assert (ready.estimate.calls, ready.estimate.asks) == (3, True)
        assert ready.estimate.amount is not None
        assert 12_000 < ready.estimate.input_tokens < 18_000
        here.club.summaries.work_behind()
        assert "summarise" not in {request.purpose for request in model.requests}
        await here.ask("Who lit the lamp?")
        again = await _add(here, path, ELSEWHERE)
        assert again.estimate is not None
        assert again.estimate.asks
    async with open_club(tmp_path / "data", model, terms=PRICED) as here:
        here.club.summaries.work_behind()
        card, found = await here.club.summaries.state(ROOM)
        assert (found.done, found.total, found.state) == (0, 3, "waiting")
        with pytest.raises(ReaderError, match="managers_only"):
            await here.club.summaries.approve(ROOM, MEMBER)
        assert "summarise" not in {request.purpose for request in model.requests}
        await here.club.summaries.approve(ROOM, MANAGER)
        async with asyncio.timeout(30):
            while (await here.club.summaries.state(ROOM))[1].state != "done":  # noqa: ASYNC110  # nobody tells of rows
                await asyncio.sleep(0.01)
    assert len([request for request in model.requests if request.purpose == "summarise"]) == 3
    assert card.title == "long"


async def test_a_cheap_book_and_one_without_a_price_are_not_asked_about(tmp_path: Path) -> None:
    path = write_long_text(tmp_path / "long.md", chapters=1)
    for number, terms in enumerate((Terms(), replace(PRICED, ask_above=Decimal(1)))):
        async with open_club(tmp_path / str(number), ScriptedModel(_words), terms=terms) as here:
            ready = await _add(here, path)
            assert ready.estimate is not None
            assert not ready.estimate.asks
            assert (ready.estimate.amount is None) == (number == 0)


async def test_two_runs_of_one_book_are_one(place: Place) -> None:
    one, other = await place.open(), await place.open()
    try:
        await _shelve(one, 1)
        model = Held()
        first = asyncio.create_task(_run(_jobs(one, model)))
        await model.waiting.wait()
        if place.url:  # on SQLite one process has the folder
            with pytest.raises(Busy):
                await _run(_jobs(other, model))
        model.let.set()
        await first
        assert (model.asked, await _state(other)) == (4, "done")
    finally:
        await one.close()
        await other.close()


async def test_a_run_that_slept_while_another_took_over_writes_nothing_more(place: Place) -> None:
    sleeper, worker = await place.open(), await place.open()
    try:
        await _shelve(sleeper, 1)
        old = Held(text="What the sleeper says.")
        sleeping = asyncio.create_task(_run(_jobs(sleeper, old)))
        await old.waiting.wait()
        # Its last sign of life, long ago: as if the machine had stood still.
        place.raw("UPDATE job SET seen_at = ?", minute(-60).replace(tzinfo=None) if not place.url else minute(-60))
        await _run(_jobs(worker, ScriptedModel(lambda _: "What the worker says.")))
        old.let.set()
        with pytest.raises(Superseded):
            await sleeping
        assert old.asked == 1
        segments = await worker.books.segments(sha(1), "1")
        assert {segment.summary for segment in segments} == {"What the worker says."}
        assert await _state(worker) == "done"
    finally:
        await sleeper.close()
        await worker.close()


async def test_a_stopped_book_ends_its_run_keeps_what_was_paid_and_goes_on_when_agreed_to(store: Store) -> None:
    await _shelve(store, 1)
    card = (await store.shelf.shelf(await store.shelf.channel(ROOM, NOON)))[0]
    model = Held()
    jobs = _jobs(store, model)
    running = asyncio.create_task(_run(jobs))
    await model.waiting.wait()
    await jobs.cancel(card)
    assert await _state(store) == "cancelled"
    model.let.set()
    with pytest.raises(Superseded):
        await running
    found = await jobs.indexed(card)
    assert (found.done, found.state, model.asked) == (1, "cancelled", 1)
    assert await store.jobs.pending() == ()
    with pytest.raises(Busy):
        await _run(jobs)
    await jobs.approve(card)
    await _run(jobs)
    assert (model.asked, await _state(store)) == (4, "done")


async def test_a_book_taken_away_ends_its_run_and_goes_on_when_it_is_brought_back(store: Store) -> None:
    channel = await _shelve(store, 1)
    card = (await store.shelf.shelf(channel))[0]
    model = Held()
    jobs = _jobs(store, model)
    running = asyncio.create_task(_run(jobs))
    await model.waiting.wait()
    await store.shelf.withdraw(channel, sha(1), NOON)
    model.let.set()
    with pytest.raises(Superseded):
        await running
    assert model.asked == 1
    with pytest.raises(Missing, match="book_removed"):  # whoever waits for it is told so
        async for _ in jobs.finish(card):
            pass
    await store.shelf.restore(channel, NOON)
    await _run(jobs)
    assert (model.asked, await _state(store)) == (4, "done")


async def test_what_ended_a_run_is_told_with_when_it_goes_on(store: Store) -> None:
    await _shelve(store, 1)
    for error, state in (
        (UpstreamError("model_down"), "paused"),
        (OperatorError("database_unavailable"), "paused"),
        (OperatorError("model_key_refused"), "failed"),
    ):
        with pytest.raises(type(error)):
            await _run(_jobs(store, ScriptedModel([error] * 4)))
        found = await store.jobs.indexed(sha(1), "1")
        assert (found.state, found.notice and found.notice.key) == (state, error.key)
        assert (found.until is not None) == (state == "paused")
        assert len(await store.jobs.pending()) == 1
        assert await store.jobs.pending(NOON) == ()
    assert await store.jobs.counts() == {"failed": 1}


async def test_channels_take_turns_however_many_books_one_has(store: Store) -> None:
    jobs = _jobs(store, ScriptedModel(_words))
    for number in range(1, 5):
        channel = await _shelve(store, number)
        await jobs.enlist(sha(number), "1", channel)
    other = await _shelve(store, 9, ELSEWHERE)
    await jobs.enlist(sha(9), "1", other)
    assert [int(book.sha256, 16) for book in await store.jobs.pending()] == [1, 9, 2, 3, 4]


async def test_a_watcher_is_told_of_every_step_and_of_the_end(tmp_path: Path) -> None:
    model = Held()
    async with open_club(tmp_path, model) as here:
        sha256 = await here.shelve(lantern_house())
        told: list[IndexNews] = []

        async def watch() -> None:
            async for news in here.club.summaries.watch("console"):
                told.append(news)
                if news.indexed.state == "done":
                    return

        here.club.summaries.work_behind()
        await model.waiting.wait()
        watching = asyncio.create_task(watch())
        async with asyncio.timeout(30):
            while not told:  # noqa: ASYNC110  # nobody tells of what was told
                await asyncio.sleep(0.01)
            model.let.set()
            await watching
        assert {(news.conversation.channel, news.sha256, news.title) for news in told} == {
            ("local", sha256, "The Lantern House")
        }
        assert [told[0].indexed.state, told[-1].indexed.state] == ["running", "done"]
        assert told[-1].indexed.done == told[-1].indexed.total


async def test_without_a_model_there_is_nothing_to_agree_to(tmp_path: Path) -> None:
    async with open_club(tmp_path) as here:
        await here.shelve(lantern_house())
        for ask in (
            here.club.summaries.estimate(ROOM),
            here.club.summaries.state(ROOM),
            here.club.summaries.approve(ROOM, MANAGER),
        ):
            with pytest.raises(OperatorError, match="index_no_model"):
                await ask
        assert [news async for news in here.club.summaries.watch("console")] == []


async def test_what_stands_on_a_segment_is_replaced_only_where_it_is_what_was_read(store: Store) -> None:
    await _shelve(store, 1)
    await store.books.save_summaries(sha(1), "1", {0: Summary("First.", "a"), 1: Summary("Second.", "b")})
    new = {0: Summary("Late.", "c"), 1: Summary("In time.", "c")}
    await store.books.save_summaries(sha(1), "1", new, over={0: "", 1: "b"})
    segments = await store.books.segments(sha(1), "1")
    assert [segment.summary for segment in segments[:2]] == ["First.", "In time."]
