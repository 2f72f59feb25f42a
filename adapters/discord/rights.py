"""What the bot has to be allowed: the invite link, and what is missing where."""

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

_SHOWN = {"read_messages": "view channel"}
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
