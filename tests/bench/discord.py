"""Discord under load and under attack: acknowledgements, a storm of questions, hostile text, forged buttons.

    python -m tests.bench.discord [acks] [storm] [shares] [hostile] [forged] [--values 100000]

All but `hostile` run `loccit run` in a process of its own against a Discord (and a provider) on the loopback.
Marks: first acknowledgement of every interaction p99 under 1 s while 5 books index and 100 answers stream; 500 questions
over 50 channels with reconnects (resumed and not), 429s and duplicates: 500 answers, none twice, order kept within a
channel; two processes on one PostgreSQL, one killed: every question answered once; 500 hostile strings as book and as model text: nothing live, text literal; 100,000 mutated or foreign ids: no
passage, one sentence each.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.discord.text import markdown
from core.document import parse
from core.model import Emphasis, Paragraph, Quote, Text
from tests.adapters.discord_hostile import hostile
from tests.adapters.discord_markdown import read, visible
from tests.adapters.test_discord_passages import forgeries
from tests.books.lantern_epub import lantern_house
from tests.books.long_text import write_long_text
from tests.bot.running import command, environment
from tests.fakes.discord import Channel, FakeDiscord, Invocation, Member, Payload, buttons, labels
from tests.fakes.openai import FakeOpenAI, JsonObject, Reply, Timing
from tests.fakes.readers import Honest, is_pick, is_summary
from tests.postgres import running_server

_honest = Honest()
GREEN_INK = "Mara kept the lighthouse log in green ink."


def _provider(request: JsonObject) -> Reply:
    """Answers word by word; choices and summaries after a while, in one piece."""
    reply = _honest(request)
    if is_pick(request) or is_summary(request):
        return replace(reply, timing=Timing(first=0.2))
    opening = "Let me say what the log has about that day, word for word, as it stands there. " * 2
    return Reply(opening + str(reply.text), timing=Timing(first=0.3, gap=0.03))


class Program:
    """`loccit run` in a process of its own."""

    def __init__(self, fake: FakeDiscord, provider: str, data: Path, database: str = "") -> None:
        self._settings = {
            "DISCORD_TOKEN": fake.token,
            "DISCORD_API_BASE": fake.api,
            "DISCORD_GATEWAY": fake.gateway_url,
            "LOCCIT_WEB_PORT": "0",
            **({"LOCCIT_DATABASE_URL": database} if database else {}),
            **({"LOCCIT_LLM_BASE_URL": provider, "LOCCIT_LLM_MODEL": "fake"} if provider else {}),
        }
        self._data = data
        self._log = data.with_name(f"{data.name}.log")
        """A file and no pipe: nobody reads it while it runs, and whoever writes into a full pipe stands still."""
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command("run", "--data", str(self._data)), env=environment(**self._settings), stderr=log
            )
        while b"Discord is up" not in await asyncio.to_thread(self._log.read_bytes):
            assert self._process.returncode is None, "the bot ended"
            await asyncio.sleep(0.1)

    async def end(self, sign: int = signal.SIGTERM) -> None:
        assert self._process is not None
        self._process.send_signal(sign)
        await self._process.wait()


def _percentile(seconds: list[float], share: float) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


def _replies(channel: Channel, fits: Callable[[Payload], bool]) -> list[Payload]:
    return [
        message
        for message in channel.messages.values()
        if message["author"]["bot"] and message.get("message_reference") and fits(message)
    ]


def _finished(message: Payload) -> bool:
    return bool(message["components"]) and "Stop" not in labels(message) and "⋯" in labels(message)


async def _books(fake: FakeDiscord, member: Member, channels: Sequence[Channel], path: Path) -> None:
    """The same small book in every channel: read once, granted many times."""
    data = await asyncio.to_thread(path.read_bytes)
    for channel in channels:
        await member.mention(channel, "", files=[(path.name, data)])
    await fake.until(lambda: all(_replies(channel, lambda m: "chapters" in m["content"]) for channel in channels), 600)


async def acks(folder: Path, channels: int = 20, questions: int = 100) -> bool:
    """5 books arrive and are indexed while 100 questions stream, with presses and commands in between."""
    fake = FakeDiscord(window=1.0)
    async with FakeOpenAI(_provider) as provider:
        await fake.start()
        server = fake.server()
        mara = fake.member("Mara", server, manages=True)
        halls = [fake.channel(server, f"hall {number}") for number in range(channels)]
        program = Program(fake, provider.url, folder / "data")
        await program.start()
        await _books(fake, mara, halls, await asyncio.to_thread(write_long_text, folder / "small.md", 2, 4_000))
        first = await mara.mention(halls[0], "Who was it on day 1007?")
        await fake.until(lambda: _replies(halls[0], lambda m: _answers(m, first) and _finished(m)), 60)
        noted = _replies(halls[0], lambda m: _answers(m, first))[0]
        began = len(fake.interactions.all)
        for number in range(5):
            book = await asyncio.to_thread(write_long_text, folder / f"book{number}.md", 30 + number, 16_000)
            await mara.mention(halls[number], "", files=[(book.name, book.read_bytes())])
        dice = random.Random(1)
        asked: list[tuple[Channel, Payload]] = []
        commanded: list[Invocation] = []
        for number in range(questions):
            hall = halls[5 + number % (channels - 5)]
            asker = fake.member(f"Reader {number}", server)
            question = f"Who was it on day {1007 + dice.randrange(500) * 7}?"
            if number % 3 == 0:
                commanded.append(await asker.slash(hall, "ask", {"question": question}))
            else:
                asked.append((hall, await asker.mention(hall, question)))
            await asker.press(halls[0], noted, "1")
            if number % 2 == 0:
                await mara.slash(hall, "toc")
            await asyncio.sleep(0.1)
        await fake.until(
            lambda: (
                all(_settled(hall, question) for hall, question in asked)
                and all(one.posted and _finished(one.channel.messages[one.posted[0]]) for one in commanded)
            ),
            900,
        )
        every = fake.interactions.all[began:]
        late = [one for one in every if one.acknowledged is None]
        waits = [one.took for one in every if one.acknowledged is not None]
        await program.end()
        await fake.stop()
    good = not late and _percentile(waits, 0.99) < 1.0
    print(
        f"{len(waits)} interactions acknowledged ({len(late)} not), 5 books indexing, {questions} answers: "
        f"p50 {_percentile(waits, 0.5) * 1000:.0f} ms, p99 {_percentile(waits, 0.99) * 1000:.0f} ms, "
        f"worst {max(waits) * 1000:.0f} ms (wanted: p99 under 1 s)"
    )
    return good


def _settled(channel: Channel, asked: Payload) -> list[Payload]:
    return _replies(channel, lambda message: _answers(message, asked) and _finished(message))


def _answers(message: Payload, asked: Payload) -> bool:
    return bool((message.get("message_reference") or {}).get("message_id") == asked["id"])


async def storm(folder: Path, channels: int = 50, questions: int = 500) -> bool:
    """Questions while the gateway drops, asks to reconnect, ends sessions, repeats itself, and REST says 429."""
    fake = FakeDiscord(window=1.0)
    await fake.start()
    server = fake.server()
    mara = fake.member("Mara", server, manages=True)
    halls = [fake.channel(server, f"hall {number}") for number in range(channels)]
    program = Program(fake, "", folder / "data")
    await program.start()
    await _books(fake, mara, halls, lantern_house(folder))
    dice = random.Random(2)
    asked: list[tuple[Channel, Payload]] = []
    for number in range(questions):
        hall = halls[number % channels]
        asker = fake.member(f"Reader {number}", server)
        words = dice.choice(("What did Mara keep the log in?", "Whose coat was it?", "Who is Ivo?"))
        asked.append((hall, await asker.mention(hall, f"{words} ({number})")))
        match number % 50:
            case 5 | 30:
                await fake.gateway.drop()
            case 15:
                await fake.gateway.ask_to_reconnect()
            case 25:
                await fake.gateway.invalidate()
            case 10 | 20 | 40:
                await fake.gateway.repeat_last("MESSAGE_CREATE")
            case 35:
                fake.buckets.forced.extend([(0.3, False)] * 5 + [(0.5, True)])
        await asyncio.sleep(0.05)
    await fake.until(lambda: all(_settled(hall, question) for hall, question in asked), 1_200)
    await asyncio.sleep(5)
    counts = Counter(
        message["message_reference"]["message_id"] for hall in halls for message in _replies(hall, _finished)
    )
    none = sum(counts[question["id"]] == 0 for _, question in asked)
    twice = sum(counts[question["id"]] > 1 for _, question in asked)
    disordered = 0
    for hall in halls:
        order = [int(m["message_reference"]["message_id"]) for m in _replies(hall, _finished)]
        if order != sorted(order):
            disordered += 1
            print(f"  {hall.name}: answered in the order {[sorted(order).index(one) for one in order]}")
    resumed = len([entry for entry in fake.journal.entries if entry.route == "resume"])
    anew = len([entry for entry in fake.journal.entries if entry.route == "identify"])
    limited = len([entry for entry in fake.journal.entries if entry.status == 429])
    await program.end()
    await fake.stop()
    print(
        f"{questions} questions over {channels} channels, {resumed} resumes, {anew} sessions, {limited} times 429: "
        f"{none} unanswered, {twice} twice, {disordered} channels out of order (wanted: 0, 0, 0)"
    )
    return none == twice == disordered == 0


async def shares(folder: Path, questions: int = 40) -> bool:
    """Two processes on one PostgreSQL share two shards; one is killed, the other takes its shard over."""
    fake = FakeDiscord(window=0.3)
    fake.gateway.shards = 2
    await fake.start()
    servers = [fake.server("First"), fake.server("Second")]
    while (servers[1].id >> 22) % 2 == (servers[0].id >> 22) % 2:
        await asyncio.sleep(0.002)
        servers[1] = fake.server("Second")
    halls = [fake.channel(server, "hall") for server in servers]
    people = [fake.member(server.name, server, manages=True) for server in servers]
    with running_server() as database:
        url = database.new_place()
        programs = [Program(fake, "", folder / str(number), url) for number in range(2)]
        await programs[0].start()
        for person, hall in zip(people, halls, strict=True):
            await _books(fake, person, [hall], lantern_house(folder))
        second = asyncio.create_task(programs[1].start())
        await fake.until(lambda: len(_connected(fake)) == 2 and second.done(), 120)
        asked: list[tuple[Channel, Payload]] = []
        for number in range(questions):
            if number == questions // 2:
                await programs[0].end(signal.SIGKILL)
            for server, hall in zip(servers, halls, strict=True):
                asker = fake.member(f"Reader {number}", server)
                asked.append((hall, await asker.mention(hall, f"Who is Ivo? ({number})")))
            await asyncio.sleep(0.1)
        await fake.until(lambda: all(_settled(hall, question) for hall, question in asked), 300)
        await asyncio.sleep(3)
        counts = [len(_settled(hall, question)) for hall, question in asked]
        await programs[1].end()
    await fake.stop()
    print(
        f"{len(asked)} questions, two processes, one killed: {counts.count(0)} unanswered, "
        f"{sum(count > 1 for count in counts)} twice (wanted: 0, 0)"
    )
    return set(counts) == {1}


def _connected(fake: FakeDiscord) -> set[tuple[int, int]]:
    return {session.shard for session in fake.gateway.sessions.values() if session.socket is not None}


def hostile_texts(count: int = 500) -> bool:
    """As book text (literal, letter for letter) and as model text."""
    live = literal = 0
    for text in hostile(count):
        book = (Quote((Paragraph((Text(text), Emphasis((Text(text),), strong=True), Text(text))),)),)
        shown = read(markdown(book))
        live += len(shown.live) + len(read(markdown(parse(text))).live)
        literal += visible(shown.text).strip() != visible(text * 3).strip()
    print(f"{count} hostile strings: {live} live, {literal} not letter for letter (wanted: 0, 0)")
    return live == literal == 0


async def forged(folder: Path, count: int, together: int = 12) -> bool:
    """Mutated ids in the channel, true ones in another channel: over the wire, so many under way at once."""
    fake = FakeDiscord(window=0.2, per_second=10**6)
    await fake.start()
    server = fake.server()
    mara = fake.member("Mara", server, manages=True)
    hall, other = fake.channel(server, "hall"), fake.channel(server, "other")
    program = Program(fake, "", folder / "data")
    await program.start()
    await _books(fake, mara, [hall], lantern_house(folder))
    asked = await mara.mention(hall, "What did Mara keep the log in?")
    await fake.until(lambda: _replies(hall, lambda m: _answers(m, asked) and _finished(m)), 60)
    answer = _replies(hall, lambda m: _answers(m, asked))[0]
    genuine = buttons(answer)[0]["custom_id"]
    dice = random.Random(5)
    gate = asyncio.Semaphore(together)
    found: Counter[str] = Counter()

    async def one(forgery: str, foreign: bool) -> None:
        async with gate:
            channel = other if foreign else hall
            custom_id = genuine if foreign else forgery
            rows: list[Any] = [
                {"type": 1, "components": [{"type": 2, "style": 1, "label": "1", "custom_id": custom_id}]}
            ]
            message = fake.world.message(channel, fake.world.bot, "x", components=rows)
            pressed = await mara.press_id(channel, message, custom_id)
            try:
                shown = await mara.settled(pressed)
                if pressed.answer == 6:  # acknowledged so far: the sentence is still to come
                    shown = [m for m in await mara.settled(pressed, lambda: pressed.posted) if m is not message]
            except AssertionError:
                found["too late"] += 1  # the machine was busy for three seconds: nothing was shown
                return
            text = "\n".join(m["content"] for m in shown)
            if GREEN_INK in visible(text) or "Mara" in text:
                found["passages"] += 1
                print(f"shown for {custom_id!r}")
            elif len(shown) != 1 or not visible(text).endswith("."):
                found["no sentence"] += 1
                print(f"no sentence for {custom_id!r}: {[m['content'][:200] for m in shown]}")
            for m in (*shown, message):
                channel.messages.pop(int(m["id"]), None)
            fake.interactions.all.clear()
            del fake.journal.entries[:-100]

    made = forgeries(genuine, dice, count)
    for at in range(0, count, 1_000):
        await asyncio.gather(*(one(forgery, dice.random() < 0.1) for forgery in made[at : at + 1_000]))
    await program.end()
    await fake.stop()
    print(
        f"{count:,} mutated or foreign ids over the wire: {found['passages']} passages, "
        f"{found['no sentence']} without one clear sentence, {found['too late']} not acknowledged in time (wanted: 0, 0, 0)"
    )
    return not found


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("which", nargs="*", default=[])
    arguments.add_argument("--values", type=int, default=100_000)
    given = arguments.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        for at, one in enumerate(given.which or ["hostile", "acks", "storm", "shares", "forged"]):
            folder = Path(name) / str(at)
            folder.mkdir()
            match one:
                case "acks":
                    good &= asyncio.run(acks(folder))
                case "storm":
                    good &= asyncio.run(storm(folder))
                case "shares":
                    good &= asyncio.run(shares(folder))
                case "hostile":
                    good &= hostile_texts()
                case "forged":
                    good &= asyncio.run(forged(folder, given.values))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
