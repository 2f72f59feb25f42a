"""What Discord is told unasked: reminders in their channel or thread, once, whatever happens on the way."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import discord
import pytest

from adapters.discord import app
from adapters.discord.line import Line
from core.model import Conversation, Letter
from tests.adapters.discord_club import Site, discord_site, text_of
from tests.clubs import TestClub, lantern_house
from tests.fakes.discord import Channel, Payload

ARRIVED = "Has the club arrived?"
HELLO = "I answer from your club's book"
SEND = "/channels/{channel}/messages"


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


async def test_a_letter_that_we_fail_on_waits_and_holds_up_no_other(site: Site) -> None:
    async with site.running() as club:
        for id, params in (("1", {"more": "a sentence that is missing"}), ("2", {})):
            await club.club.post.owe(Letter(id, _here(site), "hello", club.clock(), params))
        await site.command("about")
        await site.fake.until(lambda: _said(site, HELLO))
        await _drained(club, "1")
        assert len(_said(site, HELLO)) == 1


async def test_a_hello_that_could_not_be_said_before_the_end_is_said_once_afterwards(site: Site) -> None:
    joined = {key: value for key, value in site.fake.world.guild(site.server).items() if key != "unavailable"}
    left = {"id": str(site.server.id)}

    async def join() -> None:
        await site.fake.gateway.dispatch("GUILD_DELETE", left, server_id=site.server.id, intent=1)
        await site.fake.gateway.dispatch("GUILD_CREATE", joined, server_id=site.server.id, intent=1)

    site.fake.fail("POST", SEND, times=1000, status=503)
    async with site.running():
        await join()
        await site.fake.until(lambda: site.fake.journal.requests("POST", SEND))
    site.fake.faults.clear()
    async with site.running() as club:
        await site.fake.until(lambda: _said(site, HELLO))
        await join()
        await site.command("about")
        await _drained(club)
    assert len(_said(site, HELLO)) == 1


async def test_a_question_gets_its_thread_also_in_a_server_that_another_process_hears_of(site: Site) -> None:
    app.direct(site.settings)
    posted = site.fake.world.message(site.channel, site.fake.world.bot, "1/1 Why?")
    client = discord.Client(intents=discord.Intents.none())
    try:
        await client.login(site.fake.token)
        line = Line(client, site.host().now)
        for _ in range(2):  # as after a crash
            await line.thread(site.channel.id, int(posted["id"]), "Why?")
    finally:
        await client.close()
    [thread] = [one for one in site.fake.world.channels.values() if one.parent is site.channel]
    assert thread.name == "Why?"


def _thread(site: Site, thread: Channel) -> Conversation:
    return Conversation("discord", str(site.channel.id), str(thread.id), str(site.server.id))


async def _drained(club: TestClub, *left: str) -> None:
    """Wait until nothing else is due."""
    async with asyncio.timeout(10):
        while tuple(letter.id for letter in await club.club.post.due("discord")) != left:  # noqa: ASYNC110  # rows
            await asyncio.sleep(0.02)
