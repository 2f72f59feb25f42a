"""`doctor`: what is set up and what works, one line each."""

import asyncio
from argparse import Namespace

from bot.config import SETTINGS, Config
from bot.wiring import open_model
from core.model import Notice
from core.strings import tell


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; 1 when the language model is set up and does not answer."""
    found, healthy = asyncio.run(_examine(config))
    for notice in found:
        print(tell(notice, config.locale))
    return 0 if healthy else 1


async def _examine(config: Config) -> tuple[list[Notice], bool]:
    model = open_model(config)
    if model is None:
        return [Notice("doctor_offline")], True
    from core.llm import describe, probe

    try:
        found = await probe(model)
    finally:
        await model.close()
    healthy = found.failure is None
    return [*describe(found), *(_open_doors(config) if healthy else ())], healthy


def _open_doors(config: Config) -> list[Notice]:
    """What lets strangers spend the operator's money."""
    if found := [SETTINGS[key] for key in ("allow_chats", "allow_uploaders") if not getattr(config, key)]:
        return [Notice("doctor_everyone", {"settings": ", ".join(found)})]
    return []
