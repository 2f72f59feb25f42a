"""Who may change what a chat sees of a book: those who manage the chat, and who added the book; others are refused in words."""

from pathlib import Path

import pytest

from core.errors import Missing, ReaderError
from core.model import Reader, Upload
from core.strings import LOCALES, say
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, long_book, open_club

UPLOADER = MEMBER
"""`TestClub.shelve` adds books in this reader's name."""
MANAGER = Reader("organiser", "en", manages=True)
OTHER = Reader("other", "en")


async def _changes(club: TestClub, reader: Reader) -> list[str]:
    """Everything that changes what others see, tried in order; what was refused."""
    refused = []

    async def tried(name: str) -> None:
        match name:
            case "use":
                await club.club.use(ROOM, reader, "The Lantern House")
            case "progress":
                await club.club.progress(ROOM, reader, "The Lantern House", "finished 1")
            case "undo_progress":
                await club.club.undo_progress(ROOM, reader, "The Lantern House")
            case "remove":
                await club.club.remove(ROOM, reader, "The Lantern House")
            case "undo":
                await club.club.undo(ROOM, reader)

    for name in ("use", "progress", "undo_progress", "remove", "undo"):
        try:
            await tried(name)
        except Missing as error:
            assert (name, error.key) == ("undo", "nothing_to_undo")  # noqa: PT017  # nothing was removed
        except ReaderError as error:
            assert error.key == "book_managers_only"  # noqa: PT017  # each is tried
            refused.append(name)
    return refused


@pytest.mark.parametrize(
    ("reader", "refused"), [(UPLOADER, []), (MANAGER, []), (OTHER, ["use", "progress", "undo_progress", "remove"])]
)
async def test_managers_and_who_added_the_book_may_change_it_and_nobody_else(
    reader: Reader, refused: list[str], tmp_path: Path
) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.shelve(long_book(chapters=3))
        assert await _changes(club, reader) == refused
        titles = [card.title for card in await club.club.shelf(ROOM)]
        assert titles == ["The Lantern House", "The Log of Days"]


async def test_what_another_one_removed_is_brought_back_by_managers_and_who_added_it_only(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.remove(ROOM, MANAGER)
        with pytest.raises(ReaderError, match="book_managers_only"):
            await club.club.undo(ROOM, OTHER)
        assert await club.club.shelf(ROOM) == ()
        assert (await club.club.undo(ROOM, UPLOADER)).title == "The Lantern House"


async def test_a_new_edition_takes_the_place_of_a_book_only_for_who_may_remove_it(tmp_path: Path) -> None:
    file = tmp_path / "edition.txt"
    file.write_text("A lamp was lit on the quay, and nobody had seen who lit it. " * 30)
    async with open_club(tmp_path / "club") as club:
        await club.shelve(lantern_house())
        upload = Upload("edition", ROOM, OTHER, file, file.name)
        with pytest.raises(ReaderError, match="book_managers_only"):
            await anext(club.club.add_book(upload, replaces="The Lantern House"))
        assert [card.title for card in await club.club.shelf(ROOM)] == ["The Lantern House"]


async def test_what_is_ones_own_and_what_only_looks_is_everybodys(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, MANAGER, words="finished 2")
        assert (await club.club.progress(ROOM, OTHER))[1].words == "finished 2"
        assert (await club.club.place(ROOM, OTHER, words="finished 1"))[1].words == "finished 1"
        assert (await club.club.place(ROOM, MEMBER))[1].position is None
        assert (await club.ask("What ink was the log kept in?", reader=OTHER)).answer.outcome == "grounded"


async def test_a_book_whose_uploader_was_forgotten_is_changed_by_managers_alone(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        channel = await club.store.shelf.channel(ROOM, club.clock())
        await club.club.remove(ROOM, MANAGER)
        await club.store.shelf.grant(channel, sha256, "test-1", "", "house.epub", club.clock())
        with pytest.raises(ReaderError, match="book_managers_only"):
            await club.club.progress(ROOM, Reader(""), words="all")
        await club.club.progress(ROOM, MANAGER, words="all")


def test_the_refusal_is_said_in_every_language() -> None:
    assert len({say("book_managers_only", locale) for locale in LOCALES}) == len(LOCALES)
