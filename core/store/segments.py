"""Segments and their summaries as rows of the database, each with its hash."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import BrokenPromise
from core.model import Position, Segment
from core.store import schema
from core.store.structure import segment_digest

EXTRACTIVE = "extractive"
"""How the stamp of a summary begins that no model wrote."""

_extraction = schema.extraction.c
_segment = schema.segment.c
_right = schema.rights.c

UNSUMMARISED = (
    select(_extraction.id, _extraction.book, _extraction.text_version)
    .join(schema.segment, _segment.extraction == _extraction.id)
    .join(schema.rights, (_right.book == _extraction.book) & (_right.text_version == _extraction.text_version))
    .where(_segment.stamp.is_(None) | _segment.stamp.startswith(EXTRACTIVE))
    .where(_segment.flags == [], _right.removed_at.is_(None))
    .distinct()
    .order_by(_extraction.id)
)
"""The books on a shelf with a segment no model was asked about."""


class Summary(NamedTuple):
    """What is put on a segment."""

    text: str
    stamp: str
    """What made it: prompt version and model, or the extraction that stands in."""
    flags: tuple[str, ...] = ()
    """What is doubtful about it."""


async def read_segments(connection: AsyncConnection, extraction: int) -> tuple[Segment, ...]:
    """All segments in reading order. Raises BrokenPromise `text_damaged`."""
    query = select(schema.segment).where(_segment.extraction == extraction).order_by(_segment.sequence)
    return tuple(_as_segment(row) for row in await connection.execute(query))


async def put_summaries(
    connection: AsyncConnection,
    extraction: int,
    summaries: Mapping[int, Summary],
    *,
    fill: bool,
    over: Mapping[int, str] | None,
) -> None:
    """As `Books.save_summaries`. Raises BrokenPromise `text_damaged` for a segment that is not there."""
    mine = select(schema.segment).where(_segment.extraction == extraction, _segment.sequence.in_(summaries))
    rows = (await connection.execute(mine.order_by(_segment.sequence).with_for_update())).all()
    if len(rows) != len(summaries):
        raise BrokenPromise("text_damaged")
    values: list[dict[str, Any]] = []
    for row in rows:
        if fill and row.summary is not None:
            continue
        if over is not None and (row.stamp or "") != over[row.sequence]:
            continue
        made = summaries[row.sequence]
        segment = clean_segment(replace(_as_segment(row), summary=made.text))
        values.append(
            {
                "at": row.sequence,
                "summary": segment.summary,
                "stamp": made.stamp,
                "flags": sorted(made.flags),
                "hash": segment_digest(segment),
            }
        )
    if values:
        one = update(schema.segment).where(_segment.extraction == extraction, _segment.sequence == bindparam("at"))
        await connection.execute(one, values)


def clean_segment(segment: Segment) -> Segment:
    """The segment as the text columns give it back, so that the hash is over what comes back."""
    summary = None if segment.summary is None else schema.clean(segment.summary)
    return replace(segment, title=schema.clean(segment.title), summary=summary)


def _as_segment(row: Row[*tuple[Any, ...]]) -> Segment:
    segment = Segment(
        sequence=row.sequence,
        title=row.title,
        start=Position(row.start_file, row.start_offset),
        end=Position(row.end_file, row.end_offset),
        summary=row.summary,
        stamp=row.stamp or "",
        flags=tuple(row.flags),
    )
    if segment_digest(segment) != row.hash:
        raise BrokenPromise("text_damaged")
    return segment
