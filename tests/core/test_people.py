"""Who is named where: counts equal a scan made by other means, at every limit; first, latest, chapters, notes."""

from pathlib import Path

import pytest

from core.desk import Desk
from core.document import plain
from core.errors import ReaderError
from core.formats.reading import read
from core.formats.runs import cut_runs
from core.model import Reader, Reply, SpineFile
from core.spending import Terms
from tests.books.planted import TEXT, TITLES, hidden, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, book_of, lantern_house, long_book, open_club
from tests.names import Scan, chapters, frequent
from tests.parts import SHARED, needs_shared
from tests.promises.test_p6_never_ahead import LIMITS

KEEPER = Reader("keeper", "en", manages=True)


async def _who(club: TestClub, words: str, reader: Reader = KEEPER, *, private: bool = False) -> Reply:
    desk = Desk(club.club, lambda name: f"/{name}")
    reply = await desk.command(ROOM, reader, "who", words, event="e", private=private)
    assert isinstance(reply, Reply)
    return reply


async def test_each_mention_opens_and_the_first_and_latest_are_named(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        reply = await _who(club, "ivo")
        text = plain(reply.document)
        assert "Ivo is named 2 times in The Lantern House." in text
        assert "First mention, chapter 2" in text
        assert "Latest mention, chapter 3" in text
        notes = [choice for row in reply.choices for choice in row if choice.kind == "note"]
        assert [choice.label for choice in notes] == ["1 · Ch. 2", "2 · Ch. 3"]
        for choice in notes:
            assert "Ivo" in (await club.club.passages.press(ROOM, choice.id)).quote


async def test_under_a_limit_a_later_mention_and_none_at_all_read_the_same(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        later, never = plain((await _who(club, "Ivo")).document), plain((await _who(club, "Zed")).document)
        assert later.replace("Ivo", "Zed") == never
        assert "1 time" in plain((await _who(club, "Tobin")).document)


async def test_in_private_the_readers_own_place_bounds_it_too(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.place(ROOM, MEMBER, words="finished 1")
        assert "2 times" in plain((await _who(club, "Ivo", MEMBER)).document)
        assert "does not name" in plain((await _who(club, "Ivo", MEMBER, private=True)).document)


async def test_a_name_is_a_whole_word_with_a_capital_whatever_accents_are_typed(tmp_path: Path) -> None:
    text = "Will came. He will stay with José  and O’Brien. Williams left Will. jose is no name."
    files = [SpineFile(0, "", "-"), SpineFile(1, "", text)]
    async with open_club(tmp_path) as club:
        await club.shelve(book_of(files, [run for file in files for run in cut_runs(file)], ["One"], "Names"))
        for typed, count in (("will", 2), ("JOSE", 1), ("o'brien", 1), ("Brien", 1), ("stay", 1), ("Nobody", 0)):
            found = await club.club.meeting.people.who(ROOM, typed)
            assert found.count == count, typed


async def test_a_name_before_a_vowel_sign_is_another_word(tmp_path: Path) -> None:
    file = SpineFile(1, "", "राम घर गया। रामा आई। राम ने कहा।")
    async with open_club(tmp_path) as club:
        await club.shelve(book_of([SpineFile(0, "", "कथा"), file], cut_runs(file), ["एक"], "कथा", "hi"))
        assert "राम is named 2 times" in plain((await _who(club, "राम")).document)


async def test_many_chapters_come_by_pages(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(long_book(14, 3_000))
        reply = await _who(club, "day")
        further = [choice for choice in reply.choices[-1] if choice.kind == "step"]
        assert [choice.label for choice in further] == ["After ›"]
        second = await Desk(club.club, str).press(ROOM, KEEPER, further[0].id, event="e")
        assert isinstance(second, Reply)
        assert "First mention" not in plain(second.document)
        assert second.choices[-1][0].label == "‹ Before"


@pytest.mark.parametrize("words", ["", "  ", "?!", "x" * 81])
async def test_what_is_no_name_gets_one_sentence(tmp_path: Path, words: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        with pytest.raises(ReaderError):
            await _who(club, words)


@pytest.mark.parametrize("limit", LIMITS)
async def test_no_planted_word_past_a_limit_is_shown_or_counted(tmp_path: Path, limit: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(planted_book())
        _, reach = await club.club.progress(ROOM, KEEPER, words=limit)
        later = hidden(reach.position)
        for name in (*TEXT, *TITLES, "keeper", "harbour"):
            found = await club.club.meeting.people.who(ROOM, name)
            shown = plain((await _who(club, name)).document).lower()
            for word in later:
                assert word.lower() not in shown.replace(name.lower(), ""), word
            if name in later:
                assert found.count == 0, name


@needs_shared
@pytest.mark.parametrize("file", ["die-verwandlung-de-no-toc.epub"])
async def test_the_counts_of_a_novel_s_names_are_those_of_a_plain_scan(tmp_path: Path, file: str) -> None:
    assert SHARED is not None
    book = await read(SHARED / "books" / file, rank_path=None)
    names = frequent(book, 15)
    assert len(names) == 15
    scanned = Scan(book)
    async with open_club(tmp_path) as club:
        await club.shelve(book)
        for name in names:
            found = await club.club.meeting.people.who(ROOM, name, size=1_000)
            places = scanned.places(name)
            assert found.count == len(places), name
            assert [(group.chapter, group.count) for group in found.groups] == list(chapters(book, places)), name
            assert found.first is not None
            assert found.latest is not None
            assert found.first.note.span.first <= places[0] < found.first.note.span.last
            assert found.latest.note.span.first <= places[-1] < found.latest.note.span.last


async def test_what_is_shown_of_a_person_counts_against_what_a_reader_may_open_in_a_day(tmp_path: Path) -> None:
    async with open_club(tmp_path, terms=Terms(passages_day=130)) as club:
        await club.shelve(lantern_house())
        await _who(club, "Mara", MEMBER)
        with pytest.raises(ReaderError, match="cap_passages"):
            await _who(club, "Ivo", MEMBER)
        await _who(club, "Ivo", Reader("other", "en"))
