"""C67: what is asked while a book is still being read or summarised is not answered as if there were nothing."""

import asyncio
from pathlib import Path

import pytest

from core.errors import BadBook, Missing
from core.model import Accepted, Answered, AskEvent, ChatRequest, Question, Unanswered, Upload, Waiting
from core.offline import OfflineReader
from core.store import Summary
from tests.books.lantern_epub import lantern_house as lantern_file
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, lantern_house, open_club, said
from tests.fakes.model import ScriptedModel

SUITCASE = "What was in the suitcase?"


def upload(path: Path, event: str = "upload") -> Upload:
    return Upload(event, ROOM, MEMBER, path, path.name)


async def ask(club: TestClub, event: str = "asked", text: str = SUITCASE) -> list[AskEvent]:
    question = Question(event, ROOM, MEMBER, text, evidence_tokens=4_000)
    return [step async for step in club.club.questions.ask(question)]


async def test_a_question_asked_while_the_text_is_extracted_says_so_and_is_answered_once(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        adding = club.club.add_book(upload(lantern_file(tmp_path)))
        assert isinstance(await anext(adding), Accepted)
        assert await club.club.questions.about(Question("asked", ROOM, MEMBER, SUITCASE)) is None
        asking = asyncio.create_task(ask(club))
        elsewhere = Question("there", ELSEWHERE, MEMBER, SUITCASE)
        with pytest.raises(Missing, match="no_book"):  # another channel has nothing to wait for
            await anext(club.club.questions.ask(elsewhere))
        await asyncio.sleep(0.05)
        assert not asking.done()
        async for _ in adding:
            pass
        first, *_, last = await asking
        assert first == Waiting(lantern_file(tmp_path).name)
        assert isinstance(last, Answered)
        assert "oilskin coat" in said(last.turn)
        again = await ask(club)  # the platform tells the event once more
        assert again[-1] == last
        assert len(await club.club.questions.history(ROOM)) == 1


async def test_a_crash_while_a_question_waits_for_its_book_loses_neither(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_club(data) as club:
        adding = club.club.add_book(upload(lantern_file(tmp_path)))
        await anext(adding)
        asking = club.club.questions.ask(Question("asked", ROOM, MEMBER, SUITCASE, evidence_tokens=4_000))
        assert isinstance(await anext(asking), Waiting)
        await asking.aclose()
        await adding.aclose()
    async with open_club(data) as club:
        answers = [step async for step in club.club.resume("console") if isinstance(step, Answered)]
        assert len(answers) == 1
        assert "oilskin coat" in said(answers[0].turn)
        assert [step async for step in club.club.resume("console")] == []
        assert len(await club.club.questions.history(ROOM)) == 1


async def test_a_question_whose_book_turns_out_to_be_none_is_told_so_and_does_not_come_back(tmp_path: Path) -> None:
    bad = tmp_path / "bad.epub"
    bad.write_bytes(b"PK\x03\x04 but no archive")
    async with open_club(tmp_path / "data") as club:
        adding = club.club.add_book(upload(bad))
        await anext(adding)
        asking = asyncio.create_task(ask(club))
        await asyncio.sleep(0.05)
        with pytest.raises(BadBook):
            async for _ in adding:
                pass
        with pytest.raises(Missing, match="no_book"):
            await asking
        resumed = [step async for step in club.club.resume("console")]
        assert not [step for step in resumed if isinstance(step, Answered | Unanswered)]


async def test_a_question_waits_for_no_second_book(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        await club.shelve(lantern_house())
        second = tmp_path / "second.md"
        second.write_text("# Another\n\nA tale of something else.\n", encoding="utf-8")
        adding = club.club.add_book(upload(second))
        await anext(adding)
        steps = await ask(club)
        assert not [step for step in steps if isinstance(step, Waiting)]
        assert isinstance(steps[-1], Answered)
        await adding.aclose()


@pytest.mark.parametrize("written", [True, False], ids=["a model writes", "no model"])
async def test_with_summaries_paused_after_the_first_file_the_third_is_answered_from_at_once(
    written: bool, tmp_path: Path
) -> None:
    def answer(request: ChatRequest) -> str:
        return '{"answer": []}' if request.purpose == "pick" else "Tobin’s oilskin coat was in it [f3-40-84]."

    async with open_club(tmp_path / "data", ScriptedModel(answer) if written else OfflineReader()) as club:
        sha256 = await club.shelve(lantern_house())
        made = {1: Summary("Mara keeps the log in green ink [f1-0-42].", "summarise@1 scripted")}
        await club.store.books.save_summaries(sha256, "test-1", made)
        assert await club.store.books.unsummarised() != ()
        turn = await club.ask(SUITCASE)
        assert 3 in [note.span.file for note in turn.answer.footnotes]
        assert "coat" in said(turn)
        assert turn.answer.outcome == "grounded"
        assert not [notice for notice in turn.answer.notices if any("count" in name for name in notice.params)]
        assert (await club.club.passages.press(ROOM, turn.answer.footnotes[0].id)).quote
