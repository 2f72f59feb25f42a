"""`worker`: make summaries from the queue on a PostgreSQL server until a signal; as many such processes as wanted."""

import asyncio
import signal
import sys
from argparse import Namespace

from bot.config import Config
from bot.watchdog import watched
from bot.wiring import open_club, open_model
from core.errors import OperatorError
from core.strings import say


def run(arguments: Namespace, config: Config) -> int:
    """0 when a signal ended it. Raises OperatorError without a server or without a language model."""
    if not config.served:
        raise OperatorError("worker_no_server")
    if open_model(config) is None:
        raise OperatorError("index_no_model")
    asyncio.run(_work(config))
    return 0


async def _work(config: Config) -> None:
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    club = await open_club(config, works=True)
    try:
        club.summaries.work_behind()
        print(say("worker_works", config.locale), file=sys.stderr, flush=True)
        with watched():
            await stop.wait()
    finally:
        await club.close()
