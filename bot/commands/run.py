"""`run`: serve every configured platform until a signal comes."""

import asyncio
from argparse import Namespace

from bot.config import Config
from bot.folder import hold_for
from bot.running import run as serve


def run(arguments: Namespace, config: Config) -> int:
    """0 when a signal ended it; MISCONFIGURED when nothing is configured or every platform refused."""
    with hold_for(config, "chat"):
        return asyncio.run(serve(config))
