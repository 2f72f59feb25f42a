"""Journey 1: nothing half stored, the same bytes once, the choice to go on, recognition where it is allowed, page pictures."""

import hashlib
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.errors import BadBook, Missing, OperatorError
from core.model import LibraryEvent, Reading, Ready, Refused, Upload
from tests.books import pdfs
from tests.books.lantern_epub import lantern_house
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, open_club


def pages(path: Path, lines: Sequence[str]) -> Path:
    """A PDF with one line a page."""
    sheet = pdfs.Sheet()
    for line in lines:
        sheet.page()
        sheet.line(line)
    sheet.document.save(path)
    return path


async def add(club: TestClub, path: Path, event: str = "upload", *, partly: bool = False) -> list[LibraryEvent]:
    upload = Upload(event, ROOM, MEMBER, path, path.name, accept_partial=partly)
    return [step async for step in club.club.add_book(upload)]


def originals(folder: Path) -> Sequence[Path]:
    return [path for path in (folder / "originals").rglob("*") if path.is_file()]


async def test_a_file_that_is_no_book_leaves_nothing_behind(tmp_path: Path) -> None:
    bad = tmp_path / "bad.epub"
    bad.write_bytes(b"PK\x03\x04 but no archive")
    async with open_club(tmp_path / "data") as club:
        with pytest.raises(BadBook):
            await add(club, bad)
        assert await club.club.shelf(ROOM) == ()
    assert originals(tmp_path / "data") == []
    assert list((tmp_path / "data" / "ranks").glob("*")) == []


async def test_a_book_whose_rank_table_cannot_be_written_is_not_stored_and_is_taken_up_at_the_next_start(
    tmp_path: Path,
) -> None:
    book = lantern_house(tmp_path)
    sha256 = hashlib.sha256(book.read_bytes()).hexdigest()
    in_the_way = tmp_path / "data" / "ranks" / f"{sha256}-new.rank"
    (in_the_way / "full").mkdir(parents=True)
    async with open_club(tmp_path / "data") as club:
        with pytest.raises(OperatorError, match="data_unwritable"):
            await add(club, book)
        assert await club.store.books.contents(sha256) is None
    shutil.rmtree(in_the_way)
    async with open_club(tmp_path / "data") as club:
        assert [type(step) async for step in club.club.resume(ROOM.platform)] == [Reading, Ready]
        assert (await club.ask("Who kept the lighthouse log in green ink?")).answer.footnotes
    assert [path.suffix for path in (tmp_path / "data" / "ranks").iterdir()] == [".rank"]


async def test_the_same_bytes_are_read_once_and_a_second_channel_is_not_told(tmp_path: Path) -> None:
    book = lantern_house(tmp_path)
    async with open_club(tmp_path / "data") as club:
        first = await add(club, book, "one")
        again = await add(club, book, "two")
        other = Upload("three", ELSEWHERE, MEMBER, book, "other.epub")
        elsewhere = [step async for step in club.club.add_book(other)]
    assert [step.known for step in (first[-1], again[-1], elsewhere[-1]) if isinstance(step, Ready)] == [
        False,
        True,
        False,
    ]
    assert [type(step).__name__ for step in again] == ["Accepted", "Ready"]
    assert len(originals(tmp_path / "data")) == 1


async def test_a_failed_upload_spares_the_original_of_a_book_in_use(tmp_path: Path) -> None:
    scan = pdfs.half_scanned(tmp_path / "half.pdf")
    async with open_club(tmp_path / "data") as club:
        with pytest.raises(BadBook) as refused:
            await add(club, scan, "one")
        assert refused.value.key == "book_half_scan"
        assert originals(tmp_path / "data") == []
        taken = await add(club, scan, "two", partly=True)
        assert isinstance(taken[-1], Ready)
        assert len(originals(tmp_path / "data")) == 1


async def test_scans_are_read_by_the_recognition_program_when_the_operator_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is a stand-in of ours that adds the text layer it was given: what is tested is everything around it."""
    with_text = pages(
        tmp_path / "text.pdf", ["The keeper counted seven ships before dawn.", "The fog came in at noon."]
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "ocrmypdf"
    program.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "{with_text}" "$last"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    scan = pdfs.half_scanned(tmp_path / "scan.pdf")
    async with open_club(tmp_path / "off") as club:
        with pytest.raises(BadBook):
            await add(club, scan)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    async with open_club(tmp_path / "on", recognise="eng") as club:
        taken = await add(club, scan)
        assert isinstance(taken[-1], Ready)
        assert taken[-1].card.machine_read
        turn = await club.ask("How many ships did the keeper count?")
        passage = await club.club.passages.press(ROOM, turn.answer.footnotes[0].id)
    assert passage.quote == "The keeper counted seven ships before dawn."
    assert passage.machine_read


async def test_a_recognition_that_fails_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ocrmypdf").write_text("#!/bin/sh\necho no language >&2\nexit 3\n")
    (programs / "ocrmypdf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    async with open_club(tmp_path / "data", recognise="xyz") as club:
        with pytest.raises(BadBook) as refused:
            await add(club, pdfs.half_scanned(tmp_path / "scan.pdf"))
    assert refused.value.key == "book_not_recognised"
    assert originals(tmp_path / "data") == []


async def test_a_note_of_a_pdf_has_its_page_picture_and_one_of_an_epub_has_none(tmp_path: Path) -> None:
    book = pages(tmp_path / "ships.pdf", ["The keeper counted seven ships before dawn.", "The fog came in at noon."])
    async with open_club(tmp_path / "data") as club:
        await add(club, book)
        turn = await club.ask("How many ships did the keeper count?")
        note = turn.answer.footnotes[0]
        pictures = await club.club.passages.picture(ROOM, note.id)
        assert [picture.page for picture in pictures] == [0]
        assert pictures[0].png.startswith(b"\x89PNG")
        with pytest.raises(Missing):
            await club.club.passages.picture(ELSEWHERE, note.id)
        await club.club.remove(ROOM, MEMBER)
        with pytest.raises(Missing):
            await club.club.passages.picture(ROOM, note.id)
        await add(club, lantern_house(tmp_path), "epub")
        turn = await club.ask("What ink was the lighthouse log kept in?")
        assert await club.club.passages.picture(ROOM, turn.answer.footnotes[0].id) == ()


async def test_what_one_channel_knew_of_a_locked_book_opens_it_in_no_other(tmp_path: Path) -> None:
    sheet = pdfs.Sheet()
    sheet.page()
    sheet.line("The secret chapter is here.")
    locked = sheet.save(tmp_path / "locked.pdf", encryption=5, owner_pw="owner", user_pw="secret")
    async with open_club(tmp_path / "data") as club:
        opened = Upload("one", ROOM, MEMBER, locked, locked.name, password="secret")
        assert [type(step).__name__ async for step in club.club.add_book(opened)][-1] == "Ready"
        with pytest.raises(BadBook) as refused:
            async for _ in club.club.add_book(Upload("two", ELSEWHERE, MEMBER, locked, locked.name)):
                pass
        assert refused.value.key == "book_locked"
        assert await club.club.shelf(ELSEWHERE) == ()
        assert len(await club.club.shelf(ROOM)) == 1
        again = Upload("three", ELSEWHERE, MEMBER, locked, locked.name, password="secret")
        assert [type(step).__name__ async for step in club.club.add_book(again)][-1] == "Ready"


async def test_the_choice_to_go_on_without_pictures_is_each_channels_own(tmp_path: Path) -> None:
    scan = pdfs.half_scanned(tmp_path / "half.pdf")
    async with open_club(tmp_path / "data") as club:
        await add(club, scan, "one", partly=True)
        with pytest.raises(BadBook) as refused:
            async for _ in club.club.add_book(Upload("two", ELSEWHERE, MEMBER, scan, scan.name)):
                pass
    assert refused.value.key == "book_half_scan"


async def test_an_upload_taken_up_after_a_crash_that_is_no_book_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.epub"
    bad.write_bytes(b"PK\x03\x04 but no archive")
    async with open_club(tmp_path / "data") as club:
        sha256 = await club.store.originals.put(bad)
        channel = await club.store.shelf.channel(ROOM, club.clock())
        upload = Upload("lost", ROOM, MEMBER, bad, bad.name)
        await club.store.inbox.accept_upload(upload, channel, sha256, bad.stat().st_size, club.clock())
    async with open_club(tmp_path / "data") as club:
        told = [event async for event in club.club.resume("console")]
        again = [event async for event in club.club.resume("console")]
    assert isinstance(told[-1], Refused)
    assert (told[-1].filename, told[-1].notice.key) == ("bad.epub", "book_kind_archive")
    assert again == []
