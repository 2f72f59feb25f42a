"""Several processes share Discord's shards on one database: each shard by one of them, taken over when it ends."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace as changed
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.discord.leases import LIVES, Leases, shard_of
from core.model import Conversation
from core.post import Post
from core.store import Store
from tests.adapters.discord_club import Site, discord_site
from tests.clubs import Clock


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


async def test_shards_are_shared_fairly_given_back_and_taken_over_after_a_crash(site: Site, tmp_path: Path) -> None:
    clock = Clock()
    store = await Store.open("", tmp_path / "shared")
    try:
        post = Post(store, now=clock, new_id=lambda: "x")
        host = changed(site.host(), now=clock)
        one, two, three = (Leases(post, host, name) for name in ("one", "two", "three"))
        assert await one.settle(4) == (0, 1, 2, 3)
        assert await two.settle(4) == ()
        assert await one.settle(4) == (0, 1)
        assert await two.settle(4) == (2, 3)
        assert await three.settle(4) == ()
        await one.leave()
        assert await three.settle(4) == (0, 1)
        clock.now += LIVES + timedelta(seconds=1)  # `two` and `three` were killed
        assert await one.settle(4) == (0, 1, 2, 3)
    finally:
        await store.close()


async def test_a_lease_that_was_lost_or_a_process_that_came_ends_the_keeping(site: Site, tmp_path: Path) -> None:
    clock = Clock()
    store = await Store.open("", tmp_path / "shared")
    try:
        post = Post(store, now=clock, new_id=lambda: "x")

        async def at_once(seconds: float) -> None:
            await asyncio.sleep(0)

        host = changed(site.host(), now=clock, sleep=at_once)
        one, two = Leases(post, host, "one"), Leases(post, host, "two")
        await one.settle(2)
        keeping = asyncio.create_task(one.keep(2))
        await asyncio.sleep(0.2)
        assert not keeping.done()
        await two.settle(2)
        await asyncio.wait_for(keeping, 5)
        assert await one.settle(2) == (0,)
        keeping = asyncio.create_task(two.keep(2))
        await asyncio.wait_for(keeping, 5)
        assert await two.settle(2) == (1,)
        clock.now += LIVES + timedelta(seconds=1)
        assert await Leases(post, host, "three").settle(2) == (0, 1)
        await asyncio.wait_for(one.keep(2), 5)
        assert one.mine == set()
    finally:
        await store.close()


def test_a_conversation_belongs_to_the_shard_the_vendor_tells_it_by() -> None:
    assert shard_of(Conversation("discord", "1"), 4) == 0
    assert shard_of(Conversation("discord", "1", None, str(5 << 22)), 4) == 1
