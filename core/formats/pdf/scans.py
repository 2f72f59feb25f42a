"""Pages that are pictures: which ones, and whether the book can be used without them."""

from collections.abc import Sequence

from core.errors import BadBook
from core.formats.pdf.lines import Page
from core.formats.pdf.mupdf import Pdf
from core.model import Notice
from core.strings import ranges

_FEW = 20
"""A page with fewer characters than this under one large picture is a scan."""
_MOST = 0.5
"""Above this share of picture pages the reader is asked before the book is taken without them."""
_UNKNOWN = 0.05
"""Above this share of unknown glyphs on a page its text is doubtful."""


def find_blind(pdf: Pdf, pages: Sequence[Page]) -> list[int]:
    """The pages that are pictures and hold no text."""
    return [
        index
        for index, page in enumerate(pages)
        if sum(len(line.text) for line in page.lines) < _FEW and pdf.is_picture(index)
    ]


def judge_blind(blind: Sequence[int], pages: int, accept_partial: bool) -> list[Notice]:
    """What is to be said about picture pages.

    Raises BadBook: every page is a picture; most pages are and nobody chose to go on.
    """
    if not blind:
        return []
    if len(blind) == pages:
        raise BadBook("book_is_scan", count=pages)
    facts: dict[str, str | int] = {"pictures": len(blind), "pages": pages, "range": ranges(page + 1 for page in blind)}
    if len(blind) > _MOST * pages and not accept_partial:
        raise BadBook("book_half_scan", **facts)
    return [Notice("book_picture_pages", {"count": len(blind), **facts})]


def judge_glyphs(pages: Sequence[Page]) -> list[Notice]:
    """A warning that names the pages whose fonts do not say which letters they show."""
    doubtful = [i for i, page in enumerate(pages) if page.characters and page.unknown > _UNKNOWN * page.characters]
    if not doubtful:
        return []
    return [Notice("book_unknown_glyphs", {"count": len(doubtful), "range": ranges(page + 1 for page in doubtful)})]


def read_by_machine(pages: Sequence[Page]) -> bool:
    """True when most of the text is invisible: the layer that optical recognition puts over a scan."""
    return sum(page.hidden for page in pages) > 0.5 * sum(page.characters for page in pages)
