"""Recaps: three to six proven sentences up to the place, the reader's or the club's; planted words never come early."""

from pathlib import Path

import pytest

from core import tags
from core.desk import Desk
from core.document import plain
from core.errors import ReaderError, UpstreamError
from core.meeting.recaps import LEAST, MOST
from core.model import ChatRequest, Reader, Reply, Span
from tests.books.planted import hidden, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, long_book, open_club
from tests.fakes.model import ScriptedModel, Step
from tests.promises.test_p6_never_ahead import LIMITS

KEEPER = Reader("keeper", "en", manages=True)


async def _recap(club: TestClub, words: str = "", reader: Reader = KEEPER) -> Reply:
    desk = Desk(club.club, lambda name: f"/{name}")
    reply = await desk.command(ROOM, reader, "recap", words, event="e")
    assert isinstance(reply, Reply)
    return reply


async def _press_all(club: TestClub, reply: Reply) -> list[Span]:
    found = []
    for choice in (choice for row in reply.choices for choice in row if choice.kind == "note"):
        passage = await club.club.passages.press(ROOM, choice.id)
        found.append(passage.span)
    return found


def _cites_all(request: ChatRequest) -> Step:
    """A model that cites every run it was given, one in each sentence, and some it was not."""
    runs = [run for run, _ in tags.read_tagged(request.messages[-1].content)]
    lines = [f"Something happened here {tags.tag(run)}." for run in runs[:4]]
    return " ".join([*lines, "No proof for this.", "Nor for that [f4-0-67].", "Nor this [f3-0-67]."])


async def test_mine_ends_at_the_readers_place_and_the_clubs_at_the_clubs(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        await club.club.place(ROOM, MEMBER, words="finished 1")
        asked = await _recap(club, reader=MEMBER)
        assert [choice.label for choice in asked.choices[0]] == ["Mine", "The club's"]
        mine = await Desk(club.club, str).press(ROOM, MEMBER, asked.choices[0][0].id, event="e")
        assert isinstance(mine, Reply)
        assert mine.private
        text = plain(mine.document)
        assert "Ivo" not in text
        assert "Ferry" not in text
        assert "Next: chapter 2 (about 1 min)." in text
        assert {span.file for span in await _press_all(club, mine)} == {1}
        assert len(mine.document) - 3 >= LEAST
        club_s = plain((await _recap(club, "club", MEMBER)).document)
        assert "Ivo" in club_s
        assert "oilskin" not in club_s
        assert "Coat" not in club_s


async def test_who_is_ahead_of_the_club_is_told_no_more_than_the_club(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        await club.club.place(ROOM, MEMBER, words="finished 3")
        assert "Ivo" not in plain((await _recap(club, "mine", MEMBER)).document)


async def test_a_model_s_sentences_stand_only_with_a_note_that_was_delivered(tmp_path: Path) -> None:
    model = ScriptedModel(_cites_all)
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        reply = await _recap(club)
        text = plain(reply.document)
        assert text.count("Something happened here") == 4
        assert "proof" not in text
        assert "Nor" not in text
        assert len(await _press_all(club, reply)) == 4


async def test_a_note_behind_the_stop_belongs_to_the_sentence_before_it(tmp_path: Path) -> None:
    draft = "Mara kept the log. [f1-0-42] Tobin vanished [f1-42-101]. Unproven. Nobody spoke of it.[f1-101-131]"
    async with open_club(tmp_path, ScriptedModel([draft])) as club:
        await club.shelve(lantern_house())
        text = plain((await _recap(club)).document)
        assert "Mara kept the log. [1] Tobin vanished [2]. Nobody spoke of it. [3]" in text
        assert "Unproven" not in text


async def test_more_than_six_sentences_are_cut_and_fewer_than_three_become_quotations(tmp_path: Path) -> None:
    many = " ".join(f"Sentence {letter}x [f1-0-42]." for letter in "abcdefghi")
    model = ScriptedModel([many, "One [f1-0-42].", "None."])
    async with open_club(tmp_path, model) as club:
        sha256 = await club.shelve(lantern_house())
        assert plain((await _recap(club)).document).count("Sentence") == MOST
        await club.club.progress(ROOM, KEEPER, words="finished 2")  # another request: the ledger does not answer it
        quoted = await _recap(club)
        assert "green ink" in plain(quoted.document)
        assert len(await _press_all(club, quoted)) >= LEAST
        model.finish()
        assert all(request.book == sha256 for request in model.requests)


async def test_a_model_that_is_down_is_named_and_the_book_quoted(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([UpstreamError("model_down")])) as club:
        await club.shelve(lantern_house())
        text = plain((await _recap(club)).document)
        assert "cannot be reached" in text
        assert "green ink" in text


async def test_nothing_read_is_said(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(planted_book())
        await club.club.progress(ROOM, KEEPER, words="0 %")
        with pytest.raises(ReaderError, match="recap_nothing_read"):
            await _recap(club)


async def test_of_several_books_one_is_chosen_by_a_button(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.shelve(long_book(2))
        asked = await _recap(club)
        told = await Desk(club.club, str).press(ROOM, KEEPER, asked.choices[0][0].id, event="e")
        assert isinstance(told, Reply)
        assert "green ink" in plain(told.document)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("written", [True, False])
async def test_no_planted_word_past_a_limit_reaches_the_model_or_the_reader(
    tmp_path: Path, limit: str, written: bool
) -> None:
    model = ScriptedModel(_cites_all)
    async with open_club(tmp_path, model if written else None) as club:
        await club.shelve(planted_book())
        _, reach = await club.club.progress(ROOM, KEEPER, words=limit)
        try:
            reply = await _recap(club)
        except ReaderError as error:
            assert error.key == "recap_nothing_read"  # noqa: PT017  # the sentence holds the title of the book alone
            return
        shown = plain(reply.document) + " ".join(choice.label for row in reply.choices for choice in row)
        sent = "\n".join(message.content for request in model.requests for message in request.messages)
        for word in hidden(reach.position):
            assert word.lower() not in shown.lower(), word
            assert word.lower() not in sent.lower(), word
        for span in await _press_all(club, reply):
            assert reach.permits(span)
