"""`chat` and `demo`: the dialogue in the terminal."""

import sys
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path

from adapters.console.app import Console
from adapters.console.here import local_reader
from adapters.console.talk import talk
from adapters.console.terminal import Terminal
from adapters.web.spots import spot_of
from bot.books import DEMO_BOOK
from bot.config import WEB_PORT, Config
from bot.folder import hold_for, make_folder
from bot.watchdog import watched
from bot.wiring import new_id, open_club
from core.model import Passage
from core.strings import say

_TOUR = (
    "Who has taken Netherfield Park?",
    "Who inherits Longbourn?",
    "1",
)


def run(arguments: Namespace, config: Config) -> int:
    """Hold the dialogue; exit code 0 when the reader leaves or the input ends."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    terminal = Terminal(sys.stdin, sys.stdout, locale=config.locale, colour=config.colour)
    demo = arguments.command == "demo"
    if demo and arguments.data is None:
        config = replace(config, data=config.data / "demo")  # the tour does not touch the reader's own shelf
        make_folder(config.data)

    address = f"http://127.0.0.1:{config.web_port or WEB_PORT}"

    def link(passage: Passage) -> str:
        return address + spot_of(passage).path  # opens while `run` serves this folder's page

    if demo:
        serving = f"{_program()} run --data {config.data}"
        terminal.write(say("web_demo", config.locale, command=serving, address=address) + "\n\n")
    watching = ExitStack()

    async def open_console() -> Console:
        watching.enter_context(watched())
        club = await open_club(config)
        if not demo:
            club.summaries.work_behind()
        club.tidy_behind()
        password = None if demo else arguments.password
        return Console(club, local_reader(config.locale), new_id, Path.cwd(), password, link)

    with hold_for(config, "chat"), watching:
        talk(
            open_console,
            terminal,
            books=[DEMO_BOOK] if demo else [Path(name) for name in arguments.books],
            script=_TOUR if demo else (),
            listen=terminal.live or not demo,
        )
    return 0


def _program() -> str:
    """How this program was started, so that it can be started again."""
    return "loccit" if Path(sys.argv[0]).name == "loccit" else f"{sys.executable} -m bot"
