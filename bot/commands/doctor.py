"""`doctor`: what is set up and what works, one line each."""

import asyncio
from argparse import Namespace
from collections.abc import Mapping

from bot.config import SETTINGS, Config
from bot.folder import hold_for
from bot.health import examine_data
from bot.wiring import open_model
from core.errors import OperatorError
from core.model import Notice
from core.strings import tell


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; 1 when the language model or a platform is set up and does not answer."""
    found, healthy = asyncio.run(_examine_all(config))
    for notice in found:
        print(tell(notice, config.locale))
    return 0 if healthy else 1


async def _examine_all(config: Config) -> tuple[list[Notice], bool]:
    data, sound, health = await examine_data(config)
    # A database that an older version left is not changed by looking at it, nor one that cannot be read.
    found, healthy = await _examine(config, keep=sound and (health is None or health.newest))
    found, healthy = [*data, *found], sound and healthy
    if config.telegram_bot_token:
        from adapters.telegram.doctor import examine
        from bot.running import telegram_settings

        more, well = await examine(telegram_settings(config))
        found, healthy = [*found, *more], healthy and well
    if config.discord_token:
        from adapters.discord.doctor import examine as examine_discord
        from bot.running import discord_settings

        more, well = await examine_discord(discord_settings(config))
        found, healthy = [*found, *more], healthy and well
    if config.slack_bot_token:
        from adapters.slack.doctor import examine as examine_slack
        from bot.running import slack_settings

        more, well = await examine_slack(slack_settings(config))
        found, healthy = [*found, *more], healthy and well
    return found, healthy


async def _examine(config: Config, *, keep: bool) -> tuple[list[Notice], bool]:
    try:
        model = open_model(config)
    except OperatorError as error:  # all else is examined nevertheless
        return [Notice(error.key, error.params)], False
    if model is None:
        return [Notice("doctor_offline")], True
    from core.llm import describe, probe

    try:
        found = await probe(model)
    finally:
        await model.close()
    if found.failure is not None:
        return describe(found), False
    unkept = await _remember(config, model.name, found.facts) if keep else [Notice("doctor_not_kept")]
    return [*describe(found), *unkept, *_open_doors(config)], True


async def _remember(config: Config, name: str, facts: Mapping[str, str | int | bool]) -> list[Notice]:
    """Keep what was found with the model: its answers go by it from the first one on. Why not, where that cannot be."""
    from core.store import Store

    try:
        with hold_for(config, "command"):
            store = await Store.open(config.database_url or "", config.data)
            try:
                await store.models.learn(name, facts)
            finally:
                await store.close()
    except OperatorError as error:
        return [Notice("doctor_not_kept"), Notice(error.key, error.params)]
    return []


def _open_doors(config: Config) -> list[Notice]:
    """What lets strangers spend the operator's money."""
    if found := [SETTINGS[key] for key in ("allow_chats", "allow_uploaders") if not getattr(config, key)]:
        return [Notice("doctor_everyone", {"settings": ", ".join(found)})]
    return []
