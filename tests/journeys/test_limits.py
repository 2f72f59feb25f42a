"""Reading limits as a club meets them: set, felt in every corner, taken back; and a reader's own place."""

from pathlib import Path

from tests.books.lantern_epub import CHAPTERS, lantern_house
from tests.journeys.room import Room

COAT = "Whose coat was in the suitcase?"
LATER_TITLES = [title for title, _ in CHAPTERS[1:]]


async def test_a_spoiler_question_reads_like_one_the_book_never_answers_until_the_club_moves_on(
    room: Room, tmp_path: Path
) -> None:
    await room.upload(lantern_house(tmp_path))
    assert "chapter 1" in await room.command("progress", "finished 1")
    later, never = await room.ask(COAT), await room.ask("What did the zeppelin carry?")
    assert later == never
    assert "oilskin" not in later
    assert "chapter 2" in await room.command("progress", "chapter 2")
    assert "chapter 3" in await room.command("progress", "finished 3")
    assert "oilskin" in await room.ask(COAT)


async def test_no_corner_names_what_lies_past_the_limit_also_after_a_restart(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    assert "oilskin" in await room.ask(COAT)
    await room.command("progress", "in 2")
    await room.restart(kill=True)
    before = len(room.seen())
    for number in ("1", "2"):
        await room.press(number)
    for name, words in (
        ("toc", ""),
        ("books", ""),
        ("help", ""),
        ("progress", ""),
        ("progress", "finished The"),
        ("progress", "page 7"),
        ("place", ""),
        ("quote", "It still smells of salt"),
        ("quote", "Tuesday ferry"),
    ):
        await room.command(name, words)
    await room.ask("What is the book about?")
    shown = "\n".join(room.seen()[before:])
    assert "Green Ink" in shown
    for word in (*LATER_TITLES, "oilskin", "surveyor", "smells", "with one suitcase"):
        assert word not in shown, word


async def test_a_change_of_the_clubs_limit_can_be_taken_back(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    await room.command("progress", "finished 1")
    await room.command("progress", "all")
    assert "chapter 1" in await room.command("progress", "undo")
    assert "oilskin" not in await room.ask(COAT)


async def test_a_passage_past_a_readers_own_place_comes_with_a_warning_first(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    assert "oilskin" in await room.ask(COAT)
    await room.command("place", "finished 1")
    warned = await room.press("1")
    assert "oilskin" not in warned
    assert "chapter 1" in warned
    assert "oilskin" in await room.press("1")
