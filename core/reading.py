"""The reading view's part of the house: a stretch of a book with what stands around it, and the pictures of its pages.

All of it passes the one gate (`Source`): nothing past the club's limit, nothing of a book the channel may not read.
"""

from bisect import bisect_left, bisect_right

from core import tags
from core.errors import Missing
from core.formats.pictures import DPI, Pictures
from core.model import BookPage, PagePicture, Position, Span
from core.passages import position_words
from core.retrieval.source import Source
from core.store import Store

WHOLE = 24_000
"""Characters of a spine file up to which it is shown in one piece; twelve printed pages."""
PIECE = 16_000
"""A longer one is shown in pieces of about so many characters, cut between runs."""
ZOOMS = (1, 2)
"""How many times the usual size a page picture may be asked for."""


async def open_page(source: Source, at: Position, marked: Span | None, locale: str | None) -> BookPage:
    """The stretch around a place, `marked` wholly inside it.

    Raises Missing for a place past the limit or one that the book does not have.
    """
    _check(source, at, marked)
    start, end, cuts = await _stretch(source, at, marked)
    text = await source.readable(Span(at.file, start, end)) if end > start else ""
    here = Span(at.file, start, max(end, start + 1))
    path = source.heading_path(marked.first if marked else here.first)
    return BookPage(
        book=source.sha256,
        text_version=source.text_version,
        title=source.card.title,
        language=source.language,
        file=at.file,
        start=start,
        text=text,
        marked=marked,
        heading=" › ".join(path),
        label=position_words(source, marked or here, locale),
        toc=source.toc,
        previous=_before(source, at.file, start, cuts),
        following=_after(source, at.file, end, cuts),
        cut=source.bounded and source.end.file == at.file and source.end.offset == end,
        paged=source.paged,
        machine_read=source.card.machine_read,
    )


def reach_of(source: Source, page: BookPage) -> tuple[int, int]:
    """Which characters of the whole book a page shows."""
    start = source.place_of(Position(page.file, page.start))
    return start, start + len(page.text)


def whole_file(source: Source, file: int) -> tuple[int, int]:
    """Which characters of the whole book the picture of a page shows."""
    end = min(source.length(file), source.end.offset if source.end.file == file else source.length(file))
    start = source.place_of(Position(file, 0))
    return start, start + end


async def draw_page(
    store: Store, pictures: Pictures, source: Source, file: int, marked: Span | None, zoom: int
) -> PagePicture | None:
    """The picture of a page with a range drawn on it, wherever that begins; None when there is none to be had.

    Raises Missing as `open_page` does.
    """
    _check(source, Position(file, 0), marked)
    original = await store.originals.sound(source.sha256) if source.paged else None
    if original is None:
        return None
    for span in (marked, Span(file, 0, 0)):
        if span is None or span.file not in (file, file - 1):
            continue
        near = [page for page in (span.file, span.file + 1) if page < source.files]
        texts = {page: await store.books.file_text(source.sha256, source.text_version, page) for page in near}
        drawn = await pictures.draw(
            original,
            source.sha256,
            source.text_version,
            span,
            texts,
            source.limit.position,
            kept_back=source.kept_back,
            dpi=DPI * (zoom if zoom in ZOOMS else ZOOMS[0]),
        )
        for picture in drawn or ():
            if picture.page == file:
                return picture
    return None


def _check(source: Source, at: Position, marked: Span | None) -> None:
    backwards = marked is not None and marked.end <= marked.start
    for place in (at, *((marked.first, Position(marked.file, marked.end - 1)) if marked else ())):
        there = 0 <= place.file < source.files and 0 <= place.offset <= max(source.length(place.file) - 1, 0)
        if not there or backwards:
            named = tags.tag(marked) if marked else f"[f{at.file}-{at.offset}]"
            raise Missing("not_a_run", tag=named)
    if at >= source.end or (marked and not source.permits(marked)):
        raise Missing("beyond_limit")


async def _stretch(source: Source, at: Position, marked: Span | None) -> tuple[int, int, list[int]]:
    """Where the piece around a place begins and ends, and where every piece of its file begins."""
    length = source.length(at.file)
    permitted = min(length, source.end.offset) if source.end.file == at.file else length
    cuts = [0]
    if length > WHOLE:
        runs = await source.runs(at.file)
        for goal in range(PIECE, length - PIECE // 2, PIECE):
            run = bisect_left(runs, Span(at.file, goal, goal))
            if run < len(runs) and runs[run].start > cuts[-1]:
                cuts.append(runs[run].start)
    piece = bisect_right(cuts, at.offset) - 1
    start = cuts[piece]
    end = min(cuts[piece + 1] if piece + 1 < len(cuts) else length, permitted)
    if marked is not None and marked.file == at.file:
        start, end = min(start, marked.start), max(end, marked.end)
    return start, end, cuts


def _before(source: Source, file: int, start: int, cuts: list[int]) -> Position | None:
    earlier = [cut for cut in cuts if cut < start]
    if earlier:
        return Position(file, earlier[-1])
    while file > 0:
        file -= 1
        if source.length(file) or source.paged:
            return Position(file, max(source.length(file) - 1, 0))
    return None


def _after(source: Source, file: int, end: int, cuts: list[int]) -> Position | None:
    later = next((Position(file, cut) for cut in cuts if cut >= end), None)
    while later is None and file + 1 < source.files:
        file += 1
        if source.length(file) or source.paged:
            later = Position(file, 0)
    return later if later is not None and later < source.end else None
