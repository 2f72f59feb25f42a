"""What Telegram must reach, at full count, against the fake Bot API on the loopback.

    python -m tests.bench.telegram [kills] [burst] [presses] [forged] [added] [--count N]

kills    kill -9 at random points of 200 questions: answered, lost, twice
burst    1,000 updates over 50 groups at the vendor's pace: lost, out of order, refused for flooding
presses  acknowledgement of presses while 5 books are read and summarised: p50, p99
forged   100,000 mutated or foreign payloads: passages opened, presses without a sentence
added    from an update given to the first visible reply, no latency anywhere, beside a bare echo bot: p50, p99, ratio
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from telegram import Bot

from tests.adapters.telegram_club import served
from tests.adapters.test_telegram_passages import asked, forged
from tests.books.lantern_epub import lantern_house
from tests.bot.test_run import QUICK, killed_at_random_points, running
from tests.fakes.openai import FakeOpenAI, Reply, Timing
from tests.fakes.telegram import Chat, FakeTelegram, Flood

GREEN = "What did Mara keep the log in?"
ACKNOWLEDGED = 0.5
"""Seconds within which 99 of 100 presses are acknowledged."""


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


async def kills(count: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        found = await killed_at_random_points(
            Path(folder), questions=count, chats=min(20, max(3, count // 10)), seed=time.time_ns()
        )
    print("kill -9:", ", ".join(f"{name} {value}" for name, value in found.items()))
    return found["answered"] == count and found["twice"] <= found["said perhaps twice"]


async def burst(count: int) -> bool:
    """Commands that answer in one message; the vendor's own minute, so this takes one and more."""
    groups = 50
    flood = Flood(per_second=30)
    with tempfile.TemporaryDirectory() as folder:
        async with FakeTelegram(flood=flood) as telegram, running(Path(folder), telegram) as bot:
            await bot.told("is up")
            ana = telegram.person("Ana")
            chats = [telegram.group(f"Club {number}", ana) for number in range(groups)]
            began = time.monotonic()
            for number in range(count):
                telegram.say(ana, chats[number % groups], f"/use {number}")
            await telegram.until(lambda: sum(len(telegram.ours(chat)) for chat in chats) >= count, patience=600)
            took = time.monotonic() - began
            await asyncio.sleep(1)
            disorder = 0
            for at, chat in enumerate(chats):
                replied = [message["reply_to_message"]["text"] for message in telegram.ours(chat)]
                disorder += replied != [f"/use {number}" for number in range(at, count, groups)]
            most = max(flood.most.values())
    print(
        f"burst: {count} updates over {groups} groups in {took:.1f} s, groups out of order or incomplete {disorder}, "
        f"refused for flooding {flood.hits}, most in a group's minute {most}"
    )
    return disorder == 0 and most <= 20


async def presses(count: int) -> bool:
    """Presses of footnotes in ten groups while five others add a book each and a provider summarises."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        books = [lantern_house(folder, title=f"The House {number}", filler=12_000) for number in range(5)]
        provider = FakeOpenAI(lambda body: Reply("A summary of this part.", timing=Timing(first=0.05)))
        async with provider, FakeTelegram() as telegram:
            telegram.server.flood.per_group = None
            llm = {"LOCCIT_LLM_BASE_URL": provider.url, "LOCCIT_LLM_MODEL": "fake"}
            ana = telegram.person("Ana")
            chat = telegram.group("Club", ana)
            async with running(folder, telegram, QUICK):
                telegram.upload(ana, chat, lantern_house(folder), caption="@loccit_bot")
                await telegram.said(chat, "3 chapters")
                telegram.mention(ana, chat, GREEN)
                await telegram.said(chat, "[1]")
            people = [telegram.person(f"Reader{number}") for number in range(20)]
            chat.statuses |= dict.fromkeys((person.id for person in people), "member")
            async with running(folder, telegram, QUICK, **llm) as bot:
                await bot.told("is up")
                for number, book in enumerate(books):
                    club = telegram.group(f"Club {number}", ana)
                    telegram.upload(ana, club, book, caption="@loccit_bot")
                waits = []
                rng = random.Random(1)
                for _ in range(count):
                    query = telegram.press(rng.choice(people), chat, "1 ·")
                    await telegram.answered(query)
                    waits.append((query.answered or 0) - query.at)
                    await asyncio.sleep(rng.random() * 0.05)
                summarised = len(provider.chats)
    p50, p99 = percentiles(waits)
    print(
        f"presses: {count} acknowledged while 5 books are read and summarised ({summarised} calls): "
        f"p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms"
    )
    return p99 < ACKNOWLEDGED


async def forgeries(count: int) -> bool:
    """Twenty people press at a time, one payload each."""
    rng = random.Random(time.time_ns())
    with tempfile.TemporaryDirectory() as folder:
        async with FakeTelegram(query_life=600) as telegram, served(Path(folder), telegram) as here:
            ana, _, chat = await asked(telegram, here)
            people = [telegram.person(f"Eve{number}") for number in range(20)]
            other = telegram.group("Elsewhere", *people)
            data = [
                button["callback_data"]
                for message in telegram.ours(chat)
                for row in message.get("reply_markup", {}).get("inline_keyboard", [])
                for button in row
            ]
            silent, opened, done = 0, 0, 0
            said: Counter[str] = Counter()
            while done < count:
                late = 0
                payloads = [rng.choice(data) if rng.random() < 0.05 else forged(rng.choice(data), rng) for _ in people]
                queries = [telegram.press_data(eve, other, sent) for eve, sent in zip(people, payloads, strict=True)]
                for query in queries:
                    words = await telegram.answered(query)
                    said[words] += 1
                    late += words == ""
                # A sentence that came too late for the pop-up comes as a message for the one who pressed.
                with suppress(AssertionError):
                    await telegram.until(partial(_told, other, late))
                silent += late - len(other.whispers) - len(other.messages)
                shown = [str(message.get("text")) for _, message in other.whispers.values()]
                opened += sum("Mara" in text or "Lantern" in text for text in [*shown, *telegram.texts(other)])
                other.whispers.clear()
                other.messages.clear()
                done += len(queries)
                telegram.server.journal.clear()
                telegram.methods.queries.clear()
            opened += len(telegram.ours(chat, ana)) - len(telegram.ours(chat))
    print(f"forged: {done} payloads, passages {opened}, without one sentence {silent}; {dict(said.most_common(4))}")
    return opened == 0 and silent == 0


async def added(count: int) -> bool:
    ours = await _ours(count)
    bare = await _echo(count)
    (our50, our99), (bare50, bare99) = percentiles(ours), percentiles(bare)
    print(
        f"added: question to first visible reply p50 {our50 * 1000:.1f} ms, p99 {our99 * 1000:.1f} ms; bare echo bot "
        f"p50 {bare50 * 1000:.1f} ms, p99 {bare99 * 1000:.1f} ms; ratio p50 {our50 / bare50:.1f}, p99 {our99 / bare99:.1f}"
    )
    return True


async def _ours(count: int) -> list[float]:
    """A fake provider without latency; every question another, so that the ledger helps with none."""
    provider = FakeOpenAI(lambda body: Reply("Mara kept the log in green ink."))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with provider, FakeTelegram() as telegram:
            telegram.server.flood.per_group = None
            llm = {"LOCCIT_LLM_BASE_URL": provider.url, "LOCCIT_LLM_MODEL": "fake"}
            ana = telegram.person("Ana")
            chat = telegram.private(ana)
            async with running(folder, telegram, QUICK, **llm):
                telegram.upload(ana, chat, lantern_house(folder))
                await telegram.said(chat, "3 chapters")
                waits = []
                for number in range(count + 5):
                    before = len(telegram.ours(chat))
                    drafts = len(telegram.world.drafts)
                    given = time.monotonic()
                    telegram.say(ana, chat, f"What did Mara keep the log number {number} in?")
                    await telegram.until(partial(_shows, telegram, chat, before, drafts))
                    waits.append(_first(telegram, given))
                    await telegram.until(partial(_more, telegram, chat, before))
                return waits[5:]


async def _echo(count: int) -> list[float]:
    async with FakeTelegram() as telegram:
        bot = Bot(telegram.server.token, telegram.server.base_url)
        async with bot:
            task = asyncio.create_task(_repeat(bot))
            ana = telegram.person("Ana")
            chat = telegram.private(ana)
            waits = []
            for number in range(count + 5):
                before = len(telegram.ours(chat))
                given = time.monotonic()
                telegram.say(ana, chat, f"echo {number}")
                await telegram.until(partial(_more, telegram, chat, before))
                waits.append(_first(telegram, given))
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            return waits[5:]


def _told(chat: Chat, count: int) -> bool:
    return len(chat.whispers) + len(chat.messages) >= count


def _more(telegram: FakeTelegram, chat: Chat, before: int) -> bool:
    return len(telegram.ours(chat)) > before


def _shows(telegram: FakeTelegram, chat: Chat, before: int, drafts: int) -> bool:
    return _more(telegram, chat, before) or len(telegram.world.drafts) > drafts


def _first(telegram: FakeTelegram, given: float) -> float:
    """Seconds until the first request that shows a text."""
    shows = ("sendMessage", "sendMessageDraft", "editMessageText")
    return next(entry.at for entry in telegram.server.journal if entry.method in shows and entry.at >= given) - given


async def _repeat(bot: Bot) -> None:
    offset = None
    while True:
        for update in await bot.get_updates(offset=offset, timeout=20):
            offset = update.update_id + 1
            if update.message is not None and update.message.text:
                await bot.send_message(update.message.chat_id, update.message.text)


MEASUREMENTS = {
    "kills": (kills, 200),
    "burst": (burst, 1_000),
    "presses": (presses, 400),
    "forged": (forgeries, 100_000),
    "added": (added, 200),
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[*MEASUREMENTS, []], default=[])
    parser.add_argument("--count", type=int)
    arguments = parser.parse_args()
    missed = 0
    for name in arguments.names or MEASUREMENTS:
        measure, count = MEASUREMENTS[name]
        missed += not asyncio.run(measure(arguments.count or count))
    return missed


if __name__ == "__main__":
    sys.exit(main())
