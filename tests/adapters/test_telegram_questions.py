"""Questions on Telegram: how they are asked, streamed, stopped, changed, deleted; who is never answered."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from core.errors import OperatorError, UpstreamError
from core.model import Conversation
from tests.adapters.telegram_club import GatedModel, Served, served
from tests.books.lantern_epub import lantern_house
from tests.clubs import Clock
from tests.fakes.model import Says, ScriptedModel
from tests.fakes.telegram import Chat, FakeTelegram, Fault, JsonObject, Person

GREEN = "What did Mara keep the log in?"
ANSWER = "Mara kept the log in green ink [f1-0-42]."


def club_with(telegram: FakeTelegram, *, forum: bool = False) -> tuple[Person, Person, Chat]:
    ana, bea = telegram.person("Ana"), telegram.person("Bea")
    return ana, bea, telegram.group("Club", ana, bea, forum=forum)


def answers(telegram: FakeTelegram, chat: Chat) -> list[JsonObject]:
    return [message for message in telegram.ours(chat) if "[1]" in message.get("text", "")]


@pytest.mark.parametrize("way", ["mention", "command", "aimed command", "reply", "private"])
async def test_a_question_is_answered_where_it_was_asked_however_it_was_asked(tmp_path: Path, way: str) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = club_with(telegram)
        if way == "private":
            chat = telegram.private(ana)
        await here.shelve(chat)
        telegram.say(ana, chat, "/books")
        card = await telegram.said(chat, "The Lantern House")
        asked = {
            "mention": lambda: telegram.say(ana, chat, f"🧥 @loccit_bot, {GREEN}"),
            "command": lambda: telegram.say(ana, chat, f"/ask {GREEN}"),
            "aimed command": lambda: telegram.say(ana, chat, f"/ask@loccit_bot {GREEN}"),
            "reply": lambda: telegram.say(ana, chat, GREEN, reply_to=card),
            "private": lambda: telegram.say(ana, chat, GREEN),
        }[way]()
        answer = await telegram.said(chat, "[1]")
        assert "green ink" in answer["text"]
        replied = answer.get("reply_to_message", {}).get("message_id")
        assert replied == (None if way == "private" else asked["message_id"])
        assert any(action == "typing" for _, _, action in telegram.methods.actions)


async def test_what_is_not_for_us_is_neither_answered_nor_kept(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea, chat = club_with(telegram)
        robot = telegram.person("Robot", is_bot=True)
        telegram.say(ana, chat, "who kept the log?")
        telegram.say(ana, chat, "@other_bot who kept the log?")
        telegram.say(ana, chat, "/ask@other_bot who?")
        telegram.say(ana, chat, "/weather")
        telegram.mention(robot, chat, "who kept the log?")
        telegram.say(robot, chat, "/books")
        telegram.upload(bea, chat, ("packing list.docx", b"PK"))
        telegram.say(ana, chat, "/help")
        await telegram.said(chat, "There is no book here yet")
        await here.settled()
        assert len(telegram.ours(chat)) == 1
        assert not telegram.server.calls("sendChatAction")


async def test_a_mention_without_words_is_help_and_a_voice_message_a_polite_word(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana, _, chat = club_with(telegram)
        telegram.say(ana, chat, "@loccit_bot")
        await telegram.said(chat, "I answer questions")
        alone = telegram.private(ana)
        message = telegram.world.post(alone, ana, {"voice": {"file_id": "v", "file_unique_id": "v", "duration": 3}})
        telegram.server.give(message=message)
        await telegram.said(alone, "I read books")


async def test_topics_keep_to_themselves_and_share_the_books(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana, _, chat = club_with(telegram, forum=True)
        topic = telegram.topic(chat)
        telegram.upload(ana, chat, lantern_house(tmp_path), caption="@loccit_bot", topic=topic)
        ready = await telegram.said(chat, "3 chapters")
        assert ready["message_thread_id"] == topic
        telegram.mention(ana, chat, GREEN)
        answer = await telegram.said(chat, "[1]")
        assert "message_thread_id" not in answer
        telegram.mention(ana, chat, GREEN, topic=topic)
        await telegram.until(lambda: len(answers(telegram, chat)) == 2)
        assert answers(telegram, chat)[-1]["message_thread_id"] == topic


async def test_a_bare_ask_asks_back_so_that_the_reply_reaches_us_under_privacy_mode(tmp_path: Path) -> None:
    async with FakeTelegram(privacy=True) as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = club_with(telegram)
        file = telegram.upload(ana, chat, lantern_house(tmp_path))
        telegram.say(ana, chat, "/add", reply_to=file)
        await telegram.said(chat, "3 chapters")
        telegram.say(ana, chat, "/ask")
        back = await telegram.said(chat, "Write a question")
        assert back["message_id"] in telegram.methods.forced
        telegram.say(ana, chat, GREEN, reply_to=back)
        await telegram.said(chat, "[1]")
        assert here.told[0].key == "run_up"


# While it is written


async def _asked(telegram: FakeTelegram, here: Served, private: bool) -> tuple[Person, Chat, JsonObject]:
    ana, _, chat = club_with(telegram)
    if private:
        chat = telegram.private(ana)
    await here.shelve(chat)
    asked = telegram.say(ana, chat, f"/ask {GREEN}")
    return ana, chat, asked


async def test_in_a_private_chat_drafts_grow_and_the_answer_is_a_message_of_its_own(tmp_path: Path) -> None:
    words = "The keeper before her had vanished in a storm, and nobody in Carrow spoke of it any more. "
    model = GatedModel([f"{words}Mara kept the log ", f"in green ink [f1-0-42]. {words}", "Nobody asked her why."])
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=20) as here:
        _, chat, _ = await _asked(telegram, here, private=True)
        model.gate.release()
        drafts = telegram.world.drafts
        await telegram.until(lambda: drafts)
        await asyncio.sleep(0.4)  # drafts are spaced in time
        model.gate.release()
        [texts] = drafts.values()
        await telegram.until(lambda: any("[1]" in text for text in texts))
        assert telegram.texts(chat) == [] or telegram.texts(chat) == ["Looking in the book …"]
        model.gate.release()
        await telegram.said(chat, "Nobody asked her why")
        await telegram.until(lambda: len(telegram.ours(chat)) == 1)


async def test_in_a_group_one_message_is_edited_a_few_times_and_becomes_the_answer(tmp_path: Path) -> None:
    pieces = [f"Word {number}. " for number in range(30)] + [ANSWER]
    model = GatedModel(pieces)
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=40) as here:
        _, chat, asked = await _asked(telegram, here, private=False)
        for _ in pieces:
            model.gate.release()
            await asyncio.sleep(0.02)
        answer = await telegram.said(chat, "[1]")
        await telegram.until(lambda: "⋯" in telegram.buttons(telegram.world.people[asked["from"]["id"]], chat))
        assert len(telegram.ours(chat)) == 1
        assert answer["reply_to_message"]["message_id"] == asked["message_id"]
        edits = telegram.server.calls("editMessageText")
        assert len(edits) <= 6
        assert all(edit.ok for edit in edits), "one that changes nothing"
        assert len(telegram.server.calls("sendMessage")) == 1


async def test_stop_ends_the_answer_for_its_asker_alone_and_it_is_not_taken_up_again(tmp_path: Path) -> None:
    model = GatedModel(["Mara kept ", "the log."])
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=40) as here:
        _, bea, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.say(bea, chat, f"/ask {GREEN}")
        await telegram.said(chat, "Looking")
        outsider = telegram.person("Cleo")
        chat.statuses[outsider.id] = "member"
        await telegram.told(telegram.press(outsider, chat, "Stop"), outsider, chat, "for the person")
        telegram.press(bea, chat, "Stop")
        stopped = await telegram.said(chat, "was stopped")
        assert "reply_markup" not in stopped
        await here.settled()
        assert len(telegram.ours(chat)) == 1
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model) as here:
        assert await here.club.club.post.unfinished("telegram") == ()


async def test_an_administrator_stops_what_others_asked_and_typing_ends_with_it(tmp_path: Path) -> None:
    model = GatedModel(["Mara kept ", "the log."])
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=40) as here:
        ana, bea, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.say(bea, chat, f"/ask {GREEN}")
        await telegram.said(chat, "Looking")
        telegram.press(ana, chat, "Stop")
        await telegram.said(chat, "was stopped")
        await asyncio.sleep(0.1)
        before = len(telegram.methods.actions)
        await asyncio.sleep(0.4)
        assert len(telegram.methods.actions) == before


async def test_the_final_text_arrives_when_every_edit_on_the_way_fails(tmp_path: Path) -> None:
    pieces = ["Mara kept ", "the log. ", ANSWER]
    model = GatedModel(pieces)
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=40) as here:
        _, chat, _ = await _asked(telegram, here, private=False)
        await telegram.said(chat, "Looking")
        telegram.server.faults.append(Fault("editMessageText", "status", times=2))
        for _ in pieces:
            model.gate.release()
            await asyncio.sleep(0.15)
        await telegram.said(chat, "[1]")
        assert len(telegram.ours(chat)) == 1


async def test_a_notice_of_a_long_wait_that_is_on_its_way_when_the_answer_comes_does_not_stay(tmp_path: Path) -> None:
    model = GatedModel([ANSWER])
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=40) as here:
        slow = Fault("sendMessage", "slow")
        telegram.server.faults.append(slow)
        _, chat, _ = await _asked(telegram, here, private=True)
        await telegram.said(chat, "Looking")  # it stands there, and we do not know yet
        model.gate.release()
        where = Conversation("telegram", str(chat.id))
        while not await here.club.club.questions.history(where):  # noqa: ASYNC110  # rows
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)  # it is made, and would be shown by now
        slow.told.set()
        await telegram.said(chat, "[1]")
        await here.settled()
        assert [shown["text"] for shown in telegram.ours(chat) if "Looking" in shown["text"]] == []


@pytest.mark.parametrize("kind", ["drop", "status", "flood"])
async def test_a_fault_of_the_vendor_delays_an_answer_and_never_loses_it(tmp_path: Path, kind: str) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=40) as here:
        ana, _, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.server.faults.append(Fault("sendMessage", kind, times=3, retry_after=0.2))  # type: ignore[arg-type]
        telegram.mention(ana, chat, GREEN)
        await telegram.said(chat, "[1]")
        assert len(answers(telegram, chat)) == 1


# Changed, deleted, followed up


async def test_a_changed_question_is_answered_once_more_in_place(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = club_with(telegram)
        await here.shelve(chat)
        asked = telegram.mention(ana, chat, GREEN)
        first = await telegram.said(chat, "[1]")
        telegram.edit(ana, chat, asked, asked["text"])  # a preview arrived: nothing changed
        telegram.edit(ana, chat, asked, "@loccit_bot Who arrived on the ferry?")
        await telegram.until(lambda: "Ivo arrived" in chat.messages[first["message_id"]]["text"])
        assert len(answers(telegram, chat)) == 1
        query = telegram.press(ana, chat, "1 ·")
        await telegram.answered(query)
        await telegram.said(chat, "Tuesday ferry", ana)


async def test_asker_and_administrator_delete_an_answer_others_are_refused_in_words(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea, chat = club_with(telegram)
        await here.shelve(chat)
        for allowed in (bea, ana):
            cleo = telegram.person("Cleo")
            chat.statuses[cleo.id] = "member"
            telegram.mention(bea, chat, GREEN)
            await telegram.until(lambda: answers(telegram, chat))
            telegram.press(cleo, chat, "⋯")
            await telegram.until(partial(_has, telegram, cleo, chat, "Delete"))
            await telegram.told(telegram.press(cleo, chat, "Delete"), cleo, chat, "Only the person who asked")
            telegram.press(allowed, chat, "⋯")
            await telegram.until(partial(_has, telegram, allowed, chat, "Delete"))
            telegram.press(allowed, chat, "Delete")
            await telegram.until(lambda: not answers(telegram, chat))


async def test_an_answer_too_old_to_be_taken_away_is_emptied(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.mention(ana, chat, GREEN)
        answer = await telegram.said(chat, "[1]")
        chat.messages[answer["message_id"]]["date"] -= 49 * 3600
        telegram.press(ana, chat, "⋯")
        await telegram.until(partial(_has, telegram, ana, chat, "Delete"))
        telegram.press(ana, chat, "Delete")
        await telegram.until(lambda: chat.messages[answer["message_id"]]["text"] == "The answer was deleted.")
        assert not any(label.startswith("1 ·") for label in telegram.buttons(ana, chat))


async def test_an_answer_can_be_called_wrong(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.mention(ana, chat, GREEN)
        await telegram.said(chat, "[1]")
        telegram.press(bea, chat, "⋯")
        await telegram.until(lambda: any(label.startswith("Wrong") for label in telegram.buttons(bea, chat)))
        telegram.press(bea, chat, "Wrong")
        await telegram.said(chat, "Thank", bea)


async def test_a_reply_to_an_answer_follows_that_answer_up(tmp_path: Path) -> None:
    model = ScriptedModel(lambda request: ANSWER)
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model) as here:
        ana, bea, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.mention(ana, chat, GREEN)
        first = await telegram.said(chat, "[1]")
        telegram.mention(bea, chat, "Who vanished in a storm?")
        await telegram.until(lambda: len(answers(telegram, chat)) == 2)
        telegram.say(ana, chat, "And why green?", reply_to=first)
        await telegram.until(lambda: len(answers(telegram, chat)) == 3)
        asked = str(model.requests[-1].messages)
        assert GREEN in asked
        assert "vanished in a storm?" not in asked


def _has(telegram: FakeTelegram, person: Person, chat: Chat, label: str) -> bool:
    return label in telegram.buttons(person, chat)


# Kept


async def test_a_question_kept_through_an_outage_is_answered_once_as_a_reply_to_the_original(tmp_path: Path) -> None:
    down = [True]

    def step(request: object) -> str | Says | Exception:
        return UpstreamError("model_down") if down[0] else ANSWER

    model = ScriptedModel(step)
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, squeeze=100) as here:
        ana, _, chat = club_with(telegram)
        await here.shelve(chat)
        asked = telegram.mention(ana, chat, GREEN)
        interim = await telegram.said(chat, "Your question is kept")
        down[0] = False
        answer = await telegram.until(
            lambda: [message for message in answers(telegram, chat) if message["message_id"] != interim["message_id"]]
        )
        assert answer[0]["reply_to_message"]["message_id"] == asked["message_id"]
        await asyncio.sleep(0.5)
        assert len(telegram.ours(chat)) == 2


async def test_a_question_that_failed_has_a_button_that_asks_it_again(tmp_path: Path) -> None:
    down = [True]

    def step(request: object) -> str | Says | Exception:
        return OperatorError("model_quota") if down[0] else "Lighthouses of that kind were built around 1870."

    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=ScriptedModel(step)) as here:
        ana, bea, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.say(bea, chat, "/ask without When was it built?")
        failed = await telegram.said(chat, "used up")
        await here.settled()
        assert [notice.key for notice in here.told].count("model_quota") == 1
        down[0] = False
        telegram.press(ana, chat, "Try again", failed)
        assert "Not from the book:" in (await telegram.said(chat, "1870"))["text"]
        await here.settled()
        assert sum("1870" in text for text in telegram.texts(chat)) == 1


async def test_what_whoever_runs_it_must_mend_reaches_an_administrator_once_a_day(tmp_path: Path) -> None:
    model = ScriptedModel(lambda request: OperatorError("model_quota"))
    clock = Clock()
    async with FakeTelegram() as telegram, served(tmp_path, telegram, model=model, clock=clock) as here:
        ana, bea, chat = club_with(telegram)
        await here.shelve(chat)
        for person in (ana, bea):
            telegram.say(person, telegram.private(person), "/help")
            await telegram.said(telegram.private(person), "no book here")
        for expected in (1, 2):
            for _ in range(3):
                telegram.mention(bea, chat, GREEN)
            await here.settled()
            told = [text for text in telegram.texts(telegram.private(ana)) if "used up" in text]
            assert len(told) == expected
            clock.pass_minutes(25 * 60)
        assert not any("used up" in text for text in telegram.texts(telegram.private(bea)))
        assert [notice.key for notice in here.told].count("model_quota") == 2


async def test_a_press_too_old_to_be_answered_privately_shows_nothing_and_spoils_nothing(tmp_path: Path) -> None:
    async with FakeTelegram(query_life=0.0) as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = club_with(telegram)
        await here.shelve(chat)
        telegram.mention(ana, chat, GREEN)
        await telegram.said(chat, "[1]")
        await here.settled()
        before = len(telegram.ours(chat, ana))
        telegram.press(ana, chat, "1 ·")
        await telegram.until(lambda: not telegram.server.calls("sendMessage")[-1].ok)
        assert len(telegram.ours(chat, ana)) == before
        telegram.methods.query_life = 15.0
        await telegram.answered(telegram.press(ana, chat, "1 ·"))
        await telegram.until(lambda: len(telegram.ours(chat, ana)) > before)
        assert len(telegram.ours(chat)) == before
