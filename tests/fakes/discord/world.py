"""What the pretended Discord holds: people, servers, channels, messages; and the wire form of each."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Payload = dict[str, Any]

EPOCH_MS = 1_420_070_400_000
"""Discord's own epoch: ids hold the milliseconds since then."""

# Permission bits, from the vendor's table.
ADD_REACTIONS = 1 << 6
VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11
EMBED_LINKS = 1 << 14
ATTACH_FILES = 1 << 15
READ_HISTORY = 1 << 16
MANAGE_CHANNELS = 1 << 4
MANAGE_MESSAGES = 1 << 13
CREATE_PUBLIC_THREADS = 1 << 35
SEND_IN_THREADS = 1 << 38
SEND_POLLS = 1 << 49
ADMINISTRATOR = 1 << 3

MEMBERS_DO = VIEW_CHANNEL | SEND_MESSAGES | READ_HISTORY | ATTACH_FILES | ADD_REACTIONS | SEND_IN_THREADS
BOT_NEEDS = (
    VIEW_CHANNEL | SEND_MESSAGES | SEND_IN_THREADS | ATTACH_FILES | READ_HISTORY | CREATE_PUBLIC_THREADS | SEND_POLLS
)

TEXT, DIRECT, PUBLIC_THREAD = 0, 1, 11
DEFAULT, REPLY, THREAD_CREATED, POLL_RESULT = 0, 19, 18, 46
EPHEMERAL = 1 << 6
LOADING = 1 << 7


class Snowflakes:
    """Ids that hold their time, as the vendor's do: clients read from an interaction's id when its token ends."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self._count = 0

    def make(self) -> int:
        self._count += 1
        return self.at(self.clock()) | (self._count & 0x3FFFFF)

    @staticmethod
    def at(seconds: float) -> int:
        return (int(seconds * 1000) - EPOCH_MS) << 22

    @staticmethod
    def seconds(id: int) -> float:
        """When an id was made, in seconds since 1970."""
        return ((id >> 22) + EPOCH_MS) / 1000


@dataclass
class Person:
    id: int
    name: str
    bot: bool = False
    locale: str = "en-US"

    def wire(self) -> Payload:
        return {
            "id": str(self.id),
            "username": self.name,
            "global_name": None if self.bot else self.name,
            "discriminator": "0",
            "avatar": None,
            "bot": self.bot,
        }


@dataclass
class Server:
    """A guild. Everyone may do `everyone`; the bot's own role adds `bot_role`; `managers` administer it."""

    id: int
    name: str
    owner: int
    everyone: int = MEMBERS_DO
    bot_role: int = BOT_NEEDS
    members: dict[int, Person] = field(default_factory=dict)
    managers: set[int] = field(default_factory=set)
    locale: str = "en-US"

    @property
    def bot_role_id(self) -> int:
        return self.id + 1

    @property
    def manager_role_id(self) -> int:
        return self.id + 2

    def roles(self) -> list[Payload]:
        made = (
            (self.id, "@everyone", self.everyone),
            (self.bot_role_id, "Loccit", self.bot_role),
            (self.manager_role_id, "Organisers", self.everyone | MANAGE_CHANNELS | MANAGE_MESSAGES),
        )
        return [
            {
                "id": str(id),
                "name": name,
                "permissions": str(bits),
                "color": 0,
                "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
                "hoist": False,
                "managed": False,
                "mentionable": False,
                "position": position,
                "flags": 0,
            }
            for position, (id, name, bits) in enumerate(made)
        ]

    def member(self, person: Person, *, user: bool = True) -> Payload:
        roles = [self.bot_role_id] if person.bot else [self.manager_role_id] if person.id in self.managers else []
        member: Payload = {
            "roles": [str(role) for role in roles],
            "joined_at": "2026-01-01T00:00:00+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
            "nick": None,
            "avatar": None,
        }
        return member | ({"user": person.wire()} if user else {})


@dataclass
class Channel:
    """A text channel, a thread (its `parent` set) or a direct conversation (`server` None)."""

    id: int
    name: str
    kind: int = TEXT
    server: Server | None = None
    parent: "Channel | None" = None
    recipient: Person | None = None
    denied_bot: int = 0
    """Permission bits an overwrite takes from the bot here."""
    archived: bool = False
    messages: dict[int, Payload] = field(default_factory=dict)
    last: int | None = None

    def bits(self, person: Person) -> int:
        """What a person may do here."""
        if self.parent is not None:
            return self.parent.bits(person)
        if self.server is None:
            return MEMBERS_DO | EMBED_LINKS | SEND_POLLS
        bits = self.server.everyone
        if person.bot:
            bits = (bits | self.server.bot_role) & ~self.denied_bot
        elif person.id in self.server.managers or person.id == self.server.owner:
            bits |= MANAGE_CHANNELS | MANAGE_MESSAGES
        return bits

    def wire(self) -> Payload:
        channel: Payload = {
            "id": str(self.id),
            "type": self.kind,
            "last_message_id": None if self.last is None else str(self.last),
            "flags": 0,
        }
        if self.kind == DIRECT:
            return channel | {"recipients": [self.recipient.wire()] if self.recipient else []}
        assert self.server is not None
        channel |= {"name": self.name, "guild_id": str(self.server.id), "nsfw": False, "rate_limit_per_user": 0}
        if self.parent is not None:
            return channel | {
                "parent_id": str(self.parent.id),
                "owner_id": str(self.server.owner),
                "message_count": len(self.messages),
                "member_count": 1,
                "thread_metadata": {
                    "archived": self.archived,
                    "auto_archive_duration": 1440,
                    "archive_timestamp": moment(time.time()),
                    "locked": False,
                },
            }
        overwrites = (
            [{"id": str(self.server.bot_role_id), "type": 0, "allow": "0", "deny": str(self.denied_bot)}]
            if self.denied_bot
            else []
        )
        return channel | {"topic": None, "position": 0, "parent_id": None, "permission_overwrites": overwrites}


@dataclass
class World:
    """Everything there is; messages are kept in their wire form, unfiltered."""

    flakes: Snowflakes
    bot: Person
    people: dict[int, Person] = field(default_factory=dict)
    servers: dict[int, Server] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    direct: dict[int, Channel] = field(default_factory=dict)
    """Person -> the conversation of the two."""

    def person(self, name: str, *, locale: str = "en-US") -> Person:
        person = Person(self.flakes.make(), name, locale=locale)
        self.people[person.id] = person
        return person

    def server(self, name: str, owner: Person) -> Server:
        while (id := self.flakes.make() & ~0xF) in self.servers:  # two of one moment are still two
            pass
        server = Server(id, name, owner.id)
        server.members = {owner.id: owner, self.bot.id: self.bot}
        self.servers[server.id] = server
        return server

    def channel(self, server: Server, name: str) -> Channel:
        channel = Channel(self.flakes.make(), name, TEXT, server)
        self.channels[channel.id] = channel
        return channel

    def thread(self, parent: Channel, name: str, id: int | None = None) -> Channel:
        thread = Channel(id or self.flakes.make(), name, PUBLIC_THREAD, parent.server, parent)
        self.channels[thread.id] = thread
        return thread

    def direct_with(self, person: Person) -> Channel:
        if person.id not in self.direct:
            channel = Channel(self.flakes.make(), person.name, DIRECT, recipient=person)
            self.direct[person.id] = self.channels[channel.id] = channel
        return self.direct[person.id]

    def guild(self, server: Server) -> Payload:
        """The wire form that the gateway sends when a server becomes available."""
        here = [channel for channel in self.channels.values() if channel.server is server]
        return {
            "id": str(server.id),
            "name": server.name,
            "owner_id": str(server.owner),
            "roles": server.roles(),
            "emojis": [],
            "stickers": [],
            "features": [],
            "channels": [channel.wire() for channel in here if channel.parent is None],
            "threads": [channel.wire() for channel in here if channel.parent is not None and not channel.archived],
            "members": [server.member(self.bot)],
            "member_count": len(server.members),
            "joined_at": "2026-01-01T00:00:00+00:00",
            "large": False,
            "unavailable": False,
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "afk_timeout": 300,
            "premium_tier": 0,
            "premium_progress_bar_enabled": False,
            "preferred_locale": server.locale,
            "system_channel_id": None,
            "system_channel_flags": 0,
            "nsfw_level": 0,
            "mfa_level": 0,
        }

    def message(self, channel: Channel, author: Person, content: str, **more: Any) -> Payload:
        """A new message, kept in its channel unless it is for one person only."""
        id = self.flakes.make()
        message: Payload = {
            "id": str(id),
            "channel_id": str(channel.id),
            "type": DEFAULT,
            "author": author.wire(),
            "content": content,
            "timestamp": moment(self.flakes.clock()),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "reactions": [],
            "pinned": False,
            "flags": 0,
        } | more
        channel.messages[id] = message
        channel.last = id
        return message


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def brief(message: Mapping[str, Any]) -> Payload:
    """A message as it is quoted inside another one: without what it refers to itself."""
    return {key: value for key, value in message.items() if key != "referenced_message"}
