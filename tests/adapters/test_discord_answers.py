"""Asking on Discord: mention, reply, thread, command, direct message; footnotes that open for one and close again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.discord_club import Site, discord_site, said, text_of
from tests.fakes.discord import labels

GREEN_INK = "Mara kept the lighthouse log in green ink."


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


async def test_a_mention_is_answered_with_footnotes_whose_passage_only_the_presser_sees(site: Site) -> None:
    async with site.running():
        card = await site.shelve()
        assert "The Lantern House" in text_of(card)
        answer = await site.ask("What did Mara keep the log in?")
        assert "[1]" in text_of(answer)
        assert labels(answer)[0].startswith("1 · Ch. 1")
        shown = await site.opened(answer, "1", by=site.ivo)
        assert GREEN_INK in said(shown)
        assert shown[0]["ephemeral_for"] == str(site.ivo.id)
        assert shown[0] not in site.mara.sees(site.channel)
    assert not site.fake.journal.refused()
