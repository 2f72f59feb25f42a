"""Pictures of pages with a range of the text drawn on them, painted over past a reading limit."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from core.formats.pdf.locate import Glyph, Located, locate
from core.formats.pdf.mupdf import Box, Pdf, open_pdf
from core.model import Position, Span

DPI = 110
"""A page of a book in about 900 by 1200 dots: legible on a telephone, 60 to 300 kB."""


_PNG_HEIGHT = slice(20, 24)
"""Where a PNG says how many rows it has."""

_opened: dict[tuple[str, str | None], Pdf] = {}


def answer(job: Mapping[str, Any]) -> list[tuple[int, str, float | None]] | None:
    """A job of the boxed child: `path`, `password`, `span`, `texts`, `limit`, `kept_back`, `dpi`; pictures as
    (page, base64, where the range begins).

    The book stays open for the next job; a job without a span only opens it. Raises BadBook as `open_pdf` does.
    """
    name = (str(job["path"]), job.get("password"))
    if name not in _opened:
        _opened[name] = open_pdf(Path(name[0]), name[1])
    if job.get("span") is None:
        return None
    limit = None if job.get("limit") is None else Position(*job["limit"])
    texts = {int(page): str(text) for page, text in job["texts"]}
    kept_back = [Span(*stretch) for stretch in job.get("kept_back", ())]
    drawn = draw_range(_opened[name], Span(*job["span"]), texts, limit, kept_back, int(job.get("dpi", DPI)))
    return None if drawn is None else [(page, b64encode(png).decode("ascii"), top) for page, png, top in drawn]


class Drawn(NamedTuple):
    """One page with its rectangles: `marks` show the range, `shown` what the limit permits (None: everything)."""

    page: int
    marks: list[Box]
    shown: list[Box] | None
    hidden: list[Box]


def draw_range(
    pdf: Pdf,
    span: Span,
    texts: Mapping[int, str],
    limit: Position | None = None,
    kept_back: Sequence[Span] = (),
    dpi: int = DPI,
) -> list[tuple[int, bytes, float | None]] | None:
    """The pages a range stands on as (page, PNG, where on it the range begins: 0 top, 1 bottom). `texts`: the stored texts of the range's page and of the next.

    None when the range lies past the limit, or when a page does not yield exactly its stored text.
    """
    places = find_places(pdf, span, texts, limit, kept_back)
    if places is None:
        return None
    drawn = []
    for place in places:
        png = pdf.draw(place.page, place.marks, place.shown, place.hidden, dpi)
        height = int.from_bytes(png[_PNG_HEIGHT], "big") * 72 / dpi
        top = min((mark[1] / height for mark in place.marks), default=None)
        drawn.append((place.page, png, None if top is None else round(min(max(top, 0.0), 1.0), 4)))
    return drawn


def find_places(
    pdf: Pdf, span: Span, texts: Mapping[int, str], limit: Position | None = None, kept_back: Sequence[Span] = ()
) -> list[Drawn] | None:
    """The rectangles of a range, one a line, page by page; stretches `kept_back` are hidden. See `draw_range`."""
    text = texts.get(span.file)
    if text is None or span.end > len(text) or (limit is not None and span.last > limit):
        return None
    here = locate(pdf, span.file, text)
    if here is None:
        return None
    marked = [glyph for glyph in here.glyphs[span.start : span.end] if glyph is not None]
    places = []
    if marked or span.start == span.end:  # an empty range is the page as it is
        places.append(_page(span.file, marked, here, limit, kept_back))
    overleaf = min(here.overleaf, span.end - (len(text) - here.overleaf))
    following = texts.get(span.file + 1)
    if overleaf > 0 and following is not None:
        there = locate(pdf, span.file + 1, following)
        if there is None or len(there.before) < here.overleaf:
            return None
        places.append(_page(span.file + 1, there.before[:overleaf], there, limit, kept_back))
    return places


def _page(
    index: int, marked: Sequence[Glyph], located: Located, limit: Position | None, kept_back: Sequence[Span]
) -> Drawn:
    marks = rectangles(marked)
    kept = [glyph for line in kept_back if line.file == index for glyph in located.glyphs[line.start : line.end]]
    if limit is None or limit.file > index:
        return Drawn(index, marks, None, rectangles(glyph for glyph in kept if glyph is not None))
    end = limit.offset if limit.file == index else 0
    before = located.glyphs[:end]
    shown = _open(rectangles([*located.before, *(glyph for glyph in before if glyph is not None), *marked]))
    hidden = rectangles(glyph for glyph in [*located.glyphs[end:], *kept] if glyph is not None)
    return Drawn(index, marks, shown, hidden)


def _open(lines: list[Box]) -> list[Box]:
    """The lines with what lies between neighbours: permitted text reads as on the page, pictures inside it stay."""
    opened = list(lines)
    for a, b in pairwise(lines):
        height = max(a[3] - a[1], b[3] - b[1])
        if b[1] < a[1] or b[0] > a[2] or b[2] < a[0]:
            continue  # the next column
        left, right = min(a[0], b[0]), max(a[2], b[2])
        if right - min(a[2], b[2]) < 3 * height:
            opened.append((left, a[1], right + 0.5 * height, b[3]))  # the room of a hyphen at the end
        else:
            opened.append((max(a[0], b[0]), a[3], min(a[2], b[2]), b[1]))
    return opened


def rectangles(glyphs: Iterable[Glyph]) -> list[Box]:
    """One rectangle a line around the glyphs."""
    lines: dict[int, Box] = {}
    for box, line in glyphs:
        known = lines.get(line)
        lines[line] = (
            box
            if known is None
            else (min(known[0], box[0]), min(known[1], box[1]), max(known[2], box[2]), max(known[3], box[3]))
        )
    return list(lines.values())
