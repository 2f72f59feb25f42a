"""`loccit run` with Telegram alone and without waiting for the vendor's limits: run as a program, so that it can be killed."""

import asyncio
import os
import sys
from collections.abc import Sequence
from functools import partial

from adapters.telegram.app import serve
from adapters.telegram.limiter import Pace
from bot.config import read_config
from bot.folder import hold, make_folder
from bot.logs import silence, start_logs
from bot.running import run, telegram_settings

FAST = Pace(group=10**6, window=1.0, burst=10**6, gap=0.0, altogether=10**6, action_gap=4.0)


def main(words: Sequence[str] = ()) -> int:
    silence()
    config = read_config(os.environ)
    make_folder(config.data)
    start_logs(config.data, verbose=False)
    serving = {"telegram": partial(serve, settings=telegram_settings(config), pace=FAST)}
    with hold(config.data, "chat"):
        return asyncio.run(run(config, serving))


if __name__ == "__main__":
    sys.exit(main())
