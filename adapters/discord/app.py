"""Discord, connected: logging in, the gateway's events handed on, and everything that runs beside them."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import datetime
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
from adapters.discord.slash import Slash, Translator
from adapters.discord.work import Work
from adapters.host import Host
from adapters.lanes import Lanes
from core.club import Club
from core.desk import Desk
from core.errors import OperatorError
from core.model import Conversation, Notice

log = logging.getLogger(__name__)

_AGAIN = 15.0
"""Seconds before a connection that could not be made is tried again."""
_ATTEMPTS = (1.0, 3.0, 10.0, 30.0, 60.0)
"""Seconds before something that could not be put on record is tried again; after the last it is left to the next session."""


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
        )
        self._ours = Connection(club, desk, self, Line(self, host.now), host)
        self._answers = Answers(self._ours)
        api_host = urlsplit(settings.api_base).netloc if settings.api_base else None
        self._letters = Letters(self._ours)
        self.work = Work(self._ours, self._answers, Books(self._ours, api_host), self._letters.outbox.nudge)
        self._presses = Presses(self._ours, self._answers, self.work, self._letters.outbox.nudge)
        self._hearing = Hearing(self._ours, self.work, self._answers)
        self._catching = Catching(self._ours, self._hearing)
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)
        Slash(self._ours, self.work).register(self.tree)
        self._ears = Lanes()
        self._begun = asyncio.Event()
        self._up: set[int] = set()
        """Shards that are connected and have missed nothing."""
        self._sessions: Counter[int] = Counter()
        """How many sessions each shard has had."""
        self._unread: dict[int, set[int]] = {}
        """By shard, the channels that have to be caught up."""
        self._held: dict[int, list[discord.Message]] = {}
        """By shard in a new session, what is said until it is known which channels have to be caught up first."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._once = False

    async def setup_hook(self) -> None:
        Button.hear = self._presses.hear
        self.add_dynamic_items(Button)
        await self.tree.set_translator(Translator())
        await self.tree.sync()
        self._behind(self._catching.beat(lambda: self._up), "beat")

    def _behind(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _serves(self, where: Conversation) -> bool:
        """True when the conversation's shard is one of this process."""
        return shard_of(where, self.shard_count or 1) in self.shards

    def _is_of(self, shard: int, where: Conversation) -> bool:
        return shard_of(where, self.shard_count or 1) == shard

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
                self._behind(self._answers.bring_unshown(known), "unshown answers")
                self._behind(self._answers.answer_kept(), "kept questions")
                self._behind(self._letters.outbox.drain(self._host.sleep), "letters")
        finally:
            self._begun.set()
        name = self.user.name if self.user is not None else ""
        self._host.tell(Notice("run_up", {"platform": "Discord", "name": name}))

    async def on_shard_connect(self, shard: int) -> None:
        """A new session: in each channel what was said before it is heard first, so that the order is kept."""
        self._up.discard(shard)
        self._sessions[shard] += 1
        self._unread[shard] = set()
        self._held.setdefault(shard, [])

    async def on_shard_ready(self, shard: int) -> None:
        await self._begun.wait()
        session = self._sessions[shard]
        if not await self._patiently(partial(self._catch_up, shard, session), "sessions"):
            log.error("a session is not caught up", extra={"shard": shard})

    async def _catch_up(self, shard: int, session: int) -> None:
        """Put the reading of each channel that missed something before what is said there from now on."""
        missed = await self._catching.missed(shard)
        if self._sessions[shard] != session:
            return  # a newer session does it
        await polls.missed(self._ours, self.work.take, partial(self._is_of, shard))
        self._unread[shard] = {channel.id for channel, _ in missed}
        for channel, since in missed:
            self._ears.add(_place(channel), partial(self._read, shard, session, channel, since))
        for message in self._held.pop(shard, ()):
            self._listen(shard, message)
        if not missed:
            await self._complete(shard)

    async def _read(self, shard: int, session: int, channel: Any, since: datetime) -> None:
        """Catch a channel up; one that cannot be read for long is looked at again in the next session, as far back."""
        if await self._patiently(partial(self._catching.read, channel, since), str(channel.id)):
            if self._sessions[shard] == session:
                self._unread[shard].discard(channel.id)
                if not self._unread[shard]:
                    await self._complete(shard)
        else:
            log.error("a channel is not caught up", extra={"channel": str(channel.id)})

    async def _complete(self, shard: int) -> None:
        """Nothing is missing any more: the next session need not look back further than to now."""
        self._up.add(shard)
        await self._catching.note((shard,))

    async def _patiently(self, work: Callable[[], Awaitable[object]], what: str) -> bool:
        """Do something that may be repeated, again when it fails; False when it fails for long."""
        for pause in (*_ATTEMPTS, None):
            try:
                await work()
                return True
            except Exception as error:  # the outer edge of one attempt
                log.warning("not on record yet", exc_info=error, extra={"what": what, "again_in": pause})
                if pause is not None:
                    await self._host.sleep(pause)
        return False

    async def on_shard_disconnect(self, shard: int) -> None:
        self._up.discard(shard)

    async def on_shard_resumed(self, shard: int) -> None:
        """What happened meanwhile has been told."""
        if shard not in self._held and not self._unread.get(shard):
            self._up.add(shard)

    # The library starts a task for each event, and tasks overtake each other: what is said in a channel goes on record in
    # the order it came.

    async def on_message(self, message: discord.Message) -> None:
        shard = 0 if message.guild is None else message.guild.shard_id
        if shard in self._held:
            self._held[shard].append(message)
        else:
            self._listen(shard, message)

    def _listen(self, shard: int, message: discord.Message) -> None:
        self._ears.add(_place(message.channel), partial(self._hear, shard, message))

    async def _hear(self, shard: int, message: discord.Message) -> None:
        if not await self._patiently(partial(self._hearing.heard, message), str(message.channel.id)):
            # Whatever session comes next looks back for it.
            self._up.discard(shard)
            self._unread.setdefault(shard, set()).add(message.channel.id)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        self._ears.add(_place(payload.message.channel), partial(self._hearing.heard_again, payload.message))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        self._ears.add(str(payload.channel_id), partial(self._hearing.gone, payload.channel_id, payload.message_id))

    async def on_raw_poll_vote_add(self, told: discord.RawPollVoteActionEvent) -> None:
        self._vote(told, back=False)

    async def on_raw_poll_vote_remove(self, told: discord.RawPollVoteActionEvent) -> None:
        self._vote(told, back=True)

    def _vote(self, told: discord.RawPollVoteActionEvent, *, back: bool) -> None:
        self._ears.add(str(told.channel_id), partial(polls.heard, self._ours, self.work.take, told, back=back))

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
        await self._ears.close()
        await self.work.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._catching.note(self._up)
        await self.close()


def _place(channel: Any) -> str:
    """The lane of a channel; threads keep the order of theirs."""
    return str(channel.parent_id if isinstance(channel, discord.Thread) else channel.id)
