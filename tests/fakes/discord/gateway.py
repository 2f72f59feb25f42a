"""The gateway: sockets and the sessions behind them, which outlive a lost socket so that it can be resumed."""

import asyncio
import contextlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.discord.journal import Journal
from tests.fakes.discord.world import Payload, World

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID_SESSION, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
PRESENCE, VOICE, MEMBERS = 3, 4, 8

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 0, 1 << 9, 1 << 12, 1 << 15
GUILD_POLLS, DIRECT_POLLS = 1 << 24, 1 << 25
PRIVILEGED = (1 << 1) | (1 << 8) | MESSAGE_CONTENT
HEARTBEAT_MS = 41_250


@dataclass
class Session:
    """What one IDENTIFY began: its events are kept until the bot has a socket again."""

    id: str
    intents: int
    shard: tuple[int, int]
    token: str
    sent: list[tuple[int, str]] = field(default_factory=list)
    socket: web.WebSocketResponse | None = None
    ended: bool = False

    def serves(self, server_id: int | None) -> bool:
        """Direct messages and what has no server go to shard 0."""
        number, count = self.shard
        return number == (0 if server_id is None else (server_id >> 22) % count)


class Gateway:
    def __init__(self, world: World, journal: Journal, token: str) -> None:
        self._world = world
        self._journal = journal
        self._token = token
        self.allowed_intents = ~PRIVILEGED
        """Grows by MESSAGE_CONTENT when the developer portal grants it."""
        self.portal_is_ahead = False
        """True: the portal says that Message Content is granted, and the gateway does not know yet."""
        self.shards = 1
        self.sessions: dict[str, Session] = {}
        self.address = ""
        self.deaf = False
        """True while nobody can connect: the vendor is down."""

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=1 << 20)
        await socket.prepare(request)
        if self.deaf:
            await socket.close(code=1011)
            return socket
        await self._send(socket, {"op": HELLO, "d": {"heartbeat_interval": HEARTBEAT_MS}})
        session: Session | None = None
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    break
                frame = json.loads(message.data)
                session = await self._hear(socket, frame, session) or session
        except ConnectionError:
            pass
        finally:
            if session is not None and session.socket is socket:
                session.socket = None
                if socket.close_code in (1000, 1001):  # a client that says goodbye ends its session
                    self.sessions.pop(session.id, None)
                    session.ended = True
            await self._journal.changed()
        return socket

    async def _hear(self, socket: web.WebSocketResponse, frame: Payload, session: Session | None) -> Session | None:
        match frame.get("op"):
            case 1:
                await self._send(socket, {"op": ACK})
            case 2:
                return await self._identify(socket, frame["d"])
            case 6:
                return await self._resume(socket, frame["d"])
            case 3 | 4 | 8:
                self._journal.note("GATEWAY", f"op {frame['op']}")
            case other:
                self._journal.breaches.append(f"gateway: unknown op {other}")
                await socket.close(code=4001)
        return session

    async def _identify(self, socket: web.WebSocketResponse, data: Payload) -> Session | None:
        entry = self._journal.note("GATEWAY", "identify", body={"intents": data["intents"], "shard": data.get("shard")})
        if data["token"] != self._token:
            await socket.close(code=4004, message=b"Authentication failed.")
            return None
        if data["intents"] & ~self.allowed_intents:
            entry.code = 4014
            await socket.close(code=4014, message=b"Disallowed intent(s).")
            return None
        number, count = data.get("shard") or (0, 1)
        session = Session(secrets.token_hex(16), data["intents"], (number, count), data["token"])
        session.socket = socket
        self.sessions[session.id] = session
        servers = [server for server in self._world.servers.values() if session.serves(server.id)]
        bot = self._world.bot
        await self._say(
            session,
            "READY",
            {
                "v": 10,
                "user": bot.wire(),
                "guilds": [{"id": str(server.id), "unavailable": True} for server in servers],
                "session_id": session.id,
                "resume_gateway_url": self.address,
                "shard": [number, count],
                "application": {"id": str(bot.id), "flags": self.application_flags()},
                "private_channels": [],
            },
        )
        for server in servers:
            if session.intents & GUILDS:
                await self._say(session, "GUILD_CREATE", self._world.guild(server))
        await self._journal.changed()
        return session

    def application_flags(self) -> int:
        limited_content = 1 << 19
        return limited_content if self.portal_is_ahead or self.allowed_intents & MESSAGE_CONTENT else 0

    async def _resume(self, socket: web.WebSocketResponse, data: Payload) -> Session | None:
        entry = self._journal.note("GATEWAY", "resume", body={"seq": data["seq"]})
        session = self.sessions.get(data["session_id"])
        if session is None or session.ended or data["token"] != session.token:
            entry.code = 1
            await self._send(socket, {"op": INVALID_SESSION, "d": False})
            return None
        session.socket = socket
        for number, frame in session.sent:
            if number > data["seq"]:
                await socket.send_str(frame)
        await self._say(session, "RESUMED", {})
        await self._journal.changed()
        return session

    async def dispatch(self, event: str, data: Payload, *, server_id: int | None, intent: int) -> int:
        """Tell every session that may hear it; how many did, now or (without a socket) once they resume."""
        told = 0
        for session in list(self.sessions.values()):
            if session.serves(server_id) and (session.intents & intent or not intent):
                await self._say(session, event, self._censored(event, data, session))
                told += 1
        return told

    def _censored(self, event: str, data: Payload, session: Session) -> Payload:
        """Without the intent, what members wrote is withheld, unless it is addressed to the bot or its own."""
        if event not in ("MESSAGE_CREATE", "MESSAGE_UPDATE") or session.intents & MESSAGE_CONTENT:
            return data
        return censored(data, self._world.bot.id)

    async def _say(self, session: Session, event: str, data: Payload) -> None:
        number = (session.sent[-1][0] if session.sent else 0) + 1
        frame = json.dumps({"op": DISPATCH, "t": event, "s": number, "d": data})
        session.sent.append((number, frame))
        del session.sent[:-2_000]
        if session.socket is not None and not session.socket.closed:
            try:
                await session.socket.send_str(frame)
            except ConnectionError:
                session.socket = None

    async def repeat_last(self, event: str) -> None:
        """The last event of this kind once more, with a number of its own: a duplicate delivery."""
        for session in list(self.sessions.values()):
            for _, frame in reversed(session.sent):
                told: dict[str, Any] = json.loads(frame)
                if told["t"] == event:
                    await self._say(session, event, told["d"])
                    break

    async def drop(self) -> None:
        """Cut every socket without a word, as a broken network does. Sessions stay."""
        for session in list(self.sessions.values()):
            if session.socket is not None:
                socket, session.socket = session.socket, None
                await _cut(socket)

    async def ask_to_reconnect(self) -> None:
        """The vendor's own wish (op 7); the session can be resumed."""
        for session in list(self.sessions.values()):
            if session.socket is not None:
                await self._send(session.socket, {"op": RECONNECT, "d": None})

    async def invalidate(self) -> None:
        """End every session for good: what happens until the bot has identified anew is never told."""
        for session in list(self.sessions.values()):
            self.sessions.pop(session.id)
            session.ended = True
            if session.socket is not None:
                await self._send(session.socket, {"op": INVALID_SESSION, "d": False})

    @staticmethod
    async def _send(socket: web.WebSocketResponse, frame: Payload) -> None:
        with contextlib.suppress(ConnectionError):
            await socket.send_str(json.dumps(frame))


async def _cut(socket: web.WebSocketResponse) -> None:
    await socket.close(code=4000, message=b"", drain=False)
    await asyncio.sleep(0)


def censored(message: Payload, bot_id: int) -> Payload:
    """A message as a bot without the Message Content intent gets it."""
    direct = "guild_id" not in message
    mentioned = any(person["id"] == str(bot_id) for person in message["mentions"])
    if direct or mentioned or message["author"]["id"] == str(bot_id):
        return message
    shown = message | {"content": "", "attachments": [], "embeds": [], "components": []}
    shown.pop("poll", None)
    if referenced := message.get("referenced_message"):
        shown["referenced_message"] = censored(referenced | {"guild_id": message["guild_id"]}, bot_id)
    return shown
