"""The routes that need the bot's token: itself, its commands, channels, messages, threads."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.fakes.discord import checks, world
from tests.fakes.discord.cdn import FileServer
from tests.fakes.discord.checks import Refusal, invalid
from tests.fakes.discord.gateway import DIRECT_MESSAGES, GUILD_MESSAGES, GUILDS, MESSAGE_CONTENT, Gateway, censored
from tests.fakes.discord.polls import Polls, check_poll
from tests.fakes.discord.wire import Sent, body_of, reply
from tests.fakes.discord.world import Channel, Payload, Person, Snowflakes, World, brief, moment

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_OLD = 3_600.0
_EDITS_OF_OLD = 3
"""How many edits of messages older than an hour go through here; the vendor has a limit (30046) and does not tell it."""
HISTORY_MOST = 100


class Rest:
    def __init__(self, world: World, gateway: Gateway, files: FileServer, clock: Callable[[], float]) -> None:
        self._world = world
        self._gateway = gateway
        self._files = files
        self._clock = clock
        self.commands: list[Payload] = []
        self.invites: set[int] = set()
        self._old_edits: dict[int, int] = {}
        self.nonces: dict[tuple[int, str], Payload] = {}
        self.polls = Polls(world, gateway, clock, self.tell)

    def routes(self) -> list[tuple[str, str, Handler]]:
        message = "/channels/{channel}/messages/{message}"
        return [
            ("GET", "/gateway", self.gateway),
            ("GET", "/gateway/bot", self.gateway),
            ("GET", "/users/@me", self.me),
            ("GET", "/users/@me/guilds", self.my_guilds),
            ("POST", "/users/@me/channels", self.open_direct),
            ("GET", "/users/{user}", self.user),
            ("GET", "/oauth2/applications/@me", self.application),
            ("GET", "/applications/@me", self.application),
            ("GET", "/applications/{application}/commands", self.list_commands),
            ("PUT", "/applications/{application}/commands", self.put_commands),
            ("GET", "/guilds/{guild}", self.guild),
            ("GET", "/guilds/{guild}/channels", self.guild_channels),
            ("GET", "/guilds/{guild}/threads/active", self.active_threads),
            ("GET", "/guilds/{guild}/members/{user}", self.member),
            ("GET", "/channels/{channel}", self.channel),
            ("PATCH", "/channels/{channel}", self.edit_channel),
            ("POST", "/channels/{channel}/typing", self.typing),
            ("GET", "/channels/{channel}/messages", self.history),
            ("POST", "/channels/{channel}/messages", self.create),
            ("GET", message, self.message),
            ("PATCH", message, self.edit),
            ("DELETE", message, self.delete),
            ("PUT", message + "/reactions/{emoji}/@me", self.react),
            ("DELETE", message + "/reactions/{emoji}/@me", self.unreact),
            ("POST", message + "/threads", self.thread),
            ("GET", "/channels/{channel}/polls/{message}/answers/{answer}", self.voters),
            ("POST", "/channels/{channel}/polls/{message}/expire", self.expire),
        ]

    # The bot itself

    async def gateway(self, _: web.Request) -> web.Response:
        limit = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return reply({"url": self._gateway.address, "shards": self._gateway.shards, "session_start_limit": limit})

    async def me(self, _: web.Request) -> web.Response:
        return reply(self._world.bot.wire())

    async def user(self, request: web.Request) -> web.Response:
        person = self._world.people.get(int(request.match_info["user"]))
        if person is None:
            raise Refusal(404, 10013, "Unknown User")
        return reply(person.wire())

    async def application(self, _: web.Request) -> web.Response:
        bot = self._world.bot
        return reply(
            {
                "id": str(bot.id),
                "name": bot.name,
                "description": "",
                "icon": None,
                "bot_public": False,
                "bot_require_code_grant": False,
                "verify_key": "0" * 64,
                "owner": next(iter(self._world.people.values()), bot).wire(),
                "flags": self._gateway.application_flags(),
                "team": None,
                "approximate_guild_count": len(self._world.servers),
                "summary": "",
            }
        )

    async def my_guilds(self, _: web.Request) -> web.Response:
        bot = self._world.bot
        return reply(
            [
                {
                    "id": str(server.id),
                    "name": server.name,
                    "owner": False,
                    "permissions": str(server.everyone | server.bot_role),
                    "features": [],
                    "icon": None,
                }
                for server in self._world.servers.values()
                if bot.id in server.members
            ]
        )

    async def open_direct(self, request: web.Request) -> web.Response:
        body, _ = await body_of(request)
        person = self._world.people.get(int(body["recipient_id"]))
        if person is None:
            raise Refusal(400, 50033, "Invalid Recipient(s)")
        return reply(self._world.direct_with(person).wire())

    async def list_commands(self, _: web.Request) -> web.Response:
        return reply(self.commands)

    async def put_commands(self, request: web.Request) -> web.Response:
        body, _ = await body_of(request)
        commands = body["items"]
        checks.check_commands(commands)
        bot = str(self._world.bot.id)
        self.commands = [
            {
                "id": str(self._world.flakes.make()),
                "application_id": bot,
                "version": "1",
                "default_member_permissions": None,
            }
            | {"type": 1, "description": ""}
            | command
            for command in commands
        ]
        return reply(self.commands)

    # Servers and channels

    async def guild(self, request: web.Request) -> web.Response:
        return reply(self._world.guild(self._server(request)))

    async def guild_channels(self, request: web.Request) -> web.Response:
        server = self._server(request)
        here = [channel for channel in self._world.channels.values() if channel.server is server]
        return reply([channel.wire() for channel in here if channel.parent is None])

    async def active_threads(self, request: web.Request) -> web.Response:
        server = self._server(request)
        threads = [
            channel.wire()
            for channel in self._world.channels.values()
            if channel.server is server and channel.parent is not None and not channel.archived
        ]
        return reply({"threads": threads, "members": []})

    async def member(self, request: web.Request) -> web.Response:
        server = self._server(request)
        person = server.members.get(int(request.match_info["user"]))
        if person is None:
            raise Refusal(404, 10007, "Unknown Member")
        return reply(server.member(person))

    async def channel(self, request: web.Request) -> web.Response:
        return reply(self._channel(request).wire())

    async def edit_channel(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        body, _ = await body_of(request)
        channel.archived = bool(body.get("archived", channel.archived))
        channel.name = body.get("name", channel.name)
        return reply(channel.wire())

    async def typing(self, request: web.Request) -> web.Response:
        self._may(self._channel(request), world.SEND_MESSAGES)
        return reply(None)

    # Messages

    async def history(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        self._may(channel, world.READ_HISTORY)
        most = int(request.query.get("limit", "50"))
        if not 1 <= most <= HISTORY_MOST:
            raise invalid("limit: NUMBER_TYPE_MAX")
        ids = sorted(id for id, message in channel.messages.items() if not message["flags"] & world.EPHEMERAL)
        if after := request.query.get("after"):
            ids = [id for id in ids if id > int(after)][:most]
        elif before := request.query.get("before"):
            ids = [id for id in ids if id < int(before)][-most:]
        else:
            ids = ids[-most:]
        return reply([self.shown(channel, channel.messages[id]) for id in reversed(ids)])

    async def message(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        self._may(channel, world.READ_HISTORY)
        return reply(self.shown(channel, self._message(request, channel)))

    async def create(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        body, files = await body_of(request)
        self._may(channel, world.SEND_IN_THREADS if channel.parent else world.SEND_MESSAGES)
        if files:
            self._may(channel, world.ATTACH_FILES)
        nonce = body.get("nonce")
        if nonce is not None and body.get("enforce_nonce") and (made := self.nonces.get((channel.id, str(nonce)))):
            return reply(made)  # the vendor answers with the message that this nonce made within the last minutes
        checks.check_message(body, len(files))
        more: Payload = {}
        if reference := body.get("message_reference"):
            self._may(channel, world.READ_HISTORY)
            replied = channel.messages.get(int(reference["message_id"]))
            if replied is None and reference.get("fail_if_not_exists", True):
                raise invalid("message_reference: REPLIES_UNKNOWN_MESSAGE")
            if replied is not None:
                more = {
                    "type": world.REPLY,
                    "message_reference": {"message_id": replied["id"], "channel_id": str(channel.id), "type": 0},
                    "referenced_message": brief(replied),
                }
        message = self.post(channel, self._world.bot, body, files, **more)
        if nonce is not None:
            self.nonces[channel.id, str(nonce)] = message
        await self.tell("MESSAGE_CREATE", channel, message)
        return reply(self.shown(channel, message))

    def post(self, channel: Channel, author: Person, body: Payload, files: list[Sent], **more: Any) -> Payload:
        """Keep a new message, its pings worked out the way the vendor does."""
        poll = body.get("poll")
        if poll is not None:
            if author is self._world.bot:
                self._may(channel, world.SEND_POLLS)
            if int(body.get("flags") or 0) & world.EPHEMERAL:
                raise invalid("poll: nobody can vote in a message that only one person sees")
            check_poll(poll)
            more["poll"] = self.polls.made(poll)
        kept = [self._files.keep(file, str(channel.id)) for file in files]
        channel.archived = False
        message = self._world.message(channel, author, (body.get("content") or "").strip(), attachments=kept, **more)
        message["embeds"] = body.get("embeds") or []
        message["components"] = numbered(body.get("components") or [])
        message["flags"] |= int(body.get("flags") or 0)
        message["mentions"] = self._pinged(channel, message, body.get("allowed_mentions"))
        message["mention_everyone"] = self._pings_everyone(message["content"], body.get("allowed_mentions"))
        return message

    def _pinged(self, channel: Channel, message: Payload, allowed: Payload | None) -> list[Payload]:
        people = self._world.people | {self._world.bot.id: self._world.bot}
        named = [
            person
            for person in people.values()
            if any(f"<@{mark}{person.id}>" in message["content"] for mark in ("", "!"))
        ]
        replied = message.get("referenced_message")
        author = people.get(int(replied["author"]["id"])) if replied else None
        if allowed is not None:
            if "users" not in allowed.get("parse", []):
                named = [person for person in named if str(person.id) in allowed.get("users", [])]
            if not allowed.get("replied_user"):
                author = None
        if author is not None and author not in named:
            named.append(author)
        return [person.wire() for person in named]

    @staticmethod
    def _pings_everyone(content: str, allowed: Payload | None) -> bool:
        return ("@everyone" in content or "@here" in content) and (
            allowed is None or "everyone" in allowed.get("parse", [])
        )

    async def edit(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        message = self._message(request, channel)
        if message["author"]["id"] != str(self._world.bot.id):
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        body, files = await body_of(request)
        if self._clock() - Snowflakes.seconds(int(message["id"])) > _OLD:
            self._old_edits[channel.id] = self._old_edits.get(channel.id, 0) + 1
            if self._old_edits[channel.id] > _EDITS_OF_OLD:
                raise Refusal(
                    429, 30046, "Maximum number of edits to messages older than 1 hour reached. Try again later"
                )
        self.change(channel, message, body, files)
        await self.tell("MESSAGE_UPDATE", channel, message)
        return reply(self.shown(channel, message))

    def change(self, channel: Channel, message: Payload, body: Payload, files: list[Sent]) -> None:
        checks.check_message(body, len(files), editing=True)
        if "poll" in message:
            raise Refusal(400, 520003, "Cannot edit a poll message")
        if body.get("poll"):  # only the message that says "thinking" becomes one
            if not body.get("was_loading"):
                raise invalid("poll: Cannot add a poll to a message")
            self._may(channel, world.SEND_POLLS)
            check_poll(body["poll"])
            message["poll"] = self.polls.made(body["poll"])
        if "content" in body:
            message["content"] = (body["content"] or "").strip()
        if "embeds" in body:
            message["embeds"] = body["embeds"] or []
        if "components" in body:
            message["components"] = numbered(body["components"] or [])
        if "attachments" in body:
            kept = {item["id"] for item in body["attachments"]}
            message["attachments"] = [item for item in message["attachments"] if item["id"] in kept]
        message["attachments"] = message["attachments"] + [self._files.keep(file, str(channel.id)) for file in files]
        if not (message["content"] or message["embeds"] or message["attachments"] or "poll" in message):
            raise Refusal(400, 50006, "Cannot send an empty message")
        message["edited_timestamp"] = moment(self._clock())

    async def delete(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        message = self._message(request, channel)
        if message["author"]["id"] != str(self._world.bot.id):
            self._may(channel, world.MANAGE_MESSAGES)
        await self.remove(channel, message)
        return reply(None)

    async def remove(self, channel: Channel, message: Payload) -> None:
        del channel.messages[int(message["id"])]
        await self.tell("MESSAGE_DELETE", channel, {"id": message["id"], "channel_id": str(channel.id)})

    async def react(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        self._may(channel, world.ADD_REACTIONS | world.READ_HISTORY)
        message = self._message(request, channel)
        message["reactions"].append(
            {"emoji": {"id": None, "name": request.match_info["emoji"]}, "count": 1, "me": True}
        )
        return reply(None)

    async def unreact(self, request: web.Request) -> web.Response:
        message = self._message(request, self._channel(request))
        emoji = request.match_info["emoji"]
        message["reactions"] = [one for one in message["reactions"] if one["emoji"]["name"] != emoji]
        return reply(None)

    async def thread(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        self._may(channel, world.CREATE_PUBLIC_THREADS)
        message = self._message(request, channel)
        body, _ = await body_of(request)
        if not 1 <= len(body["name"]) <= 100:
            raise invalid("name: BASE_TYPE_BAD_LENGTH")
        if int(message["id"]) in self._world.channels:
            raise Refusal(400, 160004, "A thread has already been created for this message")
        thread = self._world.thread(channel, body["name"], int(message["id"]))
        message["thread"] = thread.wire()
        assert channel.server is not None
        await self._gateway.dispatch(
            "THREAD_CREATE", thread.wire() | {"newly_created": True}, server_id=channel.server.id, intent=GUILDS
        )
        return reply(thread.wire())

    async def voters(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        self._may(channel, world.READ_HISTORY)
        return reply(self.polls.voters(request, self._message(request, channel)))

    async def expire(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        message = self._message(request, channel)
        await self.polls.expire(channel, message)
        return reply(self.shown(channel, message))

    # Shared with interactions and people

    async def tell(self, event: str, channel: Channel, data: Payload) -> int:
        if channel.server is None:
            return await self._gateway.dispatch(event, data, server_id=None, intent=DIRECT_MESSAGES)
        more: Payload = {"guild_id": str(channel.server.id)}
        if author := data.get("author"):
            person = channel.server.members.get(int(author["id"]))
            if person is not None:
                more["member"] = channel.server.member(person, user=False)
        return await self._gateway.dispatch(event, data | more, server_id=channel.server.id, intent=GUILD_MESSAGES)

    def shown(self, channel: Channel, message: Payload) -> Payload:
        """A message as REST gives it to this bot: links signed anew, content withheld without the intent."""
        message = message | {"attachments": [self._files.sign(item) for item in message["attachments"]]}
        if channel.server is None or self._gateway.allowed_intents & MESSAGE_CONTENT:
            return message
        shown = censored(message | {"guild_id": str(channel.server.id)}, self._world.bot.id)
        return {key: value for key, value in shown.items() if key != "guild_id"}

    def _may(self, channel: Channel, bits: int) -> None:
        has = channel.bits(self._world.bot)
        if not has & world.VIEW_CHANNEL:
            raise Refusal(403, 50001, "Missing Access")
        if has & bits != bits:
            raise Refusal(403, 50013, "Missing Permissions")

    def _server(self, request: web.Request) -> world.Server:
        server = self._world.servers.get(int(request.match_info["guild"]))
        if server is None:
            raise Refusal(404, 10004, "Unknown Guild")
        return server

    def _channel(self, request: web.Request) -> Channel:
        channel = self._world.channels.get(int(request.match_info["channel"]))
        if channel is None:
            raise Refusal(404, 10003, "Unknown Channel")
        self._may(channel, 0)
        return channel

    def _message(self, request: web.Request, channel: Channel) -> Payload:
        message = channel.messages.get(int(request.match_info["message"]))
        if message is None or message["flags"] & world.EPHEMERAL:
            raise Refusal(404, 10008, "Unknown Message")
        return message


def numbered(rows: list[Payload]) -> list[Payload]:
    """Components as the vendor gives them back: each with an id of its own."""
    return [
        row
        | {
            "id": 10 * at + 1,
            "components": [item | {"id": 10 * at + 2 + n} for n, item in enumerate(row["components"])],
        }
        for at, row in enumerate(rows)
    ]
