"""A club on a pretended Discord, in one process: the adapter as `loccit run` starts it, and people who use it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from adapters.discord import app
from adapters.discord.app import Settings
from adapters.host import Host
from core.model import ChatModel, Notice
from core.strings import tell
from tests.adapters.discord_markdown import read, visible
from tests.books.lantern_epub import lantern_house
from tests.clubs import Clock, TestClub, held, open_club
from tests.fakes.discord import Channel, FakeDiscord, Invocation, Member, Payload, Server
from tests.fakes.discord import discord as pretended

_ids = count(time.time_ns())


@dataclass
class Site:
    """One Discord with a server, a channel, the bot, and Mara, who manages the channel."""

    fake: FakeDiscord
    server: Server
    channel: Channel
    mara: Member
    ivo: Member
    folder: Path
    model: ChatModel | None = None
    told: list[str] = field(default_factory=list)
    club: TestClub | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[TestClub]:
        """The bot on this folder; leaving and entering again is a restart."""
        async with open_club(self.folder, self.model, clock=Clock(datetime.now(UTC))) as club:
            self.club = club
            task = asyncio.create_task(app.serve(club.club, self.settings, self.host()))
            try:
                up = asyncio.create_task(self._up(len(self.told)))
                await asyncio.wait({up, task}, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    task.result()
                await up
                yield club
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                self.club = None

    async def _up(self, before: int) -> None:
        await self.fake.until(lambda: any("is up" in said for said in self.told[before:]))

    @property
    def settings(self) -> Settings:
        return Settings(self.fake.token, self.fake.api, self.fake.gateway_url, ready=0.05)

    def host(self) -> Host:
        """The process as the adapter sees it; long waits are shortened."""
        folder = self.folder / "arriving"
        folder.mkdir(exist_ok=True)

        def hear(notice: Notice) -> None:
            self.told.append(tell(notice, "en"))

        return Host(
            folder=folder,
            locale="en",
            now=lambda: datetime.now(UTC),
            clock=time.monotonic,
            sleep=lambda seconds: asyncio.sleep(seconds if seconds < 10 else seconds / 30),
            new_id=lambda: f"x{next(_ids)}",
            source="",
            tell=hear,
        )

    def held(self) -> AbstractAsyncContextManager[None]:
        """Nothing can be written meanwhile."""
        return held(self.folder)

    async def shelve(self) -> Payload:
        """Mara brings *The Lantern House*; its ready card."""
        book = await asyncio.to_thread(lambda: lantern_house(self.folder).read_bytes())
        sent = await self.mara.mention(self.channel, "", files=[("lantern-house.epub", book)])
        return await self.answer_to(sent, lambda text: "Ready" in text or "already" in text)

    async def answer_to(self, asked: Payload, when: object = None) -> Payload:
        """The bot's finished reply to a message: one without the Stop button."""

        def found() -> Payload | None:
            for message in self.channel_of(asked).messages.values():
                reference = message.get("message_reference") or {}
                if reference.get("message_id") == asked["id"] and message["author"]["bot"]:
                    stops = any(item["custom_id"].startswith("stop:") for item in items(message))
                    if not stops and (when is None or when(text_of(message))):  # type: ignore[operator]
                        return message
            return None

        answer = await self.fake.until(found)
        assert isinstance(answer, dict)
        return answer

    def channel_of(self, message: Payload) -> Channel:
        return self.fake.world.channels[int(message["channel_id"])]

    async def ask(self, words: str, *, by: Member | None = None) -> Payload:
        return await self.answer_to(await (by or self.mara).mention(self.channel, words))

    async def opened(self, answer: Payload, label: str, *, by: Member | None = None) -> list[Payload]:
        """The messages a press brings."""
        member = by or self.mara
        return await member.settled(await member.press(self.channel_of(answer), answer, label))

    async def command(self, name: str, *, by: Member | None = None, **options: object) -> str:
        member = by or self.mara
        return said(await member.settled(await member.slash(self.channel, name, options)))

    def acknowledged(self) -> list[Invocation]:
        return [one for one in self.fake.interactions.all if one.acknowledged is not None]


def items(message: Payload) -> list[Payload]:
    return [item for row in message["components"] for item in row["components"]]


def text_of(message: Payload) -> str:
    """What a client shows of a message, without what nobody sees."""
    return visible(read(message["content"]).text)


def said(messages: list[Payload]) -> str:
    return "\n\n".join(text_of(message) for message in messages)


@asynccontextmanager
async def discord_site(folder: Path, model: ChatModel | None = None, *, window: float = 0.3) -> AsyncIterator[Site]:
    async with pretended(window=window, per_second=500) as fake:
        server = fake.server()
        mara = fake.member("Mara", server, manages=True)
        yield Site(fake, server, fake.channel(server), mara, fake.member("Ivo", server), folder, model)
