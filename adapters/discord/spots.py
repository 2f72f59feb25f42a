"""Where something is said, and by whom: taken from what Discord tells, kept with an event, read again after a restart."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import discord

from core.model import Conversation, Reader

PLATFORM = "discord"
TOKEN_LIVES = 14.5 * 60
"""Seconds an interaction's token is relied on; the vendor keeps it fifteen minutes."""

_LOCALES = {"es-ES": "es", "es-419": "es", "pt-BR": "pt", "en-US": "en", "en-GB": "en"}


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an answer goes: a channel or thread, perhaps as a reply; or by the token of an interaction."""

    channel: int
    reply_to: int | None = None
    token: str | None = None
    born: float = 0.0
    """When the interaction began, in seconds since 1970."""
    private: bool = False
    """Only the one who asked sees it."""

    def speaks(self, now: datetime) -> bool:
        """True while the token can be used."""
        return self.token is not None and now.timestamp() < self.born + TOKEN_LIVES


@dataclass(frozen=True, slots=True)
class Who:
    """Whoever speaks, and the conversation they speak in."""

    conversation: Conversation
    reader: Reader
    direct: bool = False
    """Nobody else is in this chat."""

    def written(self) -> dict[str, Any]:
        return {"where": _fields(self.conversation), "reader": _fields(self.reader), "direct": self.direct}

    @staticmethod
    def read(payload: Mapping[str, Any]) -> "Who":
        return Who(Conversation(**payload["where"]), Reader(**payload["reader"]), bool(payload["direct"]))


def _fields(value: Conversation | Reader) -> dict[str, Any]:
    """As JSON values; a person's name is for what is said now and goes on no record."""
    return {key: kept for key, kept in asdict(value).items() if kept is not None and key != "name"}


def read_spot(payload: Mapping[str, Any]) -> Spot:
    return Spot(**payload)


def conversation_of(channel: Any, guild_id: int | None) -> Conversation:
    """A thread belongs to its channel: books and rights are the channel's."""
    server = None if guild_id is None else str(guild_id)
    if isinstance(channel, discord.Thread):
        return Conversation(PLATFORM, str(channel.parent_id), str(channel.id), server)
    return Conversation(PLATFORM, str(channel.id), None, server)


def locale_of(locale: discord.Locale | str | None) -> str | None:
    """The reader's language as core.strings names it; what it does not have falls back there."""
    if locale is None:
        return None
    name = str(locale)
    return _LOCALES.get(name, name)


def manages(permissions: discord.Permissions) -> bool:
    return permissions.manage_channels or permissions.administrator


def who_wrote(message: discord.Message, locale: str | None) -> Who:
    """The author of a message. `locale`: their language, when it is known from an earlier interaction."""
    channel, author = message.channel, message.author
    if message.guild is None:
        return Who(conversation_of(channel, None), Reader(str(author.id), locale, manages=True), direct=True)
    may = isinstance(author, discord.Member) and manages(_permissions(channel, author))
    own = locale or locale_of(message.guild.preferred_locale)
    reader = Reader(str(author.id), own, manages=may, name=author.display_name)
    return Who(conversation_of(channel, message.guild.id), reader)


def _permissions(channel: Any, member: discord.Member) -> discord.Permissions:
    """What a member may do in a channel; what their roles say, where a thread's channel is not known."""
    try:
        found: discord.Permissions = channel.permissions_for(member)
    except (AttributeError, discord.ClientException):
        return member.guild_permissions
    return found


def who_used(interaction: "discord.Interaction[Any]") -> Who:
    """Whoever used a command or pressed a button."""
    locale = locale_of(interaction.locale)
    id = str(interaction.user.id)
    if interaction.guild_id is None:
        channel = Conversation(PLATFORM, str(interaction.channel_id))
        return Who(channel, Reader(id, locale, manages=True), direct=True)
    where = conversation_of(interaction.channel, interaction.guild_id)
    reader = Reader(id, locale, manages=manages(interaction.permissions), name=interaction.user.display_name)
    return Who(where, reader)


def spot_of(interaction: "discord.Interaction[Any]", *, private: bool = False) -> Spot:
    born = discord.utils.snowflake_time(interaction.id).timestamp()
    return Spot(int(interaction.channel_id or 0), None, interaction.token, born, private)
