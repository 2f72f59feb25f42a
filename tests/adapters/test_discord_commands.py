"""Slash commands on Discord: registered, localised, offered while typing, answered in time, refused to those who may not."""

from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

import pytest

from adapters.discord.connection import spell
from adapters.discord.spots import Spot, Who
from core.desk import COMMANDS
from core.model import Conversation, Event, Reader
from core.strings import say
from tests.adapters.discord_club import Site, discord_site, said, text_of
from tests.fakes.discord import Payload, labels


def said_in_spanish() -> str:
    return say("desk_forget_what", "es", forget="/book forget")


LOG = "What did Mara keep the log in?"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


def _named(commands: list[Payload]) -> set[str]:
    names = set()
    for command in commands:
        inner = [option["name"] for option in command.get("options") or [] if option["type"] == 1]
        names |= {f"{command['name']} {name}" for name in inner} or {command["name"]}
    return names


async def test_every_command_of_the_desk_can_be_typed_and_is_told_in_the_readers_language(site: Site) -> None:
    async with site.running():
        registered = _named([command for command in site.fake.rest.commands if command["type"] == 1])
        assert {spell(name).removeprefix("/") for name in COMMANDS} == registered
        ask = next(command for command in site.fake.rest.commands if command["name"] == "ask")
        assert ask["description"] == say("command_ask", "en")
        assert ask["description_localizations"]["es-ES"] == say("command_ask", "es")
        assert ask["description_localizations"]["pt-BR"] == say("command_ask", "pt")
        menu = next(command for command in site.fake.rest.commands if command["type"] == 3)
        assert menu["name_localizations"]["pt-BR"] == say("discord_menu_read", "pt")


async def test_each_command_answers_and_what_is_for_one_person_is_seen_by_one(site: Site) -> None:
    async with site.running():
        assert "no book" in await site.command("book list")
        await site.shelve()
        await site.ask(LOG)
        for name, options, expected in (
            ("help", {}, "/ask"),
            ("about", {}, "AGPL"),
            ("toc", {}, "1. Green Ink"),
            ("quote", {"words": "It still smells of salt"}, "Word for word"),
            ("progress", {}, "whole book"),
            ("place", {}, "no place of your own"),
            ("export", {}, "chat so far"),
            ("book list", {}, "The Lantern House"),
            ("book use", {"book": "1"}, "The Lantern House"),
            ("book settings", {}, "Language"),
            ("book privacy", {}, "deletes"),
            ("book forget", {}, "forgotten"),
            ("book model", {}, "model"),
            ("book remove", {"book": "1"}, "was removed"),
            ("book undo", {}, "The Lantern House"),
        ):
            used = await site.mara.slash(site.channel, name, options)
            shown = await site.mara.settled(used)
            assert expected in said(shown), name
            assert used.took < 3
        quiet = await site.mara.settled(await site.mara.slash(site.channel, "export"))
        assert quiet[0]["ephemeral_for"] == str(site.mara.id)
        assert quiet[0]["attachments"][0]["filename"] == "loccit.md"
        assert b"green ink" in site.fake.files.data(quiet[0]["attachments"][0])
        public = await site.mara.settled(await site.mara.slash(site.channel, "progress", {"how_far": "finished 1"}))
        assert "ephemeral_for" not in public[0]
    assert not site.fake.journal.refused()


async def test_books_and_chapters_are_offered_but_no_title_past_the_clubs_limit(site: Site) -> None:
    async with site.running():
        assert await site.mara.autocomplete(site.channel, "progress", "how_far", "") == []
        await site.shelve()
        assert await site.mara.autocomplete(site.channel, "ask", "book", "lant", {"question": "x"}) == [
            "The Lantern House"
        ]
        everything = await site.mara.autocomplete(site.channel, "progress", "how_far", "")
        assert any("The Ferry" in offered for offered in everything)
        assert await site.mara.autocomplete(site.channel, "progress", "how_far", "ferry") == ["Ch. 2 read · The Ferry"]
        await site.command("progress", how_far="finished 1")
        limited = await site.mara.autocomplete(site.channel, "progress", "how_far", "")
        assert any("Green Ink" in offered for offered in limited)
        assert not any("Ferry" in offered or "Coat" in offered for offered in limited)
        assert any("Ch. 3" in offered for offered in limited)
        spanish = site.fake.member("Ana", site.server, locale="es-ES")
        assert say("desk_whole_book", "es") in await spanish.autocomplete(site.channel, "place", "how_far", "")


async def test_a_command_speaks_its_readers_language_and_later_mentions_do_so_too(site: Site) -> None:
    async with site.running():
        await site.shelve()
        ana = site.fake.member("Ana", site.server, locale="es-419")
        assert say("desk_forget_no", "es") in labels(
            (await ana.settled(await ana.slash(site.channel, "book forget", {"what": "me"})))[0]
        )
        answer = await site.ask("zeppelin?", by=ana)
        assert say("desk_search_words", "es") in labels(answer)


async def test_changing_the_chat_is_for_those_who_manage_it(site: Site) -> None:
    async with site.running():
        await site.shelve()
        shown = await site.ivo.settled(await site.ivo.slash(site.channel, "book settings"))
        refused = await site.ivo.settled(await site.ivo.press(site.channel, shown[0], say("language_name", "es")))
        assert said(refused) == say("managers_only", "en")
        for name, options in (("book remove", {"book": "1"}), ("progress", {"how_far": "finished 1"})):
            theirs = await site.ivo.settled(await site.ivo.slash(site.channel, name, options))
            assert said(theirs) == say("book_managers_only", "en"), name
            assert theirs[0]["ephemeral_for"] == str(site.ivo.id)
        changed = await site.mara.settled(await site.mara.slash(site.channel, "book settings"))
        await site.mara.press(site.channel, changed[0], say("language_name", "es"))
        await site.fake.until(lambda: changed[0]["edited_timestamp"])
        assert await site.command("book forget", by=site.ivo) == said_in_spanish()


async def test_a_command_told_twice_is_done_once(site: Site) -> None:
    async with site.running():
        await site.shelve()
        used = await site.mara.slash(site.channel, "book remove", {"book": "1"})
        await site.fake.gateway.repeat_last("INTERACTION_CREATE")
        assert "was removed" in said(await site.mara.settled(used))
        assert "The Lantern House" in await site.command("book undo")
        assert len(site.fake.journal.breaches) == 0


async def test_a_command_that_was_answered_is_over(site: Site) -> None:
    async with site.running() as club:
        await site.shelve()
        used = await site.mara.slash(site.channel, "help")
        await site.mara.settled(used)
        await site.command("help")
        left = [event.key for event in await club.club.post.unfinished("discord")]
        assert not [key for key in left if key.endswith(f"i{used.id}")]


async def test_a_command_a_restart_cut_off_is_not_done_again_and_says_so(site: Site) -> None:
    async with site.running() as club:
        await site.shelve()
        await site.mara.settled(await site.mara.slash(site.channel, "ask", {"question": LOG}))
        deferred = site.mara.answers(site.channel)[-1]
        where = Conversation("discord", str(site.channel.id))
        who = Who(where, Reader(str(site.mara.id), "en", manages=True))
        payload = {"do": "command", "name": "remove", "spot": asdict(Spot(site.channel.id)), **who.written()}
        key = f"discord:{site.channel.id}:i1"
        await club.club.post.receive(Event(key, "discord", f"discord:{site.channel.id}", payload))
        await club.club.post.sent(where, key, 0, deferred["id"])
    async with site.running():
        await site.fake.until(lambda: "restarted" in text_of(deferred))
        assert "The Lantern House" in await site.command("book list")
