"""Press -> passage: the exact stored text behind a note, in its surroundings. A lookup; no model, no search."""

from collections.abc import Sequence

from core import words
from core.errors import Missing
from core.formats.pictures import Pictures
from core.model import Footnote, PagePicture, Passage, Span
from core.retrieval.source import Source
from core.store import Store
from core.strings import say

STEP = 300
"""Characters of surroundings shown on each side at first, and added by each step; whole runs, so a little more or less."""


async def open_passage(
    source: Source,
    span: Span,
    tag: str,
    *,
    place: str | None = None,
    before: int = 0,
    after: int = 0,
    locale: str | None = None,
) -> Passage:
    """The passage at `span`. `before`/`after` are extra steps of surroundings.

    `place` is the reader's own limit, in words. It is soft: a passage past it says so, the surroundings of one before it
    end there.
    Raises Missing when the span lies past the limit or is not a run.
    """
    if not source.permits(span):
        raise Missing("beyond_limit")
    nearer = source.within(place)
    ahead = None if nearer.permits(span) else nearer.limit
    if ahead is None:
        source = nearer
    if not await source.is_run(span):
        raise Missing("not_a_run", tag=tag)
    quote = await source.text(span)
    earlier, first, more_before = await _surroundings(source, span, -1, 1 + before)
    later, last, more_after = await _surroundings(source, span, 1, 1 + after)
    return Passage(
        book=source.sha256,
        title=source.card.title,
        tag=tag,
        span=span,
        quote=quote,
        before=earlier,
        after=later,
        heading=" › ".join(source.heading_path(span.first)),
        label=position_words(source, span, locale),
        opening=first_words(quote),
        first=first.first,
        last=last.last,
        more_before=more_before,
        more_after=more_after,
        machine_read=source.card.machine_read,
        pictured=source.paged,
        ahead=ahead,
        text_version=source.text_version,
    )


async def draw(store: Store, pictures: Pictures, source: Source, note: Footnote) -> tuple[PagePicture, ...]:
    """The page picture(s) of a note's range; empty for books without pages and whenever drawing fails.

    Raises Missing when the place lies past the limit.
    """
    if not source.permits(note.span):
        raise Missing("beyond_limit")
    if not source.paged:
        return ()
    near = [page for page in (note.span.file, note.span.file + 1) if page < source.files]
    texts = {page: await store.books.file_text(note.book, note.text_version, page) for page in near}
    original = await store.originals.sound(note.book)
    if original is None:
        return ()
    drawn = await pictures.draw(
        original, note.book, note.text_version, note.span, texts, source.limit.position, kept_back=source.kept_back
    )
    return drawn or ()


def first_words(quote: str) -> str:
    """The first six words, or twelve characters where words are not set apart; "…" when more follow."""
    head = " ".join(quote.split()[:6])
    if words.is_cjk(head[:1]) and len(head) > 12:
        head = head[:12]
    return head if head == " ".join(quote.split()) else f"{head} …"


def position_words(source: Source, span: Span, locale: str | None = None) -> str:
    """Where a span stands, in words: printed page (and page of the file where they differ), share of the book."""
    parts = []
    printed = source.label(span.file) or source.printed_page(span.first)
    if source.paged:
        of_file = str(span.file + 1)
        if printed and printed != of_file:
            parts.append(say("page_printed_and_file", locale, printed=printed, page=of_file))
        else:
            parts.append(say("page_printed", locale, printed=of_file))
    elif printed:
        parts.append(say("page_printed", locale, printed=printed))
    parts.append(say("share", locale, percent=source.share(span.first)))
    return " · ".join(parts)


async def _surroundings(source: Source, span: Span, step: int, steps: int) -> tuple[str, Span, bool]:
    """Neighbouring runs on one side: about STEP characters for each of `steps`, and never less than one run for each.

    The text, the outermost run, and whether more follows.
    """
    found: list[Span] = []
    room = STEP * steps // (3 if source.language in ("zh", "ja", "ko") else 1)
    total, at, more = 0, span, False
    while (beside := await (source.next_run(at) if step > 0 else source.previous_run(at))) is not None:
        length = beside.end - beside.start
        if len(found) >= steps and total + length > room:
            more = True
            break
        found.append(beside)
        total += length
        at = beside
    runs = [span, *found] if step > 0 else [*reversed(found), span]
    text = await _running_text(source, runs)
    width = span.end - span.start
    return (text[width:] if step > 0 else text[: len(text) - width]), at, more


async def _running_text(source: Source, runs: Sequence[Span]) -> str:
    """The text from the first run to the last, with what stands between them; few reads, however many runs."""
    parts: list[str] = []
    before: Span | None = None
    for text, group in await source.stretches(runs):
        if before is not None:
            parts.append(await source.gap(before, group[0]))
        parts.append(text)
        before = group[-1]
    return "".join(parts)
