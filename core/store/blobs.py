"""Originals: the files people uploaded, named by their content, in a local folder."""

import asyncio
import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from core.errors import BrokenPromise, Missing
from core.store.failures import disk_failures_as_sentences

_CHUNK = 1024 * 1024  # bytes
_LEFTOVER = ".part"
_LEFTOVER_AGE = 3600.0  # seconds; no copy of 50 MB takes this long, so an older one belongs to a killed process


class Originals:
    """A content-addressed folder: `ab/cd/abcd….` holds the bytes whose SHA-256 is `abcd…`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        return self._folder

    @classmethod
    async def open(cls, folder: Path) -> "Originals":
        """Make the folder when it is missing and sweep what killed processes left half written.

        Raises OperatorError `data_unwritable` or `disk_full`.
        """
        await asyncio.to_thread(_prepare, folder)
        return cls(folder)

    async def put(self, path: Path) -> str:
        """Copy the file in and return its SHA-256 (hex). Once this returns, the bytes survive a crash.

        Putting the same bytes again is harmless (and mends a damaged copy). The source stays where it is.
        Raises OperatorError `disk_full` or `data_unwritable`; nothing half written stays. A source that cannot be
        read is an OSError.
        """
        return await asyncio.to_thread(self._put, path)

    def path(self, sha256: str) -> Path:
        """Where the original lies; the file need not exist."""
        return original_path(self._folder, sha256)

    async def checked(self, sha256: str) -> Path:
        """The path, after reading the file whole and comparing its hash.

        Raises Missing `original_missing`; BrokenPromise `original_damaged`.
        """
        path = self.path(sha256)
        try:
            found = await asyncio.to_thread(_hash, path)
        except FileNotFoundError as error:
            raise Missing("original_missing") from error
        except OSError as error:
            raise BrokenPromise("original_damaged") from error
        if found != sha256:
            raise BrokenPromise("original_damaged")
        return path

    async def sound(self, sha256: str) -> Path | None:
        """The path when the file is there and what its name says, else None: for what can do without."""
        try:
            return await self.checked(sha256)
        except (Missing, BrokenPromise):
            return None

    async def delete(self, sha256: str) -> bool:
        """Remove the original; False when there was none."""
        return await asyncio.to_thread(_delete, self.path(sha256))

    async def old(self) -> tuple[str, ...]:
        """The originals that have lain here for an hour: an upload is on record long before that."""
        return await asyncio.to_thread(_old, self._folder)

    def _put(self, source: Path) -> str:
        # The source is opened outside: one that is missing or closed to us is not the data folder's fault.
        with source.open("rb") as data, disk_failures_as_sentences():
            descriptor, name = tempfile.mkstemp(suffix=_LEFTOVER, dir=self._folder)
            part = Path(name)
            try:
                hashed = hashlib.sha256()
                with os.fdopen(descriptor, "wb") as copy:
                    while chunk := data.read(_CHUNK):
                        hashed.update(chunk)
                        copy.write(chunk)
                    copy.flush()
                    os.fsync(copy.fileno())
                sha256 = hashed.hexdigest()
                target = self.path(sha256)
                target.parent.mkdir(parents=True, exist_ok=True)
                part.replace(target)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            for folder in (target.parent, target.parent.parent, self._folder):
                _sync_folder(folder)
        return sha256


def original_path(folder: Path, sha256: str) -> Path:
    """Where the original lies in the folder of originals."""
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError("not a SHA-256 in hex")  # it becomes part of a path
    return folder / sha256[:2] / sha256[2:4] / sha256


def _prepare(folder: Path) -> None:
    with disk_failures_as_sentences():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Ages are compared by the machine's clock, as the file system itself does.
        old = time.time() - _LEFTOVER_AGE
        for part in folder.glob(f"*{_LEFTOVER}"):
            with suppress(FileNotFoundError):
                if part.stat().st_mtime < old:
                    if part.is_dir():  # a restore unpacks in a folder
                        shutil.rmtree(part, ignore_errors=True)
                    else:
                        part.unlink()


def _hash(path: Path) -> str:
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _delete(path: Path) -> bool:
    with disk_failures_as_sentences():
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        _sync_folder(path.parent)
    return True


def _old(folder: Path) -> tuple[str, ...]:
    old = time.time() - _LEFTOVER_AGE
    found = []
    for path in folder.glob("??/??/*"):
        with suppress(FileNotFoundError):
            if len(path.name) == 64 and path.stat().st_mtime < old:
                found.append(path.name)
    return tuple(found)


def _sync_folder(folder: Path) -> None:
    """Make a rename or a removal inside the folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
