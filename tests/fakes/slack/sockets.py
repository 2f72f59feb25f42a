"""Delivery of envelopes: Socket Mode (hello, acks with payloads, retries, refresh, several sockets) or signed HTTP."""

import asyncio
import hashlib
import hmac
import itertools
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from tests.fakes.slack.server_key import FAKE
from tests.fakes.slack.world import APP

JsonObject = dict[str, Any]

MOST_SOCKETS = 10


@dataclass
class Attempt:
    sent: float
    acked: float | None = None
    payload: JsonObject | None = None
    """What the acknowledgement carried."""

    @property
    def seconds(self) -> float:
        """From sent to acknowledged; infinite when it never was."""
        return float("inf") if self.acked is None else self.acked - self.sent


@dataclass
class Envelope:
    id: str
    type: str
    """events_api, interactive or slash_commands."""
    payload: JsonObject
    attempts: list[Attempt] = field(default_factory=list)
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once an attempt was acknowledged."""
    over: int = 0
    """Attempts whose wait is over."""
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    heard: Callable[[JsonObject | None], None] | None = None
    """Called with what the acknowledgement carried."""

    @property
    def acked(self) -> bool:
        return any(attempt.acked is not None for attempt in self.attempts)

    @property
    def answer(self) -> JsonObject | None:
        return next((attempt.payload for attempt in self.attempts if attempt.payload), None)


@dataclass
class Sockets:
    host: Callable[[], str]
    clock: Callable[[], float]
    retries: tuple[float, ...] = (0.0, 3.0, 60.0)
    """Seconds after which an event that was not acknowledged is sent again."""
    patience: float = 3.0
    """Seconds to wait for an acknowledgement."""
    envelopes: list[Envelope] = field(default_factory=list)
    http_target: str | None = None
    """Where envelopes are POSTed instead, in HTTP mode."""
    signing_secret: str = "fake-signing-secret"
    seed: int = 0

    def __post_init__(self) -> None:
        self._open: list[web.WebSocketResponse] = []
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[JsonObject | None]] = {}
        self._random = random.Random(self.seed)
        self._tasks: set[asyncio.Task[None]] = set()
        self._came = asyncio.Event()
        self.hellos = 0

    @property
    def count(self) -> int:
        return len(self._open)

    def issue(self) -> str:
        ticket = f"ticket-{next(self._numbers)}"
        self._tickets.add(ticket)
        return f"{self.host().replace('http', 'ws', 1)}/link?ticket={ticket}&app_id={APP}"

    async def connected(self, count: int = 1, patience: float = 30.0) -> None:
        """Wait until so many sockets stand."""
        async with asyncio.timeout(patience):
            while len(self._open) < count:
                self._came.clear()
                await self._came.wait()

    def send(
        self,
        type: str,
        payload: JsonObject,
        *,
        id: str | None = None,
        heard: Callable[[JsonObject | None], None] | None = None,
    ) -> Envelope:
        """Deliver an envelope in the background, events again and again until one attempt is acknowledged."""
        envelope = Envelope(id or f"envelope-{next(self._numbers)}", type, payload, heard=heard)
        self.envelopes.append(envelope)
        delays = self.retries if type == "events_api" else ()
        task = asyncio.create_task(self._insist(envelope, delays))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return envelope

    async def again(self, envelope: Envelope, attempt: int = 1, reason: str = "timeout") -> Attempt:
        """Send an envelope once more, acknowledged or not, as the vendor does when an acknowledgement got lost."""
        return await self._deliver(envelope, attempt, reason)

    async def tried(self, envelope: Envelope, count: int, patience: float = 70.0) -> None:
        """Wait until so many attempts are over, acknowledged or not."""
        async with asyncio.timeout(patience):
            while envelope.over < count:
                envelope.moved.clear()
                await envelope.moved.wait()

    async def acked(self, envelope: Envelope, patience: float = 70.0) -> Envelope:
        async with asyncio.timeout(patience):
            await envelope.settled.wait()
        return envelope

    async def _insist(self, envelope: Envelope, delays: tuple[float, ...]) -> None:
        attempt = await self._deliver(envelope, 0, "")
        for number, delay in enumerate(delays, 1):
            if attempt.acked is not None:
                return
            await asyncio.sleep(delay)
            attempt = await self._deliver(envelope, number, "timeout")

    async def _deliver(self, envelope: Envelope, number: int, reason: str) -> Attempt:
        deliver = self._post if self.http_target else self._send
        attempt = await deliver(envelope, number, reason)
        if attempt.acked is not None and envelope.heard is not None:
            envelope.heard(attempt.payload)
        envelope.over += 1
        envelope.moved.set()
        return attempt

    async def _send(self, envelope: Envelope, number: int, reason: str) -> Attempt:
        while True:
            await self.connected()
            socket = self._random.choice(self._open)
            frame: JsonObject = {
                "envelope_id": envelope.id,
                "type": envelope.type,
                "payload": envelope.payload,
                "accepts_response_payload": envelope.type != "events_api",
            }
            if envelope.type == "events_api":
                frame |= {"retry_attempt": number, "retry_reason": reason}
            waiting: asyncio.Future[JsonObject | None] = asyncio.get_running_loop().create_future()
            self._waiting[envelope.id] = waiting
            attempt = Attempt(self.clock())
            envelope.attempts.append(attempt)
            try:
                await socket.send_json(frame)
            except (ConnectionError, RuntimeError):  # it closed under our hands: another one will come
                self._let_go(socket)
                envelope.attempts.remove(attempt)
                continue
            try:
                attempt.payload = await asyncio.wait_for(waiting, self.patience)
                attempt.acked = self.clock()
                envelope.settled.set()
            except TimeoutError:
                pass
            return attempt

    async def _post(self, envelope: Envelope, number: int, reason: str) -> Attempt:
        if envelope.type == "events_api":
            body, kind = json.dumps(envelope.payload), "application/json"
        elif envelope.type == "interactive":
            body, kind = urlencode({"payload": json.dumps(envelope.payload)}), "application/x-www-form-urlencoded"
        else:
            body, kind = urlencode(envelope.payload), "application/x-www-form-urlencoded"
        stamp = str(int(time.time()))
        base = f"v0:{stamp}:{body}".encode()
        headers = {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": "v0=" + hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest(),
        }
        if number:
            headers |= {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
        attempt = Attempt(self.clock())
        envelope.attempts.append(attempt)
        timeout = aiohttp.ClientTimeout(total=self.patience)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(str(self.http_target), data=body.encode(), headers=headers) as reply,
            ):
                text = await reply.text()
                if reply.status == 200:
                    attempt.acked = self.clock()
                    attempt.payload = json.loads(text) if text.startswith("{") else None
                    envelope.settled.set()
        except (aiohttp.ClientError, TimeoutError):
            pass
        return attempt

    # The other end

    async def serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            request.app[FAKE].problems.append("a socket was opened without a ticket, or with a used one")
            return web.Response(status=403)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(heartbeat=None)
        await socket.prepare(request)
        if len(self._open) >= MOST_SOCKETS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        self.hellos += 1
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._open) + 1,
                "debug_info": {"host": "fake", "build_number": 1, "approximate_connection_time": 18_060},
                "connection_info": {"app_id": APP},
            }
        )
        self._open.append(socket)
        self._came.set()
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._hear(json.loads(frame.data))
        finally:
            self._let_go(socket)
        return socket

    def _hear(self, frame: JsonObject) -> None:
        waiting = self._waiting.pop(frame.get("envelope_id", ""), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(frame.get("payload"))

    def _let_go(self, socket: web.WebSocketResponse) -> None:
        if socket in self._open:
            self._open.remove(socket)

    async def refresh(self) -> None:
        """Ask every client politely to come again, then close; what the vendor does every few hours."""
        for socket in list(self._open):
            self._let_go(socket)
            await socket.send_json(
                {"type": "disconnect", "reason": "refresh_requested", "debug_info": {"host": "fake"}}
            )

    async def drop(self) -> None:
        """Cut every socket without a word."""
        for socket in list(self._open):
            self._let_go(socket)
            if socket._req is not None and socket._req.transport is not None:
                socket._req.transport.abort()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for socket in list(self._open):
            await socket.close()
