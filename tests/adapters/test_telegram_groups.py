"""The life of a group on Telegram, the commands there, the languages, and the pace at which we write."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

from adapters.telegram.limiter import Limiter, Pace
from core.desk import COMMANDS
from core.model import Conversation, Letter, Reader
from core.strings import LOCALES
from tests.adapters.telegram_club import FAST, served
from tests.clubs import Clock
from tests.fakes.telegram import Chat, FakeTelegram, Fault, Flood

GREEN = "What did Mara keep the log in?"


async def test_everything_follows_a_group_that_becomes_a_supergroup(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana, type="group")
        await here.shelve(chat)
        telegram.say(ana, chat, "/progress finished 2")
        await telegram.said(chat, "chapter 2")
        telegram.say(ana, chat, f"/ask {GREEN}")
        answer = await telegram.said(chat, "[1]")
        note = answer["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
        new = telegram.migrate(chat)
        telegram.say(ana, new, "/progress")
        await telegram.said(new, "chapter 2")
        telegram.press_data(ana, new, note)
        await telegram.said(new, "Mara kept the lighthouse log", ana)
        telegram.say(ana, new, f"/ask {GREEN}")
        await telegram.said(new, "[1]")


async def test_an_answer_under_way_reaches_the_supergroup_its_group_became(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana, type="group")
        await here.shelve(chat)
        message = telegram.world.post(chat, ana, {"text": f"/ask {GREEN}"})
        new = telegram.migrate(chat)
        telegram.server.updates.clear()  # the news of the move is late
        telegram.server.give(message=message)
        await telegram.said(new, "[1]")


async def test_a_bot_that_comes_back_finds_its_books_and_one_that_is_new_says_what_it_may_not_hear(
    tmp_path: Path,
) -> None:
    async with FakeTelegram(privacy=True) as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        new, old = telegram.group("New", ana, bot="left"), telegram.group("Old", ana, bot="left")
        await here.shelve(old)
        telegram.change_status(new, telegram.me, "member", by=ana)
        hello = await telegram.said(new, "Hello")
        assert "only commands and replies" in hello["text"]
        assert "/setup" in hello["text"]
        telegram.change_status(old, telegram.me, "administrator", by=ana)
        back = await telegram.said(old, "still here")
        assert "only commands" not in back["text"]
        telegram.change_status(old, telegram.me, "kicked", by=ana)
        telegram.say(ana, new, "/help")
        await telegram.said(new, "no book here")


async def test_a_group_is_greeted_once_however_often_the_bot_is_added(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana", "es")
        chat = telegram.group("Club", ana, bot="left")
        for status in ("member", "left", "administrator"):
            telegram.change_status(chat, telegram.me, status, by=ana)
        telegram.say(ana, chat, "/books")
        await telegram.said(chat, "Todavía no hay")
        await here.settled()
        assert sum("/setup" in text for text in telegram.texts(chat)) == 1
        assert "Hola" in telegram.texts(chat)[0]


async def test_a_muted_bot_tells_whoever_runs_it_once_and_answers_again_when_it_may(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        telegram.change_status(chat, telegram.me, "restricted", by=ana, can_send_messages=False)
        for _ in range(3):
            telegram.say(ana, chat, f"/ask {GREEN}")
        await telegram.until(lambda: any(notice.key == "telegram_unwritable" for notice in here.told))
        await asyncio.sleep(0.3)
        await here.settled()
        assert [notice.key for notice in here.told].count("telegram_unwritable") == 1
        telegram.change_status(chat, telegram.me, "member", by=ana)
        telegram.say(ana, chat, f"/ask {GREEN}")
        await telegram.said(chat, "[1]")


async def test_a_closed_topic_and_a_deleted_one_stop_nobody_else(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana, forum=True)
        await here.shelve(chat)
        closed, deleted = telegram.topic(chat), telegram.topic(chat)
        chat.topics[closed] = False
        telegram.say(ana, chat, "/books", topic=closed)
        message = telegram.world.post(chat, ana, {"text": "/toc"}, thread=deleted)
        del chat.topics[deleted]
        telegram.server.give(message=message)
        contents = await telegram.said(chat, "Green Ink")
        assert "message_thread_id" not in contents
        telegram.say(ana, chat, f"/ask {GREEN}")
        await telegram.said(chat, "[1]")


async def test_a_press_without_its_message_still_answers(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        telegram.say(ana, chat, f"/ask {GREEN}")
        answer = await telegram.said(chat, "[1]")
        data = [button["callback_data"] for row in answer["reply_markup"]["inline_keyboard"] for button in row]
        for payload in data:
            await telegram.answered(telegram.press_data(ana, chat, payload))
        await telegram.said(chat, "Mara kept the lighthouse log", ana)


# Commands and languages


async def test_every_command_is_registered_in_every_language_and_answers_within_one_message(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        await telegram.until(lambda: len(telegram.methods.commands) == len(LOCALES))
        for listed in telegram.methods.commands.values():
            assert [command["command"] for command in listed] == list(COMMANDS)
        assert telegram.methods.commands["es"] != telegram.methods.commands[""]
        for name in COMMANDS:
            before = len(telegram.ours(chat))
            telegram.say(ana, chat, f"/{name}")
            await telegram.until(partial(_more, telegram, chat, before))
            await here.settled()
            assert len(telegram.texts(chat)[-1]) < 1500, name


async def test_the_channels_language_wins_and_without_one_each_reader_has_their_own(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana, rui = telegram.person("Ana", "es"), telegram.person("Rui", "pt-br")
        chat = telegram.group("Club", ana, rui)
        telegram.say(ana, chat, "/books")
        await telegram.said(chat, "Todavía no hay")
        telegram.say(rui, chat, "/books")
        await telegram.said(chat, "Ainda não há")
        telegram.say(ana, chat, "/settings")
        await telegram.until(lambda: "English" in telegram.buttons(ana, chat))
        telegram.press(ana, chat, "English")
        await telegram.until(lambda: telegram.server.calls("editMessageText"))
        telegram.say(rui, chat, "/books")
        await telegram.said(chat, "There is no book here")


# The pace


async def test_one_chat_that_has_to_wait_delays_no_other_and_every_final_text_arrives(tmp_path: Path) -> None:
    async with FakeTelegram(flood=Flood(per_group=None)) as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        slow, quick = telegram.group("Slow", ana), telegram.group("Quick", ana)
        for chat in (slow, quick):
            await here.shelve(chat)
        telegram.server.faults.append(Fault("sendMessage", "flood", retry_after=1.5, chat=slow.id))
        telegram.say(ana, slow, f"/ask {GREEN}")
        await telegram.until(lambda: any(not entry.ok for entry in telegram.server.calls("sendMessage", chat=slow.id)))
        telegram.say(ana, quick, f"/ask {GREEN}")
        await telegram.said(quick, "[1]")
        assert telegram.texts(slow) == []
        await telegram.said(slow, "[1]")


async def test_a_groups_twenty_a_minute_are_kept_without_one_refusal_and_in_order(tmp_path: Path) -> None:
    window = 2.0
    pace = Pace(window=window * 1.1, burst=100, gap=0.0)
    flood = Flood(window=window)
    async with FakeTelegram(flood=flood) as telegram, served(tmp_path, telegram, pace=pace):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        for number in range(50):
            telegram.say(ana, chat, f"/use {number}")
        await telegram.until(lambda: len(telegram.ours(chat)) == 50)
        replied = [message["reply_to_message"]["text"] for message in telegram.ours(chat)]
        assert replied == [f"/use {number}" for number in range(50)]
        assert flood.hits == 0
        assert flood.most[chat.id] <= 20


async def test_edits_leave_room_for_final_texts_and_actions_have_a_budget_of_their_own() -> None:
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    limiter = Limiter(lambda: now[0], sleep, Pace(burst=100, gap=0.0))
    edits = sum(limiter.edit(-1) for _ in range(30))
    assert edits == Pace().group - Pace().spare
    for _ in range(Pace().spare):
        await limiter.final(-1)
    assert now[0] == 0
    await limiter.final(-1)
    assert now[0] >= 60
    assert limiter.action(-1)
    assert not limiter.action(-1)
    limiter.hold(-1, 100)
    assert not limiter.edit(-1)
    assert limiter.edit(-2)


async def test_an_edit_that_changes_nothing_is_a_success(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, pace=FAST) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        telegram.say(ana, chat, "/settings")
        await telegram.said(chat, "Settings")
        label = telegram.buttons(ana, chat)[0]
        for _ in range(2):
            assert await telegram.answered(telegram.press(ana, chat, label)) == ""
        assert len(telegram.ours(chat)) == 1


def _more(telegram: FakeTelegram, chat: Chat, before: int) -> bool:
    return len(telegram.ours(chat)) > before


async def test_changing_things_is_for_administrators_and_uploaders_and_others_are_refused_in_words(
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        await here.read(ana, chat, tmp_path)
        for said in ("/remove", "/progress finished 1", "/forget book"):
            sent = telegram.say(bea, chat, said)
            await here.settled()
            await telegram.until(partial(_replied, telegram, chat, sent["message_id"]))
        assert "Ready" not in telegram.texts(chat)[-1]
        assert len(await here.club.club.shelf(Conversation("telegram", str(chat.id)))) == 1
        refused = await telegram.sentence(telegram.press(bea, chat, "Ch. 1 read"), bea, chat)
        assert refused.endswith(".")
        telegram.change_status(chat, bea, "administrator")
        telegram.change_status(chat, telegram.me, "member", by=ana)  # news of the bot itself: rights are asked anew
        await here.settled()
        telegram.say(bea, chat, "/progress finished 1")
        await telegram.said(chat, "answers now go up to chapter 1")


async def test_an_update_of_a_shape_we_do_not_know_stops_no_other(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        telegram.server.give(message={"from": ana.json(), "rich": {"blocks": []}})
        telegram.server.give(callback_query={"id": "1", "from": {}, "message": {}})
        telegram.server.give(poll_of_the_future={})
        telegram.say(ana, telegram.private(ana), "/help")
        await telegram.said(telegram.private(ana), "no book here")


def _replied(telegram: FakeTelegram, chat: Chat, message: int) -> bool:
    return any(shown.get("reply_to_message", {}).get("message_id") == message for shown in telegram.ours(chat))


async def test_letters_are_said_when_due_once_and_after_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        async with served(tmp_path, telegram, clock=clock) as here:
            await here.shelve(chat)
            await telegram.until(lambda: telegram.server.polls)
            where = Conversation("telegram", str(chat.id))
            later = clock.now + timedelta(hours=1)
            await here.club.club.post.owe(Letter("unknown", where, "of the future", later))
            clock.pass_minutes(61)
            telegram.say(ana, chat, "/help")
            await telegram.said(chat, "The Lantern House")
            await here.settled()
            async with asyncio.timeout(10):
                while await here.club.club.post.due("telegram"):  # noqa: ASYNC110  # rows
                    await asyncio.sleep(0.02)
        assert len(telegram.ours(chat)) == 1  # a letter that has nothing to say is done without a word


async def test_a_draft_for_the_organiser_waits_behind_a_button_where_only_a_press_can_be_answered_to_one_alone(
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        await here.shelve(chat)
        for _ in range(2):  # the draft is the same when it is asked for again
            telegram.say(ana, chat, "/discuss")
            await telegram.said(chat, "for your eyes only")
            await here.settled()
            shown = telegram.press(ana, chat, "Show the draft")
            await telegram.told(shown, ana, chat, "Questions on The Lantern House")
            await telegram.told(
                telegram.press(bea, chat, "Show the draft"), bea, chat, "for the person it was shown to"
            )
            assert not any("Questions on The Lantern House" in text for text in telegram.texts(chat, bea))
        telegram.press(ana, chat, "Post")
        await telegram.said(chat, "1/")


async def test_ones_own_place_waits_behind_a_button_where_only_a_press_can_be_answered_to_one_alone(
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        await here.shelve(chat)
        await here.club.club.place(Conversation("telegram", str(chat.id)), Reader(str(bea.id)), words="finished 1")
        for line, alone in (
            ("/place", "your own place is"),
            ("/recap", "you are at"),
            ("/recap mine", "up to chapter 1"),
        ):
            telegram.say(bea, chat, line)
            await here.settled()
            assert "for your eyes only" in telegram.texts(chat)[-1], line
            refused = telegram.press(ana, chat, "Show it to me")
            await telegram.told(refused, ana, chat, "for the person it was shown to")
            shown = telegram.press(bea, chat, "Show it to me")
            await telegram.told(shown, bea, chat, alone)
            assert not any(alone in text for text in telegram.texts(chat, ana)), line


async def test_a_command_that_is_changed_later_does_nothing_unseen(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        said = telegram.say(ana, chat, "/progress finished 1")
        await telegram.said(chat, "chapter 1")
        telegram.edit(ana, chat, said, "/progress all")
        telegram.say(ana, chat, f"/ask {GREEN}")  # behind the edit in the chat's lane
        await telegram.said(chat, "[1]")
        await here.settled()
        where = Conversation("telegram", str(chat.id))
        _, limit = await here.club.club.progress(where, Reader(str(ana.id)))
        assert limit.words == "finished 1"
