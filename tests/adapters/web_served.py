"""The web page served inside a test: a club on a folder, its pages behind real ports of this machine."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import aiohttp

from adapters.host import Host
from adapters.web.app import Settings, serve
from adapters.web.health import Figures
from adapters.web.lines import HERE
from adapters.web.links import Links, signing_key
from core.model import Notice
from tests.clubs import TestClub
from tests.journeys.web_room import free_port


@dataclass
class Served:
    """What a test knows of the page: its addresses, its links, what the operator was told."""

    club: TestClub
    address: str
    public: str
    links: Links
    told: list[Notice] = field(default_factory=list)
    up: dict[str, bool] = field(default_factory=dict)

    async def token(self, session: aiohttp.ClientSession) -> str:
        """The word that the page gives to its own script."""
        async with session.get(self.address) as response:
            return (await response.text()).split('name="token" content="')[1].split('"')[0]


@asynccontextmanager
async def serve_web(
    club: TestClub, folder: Path, *, page: bool = True, figures: Callable[[], Figures] | None = None
) -> AsyncIterator[Served]:
    """The page and the public view of `club` while the block runs."""
    key = signing_key(_made(folder))
    port, public_port = free_port(), free_port()
    links = Links(key, f"http://127.0.0.1:{public_port}", club.clock)
    served = Served(club, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{public_port}", links)
    ids = count(time.time_ns())
    host = Host(
        folder=folder,
        locale="en",
        now=club.clock,
        clock=time.monotonic,
        sleep=lambda seconds: asyncio.sleep(min(seconds, 0.2)),
        new_id=lambda: f"web{next(ids)}",
        source="",
        tell=served.told.append,
    )
    settings = Settings(port=port, public_port=public_port, key=key, links=links, page=page)

    async def read_figures() -> Figures:
        return figures() if figures else Figures(Counter())

    serving = asyncio.create_task(serve(club.club, settings, host, figures=read_figures, platforms=lambda: served.up))
    try:
        await _up(served.address, serving)
        yield served
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def _up(address: str, serving: "asyncio.Task[None]") -> None:
    """Wait until the page answers."""
    async with aiohttp.ClientSession() as session:
        while True:
            if serving.done():
                await serving
            try:
                async with session.get(f"{address}/healthz"):
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.02)


__all__ = ["HERE", "Served", "serve_web"]
