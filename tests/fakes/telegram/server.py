"""The HTTP side of the fake Bot API: forms in, JSON out, long polling, files, a journal, scripted faults."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.fakes.telegram.flood import COUNTED, Flood
from tests.fakes.telegram.methods import Methods
from tests.fakes.telegram.rules import JsonObject, Refusal
from tests.fakes.telegram.world import World

TOKEN = "7000000001:the-token-of-the-tests"
_TEXTS = frozenset(
    {"text", "caption", "callback_query_id", "file_id", "photo", "document", "action", "language_code", "question"}
)
"""Parameters that are texts even when they look like JSON."""

FaultKind = Literal["drop", "drop after", "status", "flood", "slow", "held"]


@dataclass
class Fault:
    """What goes wrong with the next `times` calls of `method` ("*" = any but getUpdates).

    "drop": the connection ends before anything happens; "drop after": it happens and nobody is told; "status": an
    error of the server; "flood": 429 with `retry_after` seconds; "slow": it happens, and the reply waits for `told`;
    "held": nothing happens before `told`. `met` once it has met a call. For getUpdates only "status", by that name.
    """

    method: str
    kind: FaultKind
    times: int = 1
    status: int = 502
    retry_after: float = 1
    chat: int | None = None
    told: asyncio.Event = field(default_factory=asyncio.Event)
    met: bool = False


@dataclass(frozen=True)
class Entry:
    """One request and what became of it. Times are seconds on the fake's clock."""

    method: str
    params: JsonObject
    at: float
    ok: bool
    result: Any
    """The result, or the description of the refusal."""


@dataclass
class Server:
    """Runs while the block runs. Unknown methods and paths fail the test when it ends."""

    world: World
    methods: Methods
    flood: Flood = field(default_factory=Flood)
    token: str = TOKEN
    clock: Callable[[], float] = time.monotonic
    latency: float = 0.0
    journal: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    updates: deque[JsonObject] = field(default_factory=deque)
    """Not confirmed yet, oldest first."""
    handed_out: dict[int, float] = field(default_factory=dict)
    """When an update was first given to a poller."""
    confirmed: dict[int, float] = field(default_factory=dict)
    """When the bot told that it has an update."""
    wanted: frozenset[str] = frozenset()
    """The kinds of updates the bot asked for last."""
    unreachable: bool = False
    """True: every connection ends without a word, as with no network."""

    def __post_init__(self) -> None:
        self._next_update = 1000
        self.on_confirmed: Callable[[int, int], None] | None = None
        """Called with an update's id and its message's in the moment the bot confirms it."""
        self.changed = asyncio.Condition()
        self._poll = 0
        self._leaving = False

    async def start(self) -> None:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/bot{token}/{method}", self._call)
        app.router.add_get("/file/bot{token}/{path:.+}", self._download)
        app.router.add_route("*", "/{path:.*}", self._elsewhere)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._leaving = True
        async with self.changed:
            self.changed.notify_all()
        await self._runner.cleanup()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/bot"

    @property
    def base_file_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/file/bot"

    def settings(self) -> dict[str, str]:
        """What a bot needs in its environment to talk to this server."""
        return {
            "TELEGRAM_BOT_TOKEN": self.token,
            "TELEGRAM_BASE_URL": self.base_url,
            "TELEGRAM_BASE_FILE_URL": self.base_file_url,
        }

    def give(self, **update: Any) -> int:
        """Queue an update; its id."""
        self._next_update += 1
        self.updates.append({"update_id": self._next_update, **update})
        self._wake()
        return self._next_update

    def give_again(self, update: JsonObject) -> None:
        """An update told twice, under its old id."""
        self.updates.append(update)
        self._wake()

    @property
    def polls(self) -> int:
        """How often somebody began to wait for updates."""
        return self._poll

    def steal(self) -> None:
        """Another program asks for updates with the same token: whoever waits is ended."""
        self._poll += 1
        self._wake()

    async def wake(self) -> None:
        """Have everybody who waits look again."""
        await self._notify()

    def _wake(self) -> None:
        self._waking = asyncio.ensure_future(self._notify())

    async def _notify(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    def calls(self, *methods: str, chat: int | None = None) -> list[Entry]:
        """The requests of these methods, oldest first."""
        return [
            entry
            for entry in self.journal
            if (not methods or entry.method in methods) and (chat is None or entry.params.get("chat_id") == chat)
        ]

    # Requests

    async def _elsewhere(self, request: web.Request) -> web.Response:
        self.problems.append(f"unknown path {request.method} {request.path}")
        return web.json_response({"ok": False, "error_code": 404, "description": "Not Found"}, status=404)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        if self.unreachable:
            return _drop(request)
        method = self.methods.named(request.match_info["method"])
        try:
            params, files = await _form(request)
        except ConnectionResetError:  # whoever asked was killed in the middle
            return _drop(request)
        if request.match_info["token"] != self.token:
            return _refused(Refusal(401, "Unauthorized"))
        if method.lower() == "getupdates":
            return await self._get_updates(request, params)
        if self.latency:
            await asyncio.sleep(self.latency)
        at = self.clock()
        fault = self._fault(method, params)
        if fault is not None and fault.kind == "drop":
            self._enter(Entry(method, params, at, False, "dropped"))
            return _drop(request)
        if fault is not None and fault.kind == "held":
            await fault.told.wait()
        try:
            if fault is not None and fault.kind == "status":
                raise Refusal(fault.status, "Bad Gateway")
            if fault is not None and fault.kind == "flood":
                raise Refusal(429, f"Too Many Requests: retry after {fault.retry_after}", retry_after=fault.retry_after)
            if method in COUNTED:
                chat = self.world.chat(params["chat_id"])
                self.flood.admit(chat.id, group=chat.type != "private", at=at)
            result = self.methods.call(method, params, files)
        except Refusal as refusal:
            if refusal.code == 404 and not self.methods.knows(method):
                self.problems.append(f"unknown method {method}")
            if refusal.code == 500:
                self.problems.append(refusal.description)
            self._enter(Entry(method, params, at, False, refusal.description))
            return _refused(refusal)
        self._enter(Entry(method, params, at, True, result))
        if fault is not None and fault.kind == "drop after":
            return _drop(request)
        if fault is not None and fault.kind == "slow":
            await fault.told.wait()
        return web.json_response({"ok": True, "result": result})

    def _enter(self, entry: Entry) -> None:
        self.journal.append(entry)
        self._wake()

    def _fault(self, method: str, params: JsonObject) -> Fault | None:
        for fault in self.faults:
            if fault.method in (method, "*" if method != "getUpdates" else "") and fault.chat in (
                None,
                params.get("chat_id"),
            ):
                fault.met = True
                fault.times -= 1
                if fault.times <= 0:
                    self.faults.remove(fault)
                return fault
        return None

    async def _get_updates(self, request: web.Request, params: JsonObject) -> web.StreamResponse:
        if (fault := self._fault("getUpdates", params)) is not None:
            return _refused(Refusal(fault.status, "Bad Gateway"))
        self._poll += 1
        self.wanted = frozenset(params.get("allowed_updates") or ())
        mine = self._poll  # a new poller ends the one before it
        async with self.changed:
            self.changed.notify_all()
        offset, limit = int(params.get("offset") or 0), int(params.get("limit") or 100)
        while self.updates and offset > 0 and self.updates[0]["update_id"] < offset:
            update = self.updates.popleft()
            self.confirmed[update["update_id"]] = self.clock()
            if self.on_confirmed is not None:
                self.on_confirmed(update["update_id"], update.get("message", {}).get("message_id", 0))
        self._wake()
        deadline = self.clock() + float(params.get("timeout") or 0)
        async with self.changed:
            while not self.updates and mine == self._poll and not self._leaving and not self.unreachable:
                left = deadline - self.clock()
                if left <= 0:
                    break
                try:
                    await asyncio.wait_for(self.changed.wait(), left)
                except TimeoutError:
                    break
        if self.unreachable:
            return _drop(request)
        if mine != self._poll:
            return _refused(
                Refusal(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                )
            )
        found = list(self.updates)[:limit]
        for update in found:
            self.handed_out.setdefault(update["update_id"], self.clock())
        return web.json_response({"ok": True, "result": found})

    async def _download(self, request: web.Request) -> web.StreamResponse:
        if self.unreachable:
            return _drop(request)
        fault = self._fault("download", {})
        if fault is not None:
            return _drop(request) if fault.kind.startswith("drop") else _refused(Refusal(fault.status, "Bad Gateway"))
        found = [file for file in self.world.files.values() if file.path == request.match_info["path"]]
        if request.match_info["token"] != self.token or not found:
            return web.Response(status=404)
        return web.Response(body=found[0].data)


async def _form(request: web.Request) -> tuple[JsonObject, dict[str, tuple[str, bytes]]]:
    params: JsonObject = {}
    files: dict[str, tuple[str, bytes]] = {}
    if request.content_type == "application/json":
        return await request.json(), files
    for key, value in {**request.query, **await request.post()}.items():
        if isinstance(value, web.FileField):
            files[key] = (value.filename, value.file.read())
        elif isinstance(value, str):
            params[key] = value if key in _TEXTS else _value(value)
    return params, files


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _refused(refusal: Refusal) -> web.Response:
    body: JsonObject = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.parameters:
        body["parameters"] = refusal.parameters
    return web.json_response(body, status=refusal.code)


def _drop(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
