"""A parsed book as JSON, for the way from the boxed child to its parent. Whatever does not fit raises ValueError."""

from base64 import b64decode, b64encode
from itertools import chain
from typing import Any

from core.model import Chapter, Notice, PageMark, ParsedBook, Position, Segment, Span, SpineFile, TocEntry


def pack(book: ParsedBook) -> dict[str, Any]:
    """Plain lists and strings; runs as one flat list of numbers, the cover in base64."""
    return {
        "title": book.title,
        "authors": book.authors,
        "language": book.language,
        "format": book.format,
        "text_version": book.text_version,
        "files": [(file.label, file.text, file.join) for file in book.files],
        "runs": list(chain.from_iterable(book.runs)),
        "toc": [(entry.title, entry.depth, entry.file, entry.offset) for entry in book.toc],
        "chapters": [(chapter.number, chapter.title, chapter.start, chapter.end) for chapter in book.chapters],
        "segments": [(part.sequence, part.title, part.start, part.end, part.summary) for part in book.segments],
        "pages": [(mark.label, mark.file, mark.offset) for mark in book.pages],
        "warnings": [(notice.key, dict(notice.params)) for notice in book.warnings],
        "blind": book.blind,
        "machine_read": book.machine_read,
        "cover": None if book.cover is None else b64encode(book.cover).decode("ascii"),
    }


def unpack(packed: dict[str, Any]) -> ParsedBook:
    """The book again. Raises ValueError for anything `pack` would not have written."""
    try:
        numbers = iter(packed["runs"])
        cover = packed["cover"]
        return ParsedBook(
            title=packed["title"],
            authors=tuple(packed["authors"]),
            language=packed["language"],
            format=packed["format"],
            text_version=packed["text_version"],
            files=tuple(SpineFile(at, label, text, join) for at, (label, text, join) in enumerate(packed["files"])),
            runs=tuple(map(Span, numbers, numbers, numbers)),
            toc=tuple(TocEntry(*entry) for entry in packed["toc"]),
            chapters=tuple(
                Chapter(number, title, Position(*start), Position(*end))
                for number, title, start, end in packed["chapters"]
            ),
            segments=tuple(
                Segment(sequence, title, Position(*start), Position(*end), summary)
                for sequence, title, start, end, summary in packed["segments"]
            ),
            pages=tuple(PageMark(*mark) for mark in packed["pages"]),
            warnings=tuple(Notice(key, params) for key, params in packed["warnings"]),
            blind=tuple(packed["blind"]),
            machine_read=packed["machine_read"],
            cover=None if cover is None else b64decode(cover, validate=True),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"not a packed book: {type(error).__name__}") from error
