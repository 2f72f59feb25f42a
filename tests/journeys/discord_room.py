"""A Discord channel with the bot in it: `loccit run` in a process of its own against a Discord on the loopback."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from adapters.discord.connection import spell
from tests import programs
from tests.adapters.discord_markdown import read, visible
from tests.fakes.discord import Channel, FakeDiscord, Member, Payload, labels
from tests.journeys.room import PATIENCE, Capability, Room

_STEPS = {"<": "‹ Before", ">": "After ›"}
_OPTIONS = {"toc": "book", "use": "book", "remove": "book", "quote": "words", "forget": "what", "model": "name"}
_REACHING = ("progress", "place")


class _Bot:
    """The program and its Discord; shared by the members of one room."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self.fake = FakeDiscord(window=0.3, per_second=500)
        self.server = self.fake.server()
        self.channel: Channel = self.fake.channel(self.server)
        self._folder = folder
        self._process: programs.Program | None = None
        self._entered = False
        self.log: list[tuple[str | None, str]] = []
        """(for whom, text) as it was shown, oldest first."""
        self._told: dict[int, str] = {}

    async def running(self) -> None:
        if not self._entered:
            await self.fake.start()
            self._entered = True
        if self._process is None:
            settings = {
                "DISCORD_TOKEN": self.fake.token,
                "DISCORD_API_BASE": self.fake.api,
                "DISCORD_GATEWAY": self.fake.gateway_url,
                "LOCCIT_WEB_PORT": "0",
                "LC_ALL": "C.UTF-8",
                **self._settings,
            }
            words = ("run", "--data", self._folder / "data")
            self._process = await programs.start(
                programs.LOCCIT,
                *words,
                folder=self._folder,
                environment=os.environ | settings,
                stderr=asyncio.subprocess.PIPE,
            )
            await asyncio.wait_for(self._up(self._process), PATIENCE)

    async def _up(self, process: programs.Program) -> None:
        assert process.stderr is not None
        while line := await process.stderr.readline():
            if b"Discord is up" in line:
                return
        raise AssertionError(f"the bot ended with {await process.wait()}")

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
            await self.fake.stop()

    def heard(self, member: Member) -> list[str]:
        """What has been shown since this was last asked, each message as it reads now."""
        news = []
        for id, message in sorted(self.channel.messages.items()):
            if message["author"]["bot"] and self._told.get(id) != message["content"]:
                self._told[id] = message["content"]
                whom = message.get("ephemeral_for")
                text = visible(read(message["content"]).text)
                self.log.append((whom, text))
                if whom in (None, str(member.id)):
                    news.append(text)
        return news


class DiscordRoom:
    """One member of the channel; the first one manages it."""

    capabilities: frozenset[Capability] = frozenset(
        {"closes from outside", "second member", "buttons only", "buttons", "sees files"}
    )

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None, bot: _Bot | None = None) -> None:
        self._bot = bot or _Bot(folder, settings or {})
        self._me = self._bot.fake.member("Ben" if bot else "Ana", self._bot.server, manages=bot is None)
        self._passage: Payload | None = None
        self._label = ""

    @property
    def _channel(self) -> Channel:
        return self._bot.channel

    async def upload(self, file: Path) -> str:
        await self._bot.running()
        data = await asyncio.to_thread(file.read_bytes)
        return await self._answered(await self._me.mention(self._channel, "", files=[(file.name, data)]))

    async def drop(self, file: Path) -> str:
        """Send a file to nobody in particular; the first thing of a journey, as the bot has to be let see it."""
        self._bot.fake.grant_message_content()
        await self._bot.running()
        data = await asyncio.to_thread(file.read_bytes)
        return await self._answered(await self._me.say(self._channel, "", files=[(file.name, data)]))

    async def ask(self, words: str) -> str:
        await self._bot.running()
        return await self._answered(await self._me.mention(self._channel, words))

    async def _answered(self, asked: Payload) -> str:
        self._bot.heard(self._me)

        def settled() -> bool:
            for message in self._me.answers(self._channel):
                if (message.get("message_reference") or {}).get("message_id") == asked["id"]:
                    return not _under_way(message)
            return False

        await self._bot.fake.until(settled, PATIENCE)
        return "\n".join(self._bot.heard(self._me))

    async def command(self, name: str, words: str = "") -> str:
        await self._bot.running()
        self._bot.heard(self._me)
        option = "how_far" if name in _REACHING else _OPTIONS.get(name, "words")
        used = await self._me.slash(self._channel, spell(name).removeprefix("/"), {option: words} if words else {})
        await self._me.settled(used)
        return "\n".join(self._bot.heard(self._me))

    async def press(self, label: str) -> str:
        await self._bot.running()
        self._bot.heard(self._me)
        if label in _STEPS:
            return await self._step(_STEPS[label])
        if self._stands() and self._passage is not None and "Show it anyway" in labels(self._passage):
            await self._me.press(self._channel, self._passage, "Show it anyway")
            await self._bot.fake.until(lambda: self._bot.heard(self._me), PATIENCE)
            return self._bot.log[-1][1]
        closing = self._stands() and self._label == label
        pressed = await self._me.press(self._channel, self._latest_answer(), label)
        await self._bot.fake.until(lambda: pressed.answer is not None, PATIENCE)
        if closing:
            await self._bot.fake.until(lambda: not self._stands(), PATIENCE)
            self._passage = None
            return ""
        shown = await self._me.settled(pressed)
        # What can be closed is a passage; a sentence that says why there is none just stands.
        self._passage, self._label = (shown[-1], label) if "Close" in labels(shown[-1]) else (None, "")
        return "\n".join(self._bot.heard(self._me))

    def _stands(self) -> bool:
        """True while the passage this member opened is there."""
        return self._passage is not None and int(self._passage["id"]) in self._channel.messages

    async def _step(self, name: str) -> str:
        """The passage grown by a step; what is new in it."""
        assert self._passage is not None, "no passage stands open"
        before = set(visible(read(self._passage["content"]).text).splitlines())
        await self._me.press(self._channel, self._passage, name)
        await self._bot.fake.until(lambda: self._bot.heard(self._me), PATIENCE)
        after = visible(read(self._passage["content"]).text).splitlines()
        return "\n".join(line for line in after if line not in before)

    def _latest_answer(self) -> Payload:
        """The last message with a footnote's button."""
        for message in reversed(self._me.answers(self._channel)):
            if any(label[:1].isdecimal() for label in labels(message)):
                return message
        raise AssertionError("no answer with footnotes stands here")

    async def restart(self, *, kill: bool = False) -> str:
        await self._bot.stop(kill=kill)
        self._bot.heard(self._me)
        await self._bot.running()
        self._passage = None
        return "\n".join(self._bot.heard(self._me))

    async def second_member(self) -> Room:
        return DiscordRoom(Path(), None, self._bot)

    async def choose(self, label: str, *, quietly: bool = False) -> str:
        """Press the newest button that begins so, in what this member sees; `quietly`: nothing is said to it."""
        await self._bot.running()
        self._bot.heard(self._me)
        for message in reversed(self._me.answers(self._channel)):
            if any(shown.startswith(label) for shown in labels(message)):
                pressed = await self._me.press(self._channel, message, label)
                await self._me.settled(pressed)
                return "" if quietly else await self._quiet()
        raise AssertionError(f"no button {label!r} among {self.buttons()}")

    async def write(self, label: str, words: str) -> str:
        """Press a button that brings a form, and send that with these words."""
        await self._bot.running()
        message = next(m for m in reversed(self._me.answers(self._channel)) if label in labels(m))
        pressed = await self._me.press(self._channel, message, label)
        await self._bot.fake.until(lambda: pressed.modal, PATIENCE)
        assert pressed.modal is not None
        [row] = pressed.modal["components"]
        self._bot.heard(self._me)
        await self._me.settled(await self._me.submit(pressed, {row["label"]: words}))
        return await self._quiet()

    async def _quiet(self) -> str:
        """What is said until nothing is under way any more."""
        said: list[str] = []

        def settled() -> bool:
            said.extend(self._bot.heard(self._me))
            shown = self._me.answers(self._channel)
            return bool(said) and not any(map(_under_way, shown))

        await self._bot.fake.until(settled, PATIENCE)
        return "\n".join(said)

    def buttons(self) -> list[str]:
        """The labels this member sees, oldest message first."""
        return [label for message in self._me.answers(self._channel) for label in labels(message)]

    async def put(self, words: str) -> None:
        """Ask and do not wait."""
        await self._me.mention(self._channel, words)

    def speak(self, language: str) -> None:
        """This member's client speaks another language from now on; the bot hears of it with the next command."""
        self._me.person.locale = {"es": "es-ES", "pt": "pt-BR"}.get(language, "en-US")

    async def said(self, words: str) -> str:
        """Wait for a text that comes unasked."""
        await self._bot.fake.until(
            lambda: any(words in visible(read(m["content"]).text) for m in self._me.answers(self._channel)), PATIENCE
        )
        await self._bot.fake.until(lambda: not any(map(_under_way, self._me.answers(self._channel))), PATIENCE)
        self._bot.heard(self._me)
        return next(text for text in reversed(self.seen()) if words in text)

    async def standing(self) -> list[str]:
        """What everybody sees now, oldest first."""
        messages = self._me.answers(self._channel)
        return [visible(read(m["content"]).text) for m in messages if not m.get("ephemeral_for")]

    async def waits(self) -> None:
        """Wait until it is said that an answer is being made."""
        await self._bot.fake.until(
            lambda: any("Looking" in message["content"] for message in self._me.answers(self._channel)), PATIENCE
        )

    def replied_to(self, words: str) -> str:
        """The message that the latest one with these words replies to."""
        found = [m for m in self._me.answers(self._channel) if words in visible(read(m["content"]).text)]
        return str(self._channel.messages[int(found[-1]["message_reference"]["message_id"])]["content"])

    def seen(self) -> list[str]:
        self._bot.heard(self._me)
        return [text for whom, text in self._bot.log if whom in (None, str(self._me.id))]

    async def close(self) -> None:
        await self._bot.close()


def _under_way(message: Payload) -> bool:
    """True while the message still tells how far something is."""
    return "Stop" in labels(message) or message["content"].endswith(("…", "fetching it."))
