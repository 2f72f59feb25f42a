"""`loccit run` at work: every configured platform until a signal; one that the operator must mend leaves the others up."""

import asyncio
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Awaitable, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from adapters.host import Host
from bot.config import Config
from bot.failures import explain
from bot.imports import importing
from bot.watchdog import watched
from bot.web import Web
from bot.wiring import new_id, now, open_club
from core.club import Club
from core.errors import OperatorError
from core.model import Notice
from core.strings import tell

if TYPE_CHECKING:
    from adapters.discord import app as discord
    from adapters.slack import app as slack
    from adapters.telegram import app as telegram

log = logging.getLogger(__name__)

MISCONFIGURED = 78
"""Exit code EX_CONFIG of sysexits.h: starting again changes nothing, so a supervisor need not try."""

PARTING = 6.0
"""Seconds the platforms have to finish what they are sending when a signal comes."""
LAST_RESORT = 9.5
"""Seconds from the signal to the end of the process, whatever still works; everything acknowledged is stored."""


class Serve(Protocol):
    """`serve` of a platform with its settings filled in."""

    def __call__(self, club: Club, *, host: Host) -> Awaitable[None]: ...


def platforms(config: Config) -> Mapping[str, Serve]:
    """What is configured, by platform name; its libraries are imported only then."""
    found: dict[str, Serve] = {}
    if config.telegram_bot_token:
        with importing():
            from adapters.telegram import app as telegram

        found["telegram"] = partial(telegram.serve, settings=telegram_settings(config))
    if config.discord_token:
        with importing():
            from adapters.discord import app as discord

        found["discord"] = partial(discord.serve, settings=discord_settings(config))
    if config.slack_bot_token:
        found["slack"] = partial(_serve_slack, config)
    return found


def telegram_settings(config: Config) -> "telegram.Settings":
    from adapters.telegram.app import Settings

    token = config.telegram_bot_token or ""
    return Settings(token, config.telegram_base_url, config.telegram_base_file_url)


async def _serve_slack(config: Config, club: Club, *, host: Host) -> None:
    with importing():
        from adapters.slack import app as slack

    await slack.serve(club, settings=slack_settings(config), host=host)


def discord_settings(config: Config) -> "discord.Settings":
    from adapters.discord.app import Settings

    return Settings(config.discord_token or "", config.discord_api_base, config.discord_gateway)


def slack_settings(config: Config) -> "slack.Settings":
    """Raises OperatorError when neither way for events to arrive is set."""
    from adapters.slack.door import API, Settings
    from adapters.slack.tokens import Rotation

    http = bool(config.slack_port)
    if not (config.slack_signing_secret if http else config.slack_app_token):
        raise OperatorError("slack_no_app_token")
    rotation = None
    if config.slack_refresh_token:
        if not config.slack_client_id or not config.slack_client_secret:
            raise OperatorError("slack_no_client")
        rotation = Rotation(config.slack_client_id, config.slack_client_secret, config.slack_refresh_token)
    return Settings(
        config.slack_bot_token or "",
        config.slack_app_token or "",
        config.slack_api_base or API,
        config.slack_signing_secret or "",
        config.slack_port or 0,
        rotation,
        config.slack_managers,
        config.slack_sockets,
    )


async def run(config: Config, serving: Mapping[str, Serve] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit code. `serving` in place of what is configured: for tests and embedding."""
    serving = platforms(config) if serving is None else serving
    web = Web(config, page=not serving)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, _end, stop)
    club = await open_club(config)
    try:
        club.summaries.work_behind()
        club.tidy_behind()
        with watched():
            return await _serve(serving, web, club, config, stop)
    finally:
        await club.close()


def _end(stop: asyncio.Event) -> None:
    stop.set()
    last = threading.Timer(LAST_RESORT, os._exit, (0,))
    last.daemon = True
    last.start()


async def _serve(serving: Mapping[str, Serve], web: Web, club: Club, config: Config, stop: asyncio.Event) -> int:
    """Wait for the signal or for the last platform to give up; with none, for the web page."""
    tasks = {
        name: asyncio.create_task(_guarded(serve, club, _host(name, config, web), config.locale), name=name)
        for name, serve in serving.items()
    }
    page = partial(web.serve, platforms=lambda: {name: not task.done() for name, task in tasks.items()})
    beside = asyncio.create_task(_guarded(page, club, _host("web", config, web), config.locale), name="web")
    stopping = asyncio.create_task(stop.wait())
    waiting = set(tasks.values()) or {beside}
    while waiting and not stop.is_set():
        ended, _ = await asyncio.wait({*waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        waiting -= ended
    stopping.cancel()
    waiting.add(beside)
    for task in waiting:
        task.cancel()
    if waiting:
        await asyncio.wait(waiting, timeout=PARTING)
    return 0 if stop.is_set() else MISCONFIGURED


async def _guarded(serve: Serve, club: Club, host: Host, locale: str) -> None:
    """The outer edge of one platform: what ends it is one sentence, and the others stay up."""
    try:
        await serve(club, host=host)
    except Exception as error:  # noqa: BLE001  # the edge of a platform: the others must not go down with it
        _, sentence = explain(error, locale)
        print(sentence, file=sys.stderr, flush=True)


def _host(name: str, config: Config, web: Web) -> Host:
    folder = config.data / "arriving" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Host(
        folder=folder,
        locale=config.locale,
        now=now,
        clock=monotonic,
        sleep=asyncio.sleep,
        new_id=new_id,
        source=config.source_url,
        tell=partial(_say, locale=config.locale),
        link_for=web.link_for,
    )


def _say(notice: Notice, locale: str) -> None:
    print(tell(notice, locale), file=sys.stderr, flush=True)
