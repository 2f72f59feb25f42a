"""A Telegram group with the bot in it: the whole program in a process of its own against a Bot API on the loopback."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests import programs
from tests.fakes.telegram import BOT, FakeTelegram, JsonObject, Person
from tests.journeys.room import PATIENCE, Capability, Room

QUIET = 0.25
"""Seconds without a request after which everything is taken to be said."""
_STEPS = {"<": "‹ Before", ">": "After ›"}
_JOINER = "\u2060"


class _Bot:
    """The program and its Telegram; shared by the members of one room."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.fake = FakeTelegram()
        self.fake.server.flood.per_group = None  # the pace has tests of its own; a journey would take minutes
        self.owner, self.second = self.fake.person("Ana"), self.fake.person("Ben")
        self.chat = self.fake.group("The club", self.owner, self.second)
        self._folder = folder
        self._settings = settings
        self._process: programs.Program | None = None
        self._entered = False
        self.log: list[tuple[int | None, str]] = []
        """(for whom, text) as it was shown, oldest first."""
        self._told: dict[tuple[bool, int], str] = {}

    async def running(self) -> None:
        if not self._entered:
            await self.fake.server.start()
            self._entered = True
        if self._process is None:
            settings = {
                **self.fake.server.settings(),
                "LOCCIT_DATA": str(self._folder / "data"),
                "LOCCIT_WEB_PORT": "0",
                "LC_ALL": "C.UTF-8",
                **self._settings,
            }
            polls = self.fake.server.polls
            self._process = await programs.start(
                "tests.adapters.quick_telegram",
                folder=self._folder,
                environment=os.environ | settings,
                stderr=asyncio.subprocess.DEVNULL,
            )
            await self.fake.until(lambda: self.fake.server.polls > polls, patience=PATIENCE)

    async def stop(self, *, kill: bool) -> None:
        process = self._process
        if process is None:
            return
        self._process = None
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        code = await asyncio.wait_for(process.wait(), PATIENCE)
        assert kill or code == 0, f"SIGTERM ended the bot with {code}"

    async def close(self) -> None:
        await self.stop(kill=False)
        if self._entered:
            await self.fake.server.stop()
            assert not self.fake.server.problems, self.fake.server.problems

    @property
    def data(self) -> Path:
        return self._folder / "data"

    async def quiet(self) -> None:
        """Wait until everything was heard, nothing is sent any more and no progress line stands last."""
        server = self.fake.server
        before = -1
        async with asyncio.timeout(PATIENCE):
            while before != len(server.calls()) or server.updates or self._busy():
                before = len(server.calls())
                await asyncio.sleep(QUIET)

    def _busy(self) -> bool:
        """Whether an event is still being dealt with: what is on record as not done."""
        with sqlite3.connect(f"file:{self._folder}/data/loccit.db?mode=ro", uri=True) as database:
            [(count,)] = database.execute("select count(*) from event where done_at is null")
        return bool(count)

    def heard(self, person: Person) -> list[str]:
        """What has been shown since this was last asked, each message as it reads now."""
        news = []
        whispered = [(receiver, message) for receiver, message in self.chat.whispers.values()]
        public: list[tuple[int | None, JsonObject]] = [(None, message) for message in self.fake.ours(self.chat)]
        for whom, message in [*public, *whispered]:
            key = (whom is not None, message["message_id"] or message["ephemeral_message_id"])
            text = (message.get("text") or message.get("caption", "")).replace(_JOINER, "")
            if self._told.get(key) != text:
                self._told[key] = text
                self.log.append((whom, text))
                if whom in (None, person.id):
                    news.append(text)
        return news


class TelegramRoom:
    """One member of the group; the first one manages it."""

    capabilities: frozenset[Capability] = frozenset(
        {"closes from outside", "second member", "buttons only", "buttons", "sees files"}
    )

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None, *, bot: _Bot | None = None) -> None:
        self._bot = bot or _Bot(folder, settings or {})
        self.me = self._bot.second if bot else self._bot.owner

    async def upload(self, file: Path) -> str:
        await self._bot.running()
        self._bot.heard(self.me)
        sent = self._fake.upload(self.me, self._bot.chat, file, caption="@loccit_bot")
        return await self._answered(sent)

    async def drop(self, file: Path) -> str:
        """Send a file to nobody in particular."""
        await self._bot.running()
        self._bot.heard(self.me)
        return await self._answered(self._fake.upload(self.me, self._bot.chat, file))

    async def ask(self, words: str) -> str:
        await self._bot.running()
        self._bot.heard(self.me)
        return await self._answered(self._fake.mention(self.me, self._bot.chat, words))

    async def put(self, words: str) -> None:
        """Ask and do not wait."""
        self._fake.mention(self.me, self._bot.chat, words)

    def speak(self, language: str) -> None:
        """This member's client speaks another language from now on."""
        self.me = replace(self.me, language=language)
        self._fake.world.people[self.me.id] = self.me

    async def command(self, name: str, words: str = "") -> str:
        await self._bot.running()
        self._bot.heard(self.me)
        said = await self._answered(self._fake.say(self.me, self._bot.chat, f"/{name} {words}".strip()))
        if "for your eyes only" in said:  # only a press can be answered to one alone
            return await self._pressed("Show the draft" if "drafted" in said else "Show it to me", None)
        return said

    async def press(self, label: str) -> str:
        await self._bot.running()
        self._bot.heard(self.me)
        if label in _STEPS:
            return await self._step(_STEPS[label])
        if "Show it anyway" in self._fake.buttons(self.me, self._bot.chat):
            return await self._pressed("Show it anyway", None)
        return await self._pressed(f"{label} ·", self._latest_answer())

    async def choose(self, label: str) -> str:
        """Press the newest button that a label begins with."""
        await self._bot.running()
        self._bot.heard(self.me)
        return await self._pressed(label, None)

    async def restart(self, *, kill: bool = False) -> str:
        await self._bot.stop(kill=kill)
        self._bot.heard(self.me)
        await self._bot.running()
        await self._bot.quiet()
        return "\n".join(self._bot.heard(self.me))

    async def second_member(self) -> Room:
        return TelegramRoom(Path(), bot=self._bot)

    def seen(self) -> list[str]:
        self._bot.heard(self.me)
        return [text for whom, text in self._bot.log if whom in (None, self.me.id)]

    def buttons(self) -> list[str]:
        """The labels this member sees, oldest message first."""
        return self._fake.buttons(self.me, self._bot.chat)

    async def said(self, words: str) -> str:
        """Wait for a text that comes unasked."""
        await self._fake.said(self._bot.chat, words, self.me)
        await self._bot.quiet()
        return "\n".join(self._bot.heard(self.me))

    async def standing(self) -> list[str]:
        """What everybody sees now, oldest first."""
        return [text.replace(_JOINER, "") for text in self._fake.texts(self._bot.chat)]

    async def waits(self) -> None:
        """Wait until it is said that an answer is being made."""
        waiting = await self._fake.said(self._bot.chat, "Looking")
        while not self._on_record(waiting["message_id"]):  # noqa: ASYNC110  # another process writes it down
            await asyncio.sleep(0.02)

    def _on_record(self, message: int) -> bool:
        """Whether the bot knows which message it sent: a crash before that is the one that may leave it standing."""
        with sqlite3.connect(f"file:{self._bot.data}/loccit.db?mode=ro", uri=True) as database:
            return bool(database.execute("select 1 from delivery where message = ?", (str(message),)).fetchall())

    def replied_to(self, words: str) -> str:
        """The message that the latest one with these words replies to."""
        found = [message for message in self._fake.ours(self._bot.chat) if words in message.get("text", "")]
        return str(found[-1]["reply_to_message"]["text"])

    async def close(self) -> None:
        await self._bot.close()

    @property
    def _fake(self) -> FakeTelegram:
        return self._bot.fake

    async def _answered(self, sent: JsonObject) -> str:
        def replied() -> bool:
            return any(
                message.get("reply_to_message", {}).get("message_id") == sent["message_id"]
                for message in self._bot.chat.messages.values()
                if message["from"]["id"] == BOT
            )

        await self._fake.until(replied, patience=PATIENCE)
        await self._bot.quiet()
        return "\n".join(self._bot.heard(self.me))

    async def _pressed(self, label: str, message: JsonObject | None) -> str:
        """Press and wait for what comes of it: a pop-up, or a message that is sent, changed or taken away."""
        before = self._done()
        said = await self._fake.answered(self._fake.press(self.me, self._bot.chat, label, message))
        if said:
            self._bot.log.append((self.me.id, said))
        else:
            await self._fake.until(lambda: self._done() > before, patience=PATIENCE)
        await self._bot.quiet()
        return "\n".join([*([said] if said else []), *self._bot.heard(self.me)])

    def _done(self) -> int:
        calls = self._fake.server.journal
        return sum(entry.ok and entry.method.startswith(("send", "edit", "delete")) for entry in calls) - sum(
            entry.method == "sendChatAction" for entry in calls
        )

    async def _step(self, name: str) -> str:
        """The passage grown by a step; what is new in it."""
        before = {line for text in self._fake.texts(self._bot.chat, self.me) for line in text.splitlines()}
        await self._pressed(name, None)
        after = self._fake.texts(self._bot.chat, self.me)[-1].splitlines()
        return "\n".join(line for line in after if line not in before)

    def _latest_answer(self) -> JsonObject:
        """The last message with a footnote's button: one that all see, else one for this member alone."""
        public = self._fake.ours(self._bot.chat)
        mine = self._fake.ours(self._bot.chat, self.me)[len(public) :]
        for message in [*reversed(public), *reversed(mine)]:
            if any(label[:1].isdecimal() for label in _labels(message)):
                return message
        raise AssertionError("no answer with footnotes stands here")


def _labels(message: JsonObject) -> list[str]:
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    return [button["text"] for row in rows for button in row]
