"""The fake Bot API under the unmodified python-telegram-bot: it carries what the real one does and enforces its limits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from telegram import (
    Bot,
    BotCommand,
    CallbackQuery,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaPhoto,
    MessageEntity,
)
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter

from tests.fakes.telegram import BOT, FakeTelegram, Fault, Flood

QUIET = 0.2

# RetryAfter warns about the type of its own attribute whenever one is made.
pytestmark = pytest.mark.filterwarnings("ignore::telegram.warnings.PTBDeprecationWarning")


@asynccontextmanager
async def connected(telegram: FakeTelegram, token: str | None = None) -> AsyncIterator[Bot]:
    bot = Bot(token or telegram.server.token, telegram.server.base_url, base_file_url=telegram.server.base_file_url)
    async with bot:
        yield bot


def keyboard(*rows: list[str], data: str = "x") -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton(label, callback_data=data) for label in row] for row in rows])


async def test_an_update_comes_again_until_the_next_offset_confirms_it() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana", "es")
        chat = telegram.group("Club", ana)
        telegram.mention(ana, chat, "🧥 who kept the log?")
        [first] = await bot.get_updates(timeout=1)
        [again] = await bot.get_updates(timeout=1)
        assert first.update_id == again.update_id
        assert first.message is not None
        assert first.message.parse_entities()[first.message.entities[0]] == "@loccit_bot"
        assert first.message.from_user is not None
        assert first.message.from_user.language_code == "es"
        assert await bot.get_updates(offset=first.update_id + 1, timeout=1) == ()
        assert first.update_id in telegram.server.confirmed


async def test_a_second_poller_ends_the_first_with_a_conflict() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as one, connected(telegram) as other:
        waiting = asyncio.create_task(one.get_updates(timeout=5))
        await asyncio.sleep(QUIET)
        assert await other.get_updates(timeout=1) == ()
        with pytest.raises(Conflict):
            await waiting


async def test_a_wrong_token_is_refused() -> None:
    async with FakeTelegram() as telegram:
        with pytest.raises(InvalidToken):
            async with connected(telegram, "7000000001:another"):
                pass


async def test_privacy_mode_keeps_mentions_and_documents_from_a_bot_that_is_no_administrator() -> None:
    async with FakeTelegram(privacy=True) as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        said = await bot.send_message(chat.id, "Hello")
        telegram.mention(ana, chat, "never arrives")
        telegram.upload(ana, chat, ("b.epub", b"PK"), caption="@loccit_bot add")
        telegram.say(ana, chat, "/books")
        telegram.say(ana, chat, "and then?", reply_to=chat.messages[said.message_id])
        found = await bot.get_updates(timeout=1)
        assert [update.message.text for update in found if update.message] == ["/books", "and then?"]
        telegram.change_status(chat, telegram.me, "administrator", by=ana)
        telegram.mention(ana, chat, "arrives")
        found = await bot.get_updates(offset=found[-1].update_id + 1, timeout=1)
        assert found[0].my_chat_member is not None
        assert found[1].message is not None


async def test_texts_are_measured_in_utf_16_units_and_entities_that_lie_are_refused() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        chat = telegram.private(telegram.person("Ana"))
        await bot.send_message(chat.id, "🧥" * 2048)
        with pytest.raises(BadRequest, match="too long"):
            await bot.send_message(chat.id, "🧥" * 2048 + "x")
        with pytest.raises(BadRequest, match="empty"):
            await bot.send_message(chat.id, " \n ")
        with pytest.raises(BadRequest, match=r"(?i)utf-16"):
            await bot.send_message(chat.id, "🧥 coat", entities=[MessageEntity("bold", 1, 3)])
        with pytest.raises(BadRequest, match="outside"):
            await bot.send_message(chat.id, "coat", entities=[MessageEntity("bold", 0, 5)])
        with pytest.raises(BadRequest, match="overlap"):
            await bot.send_message(
                chat.id, "a coat", entities=[MessageEntity("bold", 0, 3), MessageEntity("italic", 2, 3)]
            )
        many = [MessageEntity("bold", at * 2, 1) for at in range(120)]
        await bot.send_message(chat.id, "x " * 120, entities=many)
        assert len(telegram.ours(chat)[-1]["entities"]) == 100


async def test_what_looks_like_a_link_or_a_name_turns_live_unless_it_is_broken_or_code() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        chat = telegram.private(telegram.person("Ana"))

        async def live(text: str, entities: list[MessageEntity] | None = None) -> list[str]:
            await bot.send_message(chat.id, text, entities=entities)
            return [entity["type"] for entity in telegram.ours(chat)[-1].get("entities", [])]

        assert await live("see example.com and http://x.org/a?b @admin #tag /start me@a.org 127.0.0.1") == [
            "url", "url", "mention", "hashtag", "bot_command", "email", "url",
        ]  # fmt: skip
        assert await live("example.\u2060com http:\u2060//x.\u2060org @\u2060admin") == []
        assert await live("@admin", [MessageEntity("code", 0, 6)]) == ["code"]
        assert await live("3.14, e. g. half/half 1/2") == []


async def test_keyboards_are_held_to_eight_a_row_a_hundred_in_all_and_64_bytes() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        chat = telegram.private(telegram.person("Ana"))
        for refused in (
            keyboard(["x"] * 9),
            keyboard(*[["x"] * 8] * 13),
            keyboard(["x"], data="ü" * 33),
        ):
            with pytest.raises(BadRequest):
                await bot.send_message(chat.id, "x", reply_markup=refused)
        await bot.send_message(chat.id, "x", reply_markup=keyboard(["x"] * 8, data="ü" * 32))


async def test_edits_say_when_nothing_changed_and_take_the_keyboard_away_unless_it_is_given_again() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        chat = telegram.private(telegram.person("Ana"))
        said = await bot.send_message(chat.id, "x", reply_markup=keyboard(["1"]))
        with pytest.raises(BadRequest, match="not modified"):
            await bot.edit_message_text("x", chat.id, said.message_id, reply_markup=keyboard(["1"]))
        await bot.edit_message_text("y", chat.id, said.message_id)
        assert "reply_markup" not in chat.messages[said.message_id]
        with pytest.raises(BadRequest, match="not found"):
            await bot.edit_message_text("y", chat.id, 999)
        await bot.delete_message(chat.id, said.message_id)
        assert telegram.ours(chat) == []


async def test_a_press_reaches_the_bot_and_is_acknowledged_in_time_or_never() -> None:
    async with FakeTelegram(query_life=0.3) as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await bot.send_message(chat.id, "answer", reply_markup=keyboard(["1 · Ch. 1"], data="note"))
        query = telegram.press(ana, chat, "1")
        [update] = await bot.get_updates(timeout=1)
        assert isinstance(update.callback_query, CallbackQuery)
        assert update.callback_query.data == "note"
        await bot.answer_callback_query(query.id, text="here")
        assert await telegram.answered(query) == "here"
        stale = telegram.press(ana, chat, "1", stale=True)
        [_, update] = await bot.get_updates(timeout=1)
        assert update.callback_query is not None
        assert update.callback_query.message is not None
        assert update.callback_query.message.date.timestamp() == 0  # the library makes a whole Message of it
        await asyncio.sleep(0.4)
        with pytest.raises(BadRequest, match="too old"):
            await bot.answer_callback_query(stale.id)


async def test_files_go_in_and_out_up_to_the_limit_of_the_cloud() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        small = telegram.upload(ana, chat, ("b.epub", b"PK" * 100))
        big = telegram.upload(ana, chat, ("b.pdf", b"x" * 20_000_001))
        file = await bot.get_file(small["document"]["file_id"])
        assert bytes(await file.download_as_bytearray()) == b"PK" * 100
        with pytest.raises(BadRequest, match="too big"):
            await bot.get_file(big["document"]["file_id"])
        sent = await bot.send_photo(chat.id, b"picture", caption="Cover")
        await bot.edit_message_media(InputMediaPhoto(b"other", caption="Page"), chat.id, sent.message_id)
        await bot.send_document(chat.id, b"# Chat", filename="chat.md")
        photo, document = telegram.ours(chat)
        assert photo["caption"] == "Page"
        assert telegram.world.files[document["document"]["file_id"]].data == b"# Chat"
        with pytest.raises(BadRequest, match="caption is too long"):
            await bot.send_photo(chat.id, b"picture", caption="x" * 1025)


@pytest.mark.parametrize("ephemeral", ["yes", "older", "refuses"])
async def test_a_message_for_one_members_eyes_by_the_age_of_the_server(ephemeral: str) -> None:
    async with FakeTelegram(ephemeral=ephemeral) as telegram, connected(telegram) as bot:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        query = telegram.press_data(ana, chat, "x")
        private = {"ephemeral_message_parameters": {"receiver_user_id": ana.id, "callback_query_id": query.id}}
        if ephemeral == "refuses":
            with pytest.raises(BadRequest):
                await bot.send_message(chat.id, "passage", api_kwargs=private)
            return
        sent = await bot.send_message(chat.id, "passage", api_kwargs=private)
        if ephemeral == "older":
            assert "ephemeral_message_id" not in sent.api_kwargs
            assert "passage" in telegram.texts(chat)
            return
        id = sent.api_kwargs["ephemeral_message_id"]
        assert telegram.texts(chat) == telegram.texts(chat, bea) == []
        assert telegram.texts(chat, ana) == ["passage"]
        where = {"chat_id": chat.id, "receiver_user_id": ana.id, "ephemeral_message_id": id}
        await bot.do_api_request("editEphemeralMessageText", where | {"text": "more"})
        assert telegram.texts(chat, ana) == ["more"]
        await bot.do_api_request("deleteEphemeralMessage", where)
        assert telegram.texts(chat, ana) == []
        stranger = {"ephemeral_message_parameters": {"receiver_user_id": bea.id, "callback_query_id": query.id}}
        with pytest.raises(BadRequest, match=r"(?i)callback"):
            await bot.send_message(chat.id, "passage", api_kwargs=stranger)


async def test_a_group_takes_twenty_messages_a_minute_and_then_says_how_long_to_wait() -> None:
    async with FakeTelegram(flood=Flood(window=60)) as telegram, connected(telegram) as bot:
        chat = telegram.group("Club", telegram.person("Ana"))
        for number in range(20):
            await bot.send_message(chat.id, str(number))
        with pytest.raises(RetryAfter) as wait:
            await bot.send_message(chat.id, "one too many")
        assert float(str(wait.value.retry_after)) > 50
        await bot.send_message(telegram.group("Other", telegram.person("Bea")).id, "free")
        await bot.send_chat_action(chat.id, "typing")


async def test_a_group_that_moved_names_its_new_chat_and_a_bot_outside_is_forbidden() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana, type="group")
        new = telegram.migrate(chat)
        with pytest.raises(ChatMigrated) as moved:
            await bot.send_message(chat.id, "x")
        assert moved.value.new_chat_id == new.id
        telegram.change_status(new, telegram.me, "kicked", by=ana)
        with pytest.raises(Forbidden):
            await bot.send_message(new.id, "x")
        assert [update.message is not None for update in await bot.get_updates(timeout=1)] == [True, True, False]


async def test_topics_rights_and_administrators_are_as_the_group_set_them() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea, forum=True)
        topic = telegram.topic(chat)
        sent = await bot.send_message(chat.id, "here", message_thread_id=topic)
        assert sent.message_thread_id == topic
        with pytest.raises(BadRequest, match="thread not found"):
            await bot.send_message(chat.id, "x", message_thread_id=1)
        chat.topics[topic] = False
        with pytest.raises(BadRequest, match=r"(?i)topic_closed"):
            await bot.send_message(chat.id, "x", message_thread_id=topic)
        assert [member.user.id for member in await bot.get_chat_administrators(chat.id)] == [ana.id]
        assert (await bot.get_chat_member(chat.id, bea.id)).status == "member"
        assert (await bot.get_chat_member(chat.id, BOT)).status == "member"
        telegram.change_status(chat, telegram.me, "restricted", can_send_messages=False)
        with pytest.raises(BadRequest, match="rights"):
            await bot.send_message(chat.id, "x")


async def test_polls_count_characters_tell_votes_when_that_was_asked_for_and_end_once() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        for question, options, why in (
            ("🧥" * 301, ["a", "b"], "question length"),
            ("?", ["a", "🧥" * 101], "options length"),
            ("?", ["a", " "], "non-empty"),
            ("?", [str(number) for number in range(13)], "more than 12"),
        ):
            with pytest.raises(BadRequest, match=why):
                await bot.send_poll(chat.id, question, options, is_anonymous=False)
        sent = await bot.send_poll(chat.id, "🧥" * 300, ["a", "🧥" * 100], is_anonymous=False)
        shown = chat.messages[sent.message_id]
        assert telegram.vote(ana, shown, "a") is None
        await bot.get_updates(timeout=0, allowed_updates=["poll_answer"])
        telegram.vote(ana, shown, "🧥" * 100)
        telegram.vote(ana, shown, None)
        answers = [update.poll_answer for update in await bot.get_updates(timeout=1)]
        assert [answer.option_ids for answer in answers if answer is not None] == [(1,), ()]
        telegram.vote(ana, shown, "a")
        assert [option.voter_count for option in (await bot.stop_poll(chat.id, sent.message_id)).options] == [1, 0]
        with pytest.raises(BadRequest, match="already been closed"):
            await bot.stop_poll(chat.id, sent.message_id)
        with pytest.raises(BadRequest, match="to stop not found"):
            await bot.stop_poll(chat.id, 99)
        with pytest.raises(LookupError):
            telegram.vote(ana, shown, "a")


async def test_drafts_show_in_private_chats_and_commands_are_kept_by_language() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        ana = telegram.person("Ana")
        await bot.send_message_draft(telegram.private(ana).id, 7, "Mara k")
        await bot.send_message_draft(telegram.private(ana).id, 7, "Mara kept")
        assert telegram.world.drafts[ana.id, 7] == ["Mara k", "Mara kept"]
        with pytest.raises(BadRequest):
            await bot.send_message_draft(telegram.group("Club", ana).id, 7, "x")
        await bot.set_my_commands([BotCommand("libros", "Los libros")], language_code="es")
        assert telegram.methods.commands["es"] == [{"command": "libros", "description": "Los libros"}]


async def test_scripted_faults_drop_refuse_and_slow_down() -> None:
    async with FakeTelegram() as telegram, connected(telegram) as bot:
        chat = telegram.private(telegram.person("Ana"))
        telegram.server.faults += [
            Fault("sendMessage", "drop"),
            Fault("sendMessage", "status"),
            Fault("sendMessage", "flood", retry_after=3),
            Fault("sendMessage", "drop after"),
        ]
        for error in (NetworkError, NetworkError, RetryAfter, NetworkError):
            with pytest.raises(error):
                await bot.send_message(chat.id, "x")
        assert telegram.texts(chat) == ["x"]
        assert [entry.ok for entry in telegram.server.calls("sendMessage")] == [False, False, False, True]


async def test_an_unknown_method_fails_the_test() -> None:
    async def roll() -> None:
        async with FakeTelegram() as telegram, connected(telegram) as bot:
            with pytest.raises(InvalidToken):
                await bot.send_dice(1)

    with pytest.raises(AssertionError, match="sendDice"):
        await roll()
