"""The boxed child: every book of the hostile set, every way to fail as one sentence, nothing left behind."""

import asyncio
import hashlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from core.errors import BadBook, OperatorError
from core.formats.box import Box, BoxLimits
from core.formats.reading import MAX_UPLOAD, read, reading
from core.formats.wire import pack, unpack
from core.model import Notice, PageMark, ParsedBook
from core.strings import LOCALES, say
from tests.books.builders import page, write_epub
from tests.core.children import alive, children
from tests.parts import SHARED, needs_shared

HOSTILE = SHARED / "books" / "hostile" if SHARED else Path("none")
ROWS: list[dict[str, Any]] = json.loads((HOSTILE / "manifest.json").read_text())["files"] if SHARED else []


def small(tmp_path: Path) -> Path:
    return write_epub(tmp_path / "b.epub", {"a.xhtml": page("<h1>One</h1><p>The lamp is lit.</p>")})


def facts_of(pid: int) -> tuple[dict[str, str], bytes]:
    """The limits (soft) and the environment of a process."""
    folder = Path(f"/proc/{pid}")
    lines = (folder / "limits").read_text().splitlines()[1:]
    return {line[:25].strip(): line[25:].split()[0] for line in lines}, (folder / "environ").read_bytes()


@needs_shared
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
async def test_a_hostile_file_becomes_its_text_or_one_sentence(row: dict[str, Any]) -> None:
    book: ParsedBook | None = None
    said: list[str] = []
    try:
        book = await read(HOSTILE / row["file"], rank_path=None)
    except BadBook as error:
        said = [say(error.key, locale, **error.params) for locale in LOCALES]
    if book is None:
        assert row["expect"] in ("error", "text_or_error")
        assert not any("\n" in sentence for sentence in said)
        return
    assert row["expect"] in ("text", "text_or_error")
    text = "\n".join(file.text for file in book.files)
    assert [words for words in row["text_must_contain"] if words not in text] == []
    assert [words for words in row["text_must_not_contain"] if words in text] == []
    for choice in row.get("text_must_contain_one_of", []):
        assert any(words in text for words in choice)
    if row.get("count_once"):
        assert [text.count(words) for words in row["text_must_contain"]] == [1] * len(row["text_must_contain"])
    for title, *place in row.get("toc", []):
        entries = [entry for entry in book.toc if entry.title == title]
        assert entries
        if isinstance(place[0], int):
            assert entries[0].file == place[0]


@needs_shared
async def test_a_locked_file_opens_with_its_password_only() -> None:
    path = HOSTILE / "encrypted-user-password.pdf"
    with pytest.raises(BadBook, match="book_locked"):
        await read(path, rank_path=None)
    with pytest.raises(BadBook, match="book_wrong_password"):
        await read(path, rank_path=None, password="guess")
    assert (await read(path, rank_path=None, password="secret")).files


@needs_shared
async def test_the_child_needs_no_rights_no_environment_and_little_memory() -> None:
    async with Box(BoxLimits()) as box:
        path = str(HOSTILE.parent / "hamlet.epub")
        packed = await box.ask({"do": "read", "path": path, "timing": True})
        limits, environment = facts_of(box.pid)
        assert os.readlink(f"/proc/{box.pid}/cwd") == "/"
    assert environment == b""
    assert packed["timing"]["peak_kilobytes"] < 200 * 1024
    assert limits["Max address space"] == str(1 << 30)
    assert limits["Max cpu time"] == "30"
    assert limits["Max core file size"] == "0"
    assert limits["Max processes"] == "0"


async def test_the_child_leaves_the_network_or_says_that_it_cannot(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with Box(BoxLimits()) as box:
        await box.ask({"do": "read", "path": str(small(tmp_path))})
        apart = os.readlink(f"/proc/{box.pid}/ns/net") != os.readlink("/proc/self/ns/net")
    assert apart or "network" in caplog.text


async def test_a_book_comes_with_its_rank_table(tmp_path: Path) -> None:
    book = await read(small(tmp_path), rank_path=tmp_path / "ranks.db")
    assert (book.title, book.authors, book.language, book.format) == ("A Book", ("Ana Lima",), "en", "epub")
    assert [file.text for file in book.files] == ["One\n\nThe lamp is lit."]
    assert book.runs
    assert book.segments
    assert (tmp_path / "ranks.db").stat().st_size > 0


async def test_the_book_is_there_before_its_table_and_whoever_leaves_early_gets_none(tmp_path: Path) -> None:
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    async with reading(small(tmp_path), rank_path=ranks / "r.db") as found:
        running = children()
        assert found.book.runs
    assert not any(map(alive, running))
    assert [file for file in ranks.iterdir() if file.suffix == ".new"] == []
    async with reading(small(tmp_path), rank_path=ranks / "r.db") as found:
        await found.ranked()
        assert [file.name for file in ranks.iterdir()] == ["r.db"]
    async with reading(small(tmp_path), rank_path=None) as found:
        await found.ranked()


async def test_parsing_twice_gives_the_same_hashes(tmp_path: Path) -> None:
    path = small(tmp_path)
    first, second = await asyncio.gather(read(path, rank_path=None), read(path, rank_path=None))
    assert first == second
    digest = hashlib.sha256(first.files[0].text.encode()).hexdigest()
    assert digest == "b482317e6786a25c3aca5a493072b7c1d7b1cfe9acba5db34a901e3fed3cebf2"


async def test_a_file_over_the_limit_starts_no_child(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(MAX_UPLOAD + 1)
    with pytest.raises(BadBook) as caught:
        await read(path, rank_path=None)
    assert caught.value.key == "book_too_large"
    assert caught.value.params == {"size": 51, "limit": 50}
    with pytest.raises(BadBook, match="file_not_found"):
        await read(tmp_path / "gone.epub", rank_path=None)


async def test_too_much_time_is_one_sentence_and_the_child_is_dead(tmp_path: Path) -> None:
    path = write_epub(tmp_path / "slow.epub", {"a.xhtml": page("<div>" * 90_000 + "x" + "</div>" * 90_000)})
    async with Box(BoxLimits(wall=1.0)) as box:
        with pytest.raises(BadBook) as caught:
            await box.ask({"do": "read", "path": str(path)})
        assert caught.value.key == "book_too_slow"
    assert not alive(box.pid)
    with pytest.raises(BadBook) as caught:
        await read(path, rank_path=None, box=BoxLimits(cpu=1))
    assert caught.value.key == "book_too_slow"
    assert caught.value.params == {"seconds": 1}


async def test_too_much_memory_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "heavy.txt"
    path.write_bytes(b"The lamp is lit. \n\n" * 2_500_000)
    with pytest.raises(BadBook) as caught:
        await read(path, rank_path=None, box=BoxLimits(memory=120_000_000))
    assert caught.value.key in ("book_too_heavy", "book_broken")


async def test_too_much_output_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadBook) as caught:
        await read(small(tmp_path), rank_path=None, box=BoxLimits(output=100))
    assert caught.value.key == "book_too_much_output"


async def test_a_child_that_breaks_is_one_sentence_and_its_reasons_stay_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with Box(BoxLimits()) as box:
        with pytest.raises(BadBook) as caught:
            await box.ask({"do": "no such thing"})
    assert caught.value.key == "book_broken"
    assert "KeyError" in caplog.text
    assert not alive(box.pid)


async def test_one_child_takes_several_jobs(tmp_path: Path) -> None:
    job = {"do": "read", "path": str(small(tmp_path))}
    empty = tmp_path / "empty"
    empty.touch()
    async with Box(BoxLimits()) as box:
        first = await box.ask(job)
        with pytest.raises(BadBook, match="book_empty"):
            await box.ask(job | {"path": str(empty)})
        assert await box.ask(job) == first


async def test_a_cancelled_read_kills_its_child_and_leaves_no_table(tmp_path: Path) -> None:
    path = write_epub(tmp_path / "slow.epub", {"a.xhtml": page("<div>" * 90_000 + "x" + "</div>" * 90_000)})
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    task = asyncio.create_task(read(path, rank_path=ranks / "r.db"))
    found: list[int] = []
    for _ in range(1000):
        await asyncio.sleep(0.01)
        if found := children():
            break
    assert found
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(map(alive, found))
    assert list(ranks.iterdir()) == []


async def test_a_table_that_cannot_be_written_is_the_operators_business(tmp_path: Path) -> None:
    with pytest.raises(OperatorError) as caught:
        await read(small(tmp_path), rank_path=tmp_path / "no such folder" / "r.db")
    assert caught.value.key == "data_unwritable"


async def test_no_library_of_another_format_is_loaded_for_a_book(tmp_path: Path) -> None:
    """What the child imports for an EPUB; the PDF library alone would cost a tenth of a second and 40 MB."""
    code = (
        "import sys; from pathlib import Path; from core.formats.child import _read\n"
        "_read({'do': 'read', 'path': sys.argv[1]})\n"
        "print([name for name in ('pymupdf', 'fitz', 'mammoth', 'markdown_it', 'selectolax', 'sqlalchemy',"
        " 'charset_normalizer', 'asyncio') if name in sys.modules])"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(small(tmp_path)), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    out, _ = await child.communicate()
    assert out.decode().strip() == "[]"


async def test_a_book_survives_the_wire_unchanged(tmp_path: Path) -> None:
    book = await read(small(tmp_path), rank_path=None)
    full = ParsedBook(
        **{name: getattr(book, name) for name in ("title", "authors", "language", "format", "text_version", "files")},
        runs=book.runs,
        toc=book.toc,
        chapters=book.chapters,
        segments=book.segments,
        pages=(PageMark("xii", 0, 3),),
        warnings=(Notice("book_parts_missing", {"count": 2}),),
        blind=(3,),
        machine_read=True,
        cover=b"\x89PNG\xff",
    )
    assert unpack(json.loads(json.dumps(pack(full)))) == full


@pytest.mark.parametrize("packed", [{}, {"title": "x"}, {"runs": 3}])
def test_a_reply_that_is_no_book_is_refused(packed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a packed book"):
        unpack(packed)
