"""Serving: the page on this machine's own address, health beside it, the reading view for links on the public port."""

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Middleware

from adapters.host import Host
from adapters.web import guard
from adapters.web.chat import Chat
from adapters.web.health import Figures, Health
from adapters.web.lines import HERE
from adapters.web.links import Links
from adapters.web.pages import Pages
from adapters.web.reading import PublicView, ReadingView
from adapters.web.spots import spot_of
from core.club import Club
from core.desk import Desk
from core.errors import OperatorError
from core.model import Notice
from core.strings import say

log = logging.getLogger(__name__)

PROVIDER_CHECK = 15.0
"""Seconds between two looks whether the language model that questions wait for is back."""
_PARTING = 1.0
"""Seconds an open request has when the page is stopped; what was begun is on record."""
_BODY = 64 * 1024
"""Bytes of a request that is no book."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What whoever runs the bot chose."""

    port: int
    """0: any that is free."""
    public_port: int | None = None
    key: bytes = b""
    """Signs links and the page's own requests; durable, secret."""
    links: Links | None = None
    """None: no links from chats are made, and nothing is public."""
    page: bool = True
    """False beside chat platforms: then only health and metrics are served on this machine."""
    insistent: bool = True
    """False: when the port is taken, what can be done without it is done, and only the log says so."""


async def serve(
    club: Club,
    settings: Settings,
    host: Host,
    *,
    figures: Callable[[], Awaitable[Figures]],
    platforms: Callable[[], dict[str, bool]],
) -> None:
    """Serve until cancelled. Raises OperatorError for a port that is taken or not allowed."""
    pages = Pages()
    health = Health(figures, platforms, host.clock)
    async with AsyncExitStack() as stack:
        if settings.public_port is not None and settings.links is not None:
            public = await stack.enter_async_context(_open(None, settings.public_port))
            await stack.enter_async_context(_shown(public_app(club, pages, settings.links, host), public))
        # The port is taken first: the page has to know its own address.
        try:
            taken = await stack.enter_async_context(_open("127.0.0.1", settings.port))
        except OperatorError as error:
            if settings.insistent:
                raise
            log.warning("no health page", extra={"key": error.key})
            await asyncio.Event().wait()
            return
        here = guard.Here(taken.getsockname()[1])
        app = web.Application(client_max_size=_BODY, middlewares=middlewares(pages, here, settings, host, health))
        health.add_to(app)
        app.router.add_get("/favicon.ico", _nothing)
        if not settings.page:
            await stack.enter_async_context(_shown(app, taken))
            await asyncio.Event().wait()
            return
        desk = Desk(
            club,
            lambda name: f"/{name}",
            source=host.source,
            link_for=lambda _, passage, __: here.address + spot_of(passage).path,
        )
        chat = Chat(club, desk, pages, host, here, guard.Token(settings.key))
        chat.add_to(app)
        ReadingView(club, pages, HERE, host.locale).add_to(app)
        app.router.add_get("/static/{name}", pages.static)
        await stack.enter_async_context(_shown(app, taken))
        stack.push_async_callback(chat.close)
        host.tell(Notice("web_address", {"address": here.address}))
        await asyncio.gather(chat.go_on(PROVIDER_CHECK), chat.say_letters())


def middlewares(pages: Pages, here: guard.Here, settings: Settings, host: Host, health: Health) -> list[Middleware]:
    """What stands before the pages of this machine, outermost first."""

    def nowhere(locale: str) -> str:
        return say("web_not_found", locale, address=here.address)

    tell = pages.failed(host.locale, "/" if settings.page else None)
    return [
        health.timed,
        guard.failures_in_words(tell, host.new_id, host.locale, nowhere),
        guard.own_pages_only(here, guard.Token(settings.key), host.locale),
    ]


def public_app(club: Club, pages: Pages, links: Links, host: Host) -> web.Application:
    """The reading view behind links, and nothing else."""

    def nowhere(locale: str) -> str:
        return say("web_public_not_found", locale)

    edge = guard.failures_in_words(pages.failed(host.locale, None), host.new_id, host.locale, nowhere)
    app = web.Application(client_max_size=_BODY, middlewares=[edge])
    PublicView(club, pages, links, host.locale).add_to(app)
    app.router.add_get("/static/{name}", pages.static)
    app.router.add_get("/favicon.ico", _nothing)
    return app


async def _nothing(_: web.Request) -> web.Response:
    return web.Response(status=204)


@asynccontextmanager
async def _open(address: str | None, port: int) -> AsyncIterator[socket.socket]:
    """A port of this machine, taken while the block runs. Raises OperatorError when it cannot be had."""
    try:
        kind = socket.AF_INET6 if address is None and socket.has_dualstack_ipv6() else socket.AF_INET
        taken = socket.create_server(
            (address or "", port), family=kind, dualstack_ipv6=kind == socket.AF_INET6, reuse_port=False
        )
    except OSError as error:
        key = "web_port_taken" if error.errno == errno.EADDRINUSE else "web_port_refused"
        raise OperatorError(key, port=port) from error
    try:
        yield taken
    finally:
        taken.close()


@asynccontextmanager
async def _shown(app: web.Application, port: socket.socket) -> AsyncIterator[None]:
    """An application behind a port while the block runs."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_PARTING)
    await runner.setup()
    try:
        await web.SockSite(runner, port).start()
        yield
    finally:
        await runner.cleanup()
