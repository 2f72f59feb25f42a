"""Writing a rank table: a disposable SQLite file, one for each text version of a book."""

import os
import sqlite3
from array import array
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from zlib import crc32

from core.model import ParsedBook
from core.ranking.searchable import searchable
from core.ranking.windows import cost, mark, weight

VERSION = 2
"""Changes with everything that changes what is stored; a table of another version is rebuilt."""


def build(path: Path, book: ParsedBook) -> None:
    """Write the rank table of a book to `path`, replacing what is there; all or nothing.

    The index holds runs; windows are ranges of runs, laid out when the table is asked, so that a reading limit cuts
    everything, scores included, at the exact run. Raises OSError or sqlite3.Error when the disk does not take it.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(new, isolation_level=None)) as database:
            _write(database, book)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def checksum(arrays: Mapping[str, "array[int]"]) -> int:
    """Over all arrays but the one it stands in."""
    total = 0
    for name in sorted(arrays):
        if name != "version":
            total = crc32(arrays[name].tobytes(), crc32(name.encode("ascii"), total))
    return total


def _write(database: sqlite3.Connection, book: ParsedBook) -> None:
    texts = [book.files[run.file].text[run.start : run.end] for run in book.runs]
    weights = array("I", map(weight, texts))
    stemming = "porter " if book.language == "en" else ""
    database.executescript("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF;")
    database.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, detail=none, "
        f"tokenize=\"{stemming}unicode61 remove_diacritics 2 categories 'L* M* N* Co'\")"
    )
    database.execute("CREATE TABLE arrays (name TEXT PRIMARY KEY, value BLOB NOT NULL)")
    database.execute("INSERT INTO words(words, rank) VALUES ('hashsize', 33554432)")
    database.execute("BEGIN")
    database.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", enumerate(map(searchable, texts), 1))
    arrays = {
        "file": array("I", (run.file for run in book.runs)),
        "start": array("I", (run.start for run in book.runs)),
        "end": array("I", (run.end for run in book.runs)),
        "cost": array("I", map(cost, texts, book.runs)),
        "weight": weights,
        "mark": array("I", mark(book)),
    }
    # Written last and checked first: a file that was cut short has none. The places of runs become tags: one that is
    # not what was written is built again.
    arrays["version"] = array("I", (VERSION, len(book.runs), checksum(arrays)))
    database.executemany(
        "INSERT INTO arrays VALUES (?, ?)", ((name, value.tobytes()) for name, value in arrays.items())
    )
    database.execute("COMMIT")
