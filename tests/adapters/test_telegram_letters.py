"""What Telegram is told unasked: a hello that outlives a crash, letters that wait for what mends and hold up no other."""

import asyncio
from pathlib import Path

from core.model import Conversation, Letter
from tests.adapters.telegram_club import Served, served
from tests.fakes.telegram import Chat, FakeTelegram, Fault, Person


def hellos(telegram: FakeTelegram, chat: Chat) -> int:
    return sum("Hello" in shown["text"] for shown in telegram.ours(chat))


async def owe(here: Served, chat: Chat, id: str, **params: str) -> None:
    where = Conversation("telegram", str(chat.id))
    await here.club.club.post.owe(Letter(id, where, "hello", here.club.clock(), params))


async def wake(here: Served, person: Person, chat: Chat) -> None:
    """Something happens, after which letters are looked for."""
    before = len(here.telegram.ours(chat))
    here.telegram.say(person, chat, "/about")
    await here.telegram.until(lambda: len(here.telegram.ours(chat)) > before)


async def drained(here: Served, *left: str) -> None:
    """Wait until nothing else is due."""
    async with asyncio.timeout(10):
        while tuple(letter.id for letter in await here.club.club.post.due("telegram")) != left:  # noqa: ASYNC110  # rows
            await asyncio.sleep(0.02)


async def test_a_hello_that_could_not_be_said_before_the_end_is_said_once_afterwards(tmp_path: Path) -> None:
    async with FakeTelegram(privacy=True) as telegram:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana, bot="left")
        telegram.server.faults.append(Fault("sendMessage", "status", times=1000))
        async with served(tmp_path, telegram):
            telegram.change_status(chat, telegram.me, "member", by=ana)
            await telegram.until(lambda: any(entry.method == "sendMessage" for entry in telegram.server.journal))
        telegram.server.faults.clear()
        async with served(tmp_path, telegram) as here:
            hello = await telegram.said(chat, "Hello")
            assert "only commands and replies" in hello["text"]
            telegram.change_status(chat, telegram.me, "member", by=ana)
            await here.settled()
        async with served(tmp_path, telegram) as here:
            await wake(here, ana, chat)
            await drained(here)
        assert hellos(telegram, chat) == 1


async def test_a_letter_that_we_fail_on_waits_and_holds_up_no_other(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await owe(here, chat, "1", more="a sentence that is missing")
        await owe(here, chat, "2")
        await wake(here, ana, chat)
        await telegram.said(chat, "Hello")
        await drained(here, "1")
        assert hellos(telegram, chat) == 1


async def test_a_letter_for_a_group_that_moved_is_said_in_the_one_it_became(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat, other = telegram.group("Club", ana, type="group"), telegram.group("Other", ana)
        await owe(here, chat, "1")
        new = telegram.migrate(chat)
        telegram.server.updates.clear()  # the news of the move is late
        await wake(here, ana, other)
        await wake(here, ana, other)
        await drained(here)
        assert hellos(telegram, new) == 1
