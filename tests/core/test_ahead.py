"""A file that is read before it is asked for: once, only the bytes that are meant, and nothing stays when nobody asks."""

import asyncio
import fcntl
import os
import struct
import termios
from hashlib import sha256
from pathlib import Path
from typing import IO

import pytest

from core.errors import BadBook
from core.formats.ahead import LIMITS, MAX_UPLOAD, read_job, reading_ahead, take_over
from core.formats.box import Box
from core.formats.reading import of_these_bytes, read, reading
from tests.books.builders import page, write_epub
from tests.core.children import alive, children


def book(path: Path, words: str = "The lamp is lit.") -> tuple[Path, str]:
    """A book, and the hash of its bytes."""
    write_epub(path, {"a.xhtml": page(f"<h1>One</h1><p>{words}</p>")})
    return path, sha256(path.read_bytes()).hexdigest()


def waiting(pipe: IO[bytes] | None) -> int:
    """Bytes that can be read."""
    assert pipe is not None
    found: int = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
    return found


async def test_who_asks_for_the_same_bytes_gets_the_child_that_has_begun(tmp_path: Path) -> None:
    path, name = book(tmp_path / "book.epub")
    kept = tmp_path / name
    kept.write_bytes(path.read_bytes())
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    with reading_ahead(path, None, ranks):
        begun = children()
        async with reading(kept, rank_path=ranks / "r.db", sha256=name) as found:
            assert children() == begun
            await found.ranked()
            assert found.book == await read(kept, rank_path=None)
        assert [file.name for file in ranks.iterdir()] == ["r.db"]
        assert not any(map(alive, begun))
        async with reading(kept, rank_path=None, sha256=name) as found:
            assert found.book.files
    assert len(begun) == 1


async def test_other_bytes_and_another_password_are_read_by_a_child_of_their_own(tmp_path: Path) -> None:
    path, name = book(tmp_path / "book.epub")
    other, other_name = book(tmp_path / "other.epub", "The lamp is out.")
    for file, hashed, password, words in (
        (other, other_name, None, "The lamp is out."),
        (path, name, "secret", "The lamp is lit."),
    ):
        with reading_ahead(path, None, tmp_path):
            begun = children()
            async with reading(file, rank_path=None, password=password, sha256=hashed) as found:
                assert words in found.book.files[0].text
                assert children() != begun
        assert not any(map(alive, begun))


async def test_a_file_that_changed_while_it_was_read_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(b"The lamp is lit.\n\n" * 20_000)
    name = sha256(path.read_bytes()).hexdigest()
    with reading_ahead(path, None, tmp_path):
        process = take_over(read_job(path, None, accept_partial=False))
        assert process is not None
        for _ in range(3000):
            await asyncio.sleep(0.01)
            if (
                waiting(process.stdout) > 1 << 15
            ):  # its first hash is out, and some of the book: a pipe does not hold all
                break
        path.write_bytes(b"The lamp is out.\n\n" * 20_000)
        async with Box(LIMITS, process) as child:
            assert await of_these_bytes(child, name) is None


async def test_a_book_that_has_a_table_is_not_read_ahead_and_still_can_be_read(tmp_path: Path) -> None:
    path, name = book(tmp_path / "book.epub")
    (tmp_path / f"{name}-epub-1.rank").touch()
    with reading_ahead(path, None, tmp_path):
        async with reading(path, rank_path=None, sha256=name) as found:
            assert found.book.files
        process = take_over(read_job(path, None, accept_partial=False))
        assert process is None, "the one that has ended was taken over"


async def test_a_file_that_is_no_book_fails_as_it_does_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "bad.epub"
    path.write_bytes(b"PK\x03\x04 but no archive")
    with reading_ahead(path, None, tmp_path), pytest.raises(BadBook) as refused:
        async with reading(path, rank_path=None, sha256=sha256(path.read_bytes()).hexdigest()):
            pass
    with pytest.raises(BadBook, match=refused.value.key):
        await read(path, rank_path=None)
    assert children() == []


def test_nothing_stays_when_nobody_asks(tmp_path: Path) -> None:
    path, _ = book(tmp_path / "book.epub")
    with reading_ahead(path, None, tmp_path):
        begun = children()
    assert len(begun) == 1
    assert not any(map(alive, begun))


def test_what_is_no_file_to_be_read_starts_no_child(tmp_path: Path) -> None:
    empty, huge, pipe = tmp_path / "empty", tmp_path / "huge", tmp_path / "pipe"
    empty.touch()
    with huge.open("wb") as file:
        file.truncate(MAX_UPLOAD + 1)
    os.mkfifo(pipe)
    for path in (empty, huge, pipe, tmp_path, tmp_path / "gone", Path("nul\0"), Path("x" * 5000)):
        with reading_ahead(path, None, tmp_path):
            assert children() == []
