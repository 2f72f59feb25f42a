"""What the bot has to be allowed: the invite link, and what is missing where."""

from collections.abc import Sequence

import discord

from core.model import Check, Conversation
from core.strings import say

NEEDED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    attach_files=True,
    read_message_history=True,
    send_polls=True,
)
"""Exactly these: no embeds, no reactions, nothing of members or messages of others is managed."""

_SHOWN = {"read_messages": "view channel", "send_polls": "create polls"}
"""Where the vendor's pages call a permission something else than the library does."""

SCOPES = ("bot", "applications.commands")


def invite(application: int) -> str:
    """The address by which somebody who manages a server lets the bot in."""
    return discord.utils.oauth_url(application, permissions=NEEDED, scopes=SCOPES)


def missing(permissions: discord.Permissions) -> list[str]:
    """The names of what is needed and not granted, as the vendor's pages call them."""
    if permissions.administrator:
        return []
    return [
        _SHOWN.get(name, name.replace("_", " ")) for name, needed in NEEDED if needed and not getattr(permissions, name)
    ]


async def checks(client: discord.Client, where: Conversation, locale: str | None) -> Sequence[Check]:
    """What the bot may do in a channel as the gateway tells it now, and whether it hears what is not addressed to it."""
    if where.server is None:  # in a direct chat everything is permitted, and everything heard
        return ()
    channel = client.get_channel(int(where.channel))
    if not isinstance(channel, discord.abc.GuildChannel):
        return (Check(False, say("discord_setup_unseen", locale)),)
    lacks = missing(channel.permissions_for(channel.guild.me))
    if lacks:
        text = say("discord_setup_missing", locale, channel=channel.name, missing=", ".join(lacks))
    else:
        text = say("discord_setup_rights", locale, channel=channel.name)
    content = "on" if client.intents.message_content else "off"
    return (Check(not lacks, text), Check(True, say(f"discord_setup_content_{content}", locale)))
