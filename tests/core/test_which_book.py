"""Where several books are and none was named, every command about one offers them, and goes on with the one that is chosen."""

from pathlib import Path

import pytest

from core.desk import Desk
from core.errors import LoccitError
from core.model import Reader, Reply
from core.strings import say
from tests.clubs import ROOM, TestClub, lantern_house, long_book, open_club
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel

KEEPER = Reader("keeper", "en", manages=True)
OTHER = Reader("other", "en", manages=True)


async def _type(club: TestClub, line: str) -> Reply:
    name, _, words = line.partition(" ")
    desk = Desk(club.club, lambda name: f"/{name}")
    reply = await desk.command(ROOM, KEEPER, name, words, event=f"typed {line}")
    assert isinstance(reply, Reply)
    return reply


async def _choose(club: TestClub, offered: Reply, title: str, reader: Reader = KEEPER) -> Reply:
    [choice] = [choice for row in offered.choices for choice in row if title in choice.label]
    reply = await Desk(club.club, lambda name: f"/{name}").press(ROOM, reader, choice.id, event="pressed")
    assert isinstance(reply, Reply)
    return reply


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("toc", "Green Ink"),
        ("quote It still smells of salt", "Word for word"),
        ("progress", "Lantern House"),
        ("progress finished 2", "chapter 2"),
        ("place finished 1", "chapter 1"),
        ("recap", "Lantern House"),
        ("who Mara", "Mara"),
        ("discuss", "The Lantern House"),
        ("discuss 2", "chapter 2"),
        ("schedule finished 2 tomorrow 18:00", "18:00"),
        ("schedule two chapters a week", "The Lantern House"),
        ("index", "The Lantern House"),
        ("forget book", "The Lantern House"),
    ],
)
async def test_the_books_are_offered_and_the_command_goes_on_with_the_one_chosen(
    tmp_path: Path, line: str, expected: str
) -> None:
    async with open_club(tmp_path, ScriptedModel(lambda _: DRAFT)) as club:
        for book in (long_book(2), lantern_house()):
            await club.shelve(book)
        offered = await _type(club, line)
        assert say("which_book_short", "en") in str(offered.document), offered
        assert len(offered.choices) == 2
        chosen = await _choose(club, offered, "Lantern")
        assert expected in str(chosen.document)
        assert expected in str((await _choose(club, offered, "Lantern")).document)  # a second press does no harm
        with pytest.raises(LoccitError, match="not_your_button"):
            await _choose(club, offered, "Log of Days", OTHER)


async def test_a_draft_of_one_book_is_not_shown_for_another(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        for book in (long_book(2), lantern_house()):
            await club.shelve(book)
        offered = await _type(club, "discuss")
        assert "Lantern House" in str((await _choose(club, offered, "Lantern")).document[0])
        assert "Log of Days" in str((await _choose(club, offered, "Log")).document[0])
