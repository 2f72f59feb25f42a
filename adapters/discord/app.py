"""Discord, connected: logging in, the gateway's events handed on, and everything that runs beside them."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import discord
import yarl
from discord import app_commands

from adapters.discord import polls, rights
from adapters.discord.answers import Answers
from adapters.discord.books import Books
from adapters.discord.buttons import Button, Interaction, is_ours
from adapters.discord.catching import Catching
from adapters.discord.connection import Connection, spell
from adapters.discord.hearing import Hearing
from adapters.discord.leases import RENEW, Leases, shard_of
from adapters.discord.letters import Letters
from adapters.discord.line import SILENT, Line
from adapters.discord.presses import Presses
from adapters.discord.sessions import Sessions
from adapters.discord.slash import Slash, Translator
from adapters.discord.work import Work
from adapters.host import Host
from core.club import Club
from core.desk import Desk
from core.errors import OperatorError
from core.model import Conversation, Notice

log = logging.getLogger(__name__)

_AGAIN = 15.0
"""Seconds before a connection that could not be made is tried again."""


@dataclass(frozen=True, slots=True)
class Settings:
    token: str = field(repr=False)
    api_base: str | None = None
    """Another place than the vendor's, ending in `/api/v10`."""
    gateway: str | None = None
    """`ws://` or `wss://`."""
    ready: float = 1.0
    """Seconds without another server after which the library calls itself ready."""
    content: bool = True
    """False: what members write to others is not asked for even where it is granted."""


async def serve(club: Club, settings: Settings, host: Host) -> None:
    """Serve until cancelled. Raises OperatorError `token_refused`; what passes by itself is told once and waited out."""
    direct(settings)
    told = False
    while True:
        try:
            await _connected(club, settings, host)
            return
        except discord.LoginFailure as error:
            raise OperatorError("token_refused", platform="Discord", setting="DISCORD_TOKEN") from error
        except discord.PrivilegedIntentsRequired:
            # The portal and the gateway can disagree for a while; everything else works without it.
            settings = replace(settings, content=False)
        except (
            aiohttp.ClientError,
            discord.GatewayNotFound,
            discord.HTTPException,
            discord.ConnectionClosed,
            OSError,
        ) as error:
            if isinstance(error, discord.HTTPException) and error.status == 401:
                raise OperatorError("token_refused", platform="Discord", setting="DISCORD_TOKEN") from error
            log.warning("no connection", extra={"reason": type(error).__name__})
            if not told:
                host.tell(Notice("platform_unreachable", {"platform": "Discord"}))
                told = True
            await host.sleep(_AGAIN)


def direct(settings: Settings) -> None:
    """Point the library at another Discord; these class attributes are the only door it has for that."""
    if settings.api_base:
        discord.http.Route.BASE = settings.api_base.rstrip("/")
    if settings.gateway:
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway)


async def granted(token: str) -> discord.AppInfo:
    """What the developer portal says of this bot. Raises discord.LoginFailure."""
    client = discord.Client(intents=discord.Intents(guilds=True))
    try:
        await client.login(token)
        return await client.application_info()
    finally:
        await client.close()


def intents(application: discord.AppInfo, wanted: bool = True) -> discord.Intents:
    """Servers and messages; what members write to others only where it is `wanted` and the portal grants it."""
    flags = application.flags
    content = wanted and (flags.gateway_message_content or flags.gateway_message_content_limited)
    return discord.Intents(
        guilds=True, guild_messages=True, dm_messages=True, guild_polls=True, dm_polls=True, message_content=content
    )


async def _connected(club: Club, settings: Settings, host: Host) -> None:
    application = await granted(settings.token)
    if club.post.shared:
        await _sharing(club, settings, host, application)
        return
    client = Bot(club, settings, host, intents(application, settings.content))
    try:
        await client.start(settings.token)
    finally:
        await client.leave()


async def _sharing(club: Club, settings: Settings, host: Host, application: discord.AppInfo) -> None:
    """Serve a share of the shards; with every change of the share the connection is made anew. Without any: wait."""
    leases = Leases(club.post, host, host.new_id())
    try:
        while True:
            count = await shards(settings.token)
            mine = await leases.settle(count)
            if not mine:
                await host.sleep(RENEW)
                continue
            client = Bot(club, settings, host, intents(application, settings.content), mine, count)
            await _share(client, settings, leases, count)
    finally:
        await leases.leave()


async def _share(client: "Bot", settings: Settings, leases: Leases, count: int) -> None:
    serving = asyncio.create_task(client.start(settings.token))
    keeping = asyncio.create_task(leases.keep(count))
    try:
        await asyncio.wait({serving, keeping}, return_when=asyncio.FIRST_COMPLETED)
        for task in (serving, keeping):
            if task.done():
                task.result()
    finally:
        keeping.cancel()
        await client.leave()
        serving.cancel()
        await asyncio.gather(serving, keeping, return_exceptions=True)


async def shards(token: str) -> int:
    """How many shards the vendor wants."""
    client = discord.Client(intents=discord.Intents(guilds=True))
    try:
        await client.login(token)
        count, _, _ = await client.http.get_bot_gateway()
        return count
    finally:
        await client.close()


class Bot(discord.AutoShardedClient):
    """The library's client with our parts around it."""

    def __init__(
        self,
        club: Club,
        settings: Settings,
        host: Host,
        intents: discord.Intents,
        shards: tuple[int, ...] | None = None,
        count: int | None = None,
    ) -> None:
        """`shards` of `count` are served; None: as many as the vendor wants, all of them."""
        share: dict[str, Any] = {} if shards is None else {"shard_ids": list(shards), "shard_count": count}
        super().__init__(
            **share,
            intents=intents,
            allowed_mentions=SILENT,
            guild_ready_timeout=settings.ready,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
        )
        self._host = host
        desk = Desk(
            club,
            spell,
            source=host.source,
            link_for=host.link_for,
            checks=lambda where, locale: rights.checks(self, where, locale),
            gather=lambda poll: polls.gather(self._ours, poll),
            stands=lambda poll: polls.stands(self._ours, poll),
        )
        self._ours = Connection(club, desk, self, Line(self, host.now), host)
        self._answers = Answers(self._ours)
        api_host = urlsplit(settings.api_base).netloc if settings.api_base else None
        self._letters = Letters(self._ours)
        self.work = Work(self._ours, self._answers, Books(self._ours, api_host), self._letters.outbox.nudge)
        self._presses = Presses(self._ours, self._answers, self.work, self._letters.outbox.nudge)
        hearing = Hearing(self._ours, self.work, self._answers)
        self._sessions = Sessions(host, hearing, Catching(self._ours, hearing), self._missed_votes)
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)
        Slash(self._ours, self.work).register(self.tree)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._once = False

    async def setup_hook(self) -> None:
        Button.hear = self._presses.hear
        self.add_dynamic_items(Button)
        await self.tree.set_translator(Translator())
        await self.tree.sync()
        self._behind(self._sessions.beat(), "beat")

    def _behind(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _serves(self, where: Conversation) -> bool:
        """True when the conversation's shard is one of this process."""
        return shard_of(where, self.shard_count or 1) in self.shards

    async def _missed_votes(self, shard: int) -> None:
        count = self.shard_count or 1
        await polls.missed(self._ours, self.work.take, lambda where: shard_of(where, count) == shard)

    @property
    def _first(self) -> bool:
        """True for the process that serves the first shard: what is not of one shard is done there."""
        return 0 in self.shards

    async def on_ready(self) -> None:
        """Once, when every shard is there: go on with what was left, before anything newer is heard."""
        if self._once:
            return
        self._once = True
        try:
            known = await self.work.resume(self._serves)
            if self._first:
                self._behind(self._answers.kept.drain(self._host.sleep, known), "kept questions")
                self._behind(self._letters.outbox.drain(self._host.sleep), "letters")
        finally:
            self._sessions.begin()
        name = self.user.name if self.user is not None else ""
        self._host.tell(Notice("run_up", {"platform": "Discord", "name": name}))

    async def on_shard_connect(self, shard: int) -> None:
        self._sessions.connected(shard)

    async def on_shard_ready(self, shard: int) -> None:
        await self._sessions.ready(shard)

    async def on_shard_disconnect(self, shard: int) -> None:
        self._sessions.disconnected(shard)

    async def on_shard_resumed(self, shard: int) -> None:
        self._sessions.resumed(shard)

    async def on_message(self, message: discord.Message) -> None:
        self._sessions.said(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        self._sessions.changed(payload)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        self._sessions.deleted(payload)

    async def on_raw_poll_vote_add(self, told: discord.RawPollVoteActionEvent) -> None:
        self._vote(told, back=False)

    async def on_raw_poll_vote_remove(self, told: discord.RawPollVoteActionEvent) -> None:
        self._vote(told, back=True)

    def _vote(self, told: discord.RawPollVoteActionEvent, *, back: bool) -> None:
        keep = partial(polls.heard, self._ours, self.work.take, told, back=back)
        self._sessions.soon(str(told.channel_id), keep)

    async def on_interaction(self, interaction: Interaction) -> None:
        """Presses of buttons that no item of ours hears: still one clear sentence. And forms that were filled in."""
        if interaction.type is discord.InteractionType.component:
            data: Any = interaction.data
            if not is_ours(interaction, str(data["custom_id"])):
                await self._presses.unknown(interaction)
        elif interaction.type is discord.InteractionType.modal_submit:
            await self._presses.filled(interaction)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._letters.greet(guild)

    async def on_error(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """The outer edge of the gateway's events."""
        log.exception("an event failed", extra={"event_name": event})

    async def leave(self) -> None:
        """Stop what is under way and close the connection. What was recorded is taken up at the next start."""
        await self._sessions.leave()
        await self.work.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._sessions.note()
        await self.close()
