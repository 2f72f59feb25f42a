"""Ends that come at the wrong moment: no cancellation is lost, and what is about to be sent is on record before all ends."""

import asyncio
from collections.abc import Awaitable

import pytest

from adapters.discord.drafts import Draft
from adapters.ending import end


async def soon(work: Awaitable[object]) -> None:
    """Fails instead of waiting for ever, also where the end of the waiting would be swallowed."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=5)
    assert task.done()
    await task


async def never(_: float = 0) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("turns", range(4))
async def test_a_draft_ends_also_when_its_first_words_come_at_that_moment(turns: int) -> None:
    shown: list[str] = []

    async def write(text: str) -> None:
        shown.append(text)

    draft = Draft(never, write, "looking")
    await asyncio.sleep(0)
    draft.update("words")
    for _ in range(turns):
        await asyncio.sleep(0)
    await soon(draft.finish())
    assert shown == []


async def test_whoever_ends_a_task_hears_of_its_own_end_and_the_task_is_not_cut_off() -> None:
    finishing, recorded = asyncio.Event(), list[str]()

    async def work() -> None:
        try:
            await never()
        except asyncio.CancelledError:
            await finishing.wait()
            recorded.append("sent")
            raise

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    first = asyncio.create_task(end(task))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    assert first.cancelled()
    again = asyncio.create_task(end(task))
    await asyncio.sleep(0)
    assert not task.done()
    finishing.set()
    await soon(again)
    assert recorded == ["sent"]


async def test_a_task_that_failed_has_ended() -> None:
    async def fail() -> None:
        raise ConnectionResetError

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    await soon(end(task))
