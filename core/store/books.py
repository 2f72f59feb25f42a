"""Books as read: text in hashed pieces, runs, structure, segments; one extraction per (content, text version)."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import BrokenPromise, Missing
from core.model import Contents, ParsedBook, Segment, Span, SpineFile
from core.store import schema
from core.store.engines import Engines, insert_new
from core.store.segments import UNSUMMARISED, Summary, clean_segment, put_summaries, read_segments
from core.store.structure import (
    PIECE,
    check,
    digest,
    pack_notice,
    pack_structure,
    piece_text,
    pieces,
    segment_digest,
    spine_files,
    unpack_notice,
    unpack_runs,
    unpack_structure,
)

AnyRow = Row[*tuple[Any, ...]]

_extraction = schema.extraction.c
_piece = schema.piece.c
_file = schema.spine_file.c

# Made once: what a press runs. Building a statement costs as much as running it.
_VERSION = (_extraction.book == bindparam("sha256")) & (_extraction.text_version == bindparam("version"))
_STRUCTURE = select(_extraction.text_version, _extraction.structure, _extraction.structure_hash).where(_VERSION)
_LATEST = (
    select(_extraction.text_version, _extraction.structure, _extraction.structure_hash)
    .where(_extraction.book == bindparam("sha256"))
    .order_by(_extraction.id.desc())
    .limit(1)
)
_PIECES = (
    select(_piece.number, _piece.text, _piece.hash)
    .join(schema.extraction, _extraction.id == _piece.extraction)
    .where(_VERSION, _piece.file == bindparam("in_file"))
    .where(_piece.number.between(bindparam("first"), bindparam("last")))
    .order_by(_piece.number)
)
_RUNS = (
    select(_file.length, _file.runs, _file.runs_hash)
    .join(schema.extraction, _extraction.id == _file.extraction)
    .where(_VERSION, _file.file == bindparam("in_file"))
)


class Books:
    """What extraction knew, read back exactly or not at all: every read checks the stored hash.

    Nothing here looks at rights: ask `Shelf.permitted` first.
    Reads of a book or text version that is not stored raise Missing `book_not_stored`;
    bytes that do not match their hash raise BrokenPromise `text_damaged`.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def lock(self, sha256: str, text_version: str) -> asyncio.Lock:
        """Held in this process by whoever makes something of a book that is made once; keep the lock while it is used."""
        return self._locks.setdefault((sha256, text_version), asyncio.Lock())

    async def save(
        self, sha256: str, book: ParsedBook, at: datetime, *, after: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Store a book whole or not at all. The same (content, text version) again changes nothing.

        `after` is awaited once all is ready to be written; when it fails, nothing is.
        """
        # off the event loop: hashing twenty million characters takes a while
        structure, files, texts = await asyncio.to_thread(
            lambda: (pack_structure(book), spine_files(book), pieces(book))
        )
        facts = {
            "book": sha256,
            "text_version": book.text_version,
            "title": book.title,
            "authors": list(book.authors),
            "language": book.language,
            "format": book.format,
            "characters": book.characters,
            "files": len(book.files),
            "chapters": len(book.chapters),
            "warnings": [pack_notice(warning) for warning in book.warnings],
            "machine_read": book.machine_read,
            "created_at": at,
            "structure": structure,
            "structure_hash": digest("structure", (), structure),
            "cover": book.cover,
        }
        segments: list[dict[str, Any]] = [
            {
                "sequence": segment.sequence,
                "title": segment.title,
                "start_file": segment.start.file,
                "start_offset": segment.start.offset,
                "end_file": segment.end.file,
                "end_offset": segment.end.offset,
                "summary": segment.summary,
                "stamp": segment.stamp or None,
                "flags": list(segment.flags),
                "hash": segment_digest(segment),
            }
            for segment in map(clean_segment, book.segments)
        ]
        if after is not None:
            await after()
        async with self._engines.write() as connection:
            await insert_new(connection, schema.book, {"sha256": sha256, "created_at": at})
            extraction = await insert_new(connection, schema.extraction, facts)
            if extraction is None:
                return
            for table, rows in ((schema.spine_file, files), (schema.piece, texts), (schema.segment, segments)):
                if rows:
                    await connection.execute(insert(table), [{"extraction": extraction, **row} for row in rows])

    async def contents(self, sha256: str, text_version: str | None = None) -> Contents | None:
        """The structure without the text; the latest text version when none is named. None when it is not stored."""
        query = _LATEST if text_version is None else _STRUCTURE
        async with self._engines.read() as connection:
            row = (await connection.execute(query, {"sha256": sha256, "version": text_version})).one_or_none()
        if row is None:
            return None
        structure = unpack_structure(check(row.structure_hash, "structure", (), row.structure))
        if structure.foretold is None:
            await self._renew(sha256, row.text_version)
            return await self.contents(sha256, row.text_version)
        return structure.contents(sha256, row.text_version)

    async def _renew(self, sha256: str, text_version: str) -> None:
        """Store the structure of a book once more, with what an earlier program did not look for."""
        book = await self.parsed(sha256, text_version)
        data = await asyncio.to_thread(pack_structure, book)
        mine = update(schema.extraction).where(_extraction.book == sha256, _extraction.text_version == text_version)
        async with self._engines.write() as connection:
            await connection.execute(mine.values(structure=data, structure_hash=digest("structure", (), data)))

    async def text(self, sha256: str, text_version: str, span: Span) -> str:
        """Exactly the characters of the span. A span that reaches past its file is `text_damaged`."""
        if not 0 <= span.start < span.end:
            raise ValueError(f"not a span: {span}")
        first, last = span.start // PIECE, (span.end - 1) // PIECE
        place = {"sha256": sha256, "version": text_version, "in_file": span.file, "first": first, "last": last}
        async with self._engines.read() as connection:
            rows = (await connection.execute(_PIECES, place)).all()
            if not rows:
                await _need(connection, sha256, text_version)
        text = _joined(span.file, rows, first)[span.start - first * PIECE : span.end - first * PIECE]
        if len(text) != span.end - span.start:
            raise BrokenPromise("text_damaged")
        return text

    async def file_text(self, sha256: str, text_version: str, file: int) -> str:
        """The whole canonical text of one spine file."""
        # An outer join: a file without text (a picture page) has a row but no pieces.
        query = (
            select(_file.length, _piece.number, _piece.text, _piece.hash)
            .join(schema.extraction, _extraction.id == _file.extraction)
            .outerjoin(schema.piece, (_piece.extraction == _file.extraction) & (_piece.file == _file.file))
            .where(_extraction.book == sha256, _extraction.text_version == text_version, _file.file == file)
            .order_by(_piece.number)
        )
        async with self._engines.read() as connection:
            rows = (await connection.execute(query)).all()
            if not rows:
                await _need(connection, sha256, text_version)
                raise BrokenPromise("text_damaged")
        text = _joined(file, [row for row in rows if row.number is not None], 0)
        if len(text) != rows[0].length:
            raise BrokenPromise("text_damaged")
        return text

    async def runs(self, sha256: str, text_version: str, file: int) -> tuple[Span, ...]:
        """The runs of one spine file in reading order."""
        place = {"sha256": sha256, "version": text_version, "in_file": file}
        async with self._engines.read() as connection:
            row = (await connection.execute(_RUNS, place)).one_or_none()
            if row is None:
                await _need(connection, sha256, text_version)
                raise BrokenPromise("text_damaged")
        return unpack_runs(file, check(row.runs_hash, "runs", (file, row.length), row.runs))

    async def segments(self, sha256: str, text_version: str) -> tuple[Segment, ...]:
        """All segments in reading order, each with its summary when one has been stored."""
        async with self._engines.read() as connection:
            return await read_segments(connection, await _need(connection, sha256, text_version))

    async def save_summaries(
        self,
        sha256: str,
        text_version: str,
        summaries: Mapping[int, Summary],
        *,
        fill: bool = False,
        over: Mapping[int, str] | None = None,
    ) -> None:
        """Put summaries on segments by their sequence, in place of earlier ones; all or none.

        With `fill` only on segments that have none: what stands in never takes the place of what a model wrote meanwhile.
        With `over` only where the stamp is still this: whoever slept while others worked changes nothing of theirs.
        """
        async with self._engines.write() as connection:
            await put_summaries(
                connection, await _need(connection, sha256, text_version), summaries, fill=fill, over=over
            )

    async def unsummarised(self) -> tuple[tuple[str, str], ...]:
        """(sha256, text version) of the books on any shelf with a segment no model was asked about, oldest first.

        A segment whose summary is flagged was asked about.
        """
        async with self._engines.read() as connection:
            return tuple((row.book, row.text_version) for row in await connection.execute(UNSUMMARISED))

    async def language(self, sha256: str, text_version: str) -> str:
        """The language the book is in."""
        query = select(_extraction.language).where(_extraction.book == sha256, _extraction.text_version == text_version)
        async with self._engines.read() as connection:
            found = (await connection.execute(query)).scalar_one_or_none()
        if found is None:
            raise Missing("book_not_stored")
        return str(found)

    async def cover(self, sha256: str, text_version: str) -> bytes | None:
        """The cover picture as stored in the book, when it has one."""
        query = select(_extraction.cover).where(_extraction.book == sha256, _extraction.text_version == text_version)
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise Missing("book_not_stored")
        return bytes(row.cover) if row.cover is not None else None

    async def parsed(self, sha256: str, text_version: str) -> ParsedBook:
        """The whole book as it was saved, with summaries made since. Slow (all text is read and checked)."""
        async with self._engines.read() as connection:
            extraction = await _need(connection, sha256, text_version)
            facts = (await connection.execute(select(schema.extraction).where(_extraction.id == extraction))).one()
            file_rows = await connection.execute(
                select(schema.spine_file).where(_file.extraction == extraction).order_by(_file.file)
            )
            piece_rows = await connection.execute(
                select(schema.piece).where(_piece.extraction == extraction).order_by(_piece.file, _piece.number)
            )
            segments = await read_segments(connection, extraction)
        return await asyncio.to_thread(_rebuild, facts, file_rows.all(), piece_rows.all(), segments)


async def _need(connection: AsyncConnection, sha256: str, text_version: str) -> int:
    query = select(_extraction.id).where(_extraction.book == sha256, _extraction.text_version == text_version)
    extraction: int | None = (await connection.execute(query)).scalar_one_or_none()
    if extraction is None:
        raise Missing("book_not_stored")
    return extraction


def _joined(file: int, rows: Collection[AnyRow], first: int) -> str:
    """The text of pieces `first`, `first + 1`, …; all but the last are full."""
    texts = []
    for number, row in enumerate(rows, first):
        text = piece_text(file, number, row.text, row.hash)
        if row.number != number or (len(text) != PIECE and number != first + len(rows) - 1):
            raise BrokenPromise("text_damaged")
        texts.append(text)
    return "".join(texts)


def _rebuild(
    facts: AnyRow,
    file_rows: Collection[AnyRow],
    piece_rows: Collection[AnyRow],
    segments: tuple[Segment, ...],
) -> ParsedBook:
    structure = unpack_structure(check(facts.structure_hash, "structure", (), facts.structure))
    by_file: dict[int, list[AnyRow]] = {}
    for row in piece_rows:
        by_file.setdefault(row.file, []).append(row)
    files = []
    runs: list[Span] = []
    if [row.length for row in file_rows] != list(structure.lengths):
        raise BrokenPromise("text_damaged")
    for index, row in enumerate(file_rows):
        text = _joined(index, by_file.get(index, []), 0)
        if len(text) != row.length:
            raise BrokenPromise("text_damaged")
        files.append(SpineFile(index, structure.labels[index], text, structure.joins[index]))
        runs += unpack_runs(index, check(row.runs_hash, "runs", (index, row.length), row.runs))
    return ParsedBook(
        title=facts.title,
        authors=tuple(facts.authors),
        language=facts.language,
        format=facts.format,
        text_version=facts.text_version,
        files=tuple(files),
        runs=tuple(runs),
        toc=structure.toc,
        chapters=structure.chapters,
        segments=segments,
        pages=structure.pages,
        warnings=tuple(unpack_notice(warning) for warning in facts.warnings),
        blind=structure.blind,
        machine_read=facts.machine_read,
        cover=bytes(facts.cover) if facts.cover is not None else None,
    )
