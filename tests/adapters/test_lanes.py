"""Lanes: order within a chat, none between chats, and a failure that stops nobody."""

import asyncio
from collections.abc import Awaitable, Callable

from adapters.lanes import Lanes


async def test_work_of_one_lane_keeps_its_order_while_another_lane_goes_on() -> None:
    lanes, done, gate, other = Lanes(), list[str](), asyncio.Event(), asyncio.Event()

    def work(name: str, wait: bool = False) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            if wait:
                await gate.wait()
            done.append(name)
            if name == "b1":
                other.set()

        return run

    lanes.add("a", work("a1", wait=True))
    lanes.add("a", work("a2"))
    lanes.add("b", work("b1"))
    await other.wait()
    assert done == ["b1"]
    gate.set()
    await lanes.settled()
    assert done == ["b1", "a1", "a2"]


async def test_a_lane_that_follows_another_waits_for_what_that_one_had() -> None:
    lanes, done, gate = Lanes(), list[str](), asyncio.Event()

    def work(name: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await gate.wait()
            done.append(name)

        return run

    lanes.add("old", work("old 1"))
    lanes.add("old", work("old 2"))
    lanes.follow("new", "old")
    lanes.follow("old", "new")  # nobody would, and nobody would wait for ever
    lanes.follow("new", "nothing to do there")
    lanes.add("new", work("new"))
    gate.set()
    await lanes.settled()
    assert done == ["old 1", "old 2", "new"]


async def test_work_that_fails_stops_neither_its_lane_nor_the_waiting_for_it() -> None:
    lanes, done = Lanes(), list[str]()

    async def fail() -> None:
        raise RuntimeError("broken")

    async def succeed() -> None:
        done.append("second")

    lanes.add("a", fail)
    lanes.add("a", succeed)
    await lanes.settled()
    assert done == ["second"]
    lanes.add("a", succeed)
    await lanes.settled()
    assert done == ["second", "second"]


async def test_closing_ends_what_is_under_way() -> None:
    lanes = Lanes()
    lanes.add("a", asyncio.Event().wait)  # type: ignore[arg-type]  # waits for ever; what it returns is not looked at
    await asyncio.sleep(0)
    await lanes.close()
    await lanes.settled()


async def test_what_comes_after_the_end_is_not_begun() -> None:
    lanes, done = Lanes(), list[str]()

    async def work() -> None:
        done.append("too late")

    await lanes.close()
    lanes.add("a", work)
    await lanes.settled()
    await asyncio.sleep(0)
    assert done == []
