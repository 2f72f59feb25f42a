"""A data folder in which nothing has happened yet, copied from one made once: making its tables costs more than most tests."""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from core.store import Store
from core.store.engines import DATABASE_FILE


def make_empty(folder: Path) -> None:
    """What opening a store on SQLite makes of a folder; one that holds a database is left as it is."""
    database = folder / DATABASE_FILE
    if not database.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        database.write_bytes(_empty_database())


@cache
def _empty_database() -> bytes:
    async def make(folder: Path) -> None:
        await (await Store.open("", folder)).close()

    # In a thread: whoever asks may be in the midst of another loop.
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor() as elsewhere:
        elsewhere.submit(asyncio.run, make(Path(name))).result()
        return (Path(name) / DATABASE_FILE).read_bytes()
