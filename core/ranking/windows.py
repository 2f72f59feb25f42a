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


CONTINUES, PARAGRAPH, STRETCH = 0, 1, 2
"""What begins with a run: nothing, a paragraph, or a stretch that no window leaves (a file, or files run together)."""


def mark(book: ParsedBook) -> list[int]:
    """For each run what begins with it. Files where a paragraph runs on are one stretch."""
    marks: list[int] = []
    before: Span | None = None
    for run in book.runs:
        if before is None:
            marks.append(STRETCH)
        elif run.file == before.file:
            apart = book.files[run.file].text.find("\n\n", before.end, run.start) >= 0
            marks.append(PARAGRAPH if apart else CONTINUES)
        else:
            runs_on = run.file == before.file + 1 and book.files[before.file].join is not None
            marks.append(CONTINUES if runs_on else STRETCH)
        before = run
    return marks


def cut_windows(marks: Sequence[int], weights: Sequence[int]) -> list[Range]:
    """The windows over runs in reading order. Given the runs before a reading limit, the windows of that much of a book:
    nothing after it has a say in where they begin and end."""
    found: list[Range] = []
    paragraphs: list[Range] = []
    begin = 0
    for number in range(1, len(marks) + 1):
        following = marks[number] if number < len(marks) else STRETCH
        if following == CONTINUES:
            continue
        paragraphs.append((begin, number))
        begin = number
        if following == STRETCH:
            found.extend(_windows(_pieces(paragraphs, weights), weights))
            paragraphs = []
    return found


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
