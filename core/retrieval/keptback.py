"""The lines before a limit that tell of what lies past it: looked up by place, painted over in text. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator

from core.model import Foretold, Position, Span


class KeptBack:
    """Those of a book's listed lines that tell of a place at or past `end` (None: nothing is kept back)."""

    def __init__(self, listed: Iterable[Foretold], end: Position | None) -> None:
        self._lines: defaultdict[int, list[Span]] = defaultdict(list)
        for line, place in listed if end is not None else ():
            if end is not None and place >= end:
                self._lines[line.file].append(line)

    def __iter__(self) -> Iterator[Span]:
        """All of them, in reading order."""
        for file in sorted(self._lines):
            yield from self._lines[file]

    def inside(self, span: Span) -> Iterator[Span]:
        """Those that touch a span."""
        lines = self._lines.get(span.file, ())
        for at in range(bisect_right(lines, span.start, key=lambda line: line.end), len(lines)):
            if lines[at].start >= span.end:
                return
            yield lines[at]

    def touches(self, span: Span) -> bool:
        return next(self.inside(span), None) is not None

    def paint_over(self, file: int, text: str, start: int, first: str, rest: str) -> str:
        """A text that stands at `start` of a file, `first` and then `rest` in the place of each line; as long as it was."""
        for line in self.inside(Span(file, start, start + len(text))) if text else ():
            begin, end = max(line.start - start, 0), min(line.end - start, len(text))
            text = text[:begin] + first + rest * (end - begin - 1) + text[end:]
        return text
