"""How events reach us: sockets that are rebuilt when they go silent, or signed HTTP on a port of ours."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp

from adapters.slack.door import Door, sdk_log

log = logging.getLogger(__name__)

PING = 10.0
"""Seconds between two pings; the SDK takes four missed ones for a dead socket."""
PATIENCE = 60.0
"""Seconds a socket may be down before it is built anew: the SDK's own recovery can go round for ever."""
_CONNECT = 20.0
PATH = "/slack/events"


class Sockets:
    """Several sockets side by side: while one is refreshed the others hear. Each event comes by one of them."""

    def __init__(
        self, app: AsyncApp, door: Door, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._app = app
        self._door = door
        self._clock = clock
        self._sleep = sleep
        self._handlers: list[AsyncSocketModeHandler] = []

    async def open(self) -> None:
        """Raises OperatorError for a refused app token, Unreachable."""
        for _ in range(self._door.settings.sockets):
            self._handlers.append(await self._connect())

    async def watch(self) -> None:
        """Rebuild what stays down, for ever."""
        down_since: dict[int, float] = {}
        while True:
            await self._sleep(PING)
            for at, handler in enumerate(self._handlers):
                if await handler.client.is_connected():
                    down_since.pop(at, None)
                    continue
                if self._clock() - down_since.setdefault(at, self._clock()) < PATIENCE:
                    continue
                log.warning("a socket stays silent and is built anew")
                try:
                    new = await self._connect()
                except Exception as error:  # noqa: BLE001  # this watch must go on; the next round tries again
                    log.warning("no socket", extra={"code": type(error).__name__})
                    continue
                self._handlers[at] = new
                down_since.pop(at, None)
                await _close(handler)

    async def close(self) -> None:
        await asyncio.gather(*(_close(handler) for handler in self._handlers))

    async def _connect(self) -> AsyncSocketModeHandler:
        address = await self._door.connection()  # by ourselves first: the SDK would repeat a refused token silently
        handler = AsyncSocketModeHandler(
            self._app, self._door.settings.app_token, sdk_log, self._door.bare_client(), ping_interval=PING
        )
        handler.client.wss_uri = address
        try:
            async with asyncio.timeout(_CONNECT):
                await handler.connect_async()  # type: ignore[no-untyped-call]  # the SDK's own, without types
        except TimeoutError:
            await _close(handler)
            raise
        return handler


async def _close(handler: AsyncSocketModeHandler) -> None:
    with suppress(Exception):  # whatever state the SDK's socket is in, it is not needed any more
        await handler.close_async()  # type: ignore[no-untyped-call]  # the SDK's own, without types


class Listening:
    """HTTP mode: the workspace posts to us, and Bolt checks each signature."""

    def __init__(self, app: AsyncApp, port: int) -> None:
        self._runner = web.AppRunner(app.web_app(path=PATH, port=port), access_log=None)
        self._port = port

    async def open(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, None, self._port).start()

    async def watch(self) -> None:
        """Nothing to rebuild: whoever posts opens the connection."""
        await asyncio.Event().wait()

    async def close(self) -> None:
        await self._runner.cleanup()
