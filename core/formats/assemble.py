"""From what a format reader yields to a parsed book: contents, chapters, runs, segments, language, limits."""

from dataclasses import replace

from core.errors import BadBook
from core.formats.chapters import full_titles, number
from core.formats.extracted import Extracted
from core.formats.runs import cut_runs
from core.formats.structure import repair
from core.formats.titles import is_front, kind_of
from core.model import ParsedBook, SpineFile
from core.segmenting import plan
from core.words import guess_language, primary

TEXT_VERSIONS = {"epub": 1, "pdf": 1, "txt": 1, "md": 1, "html": 1, "fb2": 1, "docx": 1, "mobi": 1}
"""One number a format: change it whenever the canonical text, its files or its runs may come out differently. Tags of
another version are never reused, so a change makes every stored book of that format be read anew."""
MOST_FILES = 5_000
"""Pages of a PDF; other formats are cut far coarser."""
MOST_CHARACTERS = 20_000_000
_SAMPLE = 20_000
_SPELT = "eng:en spa:es por:pt fra:fr fre:fr deu:de ger:de ita:it rus:ru ara:ar heb:he zho:zh chi:zh jpn:ja kor:ko nld:nl dut:nl"
_THREE_LETTERS = dict(pair.split(":") for pair in _SPELT.split())


def assemble(extracted: Extracted) -> ParsedBook:
    """The book that `extracted` holds. The title stays "" where the file and its headings are silent.

    Raises BadBook: no text at all, more than `MOST_FILES` files, more than `MOST_CHARACTERS` characters.
    """
    files = tuple(extracted.files)
    characters = sum(len(file.text) for file in files)
    if not any(file.text and not file.text.isspace() for file in files):
        raise BadBook("book_no_text")
    if len(files) > MOST_FILES and extracted.format == "pdf":
        raise BadBook("book_pdf_too_many_pages", pages=len(files), most=MOST_FILES)
    if characters > MOST_CHARACTERS:
        raise BadBook("book_too_long", most=MOST_CHARACTERS // 1_000_000)
    toc = repair(extracted)
    titles = full_titles(toc, extracted)
    titled = [replace(entry, title=title) for entry, title in zip(toc, titles, strict=True)]
    runs = tuple(run for file in files for run in cut_runs(file))
    title = " ".join(extracted.title.split())
    if not title:
        title = _heading_over_all(extracted)
    return ParsedBook(
        title=title[:300],
        authors=tuple(" ".join(author.split()) for author in extracted.authors if author.strip()),
        language=_language(extracted.language, files),
        format=extracted.format,
        text_version=f"{extracted.format}-{TEXT_VERSIONS[extracted.format]}",
        files=files,
        runs=runs,
        toc=tuple(toc),
        chapters=number(toc, titles, extracted),
        segments=plan(files, runs, titled),
        pages=tuple(sorted(extracted.pages, key=lambda mark: (mark.file, mark.offset))),
        warnings=tuple(extracted.warnings),
        blind=tuple(sorted(extracted.blind)),
        machine_read=extracted.machine_read,
        cover=extracted.cover,
    )


def _heading_over_all(extracted: Extracted) -> str:
    """The one heading of the highest level, unless it names a chapter or front matter; "" when there are several."""
    top = min((mark.level for mark in extracted.headings), default=0)
    titles = [" ".join(mark.title.split()) for mark in extracted.headings if mark.level == top]
    return titles[0] if len(titles) == 1 and kind_of(titles[0]) is None and not is_front(titles[0]) else ""


def _language(declared: str, files: tuple[SpineFile, ...]) -> str:
    """The declared primary subtag; guessed from the middle of the book when the file is silent or says "und"."""
    subtag = primary(declared)
    subtag = _THREE_LETTERS.get(subtag, subtag)
    if subtag.isalpha() and 2 <= len(subtag) <= 3 and subtag not in ("und", "mul", "zxx", "mis"):
        return subtag
    texts = [file.text for file in files if file.text.strip()]
    texts.sort(key=len, reverse=True)
    sample = ""
    for text in texts[:5]:
        middle = max(0, len(text) // 2 - _SAMPLE // 10)
        sample += text[middle : middle + _SAMPLE // 5]
    return guess_language(sample)
