"""Meeting on Discord: a question written anew in a form, one thread for each, what is said there, and what `/setup` finds."""

import re
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from core.model import ChatRequest
from tests.adapters.discord_club import Site, discord_site, said, text_of
from tests.core.test_discussions import GOOD
from tests.fakes.discord import Channel, Payload
from tests.fakes.discord.world import ATTACH_FILES, CREATE_PUBLIC_THREADS, SEND_POLLS
from tests.fakes.model import ScriptedModel

QUESTIONS = [question.split(" [")[0] for question in GOOD]
THREAD = ("POST", "/channels/{channel}/messages/{message}/threads")


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path, _model(QUESTIONS)) as site:
        yield site


def _model(questions: Sequence[str]) -> ScriptedModel:
    """Drafts these questions, each with a note; answers everything else alike."""

    def reply(request: ChatRequest) -> str:
        tags = list(dict.fromkeys(re.findall(r"\[f[012]-\d+-\d+\]", str(request.messages[-1].content)))) or [""]
        if request.purpose != "discuss":
            return f"It says so. {tags[0]}"
        return "\n".join(f"{at + 1}. {words} {tags[at % len(tags)]}" for at, words in enumerate(questions))

    return ScriptedModel(reply)


async def _drafted(site: Site) -> list[Payload]:
    """A draft of questions before Mara; the messages it is in."""
    return await site.mara.settled(await site.mara.slash(site.channel, "discuss"))


def _posted(site: Site) -> list[Payload]:
    """The questions that stand in the channel, in order."""
    return [one for one in site.mara.answers(site.channel) if re.match(r"\d/\d ", text_of(one))]


def _before_mara(site: Site) -> list[Payload]:
    """What she alone sees."""
    return [one for one in site.mara.answers(site.channel) if one.get("ephemeral_for") == str(site.mara.id)]


def _threads(site: Site) -> list[Channel]:
    return [one for one in site.fake.world.channels.values() if one.parent is site.channel]


async def _posting(site: Site, draft: list[Payload], keep: tuple[int, ...]) -> list[Payload]:
    for number in keep:
        await site.opened(draft[-1], f"Keep {number}")
    await site.opened(draft[-1], "Post")
    await site.fake.until(lambda: len(_posted(site)) == len(keep))
    return _posted(site)


async def _kept(site: Site, count: int) -> list[tuple[str, str]]:
    """Who has answered what, once so many answers are on record."""
    found: list[tuple[str, str]] = []

    def written() -> bool:
        with closing(sqlite3.connect(site.folder / "loccit.db")) as database:
            found[:] = database.execute("select reader, words from remark order by at").fetchall()
        return len(found) == count

    await site.fake.until(written)
    return found


async def test_edit_brings_a_form_with_the_question_and_what_is_sent_stands_in_its_place(site: Site) -> None:
    async with site.running():
        await site.shelve()
        draft = await _drafted(site)
        before = len(site.mara.answers(site.channel))
        pressed = await site.mara.press(site.channel, draft[-1], "Edit 2")
        await site.fake.until(lambda: pressed.modal)
        assert pressed.modal is not None
        [row] = pressed.modal["components"]
        assert (pressed.modal["title"], row["component"]["value"]) == ("Edit 2", "What may have happened to Tobin?")
        assert row["label"] == "The question; its footnotes stay"
    async with site.running():  # a restart while it is filled in
        sent = await site.mara.submit(pressed, {row["label"]: "Where is Tobin? @everyone"})
        changed = said(await site.mara.settled(sent))
        assert "Where is Tobin? @everyone [2]" in changed
        assert "What may have happened" not in changed
        assert len(site.mara.answers(site.channel)) == before
        sent = await site.mara.submit(pressed, {row["label"]: "[7]"})
        assert "A question needs words" in said(await site.mara.settled(sent))
        assert "Where is Tobin?" in text_of(site.channel.messages[int(draft[-1]["id"])])
    assert not site.fake.journal.refused()


async def test_a_form_of_somebody_else_or_of_nobody_is_one_sentence(site: Site) -> None:
    async with site.running():
        await site.shelve()
        draft = await _drafted(site)
        pressed = await site.mara.press(site.channel, draft[-1], "Edit 1")
        await site.fake.until(lambda: pressed.modal)
        assert pressed.modal is not None
        for name in ("form:forged", "another", "form:", pressed.modal["custom_id"]):
            pressed.modal["custom_id"] = name
            forged = await site.ivo.submit(pressed, {"The question; its footnotes stay": "Mine?"})
            shown = await site.ivo.settled(forged)
            assert len(shown) == 1, name
            assert "button" in said(shown), name
        assert "Why green ink?" in text_of(site.channel.messages[int(draft[-1]["id"])])


async def test_a_draft_of_two_messages_changes_in_both(tmp_path: Path) -> None:
    long = [f"{'Why green ink, and why ' + 'so ' * 180}much of it, number {number}?" for number in range(1, 7)]
    async with discord_site(tmp_path, _model(long)) as site, site.running():
        await site.shelve()
        await _drafted(site)
        await site.fake.until(lambda: len(_before_mara(site)) == 2)
        draft = _before_mara(site)
        before = [text_of(one) for one in draft]
        await site.opened(draft[-1], "Another 1")
        await site.fake.until(lambda: text_of(draft[0]) != before[0])
        assert "number 1?" not in text_of(draft[0])
        assert "number 6?" in text_of(draft[0])
        assert text_of(draft[1]) == before[1]
        assert site.mara.answers(site.channel)[-2:] == draft
        assert [one for one in draft if one in site.ivo.sees(site.channel)] == []
    assert not site.fake.journal.refused()


async def test_each_question_has_its_thread_in_which_what_is_said_answers_it(site: Site) -> None:
    site.fake.grant_message_content()
    async with site.running():
        await site.shelve()
        await site.command("setup")
        await _agreed(site)
        posted = await _posting(site, await _drafted(site), (2, 4))
        await site.fake.until(lambda: len(_threads(site)) == 2)
        tobin, case = _threads(site)
        assert [thread.id for thread in (tobin, case)] == [int(message["id"]) for message in posted]
        assert tobin.name == "1/2 What may have happened to Tobin?"
        first = await site.ivo.say(tobin, "He has gone to sea.")
        await site.mara.reply(tobin, first, "At his age!", ping=False)
        await site.ivo.say(tobin, f"<@{site.mara.id}> don't you think so?")
        await site.ivo.say(case, "That he means to stay.")
        ivo, mara = str(site.ivo.id), str(site.mara.id)
        assert await _kept(site, 3) == [
            (ivo, "He has gone to sea."),
            (mara, "At his age!"),
            (ivo, "That he means to stay."),
        ]
        assert site.mara.answers(tobin) == []
        typed = await site.ivo.settled(await site.ivo.slash(tobin, "discuss", {"words": "answer 2 In his coat."}))
        assert said(typed) == "Thank you."
        [wrapped] = await site.mara.settled(await site.mara.slash(case, "wrap"))
        assert "2 questions, 4 replies" in text_of(wrapped)
        asked = await site.ivo.say(tobin, "What did Mara keep the log in?")
        await site.fake.until(lambda: site.mara.answers(tobin))
        assert site.mara.answers(tobin)[0]["message_reference"]["message_id"] == asked["id"]
        await site.ivo.say(tobin, "Green ink lasts at sea.")
        assert len(await _kept(site, 5)) == 5
    assert not site.fake.journal.refused()


async def _agreed(site: Site) -> None:
    [shown] = await site.mara.settled(await site.mara.slash(site.channel, "setup"))
    await site.opened(shown, "Keep answers for the wrap-up")


async def test_without_the_intent_those_who_address_the_bot_are_heard_and_thanked(site: Site) -> None:
    async with site.running():
        await site.shelve()
        [_] = await _posting(site, await _drafted(site), (2,))
        await site.fake.until(lambda: _threads(site))
        [thread] = _threads(site)
        await site.ivo.say(thread, "Nobody asked for this to be kept.")
        await _agreed(site)
        await site.ivo.mention(thread, "He has gone to sea.")
        await site.fake.until(lambda: site.mara.answers(thread))
        assert [text_of(message) for message in site.mara.answers(thread)] == ["Thank you."]
        assert await _kept(site, 1) == [(str(site.ivo.id), "He has gone to sea.")]
        await site.ivo.mention(thread, "What did Mara keep the log in?")
        await site.fake.until(lambda: len(site.mara.answers(thread)) == 2)


@pytest.mark.parametrize("status", [503, 0])
async def test_a_thread_is_opened_once_also_when_the_answer_to_it_is_lost_or_the_bot_dies(
    site: Site, status: int
) -> None:
    async with site.running() as club:
        await site.shelve()
        site.fake.fail(*THREAD, cut=True, after=not status)
        [posted] = await _posting(site, await _drafted(site), (2,))
        await site.fake.until(lambda: len(site.fake.journal.requests(*THREAD)) >= 1)
        assert await club.club.post.due("discord")
        now = club.clock()
    async with site.running() as club:
        club.clock.now = now
        await site.command("about")
        await site.fake.until(lambda: len(site.fake.journal.requests(*THREAD)) >= 2)
        await _drained(site)
        [thread] = _threads(site)
        assert thread.id == int(posted["id"])
        assert len(_posted(site)) == 1


async def _drained(site: Site) -> None:
    def done() -> bool:
        with closing(sqlite3.connect(site.folder / "loccit.db")) as database:
            return not database.execute("select 1 from letter where done_at is null").fetchall()

    await site.fake.until(done)


async def test_where_no_threads_may_be_opened_a_reply_answers_as_before(site: Site) -> None:
    site.fake.grant_message_content()
    async with site.running():
        await site.shelve()
        await _agreed(site)
        await site.fake.deny(site.channel, CREATE_PUBLIC_THREADS)
        [posted] = await _posting(site, await _drafted(site), (2,))
        await _drained(site)
        await site.ivo.reply(site.channel, posted, "He has gone to sea.", ping=False)
        assert await _kept(site, 1) == [(str(site.ivo.id), "He has gone to sea.")]
        assert _threads(site) == []


async def test_setup_names_the_permissions_that_are_missing_here_and_looks_again(site: Site) -> None:
    async with site.running():
        await site.fake.deny(site.channel, SEND_POLLS | ATTACH_FILES)
        [shown] = await site.mara.settled(await site.mara.slash(site.channel, "setup"))
        assert "Missing: in #reading I lack these permissions: attach files, create polls. " in text_of(shown)
        assert "Edit Channel, Permissions" in text_of(shown)
        assert "Message Content is off" in text_of(shown)
        await site.fake.deny(site.channel, 0)
        again = await site.opened(shown, "Check again")
        assert "OK: I may do all that I need in #reading." in said(again)
        assert [message["id"] for message in again] == [shown["id"]]
    site.fake.grant_message_content()
    async with site.running():
        assert "Message Content is on" in await site.command("setup")
        assert "permissions" not in said(await site.mara.settled(await site.mara.slash(site.mara.direct, "setup")))
    assert not site.fake.journal.refused()
