"""At the desk on a real club: files seen, books brought again, questions asked again, places moved; platform-free steps of the journeys."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.desk import Desk, may_be_book
from core.document import plain
from core.errors import Missing, OperatorError, ReaderError, UpstreamError
from core.model import Answered, Arrival, Choice, Conversation, Question, Reader, Ready, Reply, Turn, Upload
from core.spending import Terms
from tests.books.lantern_epub import lantern_house as lantern_file
from tests.clubs import ELSEWHERE, ROOM, TestClub, lantern_house, long_book, open_club, said
from tests.fakes.model import ScriptedModel, Step

KEEPER = Reader("keeper", "en", manages=True, name="Ana @everyone")
MEMBER = Reader("member", "en")
GROUP = Conversation("telegram", "-1001")
FILE: dict[str, Any] = {"id": "file-1", "name": "lantern.epub"}


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    async with open_club(tmp_path) as opened:
        yield opened


def _desk(club: TestClub) -> Desk:
    return Desk(club.club, lambda name: f"/{name}")


async def _press(
    club: TestClub, choice: Choice, reader: Reader = KEEPER, where: Conversation = ROOM, event: str = "e"
) -> Reply:
    reply = await _desk(club).press(where, reader, choice.id, event=event)
    assert isinstance(reply, Reply)
    return reply


def _labelled(reply: Reply, label: str) -> Choice:
    found = [choice for row in reply.choices for choice in row if choice.label == label]
    assert found, [choice.label for row in reply.choices for choice in row]
    return found[0]


# A file that nobody said a word about


@pytest.mark.parametrize(
    ("name", "media", "wanted"),
    [
        ("lantern.epub", "", True),
        ("Lantern.PDF", "application/octet-stream", True),
        ("lantern", "application/epub+zip", True),
        ("tale.fb2.zip", "application/zip", True),
        ("scan.pdf", "image/png", False),
        ("minutes.docx", "", False),
        ("log.txt", "text/plain", False),
        ("photos.zip", "application/zip", False),
        ("epub", "", False),
    ],
)
def test_only_what_is_most_often_a_book_is_asked_about(name: str, media: str, wanted: bool) -> None:
    assert may_be_book(name, media) is wanted


async def _seen(club: TestClub, event: str = "m1", reader: Reader = MEMBER, name: str = "lantern.epub") -> Reply | None:
    return await _desk(club).seen(ROOM, reader, name, 900, FILE, event=event)


async def test_a_file_is_asked_about_once_in_each_chat_and_the_same_event_asks_the_same_after_a_crash(
    club: TestClub,
) -> None:
    asked = await _seen(club)
    assert asked is not None
    assert plain(asked.document) == "lantern.epub\n\nShall the club read this here?"
    assert await _seen(club, "m1") is not None  # the event is told again: it may never have been shown
    assert await _seen(club, "m2") is None
    assert await _seen(club, "m3", name="other.epub") is not None
    assert await _desk(club).seen(ELSEWHERE, MEMBER, "lantern.epub", 900, FILE, event="m4") is not None


async def test_the_sender_or_a_manager_says_yes_and_the_first_word_holds(club: TestClub) -> None:
    asked = await _seen(club)
    assert asked is not None
    yes, no = _labelled(asked, "Yes, here"), _labelled(asked, "Not a club book")
    with pytest.raises(ReaderError, match="desk_seen_not_yours"):
        await _press(club, yes, Reader("stranger", "en"))
    taken = await _press(club, yes, MEMBER)
    assert taken.arrival == Arrival("m1", FILE, True)
    assert (await _press(club, yes, KEEPER)).arrival == taken.arrival  # pressed twice, the same thing is done once
    with pytest.raises(Missing, match="unknown_button"):
        await _press(club, no, MEMBER)
    other = await _seen(club, "m5", name="other.epub")
    assert other is not None
    assert (await _press(club, _labelled(other, "Not a club book"))).arrival == Arrival("m5", FILE, False)
    with pytest.raises(Missing, match="unknown_button"):
        await _press(club, _labelled(other, "Yes, here"))


async def test_who_may_not_add_books_is_not_asked(tmp_path: Path) -> None:
    terms = Terms(chats=frozenset({"telegram:-1001"}), uploaders=frozenset({"telegram:keeper", "telegram:member"}))
    async with open_club(tmp_path, terms=terms) as club:
        desk = _desk(club)

        async def asks(reader: Reader, where: Conversation) -> bool:
            return await desk.seen(where, reader, f"{reader.id}.epub", 1, FILE, event=reader.id) is not None

        assert await asks(MEMBER, GROUP)
        assert not await asks(Reader("stranger"), GROUP)
        assert not await asks(KEEPER, replace(GROUP, channel="-1002"))
        await club.club.change_settings(GROUP, KEEPER, {"uploads": "managers"})
        assert not await asks(Reader("member"), GROUP)
        assert await asks(KEEPER, GROUP)


# A book that is here already


async def _add(club: TestClub, path: Path, event: str, reader: Reader = KEEPER) -> Reply:
    upload = Upload(event, ROOM, reader, path, path.name)
    [ready] = [step async for step in club.club.add_book(upload) if isinstance(step, Ready)]
    return await _desk(club).ready(ROOM, reader, ready)


async def test_the_same_file_again_can_be_looked_at_and_read_anew_after_a_yes(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        path = lantern_file(tmp_path)
        first = await _add(club, path, "one")
        assert not any(choice.label == "Replace" for row in first.choices for choice in row)
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        note = (await club.ask("Who kept the lighthouse log in green ink?")).answer.footnotes[0]
        again = await _add(club, path, "two")
        assert "othing was read twice" in plain(again.document)
        looked = plain((await _press(club, _labelled(again, "Open"))).document)
        assert "3 chapters" in looked
        assert "1. Green Ink" in looked
        assert "chapter 1" in looked
        assert "The Ferry" not in looked
        sure = await _press(club, _labelled(again, "Replace"))
        assert "anew?" in plain(sure.document)
        with pytest.raises(Missing, match="not_your_button"):
            await _press(club, _labelled(sure, "Yes, read it anew"), MEMBER)
        done = await _press(club, _labelled(sure, "Yes, read it anew"))
        assert "its text is the same as before" in plain(done.document)
        assert (await club.club.progress(ROOM, KEEPER))[1].words == "finished 1"
        assert (await club.club.passages.press(ROOM, note.id)).quote
        refused = await _press(club, _labelled(again, "Replace"), MEMBER)
        with pytest.raises(ReaderError, match="book_managers_only"):
            await _press(club, _labelled(refused, "Yes, read it anew"), MEMBER)


async def test_a_book_of_the_same_title_may_take_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        await _add(club, lantern_file(tmp_path), "one")
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        card = await _add(club, lantern_file(tmp_path, filler=2), "two")
        sure = await _press(club, _labelled(card, "Replace the earlier one"))
        assert len(await club.club.shelf(ROOM)) == 2
        done = await _press(club, _labelled(sure, "Yes, replace it"))
        [book] = await club.club.shelf(ROOM)
        assert book.limit_words == "finished 2"
        await _press(club, _labelled(done, "Undo"))
        assert len(await club.club.shelf(ROOM)) == 2


# Exact words, many places


async def test_where_a_button_can_copy_the_words_found_can_be_copied_whole_or_not_at_all(club: TestClub) -> None:
    await club.shelve(lantern_house())
    for copies, expected in ((0, []), (20, []), (256, [Choice("Copy 1", "It still smells of salt", "copy")])):
        desk = Desk(club.club, lambda name: f"/{name}", copies=copies)
        found = await desk.command(ROOM, KEEPER, "quote", "it still smells of salt", event="e")
        assert isinstance(found, Reply)
        assert [choice for row in found.choices for choice in row if choice.kind == "copy"] == expected


async def test_many_places_of_a_quotation_are_paged_and_each_opens(club: TestClub) -> None:
    await club.shelve(long_book(4, 4_000))
    found = await _desk(club).command(ROOM, KEEPER, "quote", "day", event="e")
    assert isinstance(found, Reply)
    labels = [choice.label for row in found.choices for choice in row]
    assert labels == ["Open 1", "Open 2", "Open 3", "Open 4", "Open 5", "Next ›"]
    following = await _press(club, _labelled(found, "Next ›"))
    assert plain(following.document) != plain(found.document)
    assert (await _press(club, _labelled(following, "Open 6"))).passage is not None
    back = await _press(club, _labelled(following, "‹ Back"))
    assert plain(back.document) == plain(found.document)


# Places and who moved them


async def test_everybody_reads_who_moved_the_club_and_a_name_is_plain_words(club: TestClub) -> None:
    await club.shelve(lantern_house())
    desk = _desk(club)
    moved = await desk.command(ROOM, KEEPER, "progress", "finished 2", event="e")
    assert isinstance(moved, Reply)
    assert "Changed by Ana @everyone." in plain(moved.document)
    undone = await _press(club, _labelled(moved, "Undo"))
    assert "Changed by Ana" in plain(undone.document)
    alone = await desk.command(ROOM, KEEPER, "progress", "finished 2", event="e", private=True)
    assert isinstance(alone, Reply)
    assert "Changed by" not in plain(alone.document)


async def test_a_warning_names_the_chapter_and_moves_the_readers_own_place_when_asked_to(club: TestClub) -> None:
    await club.shelve(lantern_house())
    turn = await club.ask("What did Ivo’s suitcase hold, the oilskin coat?")
    notes = await _desk(club).note_choices(ROOM, MEMBER, turn)
    third = next(note for note in notes if note.label.endswith("Ch. 3"))
    await club.club.place(ROOM, MEMBER, words="finished 1")
    warned = await _press(club, third, MEMBER)
    assert plain(warned.document) == "This passage is from chapter 3; your own place is chapter 1."
    shown = await _press(club, _labelled(warned, "Update my place"), MEMBER)
    assert shown.passage is not None
    assert "Your own place is now chapter 3." in plain(shown.document)
    assert (await club.club.place(ROOM, MEMBER))[1].words == "finished 3"
    assert (await _press(club, third, MEMBER)).passage is not None
    with pytest.raises(Missing):
        await _press(club, replace(third, id=f"{third.id}.m"), where=ELSEWHERE)


# When the model is away

QUOTA = OperatorError("model_quota")
DOWN = UpstreamError("model_down")


class Provider:
    """A model that fails while `error` is set."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __call__(self, _: object) -> Step:
        return self.error or "The log was kept in green ink [f1-0-42]."


async def _turn(club: TestClub, question: Question) -> Turn:
    [*_, last] = [event async for event in club.club.questions.ask(question)]
    assert isinstance(last, Answered)
    return last.turn


async def test_a_kept_question_is_tried_again_by_its_button_and_answered_once(tmp_path: Path) -> None:
    provider = Provider()
    async with open_club(tmp_path, ScriptedModel(provider)) as club:
        await club.shelve(lantern_house())
        provider.error = QUOTA
        question = Question("asked", ROOM, MEMBER, "What ink was the log kept in?", patient=True)
        quoted = await _turn(club, question)
        [row] = await _desk(club).ways_on(ROOM, MEMBER, quoted)
        again = next(choice for choice in row if choice.label == "Try again")
        found = await _desk(club).command(ROOM, MEMBER, "quote", "green ink", event="q")
        assert isinstance(found, Reply)
        assert "The language model is away at the moment" in plain(found.document)
        provider.error = None
        asked = await _desk(club).press(ROOM, MEMBER, again.id, event="pressed")
        assert isinstance(asked, Question)
        assert (asked.event, asked.text) == ("asked:pressed", question.text)
        assert "green ink [1]" in said(await _turn(club, asked))
        assert not await club.club.questions.keeps("console")
        assert [event async for event in club.club.questions.answer_kept("console")] == []
        with pytest.raises(Missing, match="question_not_kept"):
            await _desk(club).press(ROOM, MEMBER, again.id, event="pressed again")
        found = await _desk(club).command(ROOM, MEMBER, "quote", "green ink", event="q")
        assert isinstance(found, Reply)
        assert "away" not in plain(found.document)


async def test_of_the_same_words_asked_by_two_each_takes_back_their_own(tmp_path: Path) -> None:
    provider, other = Provider(), Reader("other", "en")
    thread = replace(ROOM, thread="t")
    async with open_club(tmp_path, ScriptedModel(provider)) as club:
        await club.shelve(lantern_house())
        provider.error = DOWN
        for event, where, reader in (("1", ROOM, MEMBER), ("2", ROOM, other), ("3", thread, other)):
            quoted = await _turn(club, Question(event, where, reader, "What ink was the log kept in?", patient=True))
        for turn, where, reader, event in ((quoted, thread, MEMBER, "3"), (None, ROOM, other, "2")):
            turn = turn or (await club.club.questions.history(ROOM))[0]
            back = await club.club.questions.take_back(where, turn.id, reader)
            assert (back.event, back.reader.id) == (event, "other")
        assert await club.club.questions.keeps("console")


async def test_a_question_taken_back_while_its_turn_comes_is_not_answered_a_second_time(tmp_path: Path) -> None:
    provider = Provider()
    async with open_club(tmp_path, ScriptedModel(provider)) as club:
        await club.shelve(lantern_house())
        provider.error = QUOTA
        question = Question("asked", ROOM, MEMBER, "What ink was the log kept in?", patient=True)
        quoted = await _turn(club, question)
        provider.error = None
        await club.club.questions.take_back(ROOM, quoted.id, MEMBER)
        # what a round does that had found it waiting before that
        assert [event async for event in club.club.questions.ask(question, interim=False)] == []
        assert len(await club.club.questions.history(ROOM)) == 1


@pytest.mark.parametrize("error", [QUOTA, DOWN])
async def test_a_question_that_failed_stands_with_a_button_that_asks_it_again(
    error: UpstreamError | OperatorError, club: TestClub
) -> None:
    desk = _desk(club)
    question = Question("asked", ROOM, MEMBER, "Who built it?", without_book=True, private=True, patient=True)
    failed = await desk.failed(question, error)
    assert failed is not None
    asked = await desk.press(ROOM, MEMBER, _labelled(failed, "Try again").id, event="pressed")
    assert isinstance(asked, Question)
    assert replace(asked, event="asked") == question


async def test_what_asking_again_does_not_mend_has_no_such_button(club: TestClub) -> None:
    question = Question("asked", ROOM, MEMBER, "Who built it?")
    for error in (Missing("no_book"), OperatorError("no_model")):
        assert await _desk(club).failed(question, error) is None
