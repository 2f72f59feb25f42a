"""Answers that take their time on Discord: what was acknowledged before it was known whom it is for is seen by just those."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.errors import UpstreamError
from tests.adapters.discord_club import Site, discord_site, said
from tests.fakes.discord import Invocation, Member, Payload
from tests.fakes.model import ScriptedModel

DEFERRED = 5


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


async def _acknowledged(site: Site, invocation: Invocation) -> None:
    await site.fake.until(lambda: invocation.answer is not None)
    assert invocation.answer == DEFERRED


def _since(site: Site, member: Member, before: list[Payload]) -> str:
    """What somebody sees that was not there before; also that something is on its way."""
    return said([one for one in member.answers(site.channel) if one["id"] not in {old["id"] for old in before}])


@pytest.mark.parametrize(("command", "expected"), [("setup", "Message Content"), ("recap", "no book")])
async def test_what_is_for_one_person_is_seen_by_nobody_else(site: Site, command: str, expected: str) -> None:
    async with site.running():
        before = site.ivo.answers(site.channel)
        async with site.held():
            await _acknowledged(site, await site.mara.slash(site.channel, command))
        await site.fake.until(lambda: expected in _since(site, site.mara, before))
        assert _since(site, site.ivo, before) == ""
    assert not site.fake.journal.refused()


async def test_what_is_for_all_is_seen_by_all_though_one_person_pressed(site: Site) -> None:
    async with site.running():
        card = await site.shelve()
        before = site.ivo.answers(site.channel)
        async with site.held():
            await _acknowledged(site, await site.mara.press(site.channel, card, "Ch. 1 read"))
        await site.fake.until(lambda: "chapter 1" in _since(site, site.ivo, before).lower())
        assert _since(site, site.mara, before) == _since(site, site.ivo, before)
    assert not site.fake.journal.refused()


async def test_a_question_that_a_button_asks_for_all_is_answered_for_all(site: Site) -> None:
    down = [True]
    site.model = ScriptedModel(lambda _: UpstreamError("model_down") if down[0] else "In green ink [f1-0-42].")
    async with site.running():
        await site.shelve()
        interim = await site.ask("What did Mara keep the log in?")
        before = site.ivo.answers(site.channel)
        down[0] = False
        async with site.held():
            await _acknowledged(site, await site.ivo.press(site.channel, interim, "Try again"))
        await site.fake.until(lambda: "In green ink" in _since(site, site.mara, before))
        assert _since(site, site.mara, before) == _since(site, site.ivo, before)
    assert not site.fake.journal.refused()
