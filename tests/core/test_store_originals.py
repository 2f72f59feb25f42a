"""Originals are named by their content and never half there."""

import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from core.errors import BrokenPromise, Missing, OperatorError
from core.store import Originals


@pytest.fixture
async def originals(tmp_path: Path) -> Originals:
    return await Originals.open(tmp_path / "originals")


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_file_is_kept_under_its_hash_in_two_levels_of_folders(tmp_path: Path, originals: Originals) -> None:
    source = tmp_path / "tale.epub"
    source.write_bytes(b"bear" * 700_000)
    sha256 = await originals.put(source)
    assert sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    path = originals.path(sha256)
    assert path == tmp_path / "originals" / sha256[:2] / sha256[2:4] / sha256
    assert path.read_bytes() == source.read_bytes()
    assert await originals.checked(sha256) == path


async def test_the_same_bytes_put_many_times_at_once_are_kept_once(tmp_path: Path, originals: Originals) -> None:
    source = tmp_path / "tale.epub"
    source.write_bytes(b"bear" * 100_000)
    names = await asyncio.gather(*(originals.put(source) for _ in range(20)))
    assert len(set(names)) == 1
    assert _files(tmp_path / "originals") == [originals.path(names[0])]


async def test_a_damaged_original_is_noticed_and_mended_by_putting_it_again(
    tmp_path: Path, originals: Originals
) -> None:
    source = tmp_path / "tale.epub"
    source.write_bytes(b"bear")
    sha256 = await originals.put(source)
    originals.path(sha256).write_bytes(b"boar")
    with pytest.raises(BrokenPromise, match="original_damaged"):
        await originals.checked(sha256)
    await originals.put(source)
    assert (await originals.checked(sha256)).read_bytes() == b"bear"


async def test_a_deleted_original_is_missing(tmp_path: Path, originals: Originals) -> None:
    source = tmp_path / "tale.epub"
    source.write_bytes(b"bear")
    sha256 = await originals.put(source)
    assert await originals.delete(sha256)
    assert not await originals.delete(sha256)
    with pytest.raises(Missing, match="original_missing"):
        await originals.checked(sha256)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 63, "A" * 64, "g" * 64, "a" * 63 + "/"])
def test_only_a_hash_becomes_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        Originals(tmp_path).path(name)


async def test_a_source_that_is_not_there_is_no_fault_of_the_data_folder(tmp_path: Path, originals: Originals) -> None:
    with pytest.raises(FileNotFoundError):
        await originals.put(tmp_path / "missing.epub")
    assert _files(tmp_path / "originals") == []


async def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OperatorError, match="data_unwritable"):
        await Originals.open(tmp_path / "file" / "originals")


async def test_what_a_killed_process_left_is_swept_but_a_copy_under_way_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "originals"
    folder.mkdir()
    old, young = folder / "tmpold.part", folder / "tmpyoung.part"
    for part in (old, young):
        part.write_bytes(b"half")
    two_hours_ago = young.stat().st_mtime - 7200
    os.utime(old, (two_hours_ago, two_hours_ago))
    await Originals.open(folder)
    assert _files(folder) == [young]


async def test_what_a_killed_restore_left_keeps_nobody_from_starting(tmp_path: Path) -> None:
    folder = tmp_path / "originals"
    left = folder / "tmpold.part"
    left.mkdir(parents=True)
    (left / "original").write_bytes(b"half")
    two_hours_ago = left.stat().st_mtime - 7200
    os.utime(left, (two_hours_ago, two_hours_ago))
    await Originals.open(folder)
    assert list(folder.iterdir()) == []
