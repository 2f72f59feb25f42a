"""`loccit run`: its start and end, refused tokens, other programs on the token, no network, and crashes in the middle."""

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from adapters.host import Host
from bot.config import read_config
from bot.running import MISCONFIGURED, run
from core.club import Club
from core.errors import OperatorError
from tests import programs
from tests.books.lantern_epub import lantern_house
from tests.bot.running import command, environment
from tests.fakes.telegram import Chat, FakeTelegram, Fault

GREEN = "What did Mara keep the log in?"
QUICK = "tests.adapters.quick_telegram"
PATIENCE = 90.0


class Bot:
    """One process of the bot; what it tells whoever runs it."""

    def __init__(self, process: programs.Program) -> None:
        self.process = process
        self.said = ""
        self._reader = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.said += line.decode()

    async def told(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while words not in self.said:  # noqa: ASYNC110  # another process says it
                await asyncio.sleep(0.02)

    async def ended(self) -> int:
        code = await asyncio.wait_for(self.process.wait(), PATIENCE)
        await self._reader
        return code

    async def kill(self) -> None:
        self.process.kill()
        await self.ended()


@asynccontextmanager
async def running(
    folder: Path, telegram: FakeTelegram, module: str = programs.LOCCIT, **settings: str
) -> AsyncIterator[Bot]:
    """The bot in a process of its own; ended by SIGTERM with the block, unless it ended before."""
    given = {"LOCCIT_DATA": str(folder / "data"), "LOCCIT_WEB_PORT": "0", **telegram.server.settings(), **settings}
    process = await programs.start(module, "run", environment=environment(**given), stderr=asyncio.subprocess.PIPE)
    bot = Bot(process)
    try:
        yield bot
    finally:
        if process.returncode is None:
            process.terminate()
            assert await bot.ended() == 0, bot.said


async def test_it_serves_without_a_language_model_and_ends_with_0_when_it_is_told_to(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        async with running(tmp_path, telegram) as bot:
            await bot.told("Telegram is up as @loccit_bot")
            telegram.upload(ana, chat, lantern_house(tmp_path))
            await telegram.said(chat, "3 chapters")
            telegram.say(ana, chat, GREEN)
            await telegram.said(chat, "green ink. [1]")
        assert bot.process.returncode == 0
        assert "Traceback" not in bot.said


async def test_a_refused_token_is_one_sentence_and_exit_code_78(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, running(tmp_path, telegram, TELEGRAM_BOT_TOKEN="7000000001:wrong") as bot:
        assert await bot.ended() == MISCONFIGURED
        [line] = [line for line in bot.said.splitlines() if "refused" in line]
        assert "TELEGRAM_BOT_TOKEN" in line
        assert "wrong" not in bot.said


async def test_a_refused_token_leaves_the_other_platforms_up_and_the_last_one_ends_it(tmp_path: Path) -> None:
    other = asyncio.Event()
    served = asyncio.Event()

    async def refused(club: Club, *, host: Host) -> None:
        raise OperatorError("token_refused", platform="Here", setting="HERE_TOKEN")

    async def stays(club: Club, *, host: Host) -> None:
        served.set()
        await other.wait()
        raise OperatorError("token_refused", platform="There", setting="THERE_TOKEN")

    config = read_config({"LOCCIT_DATA": str(tmp_path), "LOCCIT_WEB_PORT": "0", "HOME": str(tmp_path)})
    work = asyncio.create_task(run(config, {"here": refused, "there": stays}))
    await asyncio.wait_for(served.wait(), PATIENCE)
    await asyncio.sleep(0.2)
    assert not work.done()
    other.set()
    assert await asyncio.wait_for(work, PATIENCE) == MISCONFIGURED


async def test_a_second_program_on_the_token_is_said_once_and_waited_out(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, running(tmp_path, telegram) as bot:
        await bot.told("is up")
        await telegram.until(lambda: telegram.server.polls > 1)  # the first one takes what is there and does not wait
        telegram.server.steal()
        await bot.told("Another program is connected to Telegram")
        telegram.server.steal()
        ana = telegram.person("Ana")
        telegram.say(ana, telegram.private(ana), "/help")
        await telegram.said(telegram.private(ana), "no book here")
        await bot.told("answers again")
        assert bot.said.count("Another program") == 1


async def test_no_network_is_said_once_and_waited_out_at_the_start_and_later(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        telegram.server.unreachable = True
        async with running(tmp_path, telegram) as bot:
            await bot.told("cannot be reached")
            telegram.server.unreachable = False
            await bot.told("is up")
            await telegram.until(lambda: telegram.server.polls)
            telegram.server.unreachable = True
            await telegram.server.wake()
            ana = telegram.person("Ana")
            telegram.say(ana, telegram.private(ana), "/help")
            await asyncio.sleep(0.5)
            telegram.server.unreachable = False
            await telegram.said(telegram.private(ana), "no book here")


@pytest.mark.parametrize(("privacy", "words"), [(True, "/setprivacy"), (False, "privacy mode is off")])
async def test_doctor_says_whether_privacy_mode_hides_mentions_and_what_to_switch(
    tmp_path: Path, privacy: bool, words: str
) -> None:
    assert words in await _doctor(tmp_path, privacy)


async def _doctor(folder: Path, privacy: bool) -> str:
    async with FakeTelegram(privacy=privacy) as telegram:
        process = await asyncio.create_subprocess_exec(
            *command("doctor"),
            stdout=asyncio.subprocess.PIPE,
            env=environment(LOCCIT_DATA=str(folder / "data"), **telegram.server.settings()),
        )
        out, _ = await process.communicate()
        return out.decode()


async def test_an_update_is_on_record_before_the_vendor_hears_that_it_arrived(tmp_path: Path) -> None:
    """A look at the database in the very moment an offset is confirmed."""
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        missing: list[int] = []

        def confirmed(update: int, message: int) -> None:
            with sqlite3.connect(f"file:{tmp_path}/data/loccit.db?mode=ro", uri=True) as database:
                row = database.execute("select 1 from event where key = ?", (f"telegram:{chat.id}:{message}",))
                if row.fetchone() is None:
                    missing.append(update)

        telegram.server.on_confirmed = confirmed
        async with running(tmp_path, telegram, QUICK) as bot:
            await bot.told("is up")
            for _ in range(20):
                telegram.say(ana, chat, "/help")
                await asyncio.sleep(0.01)
            await telegram.until(lambda: len(telegram.ours(chat)) == 20)
            await telegram.until(lambda: len(telegram.server.confirmed) == 20)
        assert missing == []


async def test_killed_at_random_points_every_question_has_one_answer(tmp_path: Path) -> None:
    """The full count is in tests/bench/telegram.py."""
    counts = await killed_at_random_points(tmp_path, questions=5, chats=3, seed=1)
    assert counts["answered"] == 5
    assert counts["twice"] <= counts["said perhaps twice"]


async def killed_at_random_points(folder: Path, *, questions: int, chats: int, seed: int) -> dict[str, int]:
    """Ask in several groups while the bot is killed over and over; what came of it."""
    rng = random.Random(seed)
    async with FakeTelegram() as telegram:
        telegram.server.flood.per_group = None
        telegram.server.latency = 0.01
        ana = telegram.person("Ana")
        groups = [telegram.group(f"Club {number}", ana) for number in range(chats)]
        async with running(folder, telegram, QUICK):
            for chat in groups:
                telegram.upload(ana, chat, lantern_house(folder), caption="@loccit_bot")
                await telegram.said(chat, "3 chapters")
        asked: list[tuple[Chat, int]] = []
        kills = 0
        while len(asked) < questions or not _all_answered(telegram, asked):
            last = len(asked) >= questions
            async with running(folder, telegram, QUICK) as bot:
                for _ in range(min(rng.randint(1, 4), questions - len(asked))):
                    chat = rng.choice(groups)
                    # Somebody else each time: nobody may have more than a few questions open.
                    message = telegram.mention(telegram.person(f"Reader {len(asked)}"), chat, GREEN)
                    asked.append((chat, message["message_id"]))
                    await asyncio.sleep(rng.random() * 0.1)
                if last:
                    await telegram.until(partial(_all_answered, telegram, asked), patience=120)
                    await asyncio.sleep(0.3)
                else:
                    await bot.told("is up")
                    await asyncio.sleep(rng.random() * 0.6)
                    await bot.kill()
                    kills += 1
        answers = [_answers(telegram, chat, message) for chat, message in asked]
        log = (folder / "data" / "loccit.log").read_text(encoding="utf-8")
        return {
            "questions": len(asked),
            "kills": kills,
            "answered": sum(1 for count in answers if count),
            "lost": sum(1 for count in answers if not count),
            "twice": sum(count - 1 for count in answers if count > 1),
            "said perhaps twice": log.count("perhaps said twice"),
            "left looking": sum(text.startswith("Looking") for chat in groups for text in telegram.texts(chat)),
        }


def _answers(telegram: FakeTelegram, chat: Chat, message: int) -> int:
    return sum(
        1
        for shown in telegram.ours(chat)
        if shown.get("reply_to_message", {}).get("message_id") == message and "[1]" in shown.get("text", "")
    )


def _all_answered(telegram: FakeTelegram, asked: list[tuple[Chat, int]]) -> bool:
    return all(_answers(telegram, chat, message) for chat, message in asked)


async def test_a_book_whose_reading_was_cut_short_is_ready_after_the_restart(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        async with running(tmp_path, telegram, QUICK) as bot:
            await bot.told("is up")
            telegram.upload(ana, chat, lantern_house(tmp_path))
            await telegram.until(lambda: telegram.server.calls("getFile"))
            await bot.kill()
        async with running(tmp_path, telegram, QUICK) as bot:
            await bot.told("is up")
            await telegram.said(chat, "3 chapters")
        assert len(telegram.ours(chat)) == 1


async def test_a_half_written_answer_becomes_the_answer_after_a_crash(tmp_path: Path) -> None:
    """What stood there as a placeholder is edited, not said again."""
    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        async with running(tmp_path, telegram, QUICK) as bot:
            telegram.upload(ana, chat, lantern_house(tmp_path), caption="@loccit_bot")
            await telegram.said(chat, "3 chapters")
            telegram.server.faults.append(Fault("sendMessage", "drop after"))
            telegram.mention(ana, chat, GREEN)
            await telegram.said(chat, "[1]")
            await bot.kill()
        async with running(tmp_path, telegram, QUICK) as bot:
            await bot.told("is up")
            await telegram.until(lambda: not telegram.server.updates)
            await asyncio.sleep(1)
        # The one exception that nothing can tell apart: sent, and the process died before it knew.
        assert 1 <= sum("[1]" in text for text in telegram.texts(chat)) <= 3
