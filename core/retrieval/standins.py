"""Segments that always have a summary: until a model has written one, an extraction of the segment's own runs stands in."""

import asyncio
from collections.abc import Mapping, Sequence

from core import extracts
from core.model import ParsedBook, Segment, Span
from core.store import Store, Summary

Pieces = Sequence[tuple[Span, str]]
"""Runs with their texts, in reading order."""


async def summarised_segments(store: Store, sha256: str, text_version: str) -> tuple[Segment, ...]:
    """All segments of a stored book in reading order, each with a summary.

    The extractions a book lacks are made once, off the event loop, and stored: half a second for a long novel.
    """
    segments = await store.books.segments(sha256, text_version)
    if all(segment.summary is not None for segment in segments):
        return segments
    async with store.books.lock(sha256, text_version):
        segments = await store.books.segments(sha256, text_version)
        missing = {segment.sequence for segment in segments if segment.summary is None}
        if missing:
            book = await store.books.parsed(sha256, text_version)
            made = await asyncio.to_thread(_extracted, book, missing)
            await store.books.save_summaries(sha256, text_version, made, fill=True)
            segments = await store.books.segments(sha256, text_version)
    return segments


def segment_pieces(book: ParsedBook) -> Mapping[int, Pieces]:
    """Each segment's runs with their texts, by its sequence."""
    found: dict[int, list[tuple[Span, str]]] = {segment.sequence: [] for segment in book.segments}
    runs = iter(book.runs)
    run = next(runs, None)
    for segment in book.segments:
        while run is not None and run.first < segment.end:
            if run.first >= segment.start and run.last <= segment.end:
                found[segment.sequence].append((run, book.files[run.file].text[run.start : run.end]))
            run = next(runs, None)
    return found


def _extracted(book: ParsedBook, sequences: set[int]) -> dict[int, Summary]:
    return {
        sequence: Summary(extracts.summarise(pieces, book.language), extracts.STAMP)
        for sequence, pieces in segment_pieces(book).items()
        if sequence in sequences
    }
