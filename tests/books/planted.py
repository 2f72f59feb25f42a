"""A book in which every part holds words that stand nowhere else: in its text, its title and its summary. Written for tests of limits."""

from dataclasses import dataclass

from core.model import Chapter, PageMark, ParsedBook, Position, Segment, Span, SpineFile, TocEntry

TEXT = ("quorlin", "brastow", "vexmire", "thandry")
TITLES = ("Quillop", "Brunceval", "Vantorel", "Thessimund")
SUMMARIES = ("querrine", "brollick", "vummery", "thulgate")
PARTS = ("Ombrescale", "Pharrowdene")
"""Each part has two chapters and one segment, whose summary names both its chapters' words."""
PREFACE = "drennick"
TOLD = ("glimmet", "wrothel", "nimbrand", "sulquay")
"""What the printed contents page in file 0 says beside each title; a list of the later titles ends the first part too."""

_SAID = ", ".join((*TITLES, *TOLD, *PARTS))
_LINES = (
    "The keeper of the harbour lit the lantern and waited for the ferry.",
    "Nobody on the quay asked what the keeper had seen in the harbour that night.",
    "A letter about the lantern lay on the table until the ferry came back.",
    "The harbour was quiet, and the keeper wrote the weather into the log.",
)


def _chapter(number: int) -> str:
    plant = TEXT[number - 1]
    middle = f"In the drawer lay the {plant}, and the keeper said that the {plant} must never leave the harbour."
    listing = (f"Part II: {PARTS[1]}\n3. The {TITLES[2]}\n4. THE {TITLES[3].upper()} 4",) if number == 2 else ()
    return "\n\n".join((*_LINES, *_LINES, middle, *reversed(_LINES), *_LINES, *listing))


def _front() -> str:
    """A preface, and the contents page as books print it: numbers, dots, pages, a line about each chapter."""
    entries = [
        f"{number}. The {title} . . . . . . . {number}\nOf the keeper and the {told}."
        for number, (title, told) in enumerate(zip(TITLES, TOLD, strict=True), 1)
    ]
    parts = [f"Part {number}: {part}" for number, part in zip(("I", "II"), PARTS, strict=True)]
    return "\n\n".join(
        (f"A preface about the {PREFACE} of the harbour.", "Contents", parts[0], *entries[:2], parts[1], *entries[2:])
    )


def _runs(file: int, text: str) -> list[Span]:
    found, start = [], 0
    for paragraph in text.split("\n\n"):
        found.append(Span(file, start, start + len(paragraph)))
        start += len(paragraph) + 2
    return found


def planted_book() -> ParsedBook:
    """File 0 is a preface; files 1 to 4 are the chapters, each under a heading line of the contents."""
    texts = [_front(), *map(_chapter, range(1, 5))]
    starts = [Position(number, 0) for number in range(1, 5)]
    end = Position(4, len(texts[4]))
    titles = [f"The {title}" for title in TITLES]
    lines = [TocEntry("Preface", 1, 0, 0)]
    for number in range(1, 5):
        if number % 2:
            lines.append(TocEntry(f"Part {PARTS[number // 2]}", 1, number, 0))
        lines.append(TocEntry(titles[number - 1], 2, number, 0))
    return ParsedBook(
        title="The Lantern Keeper",
        authors=("A. Keeper",),
        language="en",
        format="epub",
        text_version="test-1",
        files=tuple(SpineFile(index, "", text) for index, text in enumerate(texts)),
        runs=tuple(run for index, text in enumerate(texts) for run in _runs(index, text)),
        toc=tuple(lines),
        chapters=tuple(
            Chapter(number, title, start, after)
            for number, (title, start, after) in enumerate(zip(titles, starts, [*starts[1:], end], strict=True), 1)
        ),
        segments=(
            Segment(0, "Preface", Position(0, 0), Position(1, 0), f"On the {PREFACE} [f0-0-44], then {_SAID}."),
            Segment(1, f"Part {PARTS[0]}", starts[0], starts[2], f"The {SUMMARIES[0]}, then the {SUMMARIES[1]}."),
            Segment(2, f"Part {PARTS[1]}", starts[2], end, f"The {SUMMARIES[2]}, then the {SUMMARIES[3]}."),
        ),
        pages=tuple(PageMark(str(number), number, 0) for number in range(1, 5)),
    )


@dataclass(frozen=True)
class Plant:
    """A word and the first position at which a reader has met it."""

    word: str
    at: Position


def plants() -> list[Plant]:
    """Every planted word. One of a text is met where it stands, a title where it begins, a summary where its segment ends."""
    book = planted_book()
    found = [Plant(PREFACE, Position(0, 0))]
    for number, (text, title) in enumerate(zip(TEXT, TITLES, strict=True), 1):
        found.append(Plant(text, Position(number, book.files[number].text.index(text))))
        found.append(Plant(title, Position(number, 0)))
        found.append(Plant(TOLD[number - 1], Position(number, 0)))
    found += [Plant(word, Position(1 + 2 * part, 0)) for part, word in enumerate(PARTS)]
    ends = (Position(2, len(book.files[2].text)), Position(4, len(book.files[4].text) - 1))
    found += [Plant(word, ends[at // 2]) for at, word in enumerate(SUMMARIES)]
    return found


def hidden(limit: Position | None) -> list[str]:
    """The planted words that nobody may meet under a limit."""
    return [] if limit is None else [plant.word for plant in plants() if plant.at >= limit]
