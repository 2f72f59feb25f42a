"""What the bot has to be allowed: the invite link, and what is missing where."""

from collections.abc import Iterable

import discord

NEEDED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    attach_files=True,
    read_message_history=True,
)
"""Exactly these: no embeds, no reactions, nothing of members or messages of others is managed."""

SCOPES = ("bot", "applications.commands")


def invite(application: int) -> str:
    """The address by which somebody who manages a server lets the bot in."""
    return discord.utils.oauth_url(application, permissions=NEEDED, scopes=SCOPES)


def missing(permissions: discord.Permissions) -> list[str]:
    """The names of what is needed and not granted, as the vendor's library spells them."""
    if permissions.administrator:
        return []
    return [name for name, needed in NEEDED if needed and not getattr(permissions, name)]


def channels(guild: discord.Guild, me: discord.Member, all: Iterable[discord.abc.GuildChannel]) -> dict[str, list[str]]:
    """Per text channel what is missing; channels where nothing is missing are left out."""
    found = {}
    for channel in all:
        if isinstance(channel, discord.TextChannel | discord.ForumChannel | discord.VoiceChannel):
            if isinstance(channel, discord.VoiceChannel):
                continue
            if lacks := missing(channel.permissions_for(me)):
                found[channel.name] = lacks
    return found
