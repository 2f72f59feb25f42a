"""Buttons of the desk that were shown a while ago: each does what stood on it, or says in a sentence why not."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.desk import Desk
from core.document import plain
from core.errors import LoccitError
from core.model import Choice, Reader, Reply
from core.strings import say
from tests.clubs import ROOM, TestClub, lantern_house, long_book, open_club

KEEPER = Reader("keeper", "en", manages=True)
STRANGER = Reader("stranger", "en")


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    async with open_club(tmp_path) as opened:
        yield opened


def _desk(club: TestClub) -> Desk:
    return Desk(club.club, lambda name: f"/{name}")


async def _type(club: TestClub, line: str, reader: Reader = KEEPER, *, private: bool = False) -> Reply:
    name, _, words = line.partition(" ")
    reply = await _desk(club).command(ROOM, reader, name, words, event=line, private=private)
    assert isinstance(reply, Reply)
    return reply


async def _press(club: TestClub, choice: Choice, reader: Reader = KEEPER, *, private: bool = False) -> str:
    try:
        reply = await _desk(club).press(ROOM, reader, choice.id, event="e", private=private)
    except LoccitError as refused:
        return f"refused: {say(refused.key, reader.locale, **refused.params)}"
    assert isinstance(reply, Reply)
    return plain(reply.document)


def _labelled(reply: Reply, label: str) -> Choice:
    return next(choice for row in reply.choices for choice in row if choice.label == label)


def _acts(reply: Reply) -> list[Choice]:
    return [choice for row in reply.choices for choice in row if choice.kind in ("act", "step", "note")]


async def test_an_undo_brings_back_the_book_that_it_stands_under(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await club.shelve(long_book(2))
    first, second = await _type(club, "remove Lantern"), await _type(club, "remove Log")
    assert "The Lantern House is back" in await _press(club, _labelled(first, "Undo"))
    assert "nothing to bring back" in await _press(club, _labelled(first, "Undo"))
    assert "The Log of Days is back" in await _press(club, _labelled(second, "Undo"))


async def test_an_undo_takes_back_no_later_change_of_the_clubs_place(club: TestClub) -> None:
    await club.shelve(lantern_house())
    first, second = await _type(club, "progress finished 2"), await _type(club, "progress start")
    assert "There is no change to take back" in await _press(club, _labelled(first, "Undo"))
    assert (await club.club.progress(ROOM, KEEPER))[1].words == "start"
    assert "chapter 2" in await _press(club, _labelled(second, "Undo"))


async def test_a_place_pressed_twice_is_one_change_and_is_taken_back_as_one(club: TestClub) -> None:
    await club.shelve(long_book(12, 300))
    await _type(club, "progress finished 1")
    picker = await _type(club, "progress")
    again = _labelled(picker, "Ch. 5 read")
    told = await _desk(club).press(ROOM, KEEPER, again.id, event="e")
    assert isinstance(told, Reply)
    assert "chapter 5" in await _press(club, again)
    assert "chapter 1 again" in await _press(club, _labelled(told, "Undo"))
    assert "There is no change to take back" in await _press(club, _labelled(told, "Undo"))


async def test_no_button_of_a_book_that_is_gone_shows_an_id(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await club.shelve(long_book(70, 300))
    await _type(club, "use Log")
    await _type(club, "schedule finished 1 2026-12-05")
    old = [
        *_acts(await _type(club, "books")),
        *_acts(await _type(club, "remove")),
        *_acts(await _type(club, "progress")),
        *_acts(await _type(club, "progress finished 40")),
        *_acts(await _type(club, "toc")),
        *_acts(await _type(club, "who day")),
        *_acts(await _type(club, "quote day")),
        *_acts(await _type(club, "discuss 3")),
        *_acts(await _type(club, "recap")),
        *_acts(await _type(club, "forget book Log")),
    ]
    await _type(club, "remove Log")
    for other_left in (True, False):
        if not other_left:
            await _type(club, "remove Lantern")
        for choice in old:
            if choice.label in ("Undo", "Use The Lantern House", "Remove The Lantern House", "Remove a book …"):
                continue
            said = await _press(club, choice)
            assert said.strip(), choice.label
            assert not re.search(r"[0-9a-f]{16}", said), (choice.label, said)


async def test_a_draft_that_may_not_be_shown_any_more_gives_way_to_a_new_one(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await club.shelve(long_book(2))
    await _type(club, "use Log")
    draft = await _type(club, "discuss 1")
    await _type(club, "remove Log")
    new = await _type(club, "discuss")
    assert "Questions on The Lantern House" in plain(new.document)
    assert "removed" in await _press(club, _labelled(draft, "Post"))
    await _type(club, "progress finished 1")
    again = await _type(club, "discuss")
    assert "up to chapter 1" in plain(again.document)
    assert "moved back" in await _press(club, _labelled(new, "Post"))


async def test_what_is_taken_down_is_what_the_list_shows_under_that_number(club: TestClub) -> None:
    await club.shelve(lantern_house())
    for words in ("green ink", "smells of salt"):
        found = await _type(club, f"quote {words}")
        opened = await _desk(club).press(ROOM, KEEPER, _labelled(found, "Open 1").id, event="e")
        assert isinstance(opened, Reply)
        await _press(club, _labelled(opened, "Save the quote"))
    await _type(club, "place finished 2")
    listed = plain((await _type(club, "quotes", private=True)).document)
    assert "green ink" in listed
    assert "salt" not in listed
    exported = await _type(club, "quotes export", private=True)
    assert "salt" not in exported.attachments[0].data.decode()
    await _type(club, "quotes remove 1", private=True)
    left = plain((await _type(club, "quotes")).document)
    assert "salt" in left
    assert "green ink" not in left


async def test_the_model_is_chosen_by_who_manages_the_chat(club: TestClub) -> None:
    with pytest.raises(LoccitError, match="managers_only"):
        await _type(club, "model other", STRANGER)
    assert plain((await _type(club, "model", STRANGER)).document)
