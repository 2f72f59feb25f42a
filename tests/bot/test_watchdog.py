"""The watchdog: a loop that is held up is told of with its place, one that is only busy is not."""

import asyncio
import time

from bot.watchdog import watched


def _hold_everybody_up(seconds: float) -> None:
    time.sleep(seconds)


async def test_a_blocked_loop_is_told_of_with_its_length_and_place() -> None:
    told: list[tuple[float, float, str]] = []
    with watched(0.1, lambda seconds, busy, place: told.append((seconds, busy, place))):
        await asyncio.sleep(0.05)
        _hold_everybody_up(0.5)
        await asyncio.sleep(0.05)
    assert any(seconds > 0.3 and busy < 0.3 and "_hold_everybody_up" in place for seconds, busy, place in told)


async def test_a_loop_that_takes_turns_is_not_blocked() -> None:
    told: list[tuple[float, float, str]] = []
    with watched(5.0, lambda seconds, busy, place: told.append((seconds, busy, place))):
        for _ in range(50):
            await asyncio.sleep(0.001)
    assert told == []
