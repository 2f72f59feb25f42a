"""Slack on the loopback, at wire level: Web API, Socket Mode or signed HTTP, files; limits enforced, everything noted.

    async with FakeSlack() as fake:
        ...  # base url: fake.api; tokens: fake.tokens.bot, APP_TOKEN

Unknown methods, payloads that break the vendor's limits, and faults that nobody met fail the test when the block ends.
"""

import asyncio
import json
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from aiohttp import web

from tests.fakes.slack import files, messages, people, views
from tests.fakes.slack.calls import Call, Entry, JsonObject, Methods, Refused
from tests.fakes.slack.rates import Rates
from tests.fakes.slack.server_key import FAKE
from tests.fakes.slack.sockets import Sockets
from tests.fakes.slack.tokens import APP_TOKEN, Tokens
from tests.fakes.slack.world import BOT, Message, World

METHODS: Methods = {**messages.METHODS, **people.METHODS, **files.METHODS, **views.METHODS}

SCOPES = frozenset(
    {
        *("app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands"),
        *("files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write"),
        *("mpim:history", "mpim:read", "reactions:write", "usergroups:read", "users:read"),
    }
)
"""Everything the fake knows to grant."""


@dataclass
class Fault:
    """A scripted refusal; status 0 tears the connection, `delay` seconds pass first."""

    method: str
    error: str = "internal_error"
    status: int = 200
    retry_after: int | None = None
    delay: float = 0.0
    times: int = 1
    after: bool = False
    """True: the call is carried out, and only its answer is lost."""


@dataclass
class ResponseDoor:
    channel: str
    user: str
    message: Message | None
    made: float
    left: int = views.RESPONSES


@dataclass
class FakeSlack:
    scopes: frozenset[str] = SCOPES
    rates_enforced: bool = True
    stream_life: float = 300.0
    login_pages: bool = False
    """True: files come as the login page, as they do for a token that may not read them."""
    gone_files: bool = False
    """True: downloads are answered with 404."""
    world: World = field(default_factory=World)
    journal: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    acting: list[str] = field(default_factory=list)
    """Everything ever sent that would notify somebody or be a link."""
    expected_uploads: dict[str, int] = field(default_factory=dict)
    response_doors: dict[str, ResponseDoor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._began = time.monotonic()
        self.faults: list[Fault] = []
        self._triggers: dict[str, tuple[str, float]] = {}
        self._news = asyncio.Event()
        self.tokens = Tokens(self.clock)
        self.rates = Rates(self.clock, self.rates_enforced)
        self.sockets = Sockets(lambda: self.host, self.clock)
        self.world.user(BOT, bot=True)

    def clock(self) -> float:
        return time.monotonic() - self._began

    @property
    def api(self) -> str:
        return f"{self.host}/api/"

    async def __aenter__(self) -> "FakeSlack":
        app = web.Application(client_max_size=128 * 1024 * 1024)
        app[FAKE] = self
        app.router.add_route("*", "/api/{method}", self._serve)
        app.router.add_get("/link", self.sockets.serve)
        app.router.add_get("/files-pri/{id}/download/{name}", files.download)
        app.router.add_post("/upload/{id}", files.receive)
        app.router.add_post("/response/{door}", views.respond)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.host = f"http://{host}:{port}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self.sockets.close()
        await self._runner.cleanup()
        if kind is None:
            left = [fault.method for fault in self.faults if fault.times > 0]
            assert not left, f"faults that nobody met: {left}"
            assert not self.problems, self.problems

    # Script

    def fault(self, method: str, error: str = "internal_error", **more: Any) -> None:
        """Refuse the next call(s) of a method."""
        self.faults.append(Fault(method, error, **more))

    def take_fault(self, method: str, *, after: bool = False) -> Fault | None:
        for fault in self.faults:
            if fault.method == method and fault.times > 0 and fault.after == after:
                fault.times -= 1
                return fault
        return None

    # What the parts of the fake share

    def note(self, method: str, args: JsonObject) -> Entry:
        entry = Entry(method, args, self.clock())
        self.journal.append(entry)
        return entry

    def calls(self, method: str) -> list[Entry]:
        return [entry for entry in self.journal if entry.method == method]

    def changed(self, message: Message | None) -> None:
        """Something on somebody's screen is different now."""
        self._news.set()

    async def news(self, seconds: float) -> bool:
        """Wait for a change; False when none came in time."""
        self._news.clear()
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def trigger(self, user: str) -> str:
        id = self.world.next_id("trigger-")
        self._triggers[id] = (user, self.clock())
        return id

    def spend_trigger(self, id: str, life: float) -> str:
        user, made = self._triggers.pop(id, ("", -1e9))
        if self.clock() - made > life:
            raise Refused("expired_trigger_id")
        return user

    def response_url(self, channel: str, user: str, message: Message | None = None) -> str:
        door = self.world.next_id("door-")
        self.response_doors[door] = ResponseDoor(channel, user, message, self.clock())
        return f"{self.host}/response/{door}"

    # The Web API

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        entry = self.note(method, await _arguments(request))
        headers = {"X-OAuth-Scopes": ",".join(sorted(self.scopes))}
        if fault := self.take_fault(method):
            await asyncio.sleep(fault.delay)
            entry.status = fault.status
            if fault.status == 0:
                return _torn(request)
            entry.reply = {"ok": False, "error": fault.error}
            if fault.retry_after is not None:
                headers["Retry-After"] = str(fault.retry_after)
            return web.json_response(entry.reply, status=fault.status, headers=headers)
        try:
            entry.reply = {"ok": True, **await self._call(request, entry)}
        except Refused as refused:
            entry.reply = {"ok": False, "error": refused.error, **refused.more}
            if refused.error == "ratelimited":
                entry.status = 429
                headers["Retry-After"] = str(refused.more["retry_after"])
            if refused.ours:
                self.problems.append(f"{method}: {entry.reply}")
        if fault := self.take_fault(method, after=True):
            return _torn(request)
        return web.json_response(entry.reply, status=entry.status, headers=headers)

    async def _call(self, request: web.Request, entry: Entry) -> JsonObject:
        known = METHODS.get(entry.method)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or str(entry.args.get("token", ""))
        if known is None:
            raise Refused("unknown_method", ours=True)
        if entry.method == "apps.connections.open":
            if token != APP_TOKEN:
                raise Refused("invalid_auth")
        elif entry.method != "oauth.v2.access" and not self.tokens.valid(token):
            raise Refused(self.tokens.why_not(token))
        scope, method = known
        if scope and scope not in self.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))
        if wait := self.rates.wait(entry.method, str(entry.args.get("channel", ""))):
            raise Refused("ratelimited", retry_after=wait)
        return await method(Call(self, entry, token))


async def _arguments(request: web.Request) -> JsonObject:
    args: JsonObject = dict(request.query)
    if request.content_type == "application/json":
        args |= json.loads(await request.text() or "{}")
    elif request.can_read_body:
        args |= {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
    return args


def _torn(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)
