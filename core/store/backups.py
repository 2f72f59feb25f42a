"""Backups: one zip file with all rows and all originals, made while the bot runs, restored into either database."""

import asyncio
import hashlib
import json
import os
import sqlite3
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import sqlalchemy as sa
from sqlalchemy import Connection, inspect, select, text

from core.errors import OperatorError
from core.store.archive import load_tables, our_tables, save_tables, snapshot, table_intact
from core.store.blobs import Originals, original_path
from core.store.engines import Engines, take_time
from core.store.failures import database_failure, disk_failures_as_sentences
from core.store.schema import metadata
from core.store.upgrade import LOCK, REVISIONS, migrate, revision_of, version_table

FORMAT = 1
_MANIFEST = "manifest.json"
_CHUNK = 1 << 20
_PART = (".loccit-", ".part")
"""How the name of a file begins and ends that is not whole yet."""
_LEFTOVER_AGE = 3600.0
"""Seconds without a write after which it is nobody's any more."""


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds."""

    revision: str
    rows: dict[str, int]
    """By table."""
    originals: int
    lost: tuple[str, ...] = ()
    """Originals that were on record and not in the folder, or not what they were (sha256)."""


async def write_backup(url: str, folder: Path, target: Path, at: datetime) -> Backup:
    """Save everything to `target`, whole or not at all. The database is only read, and nobody is kept from writing.

    An earlier backup of that name is replaced; anything else is left alone. Raises OperatorError `backup_nothing`,
    `backup_in_the_way`, `backup_unwritable`, and what opening a store raises.
    """
    if Engines.missing(url, folder):
        raise OperatorError("backup_nothing", path=str(folder))
    if not await asyncio.to_thread(_may_be_written, target):
        raise OperatorError("backup_in_the_way", path=str(target))
    engines = await Engines.open(url, folder, prepare=False)
    try:
        with _written(target) as archive:
            async with engines.read() as connection:
                return await connection.run_sync(_save, archive, folder / "originals", at)
    finally:
        await engines.close()


async def save_before_change(engines: Engines, url: str, folder: Path) -> Path:
    """Save the rows before a change of the schema: a copy beside the file, or a backup without originals in `folder`.

    One is kept for each revision that was changed to. Where it is. Raises OperatorError `backup_unwritable`, `disk_full`.
    """
    path = Engines.file(url, folder)
    if path is not None:
        target = path.with_name(f"{path.name}.before-{REVISIONS[-1]}")
        await asyncio.to_thread(_copy_file, path, target)
        return target
    target = folder / "backups" / f"before-{REVISIONS[-1]}.zip"
    with disk_failures_as_sentences():
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _written(target) as archive:
        async with engines.read() as connection:
            await connection.run_sync(_save, archive, None, None)
    return target


def _copy_file(path: Path, target: Path) -> None:
    """A consistent copy of a database that may be written meanwhile."""
    part = target.with_name(target.name + ".part")
    try:
        with disk_failures_as_sentences():
            part.unlink(missing_ok=True)
            part.touch(mode=0o600)
            with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(part)) as copy:
                old.backup(copy)
            part.replace(target)
            _sync_folder(target.parent)
    except sqlite3.Error as error:
        raise (database_failure(error) or OperatorError("database_unavailable")) from error
    finally:
        part.unlink(missing_ok=True)


async def restore_backup(source: Path, url: str, folder: Path, *, force: bool = False) -> Backup:
    """Put back what a backup holds, all of it or nothing. With `force` in place of whatever is there.

    Every hash is checked before anything is changed. Nobody else may have the data open. Raises OperatorError
    `backup_unreadable`, `backup_damaged`, `backup_newer`, `restore_over_data`, and what opening a store raises.
    """
    manifest = await asyncio.to_thread(_checked, source)
    if not force and not await _is_empty(url, folder):
        raise OperatorError("restore_over_data", path=str(folder))
    originals = await Originals.open(folder / "originals")
    with ZipFile(source) as archive:
        for sha256 in manifest["originals"]:
            await _put(archive, sha256, originals)
        path = Engines.file(url, folder)
        if path is None:
            await _restore_server(archive, manifest, url, folder)
        else:
            await _restore_file(archive, manifest, path, folder)
    return _told(manifest)


def _save(connection: Connection, archive: ZipFile, originals: Path | None, at: datetime | None) -> Backup:
    with snapshot(connection):
        revision = revision_of(connection)
        tables = save_tables(connection, archive)
        wanted = _originals(connection)
    found: list[str] = []
    lost: list[str] = []
    for sha256 in wanted if originals is not None else []:
        assert originals is not None
        kept = _copied(archive, original_path(originals, sha256), sha256)
        (found if kept else lost).append(sha256)
    manifest = {
        "format": FORMAT,
        "revision": revision,
        "made_at": None if at is None else at.isoformat(),
        "tables": tables,
        "originals": found,
        "lost": lost,
    }
    archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
    return _told(manifest)


def _told(manifest: dict[str, Any]) -> Backup:
    rows = {name: facts["rows"] for name, facts in manifest["tables"].items()}
    return Backup(manifest["revision"], rows, len(manifest["originals"]), tuple(manifest["lost"]))


def _originals(connection: Connection) -> list[str]:
    """The originals that rows speak of: of books, and of uploads under way."""
    tables = {table.name: table for table in our_tables(connection)}
    extraction, upload = tables["extraction"], tables["upload"]
    books = select(extraction.c.book)
    coming = select(upload.c.sha256).where(upload.c.state == "accepted")
    return sorted(connection.execute(books.union(coming)).scalars())


def _copied(archive: ZipFile, path: Path, sha256: str) -> bool:
    """Copy an original that is what its name says; False for one that is not, or is gone (nobody has a right to it)."""
    try:
        with path.open("rb") as data:
            if hashlib.file_digest(data, "sha256").hexdigest() != sha256:
                return False
            data.seek(0)
            member = zipfile.ZipInfo(_original(sha256))
            member.compress_type = ZIP_STORED  # books are compressed already
            with archive.open(member, "w", force_zip64=True) as copy:
                while chunk := data.read(_CHUNK):
                    copy.write(chunk)
    except FileNotFoundError:
        return False
    return True


def _original(sha256: str) -> str:
    return f"originals/{sha256[:2]}/{sha256[2:4]}/{sha256}"


@contextmanager
def _written(target: Path) -> Iterator[ZipFile]:
    """A zip file that is there whole, for its owner alone, or not at all."""
    part = None
    try:
        _sweep(target.parent)
        descriptor, name = tempfile.mkstemp(prefix=_PART[0], suffix=_PART[1], dir=target.parent)
        part = Path(name)
        with os.fdopen(descriptor, "w+b") as file:
            with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=4) as archive:
                yield archive
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        reason = error.strerror or ""
        raise OperatorError("backup_unwritable", path=str(target), reason=reason) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Delete what killed backups left half written: each is as large as everything."""
    old = time.time() - _LEFTOVER_AGE
    for part in folder.glob("*".join(_PART)):
        with suppress(OSError):
            if part.stat().st_mtime < old:
                part.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _may_be_written(path: Path) -> bool:
    """Nothing is there, or an earlier backup."""
    try:
        with ZipFile(path) as archive:
            return _MANIFEST in archive.namelist()
    except FileNotFoundError:
        return True
    except (OSError, zipfile.BadZipFile):
        return False


def _checked(source: Path) -> dict[str, Any]:
    """The manifest of a backup whose every byte is what was written."""
    try:
        with ZipFile(source) as archive:
            manifest: dict[str, Any] = json.loads(archive.read(_MANIFEST))
            if manifest["format"] != FORMAT or manifest["revision"] not in REVISIONS:
                raise OperatorError("backup_newer", path=str(source))
            for name, facts in manifest["tables"].items():
                if name not in metadata.tables or not table_intact(archive, name, facts):
                    raise OperatorError("backup_damaged", path=str(source))
            for sha256 in manifest["originals"]:
                with archive.open(_original(sha256)) as member:
                    if hashlib.file_digest(member, "sha256").hexdigest() != sha256:  # type: ignore[arg-type]  # reads like a file
                        raise OperatorError("backup_damaged", path=str(source))
            return manifest
    except OSError as error:
        raise OperatorError("backup_unreadable", path=str(source), reason=error.strerror or "") from error
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise OperatorError("backup_damaged", path=str(source)) from error


async def _is_empty(url: str, folder: Path) -> bool:
    """Nobody has said, added or asked anything there."""
    if Engines.missing(url, folder):
        return True
    engines = await Engines.open(url, folder, prepare=False)
    try:
        async with engines.read() as connection:
            return await connection.run_sync(_no_rows)
    finally:
        await engines.close()


def _no_rows(connection: Connection) -> bool:
    return all(connection.execute(select(table).limit(1)).first() is None for table in our_tables(connection))


async def _put(archive: ZipFile, sha256: str, originals: Originals) -> None:
    def unpack(folder: str) -> Path:
        path = Path(folder) / "original"
        with archive.open(_original(sha256)) as member, path.open("wb") as copy:
            while chunk := member.read(_CHUNK):
                copy.write(chunk)
        return path

    with disk_failures_as_sentences(), tempfile.TemporaryDirectory(dir=originals.folder, suffix=".part") as folder:
        await originals.put(await asyncio.to_thread(unpack, folder))


async def _restore_server(archive: ZipFile, manifest: dict[str, Any], url: str, folder: Path) -> None:
    """One transaction: tables dropped, made, filled, brought up to date."""
    engines = await Engines.open(url, folder)
    try:
        async with engines.write() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            await take_time(connection)
            await connection.run_sync(_refill, archive, manifest)
    finally:
        await engines.close()


async def _restore_file(archive: ZipFile, manifest: dict[str, Any], path: Path, folder: Path) -> None:
    """A new file beside the old one, which takes its name once it is whole."""
    fresh = path.with_name(path.name + ".restoring")
    with disk_failures_as_sentences():
        for leftover in (fresh, _beside(fresh, "-wal"), _beside(fresh, "-shm")):
            leftover.unlink(missing_ok=True)
    engines = await Engines.open(sa.URL.create("sqlite", database=str(fresh)).render_as_string(), folder)
    try:
        async with engines.write() as connection:
            await connection.run_sync(_refill, archive, manifest)
    finally:
        await engines.close()
    with disk_failures_as_sentences():
        await asyncio.to_thread(_swap, fresh, path)


def _refill(connection: Connection, archive: ZipFile, manifest: dict[str, Any]) -> None:
    for table in reversed(our_tables(connection)):
        table.drop(connection)
    version_table.drop(connection, checkfirst=True)
    migrate(connection, manifest["revision"])
    load_tables(connection, archive, manifest["tables"])
    migrate(connection)
    assert inspect(connection).has_table(version_table.name)


def _swap(fresh: Path, path: Path) -> None:
    """Replace a database file. Its log is folded into it first: found beside another file, it would damage that one."""
    if path.exists():
        old = sqlite3.connect(path, timeout=5.0)
        try:
            busy, *_ = old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.DatabaseError:  # damaged: whoever forces a restore over it wants it gone
            busy = 0
        finally:
            old.close()
        if busy:
            raise OperatorError("database_unavailable")
    for leftover in (_beside(path, "-wal"), _beside(path, "-shm"), _beside(fresh, "-wal"), _beside(fresh, "-shm")):
        leftover.unlink(missing_ok=True)
    fresh.replace(path)
    _sync_folder(path.parent)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
