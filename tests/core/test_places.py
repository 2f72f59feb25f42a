"""Who gets the next place at the provider: questions first, each kind in its order, nobody's place lost."""

import asyncio
import random
from contextlib import AsyncExitStack

import pytest

from core.llm.places import Places


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_question_goes_before_every_summary_that_waits_and_each_kind_keeps_its_order() -> None:
    places = Places(2)
    order: list[str] = []

    async def take(name: str, done: asyncio.Event, *, patient: bool) -> None:
        async with places.one(patient=patient):
            order.append(name)
            await done.wait()

    events = {name: asyncio.Event() for name in ("q0", "q1", "s0", "s1", "q2", "q3")}
    async with asyncio.TaskGroup() as group:
        for name, done in events.items():
            group.create_task(take(name, done, patient=name.startswith("s")))
            await _settle()
        assert order == ["q0", "q1"]
        for ended, now in (("q0", "q2"), ("q1", "q3"), ("q2", "s0")):
            events[ended].set()
            await _settle()
            assert order[-1] == now
        events["q3"].set()
        await _settle()
        assert order[-1] == "s0"  # the last place is kept for a question
        events["s0"].set()
        events["s1"].set()
    assert order[-1] == "s1"


async def test_summaries_leave_one_place_free() -> None:
    places = Places(3)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(places.one(patient=True))
        await stack.enter_async_context(places.one(patient=True))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), places.one(patient=True):
                pass
        async with places.one():
            pass


async def test_a_single_place_serves_both() -> None:
    places = Places(1)
    async with places.one(patient=True):
        pass
    async with places.one():
        pass


async def test_no_place_is_lost_when_those_who_wait_give_up() -> None:
    rng = random.Random(3)
    places = Places(3)
    inside = most = 0

    async def visit() -> None:
        nonlocal inside, most
        async with places.one(patient=rng.random() < 0.5):
            inside += 1
            most = max(most, inside)
            try:
                await asyncio.sleep(0)
            finally:
                inside -= 1

    tasks = [asyncio.create_task(visit()) for _ in range(300)]
    while not all(task.done() for task in tasks):
        rng.choice(tasks).cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (inside, most) == (0, 3)
    async with places.one(), places.one(), places.one():
        pass
