"""What every headless command shares: the club for one run, finding BOOK, printing results and failures."""

import asyncio
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from adapters.console.here import HERE, local_reader, local_upload
from adapters.console.text import Look
from bot.config import Config
from bot.failures import explain
from bot.folder import hold_for
from bot.output import OutputFailed, print_json, print_lines
from bot.shapes import Json
from bot.wiring import new_id, open_club
from core.choosing import SHORTEST_ID
from core.club import Club
from core.errors import Missing
from core.model import BookCard, Ready

_Result = TypeVar("_Result")
_ID = re.compile(rf"[0-9a-fA-F]{{{SHORTEST_ID},64}}")


class Desk:
    """One run of a headless command."""

    def __init__(self, club: Club, runner: asyncio.Runner, arguments: Namespace, config: Config) -> None:
        self.club = club
        self.locale = config.locale
        self.look = Look(config.locale)
        self.failed = False
        self._runner = runner
        self._json: bool = arguments.json
        self._password: str | None = arguments.password
        self._reader = local_reader(config.locale)

    def do(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Wait for `work`. Between two of these nothing runs, so that Ctrl-C ends a blocking read at once."""
        found: list[_Result] = []

        async def keep() -> None:
            found.append(await work)

        self._runner.run(
            keep()
        )  # as the result of a task the whole book would be spelled out, each time, and thrown away
        return found[0]

    def show(self, shape: Callable[[], Json], lines: Callable[[], Sequence[str]]) -> None:
        """Print a result: as JSON when that was asked for, otherwise for people. Only that one is made."""
        if self._json:
            print_json(shape())
        else:
            print_lines(lines())

    @contextmanager
    def failures(self) -> Iterator[None]:
        """An edge around one of several pieces of work: its failure is printed and the rest goes on."""
        try:
            yield
        except (BrokenPipeError, OutputFailed):
            raise
        except Exception as error:  # noqa: BLE001  # the edge of one BOOK or one question; the others still have their turn
            key, message = explain(error, self.locale)
            print(message, file=sys.stderr)
            if self._json:
                print_json({"error": {"key": key, "message": message}})
            self.failed = True

    async def book(self, name: str) -> BookCard:
        """The book BOOK names: a file, added once by its content, or an id. Raises Missing and what adding raises."""
        path = Path(name)
        if _exists(path):
            return await self._added(path)
        shelf = await self.club.shelf(HERE)
        meant = [card for card in shelf if _ID.fullmatch(name) and card.sha256.startswith(name.lower())]
        if len(meant) == 1:
            return meant[0]
        raise Missing("book_id_ambiguous" if meant else "book_not_found", book=name)

    async def _added(self, path: Path) -> BookCard:
        upload = local_upload(path, self._reader, new_id(), self._password)
        async for event in self.club.add_book(upload):
            if isinstance(event, Ready):
                return event.card
        raise Missing("book_not_found", book=str(path))


def run_headless(arguments: Namespace, config: Config, work: Callable[[Desk], None], *, writes: bool = False) -> int:
    """Open the club, do `work`, close; the exit code. BOOKs that are files are written to the data folder."""
    writes = writes or any(_exists(Path(name)) for name in arguments.books)
    with hold_for(config, "command", writes=writes), asyncio.Runner() as runner:
        club = runner.run(open_club(config))
        try:
            desk = Desk(club, runner, arguments, config)
            work(desk)
        finally:
            runner.run(club.close())
    return 1 if desk.failed else 0


def each_book(desk: Desk, names: Sequence[str], work: Callable[[BookCard], None]) -> None:
    """`work` on every BOOK; one that fails does not keep the others from their turn."""
    for name in names:
        with desk.failures():
            work(desk.do(desk.book(name)))


def typed(words: str) -> str:
    """Words of the command line; bytes that are no text become U+FFFD."""
    return words.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name the system does not take
        return False
