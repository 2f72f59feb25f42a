"""The rank tables on disk: one disposable file per text version, opened off the event loop, rebuilt when lost."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection
from pathlib import Path

from core.errors import BrokenPromise
from core.ranking import BrokenTable, Ranked, RankTable, build
from core.retrieval.source import Source
from core.store import Store

log = logging.getLogger(__name__)

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

    async def search(self, source: Source, wanted: str, *, top: int = 60, wide: bool = False) -> Ranked:
        """Search a book up to its limit; a lost or damaged table is built again, once."""
        for attempt in (1, 2):
            try:
                table = await self._table(source.sha256, source.text_version)
                return await asyncio.to_thread(
                    table.search,
                    wanted,
                    source.language,
                    limit=source.limit.position,
                    kept_back=source.kept_back,
                    top=top,
                    wide=wide,
                )
            except BrokenTable as broken:
                if attempt == 2:
                    raise BrokenPromise("rank_table_broken") from broken
                log.warning("rank table is built again", extra={"book": source.sha256, "reason": str(broken)})
                await self.forget(source.sha256, source.text_version)
                await self._rebuild(source.sha256, source.text_version)
        raise AssertionError("the second attempt returns or raises")

    async def _table(self, sha256: str, text_version: str) -> RankTable:
        path = self.path(sha256, text_version)
        async with self._locks.setdefault(path, asyncio.Lock()):
            if path in self._open:
                self._open.move_to_end(path)
                return self._open[path]
            table = self._open[path] = await asyncio.to_thread(RankTable.open, path)
            while len(self._open) > OPEN_TABLES:
                self._open.popitem(last=False)[1].close()
            return table

    async def _rebuild(self, sha256: str, text_version: str) -> None:
        path = self.path(sha256, text_version)
        async with self._locks.setdefault(path, asyncio.Lock()):
            book = await self._store.books.parsed(sha256, text_version)
            await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
            await asyncio.to_thread(build, path, book)

    async def forget(self, sha256: str, text_version: str) -> None:
        """Close and delete a book's table."""
        path = self.path(sha256, text_version)
        async with self._locks.setdefault(path, asyncio.Lock()):
            if path in self._open:
                self._open.pop(path).close()
            path.unlink(missing_ok=True)

    async def keep_only(self, stored: Collection[str]) -> None:
        """Delete the tables of books that are no longer stored."""
        for path in await asyncio.to_thread(lambda: list(self._folder.glob("*.rank"))):
            sha256, _, text_version = path.stem.partition("-")
            if sha256 not in stored:
                await self.forget(sha256, text_version)

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
