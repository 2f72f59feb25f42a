"""Page pictures for the rest of the house: drawn in a boxed child that stays warm a while, kept as files."""

import asyncio
import hashlib
import logging
import os
import re
import shutil
import tempfile
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from core.errors import LoccitError
from core.formats.box import Box, BoxLimits
from core.model import PagePicture, Position, Span

_log = logging.getLogger(__name__)

DPI = 110
"""A page of a book in about 900 by 1200 dots."""
WARM = 60.0
"""Seconds a child keeps a book open after its last picture (DESIGN section 4)."""
_CHILDREN = 3
"""Books kept open at once: about 80 MB each."""
_KEPT = 400
"""Pictures kept on disk for one book, the oldest go first: about 60 MB."""
_HASH = re.compile("[0-9a-f]{16,64}")


class Pictures:
    """Draws ranges on the pages of PDFs. `async with Pictures(folder) as pictures`.

    A picture is an extra: whatever goes wrong, the answer is None and the text of the passage stands.
    """

    def __init__(self, folder: Path, limits: BoxLimits | None = None, warm: float = WARM) -> None:
        """`folder` holds the pictures and may be deleted at any time; `warm` in seconds."""
        self._folder = folder
        self._limits = limits or replace(BoxLimits(), wall=10.0, cpu=120)
        self._warm = warm
        self._boxes: OrderedDict[str, Box] = OrderedDict()
        self._ends: dict[str, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the children; the kept pictures stay."""
        async with self._lock:
            for name in list(self._boxes):
                await self._close(name)
        await asyncio.gather(*self._closing)

    async def draw(
        self,
        path: Path,
        sha256: str,
        text_version: str,
        span: Span,
        texts: Mapping[int, str],
        limit: Position | None = None,
        kept_back: Sequence[Span] = (),
        dpi: int = DPI,
        password: str | None = None,
    ) -> tuple[PagePicture, ...] | None:
        """The page, or two where the range's last word runs over a page break; None when there is no picture.

        `texts`: the stored texts of the span's file and, when the book has it, of the next. `limit`: the first
        position not permitted; a range past it gives None, and what else of a page lies past it is painted over, as are
        the stretches `kept_back`.
        """
        if limit is not None and span.last > limit:
            return None
        if limit is not None and limit.file > span.file + 1:
            limit = None  # nothing on these pages lies past it
        here = [tuple(stretch) for stretch in kept_back if stretch.file in (span.file, span.file + 1)]
        facts = (text_version, tuple(span), limit and tuple(limit), dpi, *here)
        name = hashlib.sha256(repr(facts).encode()).hexdigest()
        folder = self._book(sha256) / name
        kept = await asyncio.to_thread(_load, folder)
        if kept is not None:
            return kept
        near = [(page, texts[page]) for page in (span.file, span.file + 1) if page in texts]
        job = {"span": span, "texts": near, "limit": limit, "kept_back": here, "dpi": dpi}
        drawn = await self._ask(path, sha256, password, job)
        if not drawn:
            return None
        try:
            pictures = tuple(PagePicture(int(page), b64decode(png), top) for page, png, top in drawn)
        except (TypeError, ValueError):
            return None
        await asyncio.to_thread(_keep, folder, pictures)
        return pictures

    async def open(self, path: Path, sha256: str, password: str | None = None) -> None:
        """Start the child and open the book ahead of a press, so that the first picture is quick too."""
        await self._ask(path, sha256, password, {})

    async def forget(self, sha256: str) -> None:
        """Delete the pictures of a book and close it: it was removed."""
        async with self._lock:
            await self._close(sha256)
        await asyncio.to_thread(shutil.rmtree, self._book(sha256), ignore_errors=True)

    async def keep_only(self, stored: Collection[str]) -> None:
        """Delete the pictures of books that are no longer stored."""
        for folder in await asyncio.to_thread(lambda: list(self._folder.glob("*"))):
            if folder.name not in stored and _HASH.fullmatch(folder.name):
                await self.forget(folder.name)

    def _book(self, sha256: str) -> Path:
        if not _HASH.fullmatch(sha256):
            raise ValueError("not a content hash")
        return self._folder / sha256

    async def _ask(self, path: Path, sha256: str, password: str | None, job: Mapping[str, Any]) -> Any:
        """One job at a time: pictures are quick, and two cores are soon full."""
        async with self._lock:
            try:
                box = await self._open(sha256)
                done = await box.ask({"do": "picture", "path": str(path), "password": password, **job})
            except LoccitError as error:
                _log.info("no page picture: %s", error.key)
                await self._close(sha256)
                return None
            except BaseException:  # cancelled in the middle of a reply: the next one would read its rest
                await self._close(sha256)
                raise
            self._keep_warm(sha256)
            return done

    async def _open(self, name: str) -> Box:
        box = self._boxes.get(name)
        if box is None:
            while len(self._boxes) >= _CHILDREN:
                await self._close(next(iter(self._boxes)))
            box = await Box(self._limits).__aenter__()
            self._boxes[name] = box
        self._boxes.move_to_end(name)
        return box

    def _keep_warm(self, name: str) -> None:
        if (end := self._ends.pop(name, None)) is not None:
            end.cancel()
        self._ends[name] = asyncio.get_running_loop().call_later(self._warm, self._expire, name, self._boxes[name])

    def _expire(self, name: str, box: Box) -> None:
        async def close() -> None:
            async with self._lock:
                if self._boxes.get(name) is box and name in self._ends and self._ends[name] is end:
                    await self._close(name)

        end = self._ends[name]
        task = asyncio.create_task(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, name: str) -> None:
        if (end := self._ends.pop(name, None)) is not None:
            end.cancel()
        if (box := self._boxes.pop(name, None)) is not None:
            await box.__aexit__(None, None, None)


def _load(folder: Path) -> tuple[PagePicture, ...] | None:
    try:
        pictures = tuple(_named(file) for file in sorted(folder.glob("*@*.png")))
    except (OSError, ValueError):
        return None
    return pictures or None


def _named(file: Path) -> PagePicture:
    """A kept picture; its name says the page and where on it the range begins."""
    page, top = file.stem.split("@")
    return PagePicture(int(page), file.read_bytes(), float(top) if top else None)


def _top(picture: PagePicture) -> str:
    return "" if picture.top is None else f"{picture.top:.4f}"


def _keep(folder: Path, pictures: tuple[PagePicture, ...]) -> None:
    """Written beside and renamed, so that half a set is never seen. A full disk costs the copy, not the picture."""
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="draft-"))
        try:
            for picture in pictures:
                (draft / f"{picture.page:05d}@{_top(picture)}.png").write_bytes(picture.png)
            os.replace(draft, folder)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
        sets = sorted(folder.parent.iterdir(), key=lambda entry: entry.stat().st_mtime)
        for old in sets[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
