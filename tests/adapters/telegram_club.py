"""A club served on the fake Telegram, in this process: the real adapter, library and wire, a model of the test's choosing."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from adapters.host import Host
from adapters.telegram import app
from adapters.telegram.limiter import Pace
from core.model import ChatEvent, ChatModel, ChatRequest, Conversation, Finished, Notice, Said, Usage
from tests.books.lantern_epub import lantern_house
from tests.clubs import Clock, TestClub, open_club
from tests.clubs import lantern_house as stored_house
from tests.fakes.telegram import Chat, FakeTelegram, JsonObject, Person

FAST = Pace(group=10**6, window=1.0, burst=10**6, gap=0.0, altogether=10**6, action_gap=0.0)
"""No waiting: for tests that are not about it, against a fake that does not enforce it."""


@dataclass
class Served:
    """A fake Telegram, the club behind it, and what whoever runs the bot was told."""

    telegram: FakeTelegram
    club: TestClub
    told: list[Notice] = field(default_factory=list)

    async def read(self, person: Person, chat: Chat, folder: Path, **more: Any) -> JsonObject:
        """Have *The Lantern House* read in a chat; the ready card."""
        caption = "" if chat.type == "private" else "@loccit_bot"
        self.telegram.upload(person, chat, lantern_house(folder, **more), caption=caption)
        return await self.telegram.said(chat, "3 chapters")

    async def shelve(self, chat: Chat) -> None:
        """Put *The Lantern House* on a chat's shelf as if it had been read there."""
        await self.club.shelve(stored_house(), Conversation("telegram", str(chat.id)))

    async def settled(self) -> None:
        """Wait until everything said was heard and dealt with."""
        while self.telegram.server.updates or await self.club.club.post.unfinished("telegram"):  # noqa: ASYNC110  # rows
            await asyncio.sleep(0.01)


@asynccontextmanager
async def served(
    folder: Path,
    telegram: FakeTelegram,
    *,
    model: ChatModel | None = None,
    pace: Pace = FAST,
    clock: Clock | None = None,
    squeeze: float = 1.0,
    cloud: bool = False,
) -> AsyncIterator[Served]:
    """Serve until the block ends; `squeeze` divides the adapter's own waiting, `cloud` takes the fake for the vendor's. The same folder again is a restart."""
    if pace is FAST:
        telegram.server.flood.per_group = None
    async with open_club(folder / "data", model, clock=clock) as club:
        found = Served(telegram, club)
        arriving = folder / "arriving"
        arriving.mkdir(exist_ok=True)
        host = Host(
            folder=arriving,
            locale="en",
            now=club.clock,
            clock=lambda: monotonic() * squeeze,
            sleep=lambda seconds: asyncio.sleep(seconds / squeeze),
            new_id=lambda: secrets.token_urlsafe(16),
            source="",
            tell=found.told.append,
        )
        settings = app.Settings(
            telegram.server.token, telegram.server.base_url, telegram.server.base_file_url, cloud or None
        )
        task = asyncio.create_task(app.serve(club.club, settings, host, pace=pace))
        try:
            yield found
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class GatedModel:
    """Says a piece for each time `gate` is opened; counts its requests."""

    name = "gated"

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self.gate = asyncio.Semaphore(0)
        self.requests: list[ChatRequest] = []

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.requests.append(request)
        for piece in self.pieces:
            await self.gate.acquire()
            yield Said(piece)
        yield Finished("stop", Usage(1, 10, 5))


def hostile_strings(count: int, seed: int = 7) -> list[str]:
    """Texts that try to notify, to link, to break markup or offsets."""
    rng = random.Random(seed)
    seeds = [
        "@admin", "@loccit_bot", "@everyone", "t.me/evil", "http://evil.example/a?b=c#d", "https://EVIL.example",
        "www.evil.example", "evil.example", "evil.рф", "tg://user?id=42", "tg://resolve?domain=evil", "ton://x",
        "ftp://files.example", "me@evil.example", "mailto:me@evil.example", "127.0.0.1/x", "10.0.0.1:8080", "#hashtag",
        "/remove", "/forget@loccit_bot", "[x](http://evil.example)", "<a href='http://evil.example'>x</a>",
        "[x](tg://user?id=42)", "![p](http://evil.example/p.png)", "<http://evil.example>", "**bold*", "__x_", "`code",
        "```\n", "~~s~~", "||spoiler||", "> quote\n", "# Title\n", "- item\n", "| a | b |\n|---|---|\n| c | d |\n", "&lt;b&gt;",
        "<b>", "</b>", "🧥", "👩‍👩‍👧‍👦", "שלום", "مرحبا ‏", "\u202eevil", "\u200b@admin", "a\u0301", "xn--e1afmkfd.xn--p1ai",
        "[f1-0-42]", "\\@admin", "@\\admin", "a.b.co.uk", "x@y@z.com", "1.2.3.4", "3.14", "..com", "-.com", "_@admin_",
        "*@admin*", "h**tt**p://evil.example", "ev*il.exam*ple", "@ad*min*", "\ud83d", "\x00", "\r\n",
    ]  # fmt: skip
    glue = ["", " ", "\n", " and ", ".", "(", ")", "\u00a0", "\t"]
    return [
        "".join(rng.choice(seeds) + rng.choice(glue) for _ in range(rng.randint(1, 8))) + f" {number}"
        for number in range(count)
    ]
