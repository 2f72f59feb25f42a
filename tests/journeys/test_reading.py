"""The main journey on every platform: a book, a question, a footnote, its exact passage; and what may go wrong on the way."""

from pathlib import Path

from tests.books.lantern_epub import CHAPTERS, lantern_house
from tests.journeys.room import Room

GREEN_INK = "Mara kept the lighthouse log in green ink."


async def test_a_reader_adds_a_book_asks_and_sees_the_exact_passage(room: Room, tmp_path: Path) -> None:
    ready = await room.upload(lantern_house(tmp_path))
    assert "The Lantern House" in ready
    assert "ready" in ready.lower()
    assert "3 chapters" in ready
    answer = await room.ask("What did Mara keep the log in?")
    assert "[1]" in answer
    assert "green ink" in answer
    passage = await room.press("1")
    assert "The Lantern House" in passage
    assert "Green Ink" in passage
    assert "Mara kept the lighthouse log in green ink." in passage


async def test_the_same_press_again_closes_the_passage(room: Room, tmp_path: Path) -> None:
    if "closes from outside" not in room.capabilities:
        return
    await room.upload(lantern_house(tmp_path))
    await room.ask("What did Mara keep the log in?")
    await room.press("1")
    assert GREEN_INK not in await room.press("1")
    assert GREEN_INK in await room.press("1")


async def test_a_footnote_opens_after_a_restart_and_after_a_crash(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    await room.ask("What did Mara keep the log in?")
    await room.restart()
    assert GREEN_INK in await room.press("1")
    if "closes from outside" in room.capabilities:
        await room.press("1")  # what stands open over a restart would be closed by the next press
    await room.restart(kill=True)
    assert GREEN_INK in await room.press("1")


async def test_a_passage_grows_step_by_step_and_its_text_runs_on_without_a_gap(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path, filler=60))
    await room.ask("What did Mara keep the log in?")
    first = await room.press("1")
    later = await room.press(">")
    earlier = await room.press("<")
    lines = [line for text in (earlier, first, later) for line in text.splitlines() if line.strip().startswith("Line ")]
    numbers = [int(line.split()[1]) for line in lines]
    assert len(numbers) > 6
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_the_same_book_under_another_name_is_not_read_twice(room: Room, tmp_path: Path) -> None:
    book = lantern_house(tmp_path)
    await room.upload(book)
    renamed = book.rename(tmp_path / "another name.epub")
    assert "nothing was read twice" in await room.upload(renamed)
    assert (await room.command("books")).count("The Lantern House") == 1


async def test_with_two_books_the_bot_asks_which_until_one_is_chosen(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    await room.upload(lantern_house(tmp_path, title="The Second House"))
    asked_back = await room.ask("What did Mara keep the log in?")
    assert "[1]" not in asked_back
    assert "The Second House" in asked_back
    await room.command("use", "2")
    await room.ask("What did Mara keep the log in?")
    assert "The Second House" in await room.press("1")


async def test_a_removed_books_footnote_says_so_and_comes_back_with_undo(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    await room.ask("What did Mara keep the log in?")
    await room.command("remove", "1")
    refused = await room.press("1")
    assert GREEN_INK not in refused
    assert len(refused.splitlines()) == 1
    await room.command("undo")
    assert GREEN_INK in await room.press("1")


async def test_a_question_before_any_book_says_how_to_add_one(room: Room) -> None:
    said = await room.ask("What did Mara keep the log in?")
    assert len(said.splitlines()) == 1
    assert "book" in said


async def test_a_number_before_any_answer_and_an_unknown_one_are_one_sentence(room: Room, tmp_path: Path) -> None:
    if "buttons only" in room.capabilities:
        return
    assert "7" in await room.press("7")
    await room.upload(lantern_house(tmp_path))
    await room.ask("What did Mara keep the log in?")
    said = await room.press("99")
    assert "99" in said
    assert "1" in said.replace("99", "")
    assert len(said.splitlines()) == 1


async def test_files_that_are_no_books_are_refused_in_one_sentence_and_leave_nothing(
    room: Room, tmp_path: Path
) -> None:
    whole = lantern_house(tmp_path).read_bytes()
    bad = {
        "empty.epub": b"",
        "truncated.epub": whole[: len(whole) // 2],
        "picture.epub": b"\x89PNG\r\n\x1a\n" + b"\x00" * 100,
        "program.pdf": b"\x7fELF" + b"\x00" * 400,
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        said = (await room.upload(tmp_path / name)).splitlines()
        sentence = said[-1]
        assert sentence.endswith("."), (name, said)
        assert "reference" not in sentence, (name, said)
    assert "no book here" in await room.command("books")
    await room.upload(lantern_house(tmp_path))
    assert "[1]" in await room.ask("What did Mara keep the log in?")


async def test_a_quotation_is_found_whatever_its_typography_and_a_changed_word_is_only_near(
    room: Room, tmp_path: Path
) -> None:
    await room.upload(lantern_house(tmp_path))
    assert "Word for word" in await room.command("quote", "The green ink in the log was not Mara's")
    near = await room.command("quote", "it still smells like salt")
    assert "Not word for word" in near
    assert "It still smells of salt" in near


async def test_the_contents_are_numbered_the_way_limits_name_them(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    contents = await room.command("toc")
    for number, (title, _) in enumerate(CHAPTERS, 1):
        assert f"{number}. {title}" in contents


async def test_everything_said_is_free_of_tags_and_control_characters(room: Room, tmp_path: Path) -> None:
    await room.upload(lantern_house(tmp_path))
    await room.ask("Whose coat was in the suitcase?")
    await room.press("1")
    for said in room.seen():
        assert "[f" not in said
        assert all(char.isprintable() or char == "\n" for char in said)
