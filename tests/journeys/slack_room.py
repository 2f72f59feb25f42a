"""A Slack channel with the bot in it: `loccit run` in a process of its own against a workspace on the loopback."""

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

from tests import programs
from tests.fakes.slack import APP_TOKEN, BOT, Driver, FakeSlack, Message, buttons, shown
from tests.fakes.slack import label as label_of
from tests.fakes.slack.world import block_text
from tests.journeys.room import PATIENCE, Capability, Room

CHANNEL, OWNER, SECOND = "C0CLUB", "U0ANA", "U0BEN"
QUIET = 0.3
"""Seconds without a change after which everything is taken to be said."""
_STEPS = {"<": "‹ Before", ">": "After ›"}


class _Bot:
    """The program and its workspace; shared by the members of one room."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.fake = FakeSlack(rates_enforced=False)  # the tiers have tests of their own; a journey would take minutes
        self._settings = settings
        self.people = Driver(self.fake)
        self._folder = folder
        self._process: programs.Program | None = None
        self._entered = False
        self.log: list[tuple[str | None, str]] = []
        """(for whom, text) as it was shown, oldest first."""
        self._told: dict[int, int] = {}

    async def running(self) -> None:
        if not self._entered:
            await self.fake.__aenter__()
            self._entered = True
            for user in (OWNER, SECOND):
                self.fake.world.user(user)
            self.fake.world.channel(CHANNEL, creator=OWNER).members |= {BOT, OWNER, SECOND}
        if self._process is None:
            settings = {
                "SLACK_BOT_TOKEN": self.fake.tokens.bot,
                "SLACK_APP_TOKEN": APP_TOKEN,
                "SLACK_API_BASE": self.fake.api,
                "SLACK_SOCKETS": "1",
                "LOCCIT_WEB_PORT": "0",
                "LC_ALL": "C.UTF-8",
                **self._settings,
            }
            words = ("run", "--data", self._folder / "data")
            self._process = await programs.start(
                programs.LOCCIT, *words, folder=self._folder, environment=os.environ | settings
            )
            await self.fake.sockets.connected(patience=PATIENCE)

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
            await self.fake.__aexit__(None, None, None)

    async def quiet(self, seconds: float = QUIET) -> None:
        """Wait until nothing changes any more and no progress line stands last."""
        end = time.monotonic() + PATIENCE
        while await self.fake.news(seconds) or self._busy():
            assert time.monotonic() < end, "the bot never came to an end"

    def _busy(self) -> bool:
        if self._owing():
            return True
        standing = self.fake.world.of_bot(CHANNEL)
        status = any(self.fake.world.status.values())
        return status or any(message.streaming or shown(message).endswith("…") for message in standing[-1:])

    def _owing(self) -> bool:
        """Whether an event is still being dealt with, or a letter is due: what is on record as not done."""
        with sqlite3.connect(f"file:{self._folder}/data/loccit.db?mode=ro", uri=True) as database:
            [(events,)] = database.execute("select count(*) from event where done_at is null")
            now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
            [(letters,)] = database.execute("select count(*) from letter where done_at is null and due <= ?", (now,))
        return bool(events or letters)

    def heard(self, user: str) -> list[str]:
        """What has been shown since this was last asked, in order, each message as it reads now."""
        news = []
        for view in self.fake.world.views.values():
            if view.user == user and not view.closed and self._told.get(id(view)) != len(str(view.body)):
                self._told[id(view)] = len(str(view.body))
                text = "\n".join(block_text(block) for block in view.body["blocks"])
                news.append(text)
                self.log.append((user, text))
        for message in self.fake.world.of_bot(CHANNEL):
            seen = self._told.get(id(message), 0)
            if len(message.history) > seen:
                self._told[id(message)] = len(message.history)
                if message.for_user in (None, user):
                    news.append(message.history[-1])
                    self.log.append((message.for_user, message.history[-1]))
        return news


class SlackRoom:
    """One member of the channel."""

    capabilities: frozenset[Capability] = frozenset({"second member", "buttons only", "buttons", "sees files"})

    def __init__(
        self, folder: Path, settings: Mapping[str, str] | None = None, *, bot: _Bot | None = None, user: str = OWNER
    ) -> None:
        self._bot = bot or _Bot(folder, settings or {})
        self._user = user
        self._passage: Message | None = None

    async def upload(self, file: Path) -> str:
        await self._bot.running()
        self._bot.heard(self._user)
        self._bot.people.upload(CHANNEL, self._user, file.name, await asyncio.to_thread(file.read_bytes))
        return await self._said()

    async def drop(self, file: Path) -> str:
        """Send a file to nobody in particular."""
        await self._bot.running()
        self._bot.heard(self._user)
        self._bot.people.upload(CHANNEL, self._user, file.name, await asyncio.to_thread(file.read_bytes), "")
        return await self._said()

    async def ask(self, words: str) -> str:
        await self._bot.running()
        self._bot.heard(self._user)
        self._bot.people.mention(CHANNEL, self._user, words)
        return await self._said()

    async def command(self, name: str, words: str = "") -> str:
        await self._bot.running()
        self._bot.heard(self._user)
        typed = f"ask without {words}" if name == "without" else f"{name} {words}".strip()
        envelope = self._bot.people.slash(CHANNEL, self._user, typed)
        await self._bot.fake.sockets.acked(envelope, PATIENCE)
        return await self._said()

    async def press(self, label: str) -> str:
        await self._bot.running()
        self._bot.heard(self._user)
        if label in _STEPS:
            return await self._step(_STEPS[label])
        warned = self._passage is not None and self._warned(self._passage)
        if warned and self._passage is not None:  # the way on stands in the warning
            self._bot.people.press(self._passage, "Show it anyway", self._user)
        else:
            self._bot.people.press(self._latest_answer(), label, self._user)
        said = await self._said()
        mine = [message for message in self._bot.fake.world.of_bot(CHANNEL) if message.for_user == self._user]
        self._passage = mine[-1] if mine else None
        return said

    async def _step(self, name: str) -> str:
        """The passage grown by a step; what is new in it."""
        assert self._passage is not None, "no passage stands open"
        before = set(shown(self._passage).splitlines())
        self._bot.people.press(self._passage, name, self._user)
        await self._said()
        return "\n".join(line for line in shown(self._passage).splitlines() if line not in before)

    def _warned(self, message: Message) -> bool:
        return not message.deleted and any(label_of(button) == "Show it anyway" for button in buttons(message))

    def _latest_answer(self) -> Message:
        """The last message with a footnote's button."""
        for message in reversed(self._bot.fake.world.of_bot(CHANNEL)):
            if any(label_of(button)[:1].isdecimal() for button in buttons(message)):
                return message
        raise AssertionError("no answer with footnotes stands here")

    async def _said(self) -> str:
        """Wait for the first word, then until all is said."""
        end = time.monotonic() + PATIENCE
        said: list[str] = []
        while not said:
            assert time.monotonic() < end, "the bot says nothing"
            await self._bot.quiet()
            said = self._bot.heard(self._user)
        return "\n".join(said)

    async def choose(self, label: str, *, quietly: bool = False) -> str:
        """Press the newest button that begins so, in what this member sees; `quietly`: nothing is said to it."""
        await self._bot.running()
        self._bot.heard(self._user)
        for message in reversed(self._mine()):
            if any(label_of(button).startswith(label) for button in buttons(message)):
                self._bot.people.press(message, label, self._user)
                if not quietly:
                    return await self._said()
                await self._bot.quiet()
                return "\n".join(self._bot.heard(self._user))
        raise AssertionError(f"no button {label!r} among {self.buttons()}")

    async def write(self, label: str, words: str) -> str:
        """Press a button that brings a form, and send that with these words."""
        await self.choose(label)
        views = self._bot.fake.world.views.values()
        form = [view for view in views if view.kind == "modal" and view.user == self._user and not view.closed][-1]
        self._bot.people.write(form, self._user, words)
        return await self._said()

    def buttons(self) -> list[str]:
        """The labels this member sees, oldest message first."""
        return [label_of(button) for message in self._mine() for button in buttons(message)]

    async def put(self, words: str) -> None:
        """Ask and do not wait."""
        self._bot.people.mention(CHANNEL, self._user, words)

    def speak(self, language: str) -> None:
        """This member's client speaks another language from now on (what Slack said before is taken to hold a while)."""
        self._bot.fake.world.user(self._user).locale = language

    async def said(self, words: str) -> str:
        """Wait for a text that comes unasked."""
        end = time.monotonic() + PATIENCE
        while not any(words in shown(message) for message in self._mine()):
            assert time.monotonic() < end, f"nobody said {words!r}"
            await self._bot.fake.news(0.5)
        await self._bot.quiet()
        return "\n".join(self._bot.heard(self._user))

    async def standing(self) -> list[str]:
        """What everybody sees now, oldest first, with the status lines under threads."""
        messages = [shown(message) for message in self._bot.fake.world.of_bot(CHANNEL) if message.for_user is None]
        return messages + list(self._bot.fake.world.status.values())

    async def waits(self) -> None:
        """Wait until it is said that an answer is being made."""
        end = time.monotonic() + PATIENCE
        while not any("looking" in status for status in self._bot.fake.world.status.values()):
            assert time.monotonic() < end, "the bot does not say that it looks"
            await self._bot.fake.news(0.1)

    def replied_to(self, words: str) -> str:
        """The message whose thread holds the latest one with these words."""
        found = [message for message in self._bot.fake.world.of_bot(CHANNEL) if words in shown(message)]
        return self._bot.fake.world.messages[CHANNEL, found[-1].root].text

    def _mine(self) -> list[Message]:
        return [m for m in self._bot.fake.world.of_bot(CHANNEL) if m.for_user in (None, self._user)]

    async def restart(self, *, kill: bool = False) -> str:
        await self._bot.stop(kill=kill)
        await self._bot.running()
        await self._bot.quiet()
        return "\n".join(self._bot.heard(self._user))

    async def second_member(self) -> Room:
        return SlackRoom(Path(), bot=self._bot, user=SECOND)

    def seen(self) -> list[str]:
        self._bot.heard(self._user)
        return [text for whom, text in self._bot.log if whom in (None, self._user)]

    async def close(self) -> None:
        await self._bot.close()
