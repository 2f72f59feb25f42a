"""What Discord is told unasked: reminders in their channel or thread, once, whatever happens on the way."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.model import Conversation, Letter
from tests.adapters.discord_club import Site, discord_site, text_of
from tests.clubs import TestClub, lantern_house
from tests.fakes.discord import Channel, Payload

ARRIVED = "Has the club arrived?"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


def _here(site: Site, channel: Channel | None = None) -> Conversation:
    return Conversation("discord", str((channel or site.channel).id), None, str(site.server.id))


def _said(site: Site, words: str, channel: Channel | None = None) -> list[Payload]:
    return [message for message in site.mara.answers(channel or site.channel) if words in text_of(message)]


async def _scheduled(site: Site, club: TestClub) -> None:
    """A date tomorrow at noon, with no quiet hours."""
    await club.shelve(lantern_house(), _here(site))
    await site.command("schedule", words="quiet off")
    day = (club.clock() + timedelta(days=2)).date()
    await site.command("schedule", words=f'"finished 2" {day} 12:00')


async def test_a_date_is_asked_about_once_also_after_a_restart_and_a_press_moves_the_limit(site: Site) -> None:
    async with site.running() as club:
        await _scheduled(site, club)
        club.clock.pass_minutes(3 * 24 * 60)
        await site.command("about")
        await site.fake.until(lambda: _said(site, ARRIVED))
        late = club.clock()
    async with site.running() as club:
        club.clock.now = late
        await site.command("about")
        [asked] = _said(site, ARRIVED)
        await site.opened(asked, "Yes")
        assert "chapter 2" in await site.command("progress")
        assert len(_said(site, ARRIVED)) == 1
        assert not await club.club.post.due("discord")
    assert not site.fake.journal.refused()


async def test_a_letter_that_was_sent_when_the_process_died_is_not_said_again(site: Site) -> None:
    async with site.running() as club:
        await _scheduled(site, club)
        club.clock.pass_minutes(3 * 24 * 60)
        late = club.clock()
        with sqlite3.connect(site.folder / "loccit.db") as database:
            owed = database.execute("select params, id from letter where done_at is null").fetchall()
        await site.command("about")
        await site.fake.until(lambda: _said(site, ARRIVED))
        await _drained(club)
    with sqlite3.connect(site.folder / "loccit.db") as database:  # as if it had died before the letters were done
        database.executemany("update letter set done_at = null, params = ? where id = ?", owed)
    async with site.running() as club:
        club.clock.now = late
        assert await club.club.post.due("discord")
        await site.command("about")
        await _drained(club)
        assert len(_said(site, ARRIVED)) == 1


async def test_a_letter_for_a_thread_is_said_there_and_one_for_a_channel_that_is_gone_holds_up_none(
    site: Site,
) -> None:
    thread = site.fake.world.thread(site.channel, "Chapter two")
    async with site.running() as club:
        await _scheduled(site, club)
        club.clock.pass_minutes(3 * 24 * 60)
        letters = await club.club.post.due("discord")
        server = str(site.server.id)
        for number, where in enumerate((Conversation("discord", "77", None, server), _thread(site, thread))):
            for letter in letters:
                again = Letter(f"{number}{letter.id}", where, letter.kind, club.clock(), letter.params)
                await club.club.post.owe(again)
        await site.command("about")
        await site.fake.until(lambda: _said(site, ARRIVED, thread))
        await _drained(club)
        assert len(_said(site, ARRIVED, thread)) == len(_said(site, ARRIVED)) == 1


def _thread(site: Site, thread: Channel) -> Conversation:
    return Conversation("discord", str(site.channel.id), str(thread.id), str(site.server.id))


async def _drained(club: TestClub) -> None:
    async with asyncio.timeout(10):
        while await club.club.post.due("discord"):  # noqa: ASYNC110  # rows
            await asyncio.sleep(0.02)
