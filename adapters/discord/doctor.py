"""What `loccit doctor` says about Discord: whether the token works, the invite link, and per channel what is missing."""

import aiohttp
import discord

from adapters.discord import rights
from adapters.discord.app import Settings, direct, intents
from core.model import Notice

_SERVERS = 20
"""Servers that are looked through: each costs two requests and the others are no different."""


async def examine(settings: Settings) -> tuple[list[Notice], bool]:
    """Sentences for whoever runs the bot, and whether all is well. Only asks; the bot need not be running."""
    direct(settings)
    client = discord.Client(intents=discord.Intents(guilds=True))
    try:
        await client.login(settings.token)
        return await _examine(client)
    except discord.LoginFailure:
        return [Notice("doctor_discord_refused")], False
    except (discord.HTTPException, aiohttp.ClientError, OSError):
        return [Notice("doctor_discord_unreachable")], False
    finally:
        await client.close()


async def _examine(client: discord.Client) -> tuple[list[Notice], bool]:
    application = await client.application_info()
    content = "on" if intents(application).message_content else "off"
    me = client.user
    name = me.name if me is not None else application.name
    found = [
        Notice(f"doctor_discord_content_{content}", {"name": name}),
        Notice("doctor_discord_invite", {"link": rights.invite(application.id)}),
    ]
    well = True
    async for server in client.fetch_guilds(limit=_SERVERS):
        more = await _channels(client, server.id)
        found += more
        well = well and all(notice.key == "doctor_discord_fine" for notice in more)
    return found, well


async def _channels(client: discord.Client, server: int) -> list[Notice]:
    guild = await client.fetch_guild(server, with_counts=False)
    me = await guild.fetch_member(client.user.id if client.user is not None else 0)
    channels = [channel for channel in await guild.fetch_channels() if isinstance(channel, discord.TextChannel)]
    found = [
        Notice("doctor_discord_missing", {"channel": channel.name, "server": guild.name, "missing": ", ".join(lacks)})
        for channel in channels
        if (lacks := rights.missing(channel.permissions_for(me)))
    ]
    return found or [Notice("doctor_discord_fine", {"server": guild.name, "count": len(channels)})]
