"""The rank tables on disk: one disposable file per text version, opened off the event loop, rebuilt when lost."""

import asyncio
from collections import OrderedDict
from pathlib import Path

from core.ranking import BrokenTable, RankTable, build
from core.store import Store

OPEN_TABLES = 64
"""Tables kept open at once; an open table costs a file handle and a small page cache."""


class Ranks:
    """Finds, opens and if need be rebuilds the rank table of a stored book."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._open: OrderedDict[Path, RankTable] = OrderedDict()
        self._locks: dict[Path, asyncio.Lock] = {}

    def path(self, sha256: str, text_version: str) -> Path:
        return self._folder / f"{sha256}-{text_version}.rank"

    async def table(self, sha256: str, text_version: str) -> RankTable:
        path = self.path(sha256, text_version)
        async with self._locks.setdefault(path, asyncio.Lock()):
            if path in self._open:
                self._open.move_to_end(path)
                return self._open[path]
            try:
                table = await asyncio.to_thread(RankTable.open, path)
            except BrokenTable:
                book = await self._store.books.parsed(sha256, text_version)
                self._folder.mkdir(parents=True, exist_ok=True)
                await asyncio.to_thread(build, path, book)
                table = await asyncio.to_thread(RankTable.open, path)
            self._open[path] = table
            while len(self._open) > OPEN_TABLES:
                self._open.popitem(last=False)[1].close()
            return table

    async def forget(self, sha256: str, text_version: str) -> None:
        """Close and delete a book's table."""
        path = self.path(sha256, text_version)
        async with self._locks.setdefault(path, asyncio.Lock()):
            if path in self._open:
                self._open.pop(path).close()
            path.unlink(missing_ok=True)

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
