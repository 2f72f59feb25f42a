"""A club served in a workspace on the loopback, in one process: for tests of the Slack adapter."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from adapters.host import Host
from adapters.slack.app import Settings, serve
from core.model import ChatModel, Conversation, Notice, ParsedBook
from tests.clubs import TestClub, open_club
from tests.fakes.slack import APP_TOKEN, BOT, Driver, FakeSlack, Message, shown

CLUB, ANA, BEN = "C0CLUB", "U0ANA", "U0BEN"
HERE = Conversation("slack", CLUB)
PATIENCE = 20.0


@dataclass
class Workspace:
    """The fake, the people and the club behind it."""

    fake: FakeSlack
    people: Driver
    club: TestClub
    task: "asyncio.Task[None]"
    told: list[Notice] = field(default_factory=list)

    async def until_said(self, words: str, channel: str = CLUB) -> Message:
        """The bot's message that holds these words, once there is one."""
        return await self.until(lambda message: words in shown(message) and not message.streaming, channel, words)

    async def until(self, fits: object, channel: str = CLUB, what: str = "") -> Message:
        assert callable(fits)
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    self.raise_early()
                    for message in reversed(self.fake.world.of_bot(channel)):
                        if fits(message):
                            return message
                    await self.fake.news(1.0)
        except TimeoutError:
            said = "\n---\n".join(shown(message) for message in self.fake.world.of_bot(channel))
            raise AssertionError(f"nobody said {what!r}; said was:\n{said}") from None

    async def up(self) -> None:
        """Wait until the adapter says that it is connected."""
        async with asyncio.timeout(PATIENCE):
            while not any(notice.key == "run_up" for notice in self.told):
                self.raise_early()
                await asyncio.wait({self.task}, timeout=0.02)

    async def settled(self, *, quiet: float = 0.3) -> None:
        """Wait until everything was heard and dealt with, and nothing has changed for a while."""
        async with asyncio.timeout(PATIENCE):
            while await self.fake.news(quiet) or await self._busy():
                self.raise_early()

    async def _busy(self) -> bool:
        unheard = any(not envelope.attempts for envelope in self.fake.sockets.envelopes)
        return unheard or bool(await self.club.club.post.unfinished("slack"))

    def raise_early(self) -> None:
        if self.task.done():
            self.task.result()

    async def ask(self, words: str, *, thread: str | None = None, user: str = ANA) -> Message:
        """Mention the bot with a question; its answer's last part."""
        before = {message.ts for message in self.fake.world.of_bot(CLUB)}
        done = self.people.mention(CLUB, user, words, thread=thread)
        root = done.message.root
        await self.until(
            lambda message: message.ts not in before and message.root == root and message.blocks, what="an answer"
        )
        await self.settled()
        return self.fake.world.thread(CLUB, root)[-1]


@asynccontextmanager
async def served(
    folder: Path,
    model: ChatModel | None = None,
    *,
    book: ParsedBook | None = None,
    fake: FakeSlack | None = None,
    settings: Settings | None = None,
) -> AsyncIterator[Workspace]:
    """A running adapter. With a `fake` of the test's own, that one goes on after a restart."""
    if fake is None:
        async with FakeSlack() as own, served(folder, model, book=book, fake=own, settings=settings) as there:
            yield there
        return
    for user in (ANA, BEN):
        fake.world.user(user)
    fake.world.channel(CLUB, creator=ANA).members |= {BOT, ANA, BEN}
    async with open_club(folder / "data", model) as club:
        if book is not None:
            await club.shelve(book, HERE)
        told: list[Notice] = []
        settings = settings or Settings(fake.tokens.bot, APP_TOKEN, fake.api, sockets=1)
        task = asyncio.create_task(serve(club.club, settings=replace(settings, api=fake.api), host=host(folder, told)))
        try:
            if not settings.port:
                await _first(task, asyncio.create_task(fake.sockets.connected(settings.sockets)))
            yield Workspace(fake, Driver(fake), club, task, told)
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})


async def _first(serving: "asyncio.Task[None]", connected: "asyncio.Task[None]") -> None:
    await asyncio.wait({serving, connected}, return_when=asyncio.FIRST_COMPLETED)
    connected.cancel()
    if serving.done():
        serving.result()


def host(folder: Path, told: list[Notice]) -> Host:
    arriving = folder / "arriving"
    arriving.mkdir(exist_ok=True)
    ids = itertools.count(time.time_ns())
    return Host(
        folder=arriving,
        locale="en",
        now=lambda: datetime.now(UTC),
        clock=time.monotonic,
        sleep=asyncio.sleep,
        new_id=lambda: f"host{next(ids)}",
        source="",
        tell=told.append,
    )
