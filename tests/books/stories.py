"""Books of ../shared for whole turns: story books as stored books with chapters and segments, cut and put together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.formats.assemble import assemble
from core.formats.extracted import Extracted
from core.model import ParsedBook, SpineFile, TocEntry


def assembled(title: str, language: str, files: Sequence[dict[str, Any]]) -> ParsedBook:
    """The files as a book whose chapters they are."""
    spine = [SpineFile(number, "", file["text"]) for number, file in enumerate(files)]
    toc = [TocEntry(file["title"] or f"Part {number}", 1, number, 0) for number, file in enumerate(files, 1)]
    toc = [replace(entry, file=entry.file - 1) for entry in toc]
    return assemble(Extracted("epub", spine, title=title, language=language, toc=toc))


def without(files: Sequence[dict[str, Any]], ranges: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """The files with these (file, start, end) ranges cut out."""
    texts = [file["text"] for file in files]
    for number, start, end in sorted({(number, start, end) for number, start, end in ranges}, reverse=True):
        texts[number] = texts[number][:start] + texts[number][end:]
    return [{**file, "text": text or "."} for file, text in zip(files, texts, strict=True)]
