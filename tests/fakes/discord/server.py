"""The pretended Discord as one server on loopback: REST, gateway and file server, with scripted faults."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from tests.fakes.discord.buckets import WINDOW, Buckets
from tests.fakes.discord.cdn import FileServer
from tests.fakes.discord.checks import Refusal
from tests.fakes.discord.gateway import GUILDS, MESSAGE_CONTENT, Gateway
from tests.fakes.discord.interactions import Interactions
from tests.fakes.discord.journal import Entry, Journal
from tests.fakes.discord.people import Member
from tests.fakes.discord.rest import Handler, Rest
from tests.fakes.discord.wire import body_of, refusal, reply
from tests.fakes.discord.world import Channel, Person, Server, Snowflakes, World

TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.loopback-only"
_API = "/api/v10"
_NO_TOKEN = ("/interactions/", "/webhooks/")


@dataclass
class Fault:
    """What the next matching request meets: an error, a delay, a cut connection, or nothing but time."""

    method: str
    route: str
    times: int = 1
    status: int = 0
    code: int = 0
    delay: float = 0.0
    cut: bool = False
    after: bool = False
    """True: the request is done first, and only its answer is lost."""


class FakeDiscord:
    """A Discord of its own. `api`, `gateway_url` are what the bot's settings are given.

    `window` shortens the rate limits' buckets (seconds); everything else is as strict as the vendor.
    """

    def __init__(self, *, window: float = WINDOW, per_second: int = 50) -> None:
        self.token = TOKEN
        self.journal = Journal()
        self.ahead = 0.0
        """Seconds this Discord's clock has been put forward."""
        flakes = Snowflakes(self.clock)
        self.world = World(flakes, Person(flakes.make(), "Lantern", bot=True))
        self.buckets = Buckets(time.monotonic, window, per_second)
        self.gateway = Gateway(self.world, self.journal, TOKEN)
        self.files = FileServer(flakes, self.journal, self.clock)
        self.rest = Rest(self.world, self.gateway, self.files, self.clock)
        self.interactions = Interactions(self.world, self.rest)
        self.faults: list[Fault] = []
        self.latency = 0.0
        """Seconds that every REST answer takes longer."""
        self._runner: web.AppRunner | None = None
        self.api = self.gateway_url = ""

    def clock(self) -> float:
        return time.time() + self.ahead

    async def start(self) -> None:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_get("/gateway/", self.gateway.connect)
        app.router.add_get("/attachments/{path:.+}", self.files.serve)
        for method, path, handler in (*self.rest.routes(), *self.interactions.routes()):
            app.router.add_route(method, _API + path, self._answering(method, path, handler))
        app.router.add_route("*", "/{unknown:.*}", self._unknown)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.api = f"http://{host}:{port}{_API}"
        self.gateway_url = self.gateway.address = f"ws://{host}:{port}/gateway/"
        self.files.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Raises AssertionError when the bot called what does not exist."""
        if self._runner is not None:
            await self.gateway.drop()
            await self._runner.cleanup()
            self._runner = None
        assert not self.journal.breaches, self.journal.breaches

    # Requests

    def _answering(self, method: str, route: str, handler: Handler) -> Handler:
        async def answer(request: web.Request) -> web.StreamResponse:
            path = dict(request.match_info)
            entry = self.journal.note(method, route, path=path)
            try:
                if request.body_exists and not request.content_type.startswith("multipart/"):
                    entry.body = (await body_of(request))[0]
                response = await self._judged(request, method, route, handler, entry)
            except Refusal as refused:
                entry.code = refused.code
                response = refusal(refused)
            except (ValueError, KeyError, AssertionError) as error:
                self.journal.breaches.append(f"{method} {route}: {error!r}")
                response = reply({"code": 0, "message": "500: Internal Server Error"}, 500)
            entry.status = response.status
            await self.journal.changed()
            return response

        return answer

    async def _judged(
        self, request: web.Request, method: str, route: str, handler: Handler, entry: Entry
    ) -> web.StreamResponse:
        if self.latency:
            await asyncio.sleep(self.latency)
        tokenless = route.startswith(_NO_TOKEN)
        if not tokenless and request.headers.get("Authorization") != f"Bot {self.token}":
            raise Refusal(401, 0, "401: Unauthorized")
        headers = {}
        if not route.startswith("/interactions/"):
            major = "".join(entry.path.get(name, "") for name in ("channel", "guild", "token"))
            verdict = self.buckets.spend(f"{method}{route}", major, counted_globally=not tokenless)
            headers = dict(verdict.headers)
            if verdict.retry_after is not None:
                # Without `Via` a client takes a 429 for a ban by the proxy in front.
                body = {"message": "You are being rate limited.", "retry_after": round(verdict.retry_after, 3)}
                return reply(body | {"global": verdict.everywhere}, 429, headers | {"Via": "1.1 google"})
        fault = self._fault(method, route)
        if fault is not None and not fault.after:
            await self._fail(request, fault)
        response = await handler(request)
        if fault is not None and fault.after:
            await self._fail(request, fault)
        response.headers.update(headers)
        return response

    def _fault(self, method: str, route: str) -> Fault | None:
        for fault in self.faults:
            if (fault.method, fault.route) == (method, route) and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    async def _fail(self, request: web.Request, fault: Fault) -> None:
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.cut and request.transport is not None:
            request.transport.abort()
        if fault.status:
            raise Refusal(fault.status, fault.code, "scripted")

    async def _unknown(self, request: web.Request) -> web.Response:
        self.journal.breaches.append(f"unknown route: {request.method} {request.path}")
        await self.journal.changed()
        return reply({"code": 0, "message": "404: Not Found"}, 404)

    def fail(self, method: str, route: str, **how: object) -> None:
        """The next requests of this route (`times`) meet a fault; see `Fault`."""
        self.faults.append(Fault(method, route, **how))  # type: ignore[arg-type]  # its own fields, checked by name

    # The people

    def member(self, name: str, *servers: Server, locale: str = "en-US", manages: bool = False) -> Member:
        """Somebody who is in these servers."""
        person = self.world.person(name, locale=locale)
        for server in servers:
            server.members[person.id] = person
            if manages:
                server.managers.add(person.id)
        return Member(self, person)

    def server(self, name: str = "Book club") -> Server:
        return self.world.server(name, self.world.person("Owner"))

    def channel(self, server: Server, name: str = "reading") -> Channel:
        return self.world.channel(server, name)

    async def deny(self, channel: Channel, bits: int) -> None:
        """Somebody who manages the channel takes these permissions from the bot there (0: gives all back)."""
        channel.denied_bot = bits
        assert channel.server is not None
        await self.gateway.dispatch("CHANNEL_UPDATE", channel.wire(), server_id=channel.server.id, intent=GUILDS)

    def grant_message_content(self) -> None:
        """As the developer portal does."""
        self.gateway.allowed_intents |= MESSAGE_CONTENT

    async def connected(self) -> None:
        """Wait until the bot is here, its commands registered."""
        await self.journal.until(
            lambda: (
                any(session.socket for session in self.gateway.sessions.values())
                and self.journal.requests("PUT", "/applications/{application}/commands")
            )
        )

    async def until(self, true: Callable[[], object], patience: float = 30.0) -> object:
        return await self.journal.until(true, patience)


@asynccontextmanager
async def discord(*, window: float = WINDOW, per_second: int = 50) -> AsyncIterator[FakeDiscord]:
    """A Discord for one test; at its end it is checked that nothing unknown was called."""
    fake = FakeDiscord(window=window, per_second=per_second)
    await fake.start()
    try:
        yield fake
    finally:
        await fake.stop()
