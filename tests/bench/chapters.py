"""Chapters found against chapters wanted, and segments, for every open book: `python -m tests.bench.chapters`."""

import time
from collections.abc import Callable
from pathlib import Path

from core.errors import BadBook
from core.formats.assemble import assemble
from core.formats.docx import read_docx
from core.formats.epub import read_epub
from core.formats.extracted import Extracted
from core.formats.fictionbook import read_fb2
from core.formats.markdown import read_markdown
from core.formats.mobi import read_mobi
from core.formats.pdf.reading import read_pdf
from core.formats.plain import read_text
from core.formats.web import read_html
from tests.parts import SHARED

WANTED = {
    "don-quijote-es.epub": 126,
    "dom-casmurro-pt.epub": 148,
    "dom-casmurro-pt.mobi": 148,
    "die-verwandlung-de-no-toc.epub": 3,
    "pride-and-prejudice.epub": 61,
    "pride-and-prejudice-no-outline.pdf": 61,
    "tang-300-zh.epub": 313,
    "war-and-peace.epub": 361,
    "mertvye-dushi-ru.epub": 15,
    "mertvye-dushi-ru.fb2": 15,
    "problems-of-philosophy.epub": 15,
    "problems-of-philosophy.docx": 15,
    "problems-of-philosophy-2col.pdf": 15,
    "madame-bovary-fr-latin1.txt": 35,
    "news-from-nowhere.html": 32,
    "hamlet.epub": 20,
    "kusamakura-ja-vertical.epub": 13,
}
"""What a reader would count; a book may have a few more (prologues, prefaces inside a second part)."""

_READERS: dict[str, Callable[[bytes], Extracted]] = {
    "txt": read_text,
    "md": read_markdown,
    "html": read_html,
    "fb2": read_fb2,
    "docx": read_docx,
    "mobi": read_mobi,
}


def main() -> None:
    """Print one line a book."""
    if SHARED is None:
        print("no ../shared: nothing to measure")
        return
    print(
        f"{'book':38}{'wanted':>8}{'found':>7}{'toc':>6}{'claimed':>9}{'segments':>10}{'bound':>7}{'read s':>8}{'rest s':>8}"
    )
    for path in sorted((SHARED / "books").iterdir()):
        if path.is_file() and path.suffix != ".json":
            _measure(path)


def _measure(path: Path) -> None:
    begun = time.perf_counter()
    try:
        extracted = _read(path)
        if extracted is None:
            return
        read = time.perf_counter()
        book = assemble(extracted)
    except BadBook as error:
        print(f"{path.name:38}{'':>8} refused: {error.key}")
        return
    done = time.perf_counter()
    # The bound of summary calls: 1.3 calls a stretch of 18,000 characters.
    bound = round(1.3 * book.characters / 18_000)
    print(
        f"{path.name:38}{WANTED.get(path.name, ''):>8}{len(book.chapters):>7}{len(book.toc):>6}{len(extracted.toc):>9}"
        f"{len(book.segments):>10}{bound:>7}{read - begun:>8.2f}{done - read:>8.2f}"
    )


def _read(path: Path) -> Extracted | None:
    kind = path.suffix.lstrip(".")
    if kind == "epub":
        return read_epub(path)
    if kind == "pdf":
        return read_pdf(path)
    return _READERS[kind](path.read_bytes()) if kind in _READERS else None


if __name__ == "__main__":
    main()
