"""`--limit` on the command line: how far has been read, in the answer, in the JSON and in refusals."""

from pathlib import Path

import pytest

from tests.books.lantern_epub import lantern_house
from tests.bot.running import loccit


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return lantern_house(tmp_path)


def test_ask_keeps_to_the_limit_and_names_it(book: Path, data: Path) -> None:
    text = loccit("text", book, "--json", data=data).objects[0]
    [first, *_] = text["chapters"]
    [later] = loccit(
        "ask", book, "Whose coat was in the suitcase?", "--limit", "finished 1", "--json", data=data
    ).objects
    assert later["outcome"] == "not_in_book"
    assert later["limit"] == {"words": "finished 1", "file": first["end"][0], "offset": first["end"][1]}
    assert all(run[:2] < first["end"] for run in later["evidence"])
    [inside] = loccit("ask", book, "Who had vanished?", "--limit", "en 2", "--json", data=data).objects
    assert inside["limit"]["words"] == "in 2"
    assert inside["outcome"] == "grounded"
    [whole] = loccit("ask", book, "Whose coat was in the suitcase?", "--limit", "all", "--json", data=data).objects
    assert whole["limit"] is None
    assert "oilskin" in whole["text"]


def test_quote_keeps_to_the_limit(book: Path, data: Path) -> None:
    [later] = loccit("quote", book, "smells of salt", "--limit", "40 %", "--json", data=data).objects
    assert (later["match"], later["hits"], later["limit"]["words"]) == ("none", [], "40%")
    [found] = loccit("quote", book, "smells of salt", "--limit", "finished 3", "--json", data=data).objects
    assert (found["match"], found["limit"]["words"]) == ("verbatim", "finished 3")


def test_the_channels_own_limit_also_holds(book: Path, data: Path) -> None:
    loccit("chat", book, data=data, stdin="/progress finished 1\n")
    [later] = loccit("quote", book, "smells of salt", "--limit", "finished 3", "--json", data=data).objects
    assert (later["match"], later["limit"]["words"]) == ("none", "finished 1")
    [asked] = loccit("ask", book, "Whose coat was in the suitcase?", "--json", data=data).objects
    assert (asked["outcome"], asked["limit"]["words"]) == ("not_in_book", "finished 1")
    assert "salt" in loccit("text", book, data=data).out


@pytest.mark.parametrize("words", ["finished 9", "banana", "", "page 3", "140 %"])
def test_words_that_name_no_place_are_one_sentence(words: str, book: Path, data: Path) -> None:
    ran = loccit("ask", book, "Who had vanished?", "--limit", words, "--json", data=data)
    assert ran.code == 1
    assert ran.objects[0]["error"]["key"].startswith("limit_")
    assert ran.objects[0]["error"]["message"] == ran.sentence


def test_progress_alone_tells_how_far_the_club_and_the_reader_are_and_place_all_says_that_the_place_is_gone(
    book: Path, data: Path
) -> None:
    lines = ("/progress finished 2", "/place finished 1", "/progress", "/place all", "/progress")
    ran = loccit("chat", book, data=data, stdin="\n".join(lines))
    said = " ".join(ran.out.split())
    assert "answers go up to chapter 2. The Lantern House: your own place is chapter 1." in said
    assert "your own place is taken away; answers for you go as far as they do for everybody here." in said
    assert said.endswith("you have no place of your own; /place finished 3 sets one, /place all takes it away.")
