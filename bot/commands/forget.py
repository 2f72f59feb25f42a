"""`forget`: what whoever runs the bot deletes for somebody who asks for it, without a chat."""

import asyncio
import re
import sys
from argparse import Namespace

from bot.config import Config
from bot.folder import hold_for
from bot.output import print_lines
from bot.wiring import open_club
from core.errors import ReaderError
from core.model import Conversation, Forgotten, Reader
from core.strings import LOCALES, say
from core.strings.counts import counted

_KEEPER = Reader("operator", manages=True)
_SHA256 = re.compile("[0-9a-f]{64}")


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; its exit code. Raises ReaderError for a name that cannot be one, and when nobody says yes."""
    kind, name = arguments.kind, arguments.name
    platform, _, id = name.partition(":")
    if kind == "book" and not _SHA256.fullmatch(name):
        raise ReaderError("forget_which_book", name=name)
    if kind != "book" and not (platform and id):
        raise ReaderError("forget_which", name=name)
    if not arguments.yes:
        _ask(kind, name, config.locale)
    with hold_for(config, "command"):
        gone = asyncio.run(_forget(config, kind, name))
    print_lines([say("forgotten", config.locale, counts=counted(gone, config.locale))])
    return 0


def _ask(kind: str, name: str, locale: str) -> None:
    """Wait for a typed yes; over a pipe it is the first line."""
    print(say(f"forget_{kind}_sure", locale, name=name), file=sys.stderr, flush=True)
    yes = {say("word_yes", each) for each in LOCALES}
    if sys.stdin.readline().strip().lower() not in yes:
        raise ReaderError("forget_not_done")


async def _forget(config: Config, kind: str, name: str) -> Forgotten:
    platform, _, id = name.partition(":")
    club = await open_club(config)
    try:
        if kind == "reader":
            return await club.forget_reader(platform, id)
        if kind == "channel":
            return await club.forget_channel(Conversation(platform, id), _KEEPER)
        return await club.forget_everywhere(name)
    finally:
        await club.close()
