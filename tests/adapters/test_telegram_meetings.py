"""Reading together on Telegram: what an organiser and the members of a group type and press, and what stands in their way."""

from pathlib import Path
from typing import Any

import pytest

from core.model import Conversation, Span, SpineFile
from tests.adapters.telegram_club import served
from tests.books.pdfs import labelled
from tests.clubs import book_of
from tests.fakes.telegram import Chat, FakeTelegram, Fault


async def test_setup_names_the_rights_that_are_missing_here_and_looks_again(tmp_path: Path) -> None:
    async with FakeTelegram(privacy=True) as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        chat.permissions = {"can_send_polls": False}
        telegram.change_status(chat, telegram.me, "restricted", by=ana, can_send_photos=False)
        telegram.say(ana, chat, "/setup")
        shown = await telegram.said(chat, "What works here")
        assert "Missing: I lack these permissions here: send polls, send photos. An administrator" in shown["text"]
        assert "Missing: Telegram shows me only commands" in shown["text"]
        telegram.change_status(chat, telegram.me, "administrator", by=ana)
        telegram.press(ana, chat, "Check again")
        again = await telegram.said(chat, "OK: I may do all that I need here.")
        assert again["message_id"] == shown["message_id"]
        assert "OK: mentions and files reach me here." in again["text"]
        direct = telegram.private(ana)
        telegram.say(ana, direct, "/setup")
        assert "permissions" not in (await telegram.said(direct, "What works here"))["text"]


async def test_a_member_with_restrictions_uses_commands(tmp_path: Path) -> None:
    """The fake tells of one as servers do that know less than the library."""
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, ivo = telegram.person("Ana"), telegram.person("Ivo")
        chat = telegram.group("Club", ana, ivo)
        await here.shelve(chat)
        telegram.change_status(chat, ivo, "restricted", by=ana, can_send_photos=False)
        telegram.say(ivo, chat, "/toc")
        await telegram.said(chat, "Green Ink")
        telegram.say(ivo, chat, "/progress finished 1")
        await telegram.said(chat, "Only those who manage")


async def test_all_that_a_press_brings_is_shown_however_long(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        for number in (1, 2):
            files = [
                SpineFile(0, "", "Title"),
                *(SpineFile(at, "", f"Chapter {at}. " + "x" * 30) for at in range(1, 31)),
            ]
            titles = [f"{at} {'of the long title ' * 10}" for at in range(1, 31)]
            book = book_of(files, [Span(file.index, 0, len(file.text)) for file in files], titles, f"Book {number}")
            await here.club.shelve(book, Conversation("telegram", str(chat.id)))
        telegram.say(ana, chat, "/toc")
        await telegram.said(chat, "Which book?")
        telegram.press(ana, chat, "“Book 2")
        await telegram.said(chat, "30. 30 of the long")


async def test_a_group_that_takes_neither_pictures_nor_files_is_told_so_and_gets_the_words(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        chat.permissions = {"can_send_documents": False, "can_send_photos": False}
        telegram.upload(ana, chat, labelled(tmp_path / "labelled.pdf"), caption="@loccit_bot")
        await telegram.said(chat, "Ready")
        telegram.say(ana, chat, "/ask Who was drying nets at the pier?")
        await telegram.said(chat, "[1]")
        await here.settled()
        telegram.press(ana, chat, "1 ·")
        await telegram.until(lambda: "Page picture" in telegram.buttons(ana, chat))
        telegram.press(ana, chat, "Page picture")
        await telegram.until(lambda: "Text" in telegram.buttons(ana, chat))
        telegram.say(ana, chat, "/export")
        await telegram.said(chat, "This group does not let me send files")
        assert [notice.key for notice in here.told] == ["run_up"]


@pytest.mark.parametrize("kind", ["status", "drop", "flood"])
async def test_a_line_that_breaks_takes_nobodys_rights(tmp_path: Path, kind: Any) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        telegram.server.faults.append(Fault("getChatMember", kind))
        telegram.say(ana, chat, "/progress finished 1")
        await telegram.said(chat, "up to chapter 1")


@pytest.mark.parametrize("status", ["member", "administrator"])
async def test_who_speaks_as_the_group_organises_and_is_no_other_group(tmp_path: Path, status: str) -> None:
    """Anonymous administrators write from one account over all groups, and press under their own."""
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, ivo = telegram.person("Ana"), telegram.person("Ivo")
        chat, other = telegram.group("Club", ana, ivo, bot=status), telegram.group("Other", ivo)

        def speak(chat: Chat, text: str) -> None:
            account = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
            as_group: dict[str, Any] = {"from": account, "sender_chat": chat.json()}
            telegram.say(ana, chat, text, **as_group)

        for group in (chat, other):
            await here.shelve(group)
        speak(chat, "/discuss 2")
        shown = await telegram.said(chat, "for your eyes only")
        assert await telegram.answered(telegram.press(ana, chat, "Show the draft", shown)) == ""
        await telegram.said(chat, "up to chapter 2", ana)
        assert "the person it was shown to" in await telegram.answered(
            telegram.press(ivo, chat, "Show the draft", shown)
        )
        speak(other, "/forget me")
        await telegram.said(other, "in all chats?")
        telegram.press(ivo, other, "Yes, forget")
        await telegram.said(other, "nothing to forget", ivo)
        telegram.press(ana, chat, "Keep 1")
        await telegram.until(lambda: "Do not keep 1" in telegram.buttons(ana, chat))
        telegram.press(ana, chat, "Post")
        await telegram.said(chat, "1/1")
        speak(chat, "/setup")
        await telegram.said(chat, "What works here")
        telegram.press(ana, chat, "Weekly digest")
        await telegram.said(chat, "A digest comes each Monday.")


async def test_a_press_where_the_bot_may_not_write_is_told_so_in_its_pop_up(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.shelve(chat)
        telegram.say(ana, chat, "/progress")
        await telegram.said(chat, "Where is the club?")
        telegram.change_status(chat, telegram.me, "restricted", by=ana, can_send_messages=False)
        told = ""
        while "I may not write in this group" not in told:  # a machine that is busy acknowledges without a sentence
            told = await telegram.answered(telegram.press(ana, chat, "Ch. 1 read"))
