"""One book as one turn may see it: rights checked, everything cut at the reading limit. The only gate to stored text.

Nothing here returns a character, a title or a summary that lies at or past the limit (P6), nor what a printed contents
page before it tells of later places; and nothing is read for a channel that has no right to the book (P9).
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from core import extracts, quotes
from core.errors import Missing
from core.limits import Reach, read_limit, strictest
from core.model import BookCard, Chapter, Contents, Footnote, Limit, Position, Segment, Span, TocEntry
from core.retrieval.keptback import KeptBack
from core.retrieval.reach import kept_limit
from core.retrieval.standins import summarised_segments
from core.store import Store

GAP = "\n\n[…]\n\n"
"""What stands where something is kept back between two runs that are shown."""
_WALL = "\0"
"""What the quote finder sees in its place: no text holds it, and no quotation reaches across."""


class Source:
    """A permitted book, bounded by a limit. Positions and spans are the book's own."""

    def __init__(self, store: Store, contents: Contents, card: BookCard, limit: Limit) -> None:
        self._store = store
        self._contents = contents
        self.card = card
        self.language = card.language
        self.limit = limit
        self.sha256 = contents.sha256
        self.text_version = contents.text_version
        self._runs: dict[int, tuple[Span, ...]] = {}
        self._stored: dict[int, tuple[Span, ...]] = {}
        self._kept_back = KeptBack(contents.foretold, limit.position)
        self._starts = (0, *accumulate(contents.lengths))

    @classmethod
    async def open(cls, store: Store, channel: int, sha256: str, *, text_version: str | None = None) -> "Source":
        """The book as this channel may see it now, up to its own limit, which no caller can leave out.

        Raises Missing when the channel has no right to the book (any more).
        """
        card = await store.shelf.card(channel, sha256)
        contents = await store.books.contents(sha256, text_version) if card else None
        if card is None or contents is None:
            raise Missing("book_removed")
        return cls(store, contents, card, kept_limit(card.limit_words, contents, paged=_paged(card)))

    @classmethod
    async def cited(cls, store: Store, channel: int, note: Footnote) -> "Source":
        """The book that a note was cited from, as it was then; raises as `open` does."""
        return await cls.open(store, channel, note.book, text_version=note.text_version)

    def up_to(self, words: str) -> "Source":
        """The same book under a further limit that somebody writes; the stricter one holds. Raises ReaderError."""
        return self._bounded(self.read_limit(words))

    def within(self, words: str | None) -> "Source":
        """The same book under a further limit from the store, if there is one; the stricter one holds."""
        return self._bounded(self.kept_limit(words))

    def _bounded(self, limit: Limit) -> "Source":
        return Source(self._store, self._contents, self.card, strictest((limit, self.limit)))

    def kept_limit(self, words: str | None) -> Limit:
        """A limit from the store, whatever other limits hold."""
        return kept_limit(words, self._contents, paged=self.paged)

    def read_limit(self, words: str) -> Limit:
        """A limit that somebody writes; a refusal names no title past the limit of now. Raises ReaderError."""
        return read_limit(words, self._contents, paged=self.paged, shown=self.limit.position)

    @property
    def files(self) -> int:
        return len(self._contents.lengths)

    @property
    def characters(self) -> int:
        return self._starts[-1]

    @property
    def paged(self) -> bool:
        """True when the book's files are pages."""
        return _paged(self.card)

    @property
    def bounded(self) -> bool:
        """True when a limit keeps something back, or may."""
        return self.limit.position is not None

    @property
    def end(self) -> Position:
        """The first position not permitted: the limit, or the end of the book."""
        if self.limit.position is not None:
            return self.limit.position
        last = max(self.files - 1, 0)
        return Position(last, self._contents.lengths[last] if self.files else 0)

    def share(self, position: Position) -> int:
        """How much of the whole book lies before this position, in percent."""
        if not self.characters:
            return 0
        return int(100 * self.place_of(position) / self.characters)

    def length(self, file: int) -> int:
        """Characters of one file, whatever the limit."""
        return self._contents.lengths[file]

    def place_of(self, position: Position) -> int:
        """How many characters of the whole book lie before this position."""
        return self._starts[position.file] + position.offset

    def join_after(self, file: int) -> str | None:
        return self._contents.joins[file]

    def label(self, file: int) -> str:
        return self._contents.labels[file]

    def contents(self) -> Contents:
        """The structure of the book with everything past the limit left out."""
        return replace(
            self._contents,
            toc=self.toc,
            chapters=self.chapters,
            pages=tuple(mark for mark in self._contents.pages if Position(mark.file, mark.offset) < self.end),
            blind=self.blind,
            foretold=(),
        )

    @property
    def reach(self) -> Reach:
        """What an earlier answer is held against."""
        return Reach(self.files, self.limit, self.kept_back)

    @property
    def kept_back(self) -> tuple[Span, ...]:
        """The lines before the limit that tell of what lies past it, in reading order."""
        return tuple(self._kept_back)

    def permits(self, span: Span) -> bool:
        """True when nothing of the span lies past the limit or tells of what does."""
        return self.limit.permits(span) and not self._kept_back.touches(span)

    @property
    def blind(self) -> tuple[int, ...]:
        return tuple(file for file in self._contents.blind if Position(file, 0) < self.end)

    @property
    def toc(self) -> tuple[TocEntry, ...]:
        return tuple(entry for entry in self._contents.toc if Position(entry.file, entry.offset) < self.end)

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        return tuple(chapter for chapter in self._contents.chapters if chapter.start < self.end)

    def heading_path(self, position: Position) -> tuple[str, ...]:
        """The contents titles that a position stands under, outermost first; later titles never show."""
        path: list[TocEntry] = []
        for entry in self.toc:
            if Position(entry.file, entry.offset) > position:
                break
            while path and path[-1].depth >= entry.depth:
                path.pop()
            path.append(entry)
        return tuple(entry.title for entry in path)

    def printed_page(self, position: Position) -> str:
        """The label of the printed page a position stands on; empty when the book has no page marks."""
        label = ""
        for mark in self._contents.pages:
            if Position(mark.file, mark.offset) > position:
                break
            label = mark.label
        return label

    async def runs(self, file: int) -> tuple[Span, ...]:
        """The permitted runs of one file, in order; a run that reaches past the limit is left out."""
        if not 0 <= file < self.files or Position(file, 0) >= self.end:
            return ()
        if file not in self._runs:
            runs = await self._store.books.runs(self.sha256, self.text_version, file)
            self._stored[file] = runs
            self._runs[file] = tuple(run for run in runs if self.permits(run))
        return self._runs[file]

    async def next_to(self, run: Span, following: Span) -> bool:
        """True when no run stands between these two permitted ones of a file, not even one that is kept back."""
        await self.runs(run.file)
        return _following(self._stored[run.file], run) == following

    async def is_run(self, span: Span) -> bool:
        runs = await self.runs(span.file)
        at = bisect_left(runs, span)
        return at < len(runs) and runs[at] == span

    async def run_at(self, position: Position) -> Span | None:
        """The permitted run that a position lies in."""
        runs = await self.runs(position.file)
        at = bisect_right(runs, position.offset, key=lambda run: run.start) - 1
        return runs[at] if at >= 0 and position.offset < runs[at].end else None

    async def text(self, span: Span) -> str:
        """Exactly the stored characters, hash-checked (P3). Raises Missing for what is not permitted."""
        if not self.permits(span):
            raise Missing("beyond_limit")
        return await self._store.books.text(self.sha256, self.text_version, span)

    async def readable(self, span: Span) -> str:
        """The characters of a longer stretch; in the place of each line kept back "…" and spaces, as many as it has.

        Raises Missing for a stretch that reaches past the limit.
        """
        if not self.limit.permits(span):
            raise Missing("beyond_limit")
        text = await self._store.books.text(self.sha256, self.text_version, span)
        return self._kept_back.paint_over(span.file, text, span.start, "…", " ")

    async def find(self, wanted: str) -> tuple[quotes.Match, list[quotes.Hit]]:
        """Where these words stand in the permitted text, word for word or nearly (`quotes.find_quote`)."""
        texts = await self._texts()
        match, hits = await asyncio.to_thread(quotes.find_quote, wanted, texts, self.limit.position)
        permitted = [hit for hit in hits if all(map(self.permits, hit))]
        return (match, permitted) if permitted else ("none", [])

    async def _texts(self) -> list[tuple[str, str | None]]:
        """Every permitted file with its join, the last one cut at the limit; a wall where lines are kept back."""
        found: list[tuple[str, str | None]] = []
        for file in range(self.files):
            if Position(file, 0) >= self.end:
                break
            text = await self._store.books.file_text(self.sha256, self.text_version, file)
            if self.end.file == file:
                text = text[: self.end.offset]
            found.append((self._kept_back.paint_over(file, text, 0, _WALL, _WALL), self._contents.joins[file]))
        return found

    async def runs_between(self, start: Position, end: Position) -> list[Span]:
        """The permitted runs that lie wholly between two positions."""
        found: list[Span] = []
        for file in range(start.file, min(end.file, self.files - 1) + 1):
            found += [run for run in await self.runs(file) if run.first >= start and run.last <= end]
        return found

    async def segments(self) -> list[Segment]:
        """The permitted segments. One that reaches past the limit is cut there and summarised by extraction, as is one
        whose text tells of what lies past it."""
        found: list[Segment] = []
        for segment in await summarised_segments(self._store, self.sha256, self.text_version):
            if segment.start >= self.end:
                break
            if segment.end > self.end or any(segment.start <= line.first < segment.end for line in self._kept_back):
                end = min(segment.end, self.end)
                runs = await self.runs_between(segment.start, end)
                pieces = [(run, await self.text(run)) for run in runs]
                path = self.heading_path(segment.start)
                summary = extracts.summarise(pieces, self.language)
                segment = Segment(segment.sequence, path[-1] if path else "", segment.start, end, summary)
            found.append(segment)
        return found

    async def stretches(self, runs: Sequence[Span]) -> list[tuple[str, list[Span]]]:
        """Sorted runs as contiguous stretches of stored text, one read each: (text, its runs)."""
        groups: list[list[Span]] = []
        for run in runs:
            last = groups[-1][-1] if groups else None
            if last is not None and last.file == run.file and await self.next_to(last, run):
                groups[-1].append(run)
            else:
                groups.append([run])
        return [(await self.text(Span(group[0].file, group[0].start, group[-1].end)), group) for group in groups]

    async def next_run(self, span: Span) -> Span | None:
        """The permitted run after this one, across files."""
        return await self._beside(span, 1)

    async def previous_run(self, span: Span) -> Span | None:
        return await self._beside(span, -1)

    async def _beside(self, span: Span, step: int) -> Span | None:
        runs = await self.runs(span.file)
        at = bisect_left(runs, span) + step
        if 0 <= at < len(runs):
            return runs[at]
        file = span.file + step
        while 0 <= file < self.files and Position(file, 0) < self.end:
            beyond: Sequence[Span] = await self.runs(file)
            if beyond:
                return beyond[0 if step > 0 else -1]
            file += step
        return None

    async def gap(self, run: Span, following: Span) -> str:
        """What stands between two neighbouring runs: stored white space, what joins two files, or GAP."""
        if run.file == following.file:
            if run.end == following.start:
                return ""
            if not await self.next_to(run, following):
                return GAP
            return await self.text(Span(run.file, run.end, following.start))
        between = Span(run.file, run.end, max(self.length(run.file), run.end + 1))
        if self._kept_back.touches(between) or self._kept_back.touches(Span(following.file, 0, following.start + 1)):
            return GAP
        join = self.join_after(run.file)
        if join is None or following.file != run.file + 1:
            return "\n\n"
        return join


def _paged(card: BookCard) -> bool:
    return card.format == "pdf"


def _following(runs: Sequence[Span], run: Span) -> Span | None:
    at = bisect_right(runs, run)
    return runs[at] if at < len(runs) else None
