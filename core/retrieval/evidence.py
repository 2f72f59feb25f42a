"""What the model was shown in this turn: delivered runs, best windows first, and the joined texts quotations are checked on."""

from collections.abc import Mapping, Sequence

from core.model import Span
from core.retrieval.source import Source


class Evidence:
    """Grows while tools deliver. Spans here count files through all books of the turn (`[f…]` as the model sees it)."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)
        self.windows: list[tuple[Span, ...]] = []
        self.texts: dict[Span, str] = {}
        self._gaps: dict[Span, tuple[Span, str]] = {}
        self._bases: list[int] = []
        base = 0
        for source in self.sources:
            self._bases.append(base)
            base += source.files

    def globally(self, source: Source, span: Span) -> Span:
        base = self._bases[self.sources.index(source)]
        return Span(span.file + base, span.start, span.end)

    def origin(self, span: Span) -> tuple[Source, Span]:
        """The book a span of this turn belongs to, and the span inside it."""
        for base, source in zip(reversed(self._bases), reversed(self.sources), strict=True):
            if span.file >= base:
                return source, Span(span.file - base, span.start, span.end)
        raise LookupError(span)

    def delivered(self, source: Source) -> set[Span]:
        """The runs of one book that the model already has, in the book's own numbering."""
        return {local for origin, local in map(self.origin, self.texts) if origin is source}

    def add(
        self,
        source: Source,
        windows: Sequence[Sequence[Span]],
        texts: Mapping[Span, str],
        gaps: Mapping[Span, tuple[Span, str]],
    ) -> None:
        """Record windows (best first) that go to the model now, with each run's text and what follows it."""
        for window in windows:
            self.windows.append(tuple(self.globally(source, run) for run in window))
        for run, text in texts.items():
            self.texts[self.globally(source, run)] = text
        for run, (following, gap) in gaps.items():
            self._gaps[self.globally(source, run)] = (self.globally(source, following), gap)

    def passages(self) -> list[str]:
        """The delivered text as contiguous stretches: neighbouring runs joined as they stand in the book."""
        followed = {following for run, (following, _) in self._gaps.items() if run in self.texts}
        found = []
        for first in sorted(self.texts):
            if first in followed:
                continue
            run, parts = first, [self.texts[first]]
            while run in self._gaps and self._gaps[run][0] in self.texts:
                run, gap = self._gaps[run]
                parts += [gap, self.texts[run]]
            found.append("".join(parts))
        return found
