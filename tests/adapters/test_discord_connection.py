"""Connected to Discord: refused tokens, intents, lost sockets, missed messages, duplicates, order, greetings, permissions."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import discord
import pytest

from adapters.discord import app, doctor, rights
from core.errors import OperatorError
from core.model import Conversation
from core.strings import tell
from tests.adapters.discord_club import Site, discord_site, text_of
from tests.bot.running import loccit
from tests.clubs import lantern_house, open_club
from tests.fakes.discord import Payload
from tests.fakes.discord.server import Fault

LOG = "What did Mara keep the log in?"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


def _answers_to(site: Site, asked: Payload) -> list[Payload]:
    return [message for message in site.mara.answers(site.channel) if _replies_to(message, asked)]


def _replies_to(message: Payload, asked: Payload) -> bool:
    return bool((message.get("message_reference") or {}).get("message_id") == asked["id"])


def _gateway(site: Site, what: str) -> list[object]:
    return [entry for entry in site.fake.journal.entries if entry.route == what]


async def test_a_refused_token_ends_with_a_sentence_for_the_operator(site: Site) -> None:
    async with open_club(site.folder) as club:
        settings = replace(site.settings, token="another")
        with pytest.raises(OperatorError) as caught:
            await app.serve(club.club, settings, site.host())
    assert caught.value.key == "token_refused"


async def test_message_content_is_asked_for_only_where_it_is_granted(site: Site) -> None:
    async with site.running():
        pass
    site.fake.grant_message_content()
    async with site.running():
        pass
    asked = [entry.body["intents"] for entry in site.fake.journal.entries if entry.route == "identify"]
    assert [bool(intents & (1 << 15)) for intents in asked] == [False, True]


async def test_where_the_gateway_refuses_what_the_portal_granted_the_bot_works_without_it(site: Site) -> None:
    site.fake.gateway.portal_is_ahead = True
    async with site.running():
        await site.shelve()
        assert "[1]" in text_of(await site.ask(LOG))


async def test_events_replayed_or_told_twice_are_answered_once(site: Site) -> None:
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        await site.fake.gateway.repeat_last("MESSAGE_CREATE")
        await site.fake.gateway.drop()
        during = await site.mara.mention(site.channel, "Who is Ivo?")
        await site.answer_to(asked)
        await site.answer_to(during)
        await site.fake.gateway.ask_to_reconnect()
        await site.fake.until(lambda: len(_gateway(site, "resume")) >= 2)
        await site.ask("One more?")
        assert len(_answers_to(site, asked)) == len(_answers_to(site, during)) == 1


async def test_what_was_missed_in_a_lost_session_or_while_the_bot_was_away_is_caught_up(site: Site) -> None:
    async with site.running():
        await site.shelve()
        await site.mara.write("a direct chat")
        await site.fake.until(lambda: site.mara.answers(site.mara.direct))
        await site.fake.gateway.invalidate()
        missed = await site.mara.mention(site.channel, LOG)
        overheard = await site.mara.say(site.channel, "nothing for the bot")
        assert "[1]" in text_of(await site.answer_to(missed))
    away = [await site.mara.mention(site.channel, words) for words in (LOG, "Who is Ivo?", "Whose coat was it?")]
    private = len(site.mara.answers(site.mara.direct))
    await site.mara.write("hello again")
    async with site.running():
        for asked in away:
            await site.answer_to(asked)
        await site.fake.until(lambda: len(site.mara.answers(site.mara.direct)) > private)
        assert [len(_answers_to(site, asked)) for asked in (missed, overheard, *away)] == [1, 0, 1, 1, 1]
        order = [int(_answers_to(site, asked)[0]["id"]) for asked in away]
        assert order == sorted(order)


async def test_a_channel_whose_missed_messages_cannot_be_read_at_first_still_answers_them_and_before_later_ones(
    site: Site,
) -> None:
    other = site.fake.channel(site.server, "other")
    async with site.running() as club:
        await site.shelve()
        await club.shelve(lantern_house(), Conversation("discord", str(other.id)))
        reads = Fault("GET", "/channels/{channel}/messages", times=2, status=503)
        site.fake.faults.append(reads)
        sessions = len(_gateway(site, "identify"))
        await site.fake.gateway.invalidate()
        missed = await site.mara.mention(site.channel, LOG)
        await site.fake.until(lambda: len(_gateway(site, "identify")) > sessions and reads.times == 1)
        later = await site.mara.mention(site.channel, "Who is Ivo?")
        elsewhere = await site.mara.mention(other, LOG)
        await site.fake.until(lambda: [m for m in site.mara.answers(other) if _replies_to(m, elsewhere)])
        await site.answer_to(later)
        order = [int(_answers_to(site, asked)[0]["id"]) for asked in (missed, later)]
        assert order == sorted(order)
        assert reads.times == 0


async def test_questions_of_one_channel_are_answered_in_their_order_under_rate_limits_and_reconnects(
    site: Site,
) -> None:
    """The bench asks 500 over 50 channels."""
    channels = [site.channel, site.fake.channel(site.server, "second"), site.fake.channel(site.server, "third")]
    async with site.running() as club:
        for channel in channels:
            await club.shelve(lantern_house(), Conversation("discord", str(channel.id)))
        asked: list[Payload] = []
        for number in range(4):
            for place, channel in enumerate(channels):
                asker = site.fake.member(f"Member {number} {place}", site.server)
                asked.append(await asker.mention(channel, f"{LOG} ({number})"))
            if number == 1:
                site.fake.buckets.forced.extend([(0.1, False), (0.1, True)])
                await site.fake.gateway.drop()
            if number == 2:
                await site.fake.gateway.repeat_last("MESSAGE_CREATE")
                await site.fake.gateway.invalidate()
        answers = [await site.answer_to(question) for question in asked]
        for channel in channels:
            replies = [int(m["message_reference"]["message_id"]) for m in site.mara.answers(channel)]
            assert replies == sorted(replies)
            assert len(replies) == 4
        assert len({answer["id"] for answer in answers}) == 12


async def test_a_server_is_greeted_once_where_the_bot_may_write(site: Site) -> None:
    async with site.running():
        owner = site.fake.member("New owner")
        server = site.fake.world.server("Second club", owner.person)
        closed = site.fake.channel(server, "closed")
        closed.denied_bot = 1 << 11
        hall = site.fake.channel(server, "hall")
        # what a server the bot was added to looks like, apart from one that is available again
        joined = {key: value for key, value in site.fake.world.guild(server).items() if key != "unavailable"}
        for _ in range(2):
            await site.fake.gateway.dispatch("GUILD_CREATE", joined, server_id=server.id, intent=1)
            await site.fake.until(lambda: owner.answers(hall))
            await site.fake.gateway.dispatch("GUILD_DELETE", {"id": str(server.id)}, server_id=server.id, intent=1)
        await site.shelve()
        assert len(owner.answers(hall)) == 1
        assert "/book add" in text_of(owner.answers(hall)[0])
        assert "/setup" in text_of(owner.answers(hall)[0])
        assert owner.answers(closed) == []


async def test_two_shards_are_served_as_the_vendor_asks(site: Site) -> None:
    site.fake.gateway.shards = 2
    other = site.fake.server("Other shard")
    while (other.id >> 22) % 2 == (site.server.id >> 22) % 2:
        await asyncio.sleep(0.002)
        other = site.fake.server("Other shard")
    hall = site.fake.channel(other, "hall")
    async with site.running():
        shards = [entry.body["shard"] for entry in site.fake.journal.entries if entry.route == "identify"]
        assert sorted(shards) == [[0, 2], [1, 2]]
        stranger = site.fake.member("Stranger", other)
        assert "no book here" in text_of(await site.answer_to(await stranger.mention(hall, LOG)))


def test_the_invite_asks_for_exactly_what_is_needed() -> None:
    link = rights.invite(123)
    assert "client_id=123" in link
    assert f"permissions={rights.NEEDED.value}" in link
    assert {name for name, value in rights.NEEDED if value} == {
        "read_messages",
        "send_messages",
        "send_messages_in_threads",
        "create_public_threads",
        "attach_files",
        "read_message_history",
        "send_polls",
    }
    assert rights.missing(discord.Permissions.none())
    assert rights.missing(discord.Permissions(administrator=True)) == []


async def test_doctor_names_the_invite_link_and_what_is_missing_in_which_channel(site: Site) -> None:
    found, well = await doctor.examine(site.settings)
    said = [tell(notice, "en") for notice in found]
    assert well
    assert "Message Content is off" in said[0]
    assert rights.invite(site.fake.world.bot.id) in said[1]
    assert said[2] == "Discord: nothing is missing in the one channel of Book club."
    site.channel.denied_bot = 1 << 11 | 1 << 15
    site.fake.grant_message_content()
    found, well = await doctor.examine(site.settings)
    said = [tell(notice, "en") for notice in found]
    assert not well
    assert "Message Content is on" in said[0]
    assert said[2] == "Discord: in #reading of Book club these permissions are missing: send messages, attach files."
    found, well = await doctor.examine(replace(site.settings, token="another"))
    assert (tell(found[0], "en"), well) == ("Discord refused the token; check DISCORD_TOKEN.", False)


async def test_loccit_run_with_a_refused_token_says_so_and_ends_with_78(site: Site, tmp_path: Path) -> None:
    run = partial(
        loccit,
        "run",
        data=tmp_path / "data",
        LOCCIT_WEB_PORT="0",
        DISCORD_TOKEN="another",
        DISCORD_API_BASE=site.fake.api,
        DISCORD_GATEWAY=site.fake.gateway_url,
    )
    ran = await asyncio.to_thread(run)
    assert ran.code == 78
    assert "Discord refused the token" in ran.err
    assert "DISCORD_TOKEN" in ran.err
