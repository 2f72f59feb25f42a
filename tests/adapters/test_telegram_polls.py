"""Polls that Telegram shows itself: what is voted there is what we count, through restarts, moves and refusals."""

import asyncio
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.incoming import Heard
from adapters.telegram.text import JOINER
from core.desk import Desk
from core.model import Conversation, Event, Letter, Reader, Reply
from tests.adapters.telegram_club import GatedModel, Served, served
from tests.clubs import Clock, open_club
from tests.fakes.telegram import BOT, Chat, FakeTelegram, Fault, JsonObject, Person

QUICK = 50.0
"""Divides the seconds between two looks into the outbox."""


async def propose(telegram: FakeTelegram, person: Person, chat: Chat, *titles: str, topic: int | None = None) -> None:
    for number, title in enumerate(titles, 1):
        telegram.say(person, chat, f"/next {title}", topic=topic)
        await telegram.said(chat, f"{number}. ")


async def opened(telegram: FakeTelegram, person: Person, chat: Chat, when: str = "") -> JsonObject:
    """Emma and Hamlet voted on in a poll of Telegram's; the message."""
    await propose(telegram, person, chat, "Emma", "Hamlet")
    telegram.say(person, chat, f"/next vote {when}")
    return await telegram.polled(chat)


async def voted(telegram: FakeTelegram, person: Person, chat: Chat) -> None:
    """A vote for the second title by one of our buttons, counted: a press may be acknowledged before what it does is done."""
    await telegram.told(telegram.press(person, chat, "Vote 2"), person, chat, "Your vote")


async def closed(telegram: FakeTelegram, person: Person, chat: Chat) -> str:
    """What the bot counts when somebody closes the poll."""
    telegram.say(person, chat, "/next close")
    text: str = (await telegram.said(chat, "The count"))["text"]
    return text


async def deafened(telegram: FakeTelegram, person: Person, chat: Chat) -> Fault:
    """Somebody closes the poll, and from then on the bot hears nothing; the poll is ended once the fault is told."""
    held, deaf = Fault("stopPoll", "held"), Fault("getUpdates", "status", times=10**6)
    telegram.server.faults.append(held)
    telegram.say(person, chat, "/next close")
    await telegram.until(lambda: held.met)
    telegram.server.faults.append(deaf)
    telegram.server.steal()  # whoever waits for news already is ended
    await telegram.until(lambda: deaf.met)
    return held


async def unfinished(here: Served) -> list[str]:
    return [event.payload["kind"] for event in await here.club.club.post.unfinished("telegram")]


async def forgotten(here: Served) -> None:
    """Wait until nothing is kept of any poll."""
    while await remembered(here):  # noqa: ASYNC110  # rows
        await asyncio.sleep(0.01)


async def remembered(here: Served) -> dict[str, Any]:
    return await here.club.club.post.recall_all("telegram", "poll:")


def is_closed(telegram: FakeTelegram, shown: JsonObject) -> bool:
    return telegram.world.polls[shown["poll"]["id"]].closed


async def test_votes_in_telegrams_own_poll_are_counted_changed_ones_anew_and_those_taken_back_not_at_all(
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea, rui, eva = (telegram.person(name) for name in ("Ana", "Bea", "Rui", "Eva"))
        chat = telegram.group("Club", ana, bea, rui, eva)
        shown = await opened(telegram, ana, chat)
        poll = shown["poll"]
        assert poll["question"] == "What do we read next?"
        assert [option["text"] for option in poll["options"]] == ["Emma", "Hamlet"]
        assert (poll["is_anonymous"], poll["allows_multiple_answers"]) == (False, False)
        assert shown["has_protected_content"]
        assert shown["reply_to_message"]["text"] == "/next vote "
        for person, option in (
            (ana, "Emma"),
            (bea, "Emma"),
            (rui, "Emma"),
            (rui, "Hamlet"),
            (eva, "Emma"),
            (eva, None),
        ):
            telegram.vote(person, shown, option)
        telegram.vote(bea, shown, "Hamlet", as_chat=chat)  # an administrator who speaks as the group
        before = len(telegram.ours(chat))
        count = await closed(telegram, ana, chat)
        assert "Emma 2, Hamlet 2" in count
        assert "A tie between Emma · Hamlet" in count
        assert shown["poll"]["is_closed"]
        assert shown["poll"]["total_voter_count"] == 4
        await here.settled()
        assert await remembered(here) == {}
        assert len(telegram.ours(chat)) == before + 1
        telegram.press(ana, chat, "Undo")
        again = await telegram.said(chat, "4 have voted")
        assert again["reply_markup"]
        assert len(telegram.server.calls("sendPoll")) == 1  # one that is opened again has our own buttons


async def test_a_vote_that_comes_after_the_count_changes_nothing_and_names_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Beatrix")
        chat = telegram.group("Club", ana, bea)
        shown = await opened(telegram, ana, chat)
        telegram.vote(ana, shown, "Emma")
        assert "Emma 1, Hamlet 0" in await closed(telegram, ana, chat)
        before = telegram.texts(chat)
        for poll in (shown["poll"]["id"], "another"):
            answer = {"poll_id": poll, "user": bea.json(), "option_ids": [1], "option_persistent_ids": ["x"]}
            telegram.server.give(poll_answer=answer)
        await here.settled()
        assert telegram.texts(chat) == before
        told = [record.getMessage() for record in caplog.records if "a vote" in record.getMessage()]
        assert len(told) == 2
        assert not any(name in words for words in map(_written, caplog.records) for name in ("Beatrix", str(bea.id)))


def _written(record: logging.LogRecord) -> str:
    """What a line of ours says; times and numbers of threads could hold any digits."""
    if not record.name.startswith(("adapters", "core")):
        return ""
    extra = vars(record).keys() - vars(logging.makeLogRecord({})).keys()
    return f"{record.getMessage()} {[vars(record)[name] for name in extra]}"


async def test_votes_given_while_the_bot_is_away_count(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        async with served(tmp_path, telegram) as here:
            shown = await opened(telegram, ana, chat)
            telegram.vote(bea, shown, "Emma")
            await here.settled()
        telegram.vote(ana, shown, "Hamlet")
        telegram.vote(bea, shown, "Hamlet")
        async with served(tmp_path, telegram):
            assert "Hamlet 2, Emma 0" in await closed(telegram, ana, chat)
        assert is_closed(telegram, shown)
        assert len(telegram.server.calls("sendPoll")) == 1


async def test_a_vote_that_was_on_record_when_the_bot_died_counts_before_the_closing_that_was_too(
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as telegram:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        async with served(tmp_path, telegram) as here:
            shown = await opened(telegram, ana, chat)
            await here.settled()
        telegram.vote(bea, shown, "Hamlet")
        answer = telegram.server.updates.pop()["poll_answer"]
        said = telegram.world.post(chat, ana, {"text": "/next close"})
        number = said["message_id"]
        close = Heard(
            f"telegram:{chat.id}:{number}", "command", chat.id, number, ana.id, False, name="next", words="close"
        )
        vote = Heard("telegram:vote:1", "vote", chat.id, 0, bea.id, False, name=answer["poll_id"], choice=1)
        async with open_club(tmp_path / "data") as club:
            for heard in (close, vote):
                await club.club.post.receive(Event(heard.key, "telegram", str(chat.id), asdict(heard)))
        async with served(tmp_path, telegram):
            assert "Hamlet 1, Emma 0" in (await telegram.said(chat, "The count"))["text"]
        assert is_closed(telegram, shown)


async def test_a_poll_that_was_sent_before_a_crash_is_not_sent_again(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        where, keeper = Conversation("telegram", str(chat.id)), Reader(str(ana.id), "en", manages=True)
        said = telegram.world.post(chat, ana, {"text": "/next vote"})
        key = f"telegram:{chat.id}:{said['message_id']}"
        heard = Heard(key, "command", chat.id, said["message_id"], ana.id, False, name="next", words="vote")
        async with open_club(tmp_path / "data") as club:
            desk = Desk(club.club, str)
            for title in ("Emma", "Hamlet"):
                await desk.command(where, keeper, "next", title, event=title)
            await club.club.post.receive(Event(key, "telegram", str(chat.id), asdict(heard)))
            reply = await desk.command(where, keeper, "next", "vote", event=key)
            assert isinstance(reply, Reply)
            assert reply.ballot is not None
            await club.club.post.sending(where, key, 0)
            options = [{"text": title} for _, title in reply.ballot.options]
            asked = {"chat_id": chat.id, "question": "?", "options": options, "is_anonymous": False}
            shown = telegram.methods.call("sendPoll", asked, {})
            memo = {"poll": reply.ballot.poll, "chat": chat.id, "message": shown["message_id"]}
            memo["options"] = [id for id, _ in reply.ballot.options]
            await club.club.post.remember("telegram", f"poll:{shown['poll']['id']}", memo)
        async with served(tmp_path, telegram) as here:
            await here.settled()
            assert telegram.server.calls("sendPoll", "sendMessage") == []
            assert (await here.club.club.post.delivered(key))[0].message == str(shown["message_id"])
            telegram.vote(ana, shown, "Hamlet")
            assert "Hamlet 1" in await closed(telegram, ana, chat)


@pytest.mark.parametrize("crash", [False, True])
async def test_a_poll_whose_sending_was_never_confirmed_takes_no_votes_beside_the_one_that_counts(
    tmp_path: Path, crash: bool
) -> None:
    async with FakeTelegram() as telegram:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        telegram.server.faults.append(Fault("sendPoll", "slow" if crash else "drop after"))

        def polls() -> list[JsonObject]:
            return [message for message in telegram.ours(chat) if "poll" in message]

        async with served(tmp_path, telegram) as here:
            await opened(telegram, ana, chat)
            telegram.say(bea, chat, "Is that it?")
            if not crash:
                await here.settled()
        async with served(tmp_path, telegram):
            lost, shown = await telegram.until(lambda: polls() if len(polls()) == 2 else [])
            await telegram.until(lambda: is_closed(telegram, lost))
            telegram.vote(bea, shown, "Hamlet")
            assert "Hamlet 1" in await closed(telegram, ana, chat)


async def test_a_vote_in_a_poll_whose_sending_telegram_has_not_confirmed_yet_counts(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        slow = Fault("sendPoll", "slow")
        telegram.server.faults.append(slow)
        shown = await opened(telegram, ana, chat)
        update = telegram.vote(bea, shown, "Hamlet")
        stray = telegram.server.give(
            poll_answer={"poll_id": "another", "user": bea.json(), "option_ids": [0], "option_persistent_ids": ["x"]}
        )
        await telegram.until(lambda: {update, stray} <= telegram.server.confirmed.keys())
        slow.told.set()
        assert "Hamlet 1, Emma 0" in await closed(telegram, ana, chat)


# The last moment: what Telegram took is what counts


async def test_votes_that_telegram_took_until_it_was_told_to_stop_count_like_in_its_own_poll(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea, rui = (telegram.person(name) for name in ("Ana", "Bea", "Rui"))
        chat = telegram.group("Club", ana, bea, rui)
        shown = await opened(telegram, ana, chat)
        telegram.vote(ana, shown, "Emma")
        telegram.vote(rui, shown, "Emma")
        await here.settled()
        held = Fault("stopPoll", "held")  # as when much was said in the group, and sending has to wait
        telegram.server.faults.append(held)
        telegram.say(ana, chat, "/next close")
        await telegram.until(lambda: held.met)
        telegram.vote(bea, shown, "Hamlet")
        telegram.vote(rui, shown, "Hamlet")
        held.told.set()
        assert "Hamlet 2, Emma 1" in (await telegram.said(chat, "The count"))["text"]
        assert [option["voter_count"] for option in shown["poll"]["options"]] == [1, 2]


@pytest.mark.parametrize("timed", [False, True])
async def test_votes_that_telegram_tells_only_after_it_was_stopped_are_waited_for(tmp_path: Path, timed: bool) -> None:
    clock = Clock()
    async with FakeTelegram() as telegram, served(tmp_path, telegram, clock=clock) as here:
        ana, bea, rui = (telegram.person(name) for name in ("Ana", "Bea", "Rui"))
        chat = telegram.group("Club", ana, bea, rui)
        shown = await opened(telegram, ana, chat, "2026-03-01 13:00" if timed else "")
        telegram.vote(rui, shown, "Emma")
        await here.settled()
        on_the_way = []
        for person, option in ((ana, "Hamlet"), (rui, "Hamlet"), (bea, "Emma"), (bea, None)):
            telegram.vote(person, shown, option)
            on_the_way.append(telegram.server.updates.pop())
        if timed:
            clock.pass_minutes(61)
            telegram.say(ana, chat, "/about")  # after anything that was done the outbox is looked into
        else:
            telegram.say(ana, chat, "/next close")
        await telegram.until(lambda: is_closed(telegram, shown))
        for update in on_the_way:
            telegram.server.give(poll_answer=update["poll_answer"])
        assert "Hamlet 2, Emma 0" in (await telegram.said(chat, "The count"))["text"]


async def test_a_vote_that_telegram_never_tells_holds_up_the_count_for_seconds_only(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        shown = await opened(telegram, ana, chat)
        telegram.vote(ana, shown, "Emma")
        telegram.vote(bea, shown, "Hamlet")
        telegram.server.updates.pop()
        assert "Emma 1, Hamlet 0" in await closed(telegram, ana, chat)
        await here.settled()
        assert await remembered(here) == {}


async def test_while_telegram_does_not_tell_the_votes_nothing_is_counted_and_closing_can_be_said_again(
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        shown = await opened(telegram, ana, chat)
        held = await deafened(telegram, ana, chat)
        telegram.vote(bea, shown, "Hamlet")
        held.told.set()
        await telegram.said(chat, "try again in a minute")
        telegram.server.faults.clear()
        await here.settled()
        assert "Hamlet 1, Emma 0" in await closed(telegram, ana, chat)
        assert await remembered(here) == {}


async def test_votes_are_counted_while_the_chat_is_busy_and_closing_waits_its_turn(tmp_path: Path) -> None:
    model = GatedModel(["In green ", "ink."])
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        await here.shelve(chat)
        shown = await opened(telegram, ana, chat)
        telegram.say(ana, chat, "/ask What did Mara keep the log in?")
        await telegram.until(lambda: model.requests)
        telegram.vote(bea, shown, "Hamlet")
        telegram.say(ana, chat, "/next close")
        while await unfinished(here) != ["command", "command"]:  # noqa: ASYNC110  # rows
            await asyncio.sleep(0.01)
        telegram.vote(ana, shown, "Hamlet")  # it is open still, for all to see
        for _ in range(20):
            model.gate.release()
        assert "Hamlet 2, Emma 0" in (await telegram.said(chat, "The count"))["text"]


async def test_a_poll_whose_time_comes_while_it_is_being_sent_is_ended_and_counted_when_it_stands(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with FakeTelegram() as telegram, served(tmp_path, telegram, clock=clock, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        slow = Fault("sendPoll", "slow")
        telegram.server.faults.append(slow)
        shown = await opened(telegram, ana, chat, "2026-03-01 13:00")
        telegram.vote(bea, shown, "Hamlet")
        clock.pass_minutes(61)
        other = telegram.private(bea)  # once this is said, the letter that was due before it has been looked at
        letter = Letter("h", Conversation("telegram", str(other.id)), "hello", clock(), {})
        await here.club.club.post.owe(letter)
        await telegram.said(other, "Hello")
        slow.told.set()
        assert "Hamlet 1, Emma 0" in (await telegram.said(chat, "The count"))["text"]
        assert is_closed(telegram, shown)


# A poll that stands is the only ballot


async def test_while_a_poll_stands_there_is_no_second_ballot_beside_it(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        async with served(tmp_path, telegram) as here:
            shown = await opened(telegram, ana, chat, "2099-03-01 13:00")
            telegram.vote(bea, shown, "Hamlet")
            await here.settled()
            telegram.say(bea, chat, "/next")
            told = await telegram.said(chat, "1 has voted.")
            assert "Vote in the poll above" in told["text"]
            assert "2. Hamlet" in told["text"]
            assert "Open until 2099-03-01 13:00 (UTC)." in told["text"]
            assert "reply_markup" not in told
        telegram.vote(ana, shown, "Hamlet")
        async with served(tmp_path, telegram) as here:
            await here.settled()
            telegram.say(bea, chat, "/next")
            assert "reply_markup" not in await telegram.said(chat, "2 have voted.")
            assert "Hamlet 2" in await closed(telegram, ana, chat)


@pytest.mark.parametrize("how", ["deleted", "moved", "forgotten", "ended"])
async def test_where_the_poll_stands_no_more_there_are_our_buttons(tmp_path: Path, how: str) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea, type="group" if how == "moved" else "supergroup")
        shown = await opened(telegram, ana, chat)
        telegram.vote(ana, shown, "Emma")
        await here.settled()
        if how == "deleted":
            del chat.messages[shown["message_id"]]
        elif how == "moved":
            chat = telegram.migrate(chat)
        elif how == "forgotten":
            telegram.say(ana, chat, "/next close")
            telegram.press(ana, chat, "Undo", await telegram.said(chat, "The count"))
            await telegram.said(chat, "1 has voted.")
        else:
            deaf = await deafened(telegram, ana, chat)
            telegram.vote(bea, shown, "Hamlet")
            telegram.server.updates.pop()
            deaf.told.set()
            await telegram.said(chat, "try again in a minute")
            telegram.server.faults.clear()
        telegram.say(bea, chat, "/next")
        again = await telegram.said(chat, "1 has voted.")
        assert [button["text"] for button in again["reply_markup"]["inline_keyboard"][0]][:1] == ["Vote 1"]
        await voted(telegram, bea, chat)
        telegram.say(ana, chat, "/next close")
        await telegram.said(chat, "A tie between Emma · Hamlet")


# Where Telegram's polls do not do


@pytest.mark.parametrize(
    ("title", "native"),
    [
        pytest.param("A" + "🕯" * 99, True, id="100 characters, 199 units"),
        pytest.param("A" + "🕯" * 100, False, id="101 characters"),
        pytest.param("See a.bc " * 11 + "!", False, id="100 characters and what keeps names from being links"),
    ],
)
async def test_titles_that_are_too_long_for_telegrams_poll_are_voted_on_with_our_buttons(
    tmp_path: Path, title: str, native: bool
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await propose(telegram, ana, chat, "Emma", title)
        telegram.say(ana, chat, "/next vote")
        if native:
            shown = await telegram.polled(chat)
            assert shown["poll"]["options"][1]["text"] == title
            telegram.vote(ana, shown, title)
        else:
            await telegram.said(chat, "One vote each")
            assert telegram.server.calls("sendPoll") == []
            await voted(telegram, ana, chat)
        assert f"Next we read {title}" in (await closed(telegram, ana, chat)).replace(JOINER, "")


async def test_a_ranked_poll_has_our_buttons(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await propose(telegram, ana, chat, "Emma", "Hamlet")
        telegram.say(ana, chat, "/next vote ranked")
        await telegram.said(chat, "in the order you like them")
        assert telegram.server.calls("sendPoll") == []


@pytest.mark.parametrize("refusal", ["rights", "server"])
async def test_where_telegram_refuses_the_poll_it_has_our_buttons(tmp_path: Path, refusal: str) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        if refusal == "rights":
            chat.statuses[BOT], chat.may[BOT] = "restricted", {"can_send_polls": False}
        else:
            telegram.server.faults.append(Fault("sendPoll", "status", status=400))
        await propose(telegram, ana, chat, "Emma", "Hamlet")
        telegram.say(ana, chat, "/next vote")
        await telegram.said(chat, "One vote each")
        assert [entry.ok for entry in telegram.server.calls("sendPoll")] == [False]
        assert await remembered(here) == {}
        assert [notice.key for notice in here.told] == ["run_up"]
        await voted(telegram, ana, chat)
        assert "Hamlet 1, Emma 0" in await closed(telegram, ana, chat)


async def test_a_poll_alone_with_the_bot_is_telegrams_too(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana", "es")
        chat = telegram.private(ana)
        await propose(telegram, ana, chat, "Emma", "Hamlet")
        telegram.say(ana, chat, "/next votar")
        shown = await telegram.polled(chat)
        assert shown["poll"]["question"].startswith("¿")
        assert "reply_to_message" not in shown


# Its time


async def test_a_poll_with_a_time_says_it_stands_in_its_topic_and_ends_there_by_itself(tmp_path: Path) -> None:
    clock = Clock()
    async with FakeTelegram() as telegram, served(tmp_path, telegram, clock=clock, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea, forum=True)
        topic = telegram.topic(chat)
        await propose(telegram, ana, chat, "Emma", "Hamlet", topic=topic)
        telegram.say(ana, chat, "/next vote 2026-03-01 13:00", topic=topic)
        shown = await telegram.polled(chat)
        assert shown["message_thread_id"] == topic
        assert shown["poll"]["question"] == "What do we read next? Open until 2026-03-01 13:00 (UTC)."
        telegram.vote(ana, shown, "Emma")
        telegram.vote(bea, shown, "Hamlet")
        telegram.server.faults.append(Fault("stopPoll", "drop after"))  # done, and told a second time to do it
        await here.settled()
        clock.pass_minutes(61)
        count = await telegram.said(chat, "The count")
        assert "A tie between Emma · Hamlet" in count["text"]
        assert count["message_thread_id"] == topic
        assert shown["poll"]["is_closed"]
        assert [entry.ok for entry in telegram.server.calls("stopPoll")] == [True, False]
        assert await remembered(here) == {}


async def test_what_was_voted_while_the_bot_was_away_counts_although_the_time_was_over_when_it_came_back(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with FakeTelegram() as telegram:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        async with served(tmp_path, telegram, clock=clock) as here:
            shown = await opened(telegram, ana, chat, "2026-03-01 13:00")
            await here.settled()
        telegram.vote(ana, shown, "Hamlet")
        clock.pass_minutes(90)
        telegram.vote(bea, shown, "Hamlet")
        telegram.server.unreachable = True  # and at first it cannot be heard what was voted
        async with served(tmp_path, telegram, clock=clock, squeeze=QUICK) as here:
            telegram.server.unreachable = False
            assert "Hamlet 2, Emma 0" in (await telegram.said(chat, "The count"))["text"]
            assert is_closed(telegram, shown)
            await here.settled()
        assert len([text for text in telegram.texts(chat) if "The count" in text]) == 1


async def test_a_poll_that_was_closed_before_a_crash_is_ended_on_telegram_at_the_next_start(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        async with served(tmp_path, telegram) as here:
            shown = await opened(telegram, ana, chat)
            await here.settled()
        async with open_club(tmp_path / "data") as club:
            where = Conversation("telegram", str(chat.id))
            await club.club.meeting.polls.close(where, Reader(str(ana.id), "en", manages=True))
        telegram.vote(ana, shown, "Emma")
        async with served(tmp_path, telegram) as here:
            await telegram.until(lambda: is_closed(telegram, shown))
            await forgotten(here)
            await here.settled()
            assert "Nobody has voted" in await closed(telegram, ana, chat)


# The life of a chat


async def test_a_poll_goes_on_in_the_supergroup_that_a_group_became(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea, type="group")
        shown = await opened(telegram, ana, chat)
        telegram.vote(ana, shown, "Hamlet")
        new = telegram.migrate(chat)
        telegram.vote(bea, shown, "Hamlet")
        assert "Hamlet 2, Emma 0" in await closed(telegram, ana, new)
        assert await remembered(here) == {}
        assert telegram.server.calls("stopPoll") == []  # it stayed behind where nobody can reach it


async def test_what_a_group_had_said_before_it_moved_is_done_before_what_it_says_after(tmp_path: Path) -> None:
    model = GatedModel(["In green ", "ink."])
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=QUICK) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea, type="group")
        await here.shelve(chat)
        shown = await opened(telegram, ana, chat)
        telegram.say(ana, chat, "/ask What did Mara keep the log in?")
        await telegram.until(lambda: model.requests)
        telegram.vote(ana, shown, "Hamlet")
        new = telegram.migrate(chat)
        telegram.vote(bea, shown, "Hamlet")
        telegram.say(ana, new, "/next close")
        await telegram.until(lambda: not telegram.server.updates)
        for _ in range(20):
            model.gate.release()
        assert "Hamlet 2, Emma 0" in (await telegram.said(new, "The count"))["text"]
        assert [text for text in telegram.texts(new) if "In green ink" in text]


async def test_a_poll_deleted_by_somebody_closes_all_the_same(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=QUICK) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        shown = await opened(telegram, ana, chat)
        telegram.vote(ana, shown, "Emma")
        del chat.messages[shown["message_id"]]
        assert "Emma 1, Hamlet 0" in await closed(telegram, ana, chat)
        assert await remembered(here) == {}


async def test_a_chat_that_is_forgotten_leaves_no_poll_behind(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        shown = await opened(telegram, ana, chat)
        telegram.say(ana, chat, "/forget channel")
        await telegram.said(chat, "cannot be undone")
        telegram.press(ana, chat, "Yes, forget")
        await telegram.until(lambda: is_closed(telegram, shown))
        await forgotten(here)
