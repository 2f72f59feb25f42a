"""Asking on Discord: mention, reply, thread, command, direct message; written while it streams, stopped, changed, deleted."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.errors import OperatorError, UpstreamError
from core.model import Conversation, Reader
from tests.adapters.discord_club import Site, discord_site, items, said, text_of
from tests.adapters.discord_hostile import hostile
from tests.adapters.discord_markdown import read
from tests.adapters.telegram_club import GatedModel
from tests.clubs import open_club
from tests.fakes.discord import Member, Payload, labels
from tests.fakes.model import ScriptedModel

GREEN_INK = "Mara kept the lighthouse log in green ink."
LOG = "What did Mara keep the log in?"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


async def test_a_mention_is_answered_with_footnotes_whose_passage_only_the_presser_sees(site: Site) -> None:
    async with site.running():
        card = await site.shelve()
        assert "The Lantern House" in text_of(card)
        answer = await site.ask(LOG)
        assert "[1]" in text_of(answer)
        assert labels(answer)[0].startswith("1 · Ch. 1")
        shown = await site.opened(answer, "1", by=site.ivo)
        assert GREEN_INK in said(shown)
        assert shown[0]["ephemeral_for"] == str(site.ivo.id)
        assert shown[0] not in site.mara.sees(site.channel)
    assert not site.fake.journal.refused()


async def test_a_reply_follows_up_on_the_answer_it_replies_to_and_one_without_a_ping_gets_one_hint(site: Site) -> None:
    model = ScriptedModel(lambda request: "He came by ferry.")
    site.model = model
    async with site.running() as club:
        await site.shelve()
        first = await site.ask("Who is Ivo?")
        reply = await site.ivo.reply(site.channel, first, "And how did he arrive?")
        second = await site.answer_to(reply)
        turns = await club.club.questions.history(_conversation(site))
        assert turns[1].reply_to == turns[0].id
        silent = [await site.ivo.reply(site.channel, second, "And then?", ping=False) for _ in range(2)]
        hint = await site.answer_to(silent[0])
        assert "mention me" in text_of(hint)
        await site.ask("One more?")
        assert [m for m in site.ivo.answers(site.channel) if _replies_to(m, silent[1])] == []


async def test_with_the_intent_a_reply_without_a_ping_and_words_in_the_answers_thread_are_questions(site: Site) -> None:
    site.fake.grant_message_content()
    async with site.running():
        await site.shelve()
        first = await site.ask(LOG)
        assert "[1]" in text_of(await site.answer_to(await site.ivo.reply(site.channel, first, LOG, ping=False)))
        await site.mara.settled(await site.mara.press(site.channel, first, "Follow up in a thread"))
        thread = site.fake.world.channels[int(first["id"])]
        assert thread.name == LOG
        assert "[1]" in text_of(await site.answer_to(await site.ivo.say(thread, "Who kept the log?")))
        elsewhere = await site.ivo.say(site.channel, "just talking")
        await site.ask(LOG)
        assert [m for m in site.ivo.answers(site.channel) if _replies_to(m, elsewhere)] == []


async def test_a_reply_to_an_answer_that_is_still_being_written_is_a_question_and_one_to_a_card_is_not(
    site: Site,
) -> None:
    site.fake.grant_message_content()
    site.model = model = GatedModel(["She kept it ", "in green ink [f1-0-42]."])
    async with site.running() as club:
        card = await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        model.gate.release()
        draft = await _stoppable(site, asked)
        follow_up = await site.ivo.reply(site.channel, draft, "And then?", ping=False)
        chat = await site.ivo.reply(site.channel, card, "Nice cover!", ping=False)
        for _ in range(20):
            model.gate.release()
        await site.answer_to(follow_up)
        turns = await club.club.questions.history(_conversation(site))
        assert [turn.question for turn in turns] == [LOG, "And then?"]
        assert turns[1].reply_to == turns[0].id
        await site.ask(LOG)
        assert [m for m in site.ivo.answers(site.channel) if _replies_to(m, chat)] == []


async def test_a_thread_uses_its_channels_book_and_its_first_question_follows_the_answer_it_hangs_on(
    site: Site,
) -> None:
    async with site.running() as club:
        await site.shelve()
        first = await site.ask(LOG)
        async with asyncio.timeout(30):  # nobody opens a thread before the bot has noted what it posted
            while await club.club.post.turn_of(_conversation(site), str(first["id"])) is None:  # noqa: ASYNC110  # a row tells nobody
                await asyncio.sleep(0.02)
        thread = await site.ivo.open_thread(site.channel, first, "About ink")
        empty = await site.ivo.say(thread, "no mention, no intent")
        assert "mention me" in text_of(await site.answer_to(empty))
        answer = await site.answer_to(await site.ivo.mention(thread, "Whose coat was in the suitcase?"))
        assert "[1]" in text_of(answer)
        assert answer["channel_id"] == str(thread.id)
        turns = await club.club.questions.history(_conversation(site))
        within = await club.club.questions.history(Conversation("discord", str(site.channel.id), str(thread.id)))
        assert within[-1].reply_to == turns[0].id
        assert GREEN_INK in said(await site.opened(first, "1"))
        assert "oilskin" in said(await site.opened(answer, "1", by=site.mara))


async def test_a_direct_message_is_answered_from_the_books_of_that_chat(site: Site, tmp_path: Path) -> None:
    async with site.running():
        await site.shelve()
        nothing = await site.mara.write(LOG)
        await site.fake.until(lambda: site.mara.answers(site.mara.direct))
        assert "no book here" in text_of(site.mara.answers(site.mara.direct)[0])
        book = await asyncio.to_thread((tmp_path / "the-lantern-house.epub").read_bytes)
        await site.mara.write("", files=[("lantern.epub", book)])
        await site.fake.until(lambda: "Ready" in text_of(site.mara.answers(site.mara.direct)[-1]))
        await site.mara.write(LOG)
        await site.fake.until(lambda: "[1]" in text_of(site.mara.answers(site.mara.direct)[-1]))
        answer = site.mara.answers(site.mara.direct)[-1]
        shown = await site.mara.settled(await site.mara.press(site.mara.direct, answer, "1"))
        assert GREEN_INK in said(shown)
        assert nothing["id"] != answer["id"]


async def test_an_empty_mention_gets_help_and_a_bot_gets_nothing(site: Site) -> None:
    async with site.running():
        await site.shelve()
        assert "/ask" in text_of(await site.ask(""))
        other = site.fake.member("Robot", site.server)
        other.person.bot = True
        asked = await other.mention(site.channel, LOG)
        await site.ask(LOG)
        assert [m for m in site.ivo.answers(site.channel) if _replies_to(m, asked)] == []


async def test_the_command_is_deferred_at_once_and_answered_in_place(site: Site) -> None:
    async with site.running():
        await site.shelve()
        asked = await site.ivo.slash(site.channel, "ask", {"question": LOG})
        answer = (await site.ivo.settled(asked, lambda: _finished(site, asked.posted)))[0]
        assert asked.answer == 5
        assert "[1]" in text_of(answer)
        assert GREEN_INK in said(await site.opened(answer, "1", by=site.mara))


async def test_a_command_that_could_not_be_acknowledged_in_time_is_answered_all_the_same(site: Site) -> None:
    async with site.running():
        await site.shelve()
        site.fake.interactions.answer_within = -1.0
        await site.ivo.slash(site.channel, "ask", {"question": LOG})
        await site.fake.until(lambda: "[1]" in text_of(site.ivo.answers(site.channel)[-1]))
        site.fake.interactions.answer_within = 3.0
        assert len(site.ivo.answers(site.channel)) == 2


async def test_an_answer_is_shown_while_it_is_written_with_few_edits_and_stop_ends_it(site: Site) -> None:
    model = GatedModel([f"Word {n}. " for n in range(40)])
    site.model = model
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        for _ in range(15):
            model.gate.release()
            await asyncio.sleep(0.06)
        draft = await _stoppable(site, asked)
        assert "Word 3" in text_of(draft)
        foreign = await site.ivo.settled(await site.ivo.press(site.channel, draft, "Stop"))
        assert "button is for the person" in said(foreign)
        await site.mara.press(site.channel, draft, "Stop")
        stopped = await site.answer_to(asked)
        assert "was stopped" in text_of(stopped)
        edits = site.fake.journal.requests("PATCH", "/channels/{channel}/messages/{message}")
        assert len(edits) < 8
        late = await site.mara.settled(await site.mara.press_id(site.channel, stopped, "stop:nothing"))
        assert "no longer in use" in said(late)


async def test_while_somebody_waits_long_the_bot_says_that_it_is_looking(site: Site) -> None:
    model = GatedModel(["The log [f1-0-42]."])
    site.model = model
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        waiting = await _stoppable(site, asked)
        assert "Looking in the book" in text_of(waiting)
        assert site.fake.journal.requests("POST", "/channels/{channel}/typing")
        for _ in range(8):
            model.gate.release()
        answer = await site.answer_to(asked)
        assert answer["id"] == waiting["id"]


async def test_a_changed_question_is_answered_once_more_in_place_and_a_deleted_one_takes_its_answer_along(
    site: Site,
) -> None:
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        answer = await site.answer_to(asked)
        await site.mara.edit(site.channel, asked, asked["content"].replace(LOG, "Whose coat was in the suitcase?"))
        await site.fake.until(lambda: "Mara kept" not in text_of(answer))
        assert "oilskin" in text_of(answer)
        assert len([m for m in site.mara.answers(site.channel) if _replies_to(m, asked)]) == 1
        assert "oilskin" in said(await site.opened(answer, "1"))
        await site.mara.edit(site.channel, asked, asked["content"].replace("Whose coat was in the suitcase?", LOG))
        await site.fake.until(lambda: "Mara kept" in text_of(answer))
        await site.mara.delete(site.channel, asked)
        await site.fake.until(lambda: int(answer["id"]) not in site.channel.messages)


async def test_a_question_that_is_changed_while_it_is_being_answered_gets_the_answer_to_its_new_words(
    site: Site,
) -> None:
    model = GatedModel(["The log [f1-0-42]."])
    site.model = model
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        await site.fake.until(lambda: model.requests)
        await site.mara.edit(site.channel, asked, asked["content"].replace(LOG, "Whose coat was it?"))
        for _ in range(40):
            model.gate.release()
        await site.fake.until(lambda: "Whose coat was it?" in str(model.requests[-1]))
        await site.answer_to(asked)
        assert len([m for m in site.mara.answers(site.channel) if _replies_to(m, asked)]) == 1


async def test_the_asker_deletes_an_answer_and_anybody_can_call_it_wrong(site: Site) -> None:
    async with site.running():
        await site.shelve()
        answer = await site.ask(LOG, by=site.ivo)
        more = await site.opened(answer, "⋯", by=site.ivo)
        assert {"Shorter", "More detail", "Delete"} <= set(labels(more[0]))
        flagged = await site.ivo.settled(await site.ivo.press(site.channel, more[0], "Wrong"))
        assert "Thank you" in said(flagged)
        stranger = site.fake.member("Stranger", site.server)
        theirs = await site.opened(answer, "⋯", by=stranger)
        refused = await stranger.settled(await stranger.press(site.channel, theirs[0], "Delete"))
        assert int(answer["id"]) in site.channel.messages
        assert said(refused)
        await site.ivo.press(site.channel, more[0], "Delete")
        await site.fake.until(lambda: int(answer["id"]) not in site.channel.messages)


async def test_an_answer_without_the_book_is_for_the_presser_alone(site: Site) -> None:
    site.model = ScriptedModel(lambda request: "Ink is a fluid.")
    async with site.running() as club:
        await site.shelve()
        await site.ask(LOG)
        asked = await site.ivo.slash(site.channel, "ask", {"question": "What is ink?", "scope": "without"})
        answer = (await site.ivo.settled(asked, lambda: _finished(site, asked.posted)))[0]
        assert "Not from the book" in text_of(answer)
        assert answer["ephemeral_for"] == str(site.ivo.id)
        exported = await club.club.passages.export(_conversation(site), reader=Reader(str(site.mara.id)))
        assert LOG in exported
        assert "What is ink" not in exported


async def test_long_answers_come_in_parts_each_with_its_own_buttons(site: Site) -> None:
    text = "\n\n".join(f"Paragraph {n} {'tells of the lamp and the sea ' * 9}[f1-0-42]." for n in range(12))
    site.model = ScriptedModel(lambda request: text)
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        first = await site.answer_to(asked)
        await site.fake.until(lambda: len(site.mara.answers(site.channel)) >= 3)
        await site.fake.until(lambda: "⋯" in labels(site.mara.answers(site.channel)[-1]))
        parts = [m for m in site.mara.answers(site.channel) if int(m["id"]) >= int(first["id"])]
        assert len(parts) >= 2
        assert all(read(part["content"]).text for part in parts)
        for part in parts:
            if "[1]" in text_of(part):
                assert any(label.startswith("1") for label in labels(part))
        await site.mara.reply(site.channel, parts[-1], "And then?")


async def test_an_answer_survives_being_killed_between_making_and_showing_it(site: Site) -> None:
    async with site.running():
        await site.shelve()
        site.fake.fail("POST", "/channels/{channel}/messages", times=2, cut=True)
        asked = await site.mara.mention(site.channel, LOG)
        await site.fake.until(lambda: not any(fault.times for fault in site.fake.faults))
    async with site.running():
        assert "[1]" in text_of(await site.answer_to(asked))
        await site.ask("Who is Ivo?")
        assert len([m for m in site.mara.answers(site.channel) if _replies_to(m, asked)]) == 1


async def test_a_send_whose_answer_was_lost_makes_no_second_message(site: Site) -> None:
    async with site.running():
        await site.shelve()
        site.fake.fail("POST", "/channels/{channel}/messages", cut=True, after=True)
        asked = await site.mara.mention(site.channel, LOG)
        assert "[1]" in text_of(await site.answer_to(asked))
        await site.ask("Who is Ivo?")
        assert len([m for m in site.mara.answers(site.channel) if _replies_to(m, asked)]) == 1


async def test_a_question_kept_through_an_outage_is_answered_once_when_the_provider_is_back(site: Site) -> None:
    down = [True]

    def answer(_: object) -> str | Exception:
        return UpstreamError("model_down") if down[0] else "In green ink [f1-0-42]."

    site.model = ScriptedModel(answer)
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        interim = await site.answer_to(asked)
        down[0] = False
        late = await site.answer_to(asked, lambda text: "In green ink" in text)
        assert late["id"] != interim["id"]


async def test_a_draft_sent_at_the_moment_of_a_crash_becomes_the_answer_and_never_stands_for_ever(site: Site) -> None:
    """The vendor took it, and nobody wrote down that it had: the same nonce finds it again, with the words of then."""
    site.model = gated = GatedModel(["In green ink, ", "says the book."])
    async with site.running():
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG)
        gated.gate.release()
        draft = await _stoppable(site, asked)
    async with open_club(site.folder) as club:
        key = f"discord:{site.channel.id}:{asked['id']}"
        await club.club.post.withdrawn(key, 0)
        await club.club.post.sending(_conversation(site), key, 0)
    async with site.running():
        for _ in range(10):  # words without proof are asked for once more
            gated.gate.release()
        answer = await site.answer_to(asked, lambda text: "says the book" in text)
        assert answer["id"] == draft["id"]
        assert len([m for m in site.mara.answers(site.channel) if _replies_to(m, asked)]) == 1


async def test_what_must_be_mended_reaches_whose_bot_it_is_once_and_the_question_can_be_asked_again(site: Site) -> None:
    broken = [True]

    def answer(_: object) -> str | Exception:
        return OperatorError("model_quota") if broken[0] else "Lighthouses of that kind were built around 1870."

    site.model = ScriptedModel(answer)
    owner = next(iter(site.fake.world.people.values()))
    async with site.running():
        await site.shelve()
        await site.ask(LOG)
        asked = await site.ivo.slash(site.channel, "ask", {"question": "When was it built?", "scope": "without"})
        [failed] = await site.ivo.settled(asked, lambda: "used up" in _for(site.ivo, site))
        told = site.fake.world.direct_with(owner).messages.values()
        await site.fake.until(lambda: told)
        assert sum("used up" in text_of(message) for message in told) == 1
        assert len([notice for notice in site.told if "used up" in notice]) == 1
        broken[0] = False
        pressed = await site.ivo.press(site.channel, failed, "Try again")
        [own] = await site.ivo.settled(pressed, lambda: "1870" in _for(site.ivo, site))
        assert "Not from the book:" in text_of(own)
        assert own["ephemeral_for"] == str(site.ivo.id)  # as private as it was asked for


async def test_hostile_words_of_the_model_notify_nobody_and_link_nowhere(site: Site) -> None:
    texts = hostile(60)
    words = iter(texts)
    site.model = ScriptedModel(lambda request: next(words, "x") or "x")
    async with site.running():
        await site.shelve()
        for _ in range(20):
            await site.ask(LOG)
    for message in site.mara.answers(site.channel):
        assert message["mentions"] == []
        assert not message["mention_everyone"]
        assert read(message["content"]).live == [], message["content"]


def _for(member: Member, site: Site) -> str:
    """What only this member sees."""
    return said([message for message in member.answers(site.channel) if message.get("ephemeral_for")])


def _replies_to(message: Payload, asked: Payload) -> bool:
    return bool((message.get("message_reference") or {}).get("message_id") == asked["id"])


def _finished(site: Site, posted: list[int]) -> bool:
    messages = [site.channel.messages[id] for id in posted if id in site.channel.messages]
    return bool(messages) and bool(items(messages[-1])) and not any("Stop" in labels(m) for m in messages)


async def _stoppable(site: Site, asked: Payload) -> Payload:
    def found() -> Payload | None:
        for message in site.mara.answers(site.channel):
            if _replies_to(message, asked) and "Stop" in labels(message):
                return message
        return None

    draft = await site.fake.until(found)
    assert isinstance(draft, dict)
    return draft


def _conversation(site: Site) -> Conversation:
    return Conversation("discord", str(site.channel.id))
