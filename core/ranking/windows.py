"""Windows over runs: stretches of whole consecutive paragraphs, overlapping by half, that are ranked against a question."""

from collections.abc import Iterator, Sequence

from core import tags, words
from core.model import ParsedBook, Span

WINDOW = 1500
"""Characters of a window; a CJK character counts three. Measured best on ../shared/qa between 1,000 and 2,500."""
STEP = WINDOW // 2
CJK_WEIGHT = 3

Range = tuple[int, int]
"""Half-open range of run numbers."""


def cost(text: str, run: Span) -> int:
    """Tokens a run takes in a prompt: its text, a space and its tag, rounded up."""
    return -(-(words.quarters(text) + 1 + len(tags.tag(run))) // 4)


def weight(text: str) -> int:
    """Length of a text in characters, a CJK character counting three."""
    if text.isascii():
        return len(text)
    return len(text) + (CJK_WEIGHT - 1) * (words.quarters(text) - len(text)) // 3


def cut_windows(book: ParsedBook, weights: Sequence[int]) -> list[Range]:
    """The windows of a book in reading order. Files where a paragraph runs on are windowed together."""
    found: list[Range] = []
    for paragraphs in _stretches(book):
        found.extend(_windows(_pieces(paragraphs, weights), weights))
    return found


def _stretches(book: ParsedBook) -> Iterator[list[Range]]:
    """Paragraphs as ranges of runs, in stretches that no window leaves."""
    paragraphs: list[Range] = []
    begin = 0
    for number, run in enumerate(book.runs):
        following = book.runs[number + 1] if number + 1 < len(book.runs) else None
        file = book.files[run.file]
        if following is not None and following.file == run.file:
            if file.text.find("\n\n", run.end, following.start) < 0:
                continue
            over = False
        elif following is not None and file.join is not None and following.file == run.file + 1:
            continue
        else:
            over = True
        paragraphs.append((begin, number + 1))
        begin = number + 1
        if over:
            yield paragraphs
            paragraphs = []


def _pieces(paragraphs: Sequence[Range], weights: Sequence[int]) -> list[Range]:
    """Paragraphs, the ones over two windows long cut into their runs."""
    pieces: list[Range] = []
    for begin, end in paragraphs:
        if end - begin > 1 and sum(weights[begin:end]) > 2 * WINDOW:
            pieces.extend((number, number + 1) for number in range(begin, end))
        else:
            pieces.append((begin, end))
    return pieces


def _windows(pieces: Sequence[Range], weights: Sequence[int]) -> Iterator[Range]:
    sizes = [sum(weights[begin:end]) for begin, end in pieces]
    first = 0
    while first < len(pieces):
        last, size = first, sizes[first]
        while last + 1 < len(pieces) and size + sizes[last + 1] <= WINDOW:
            last += 1
            size += sizes[last]
        yield pieces[first][0], pieces[last][1]
        if last + 1 == len(pieces):
            return
        # At most half a window on, so that a passage cut by one window stands whole in another.
        stepped = sizes[first]
        first += 1
        while first <= last and stepped + sizes[first] <= STEP:
            stepped += sizes[first]
            first += 1
