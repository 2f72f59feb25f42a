"""A PDF as a book: one spine file a page, the text joined to paragraphs, with contents, labels and warnings."""

from pathlib import Path

from core.errors import BadBook
from core.formats.extracted import Extracted
from core.formats.pdf.compose import compose
from core.formats.pdf.contents import find_headings, name_authors, name_book, name_language, read_outline
from core.formats.pdf.flow import Flow, Placed, place
from core.formats.pdf.hyphens import Hyphens
from core.formats.pdf.lines import Line, read_lines
from core.formats.pdf.mupdf import open_pdf
from core.formats.pdf.running import drop_running, running_labels
from core.formats.pdf.scans import find_blind, judge_blind, judge_glyphs, read_by_machine
from core.formats.pdf.shape import Column, Edges, body_size, find_edges, measure
from core.model import PageMark, SpineFile


def read_pdf(path: Path, password: str | None = None, accept_partial: bool = False) -> Extracted:
    """Read a PDF. `accept_partial`: go on although most pages are pictures.

    Raises BadBook: broken, locked, no pages, too many pages, pictures only, mostly pictures, no text.
    """
    with open_pdf(path, password) as pdf:
        pages = [read_lines(pdf.read_page(index)) for index in range(pdf.pages)]
        blind = find_blind(pdf, pages)
        warnings = judge_blind(blind, len(pages), accept_partial) + judge_glyphs(pages)
        outline, labels, facts = list(pdf.outline()), pdf.labels(), pdf.facts()
    dropped, printed = drop_running(pages, body_size([page.lines for page in pages]))
    kept = [
        [line for n, line in enumerate(page.lines) if n not in out] for page, out in zip(pages, dropped, strict=True)
    ]
    placed, flow = lay_out(kept)
    texts = compose(placed, flow)
    if not any(text.text for text in texts):
        raise BadBook("book_pdf_no_text")
    labels = labels or running_labels(printed, len(pages))
    files = [
        SpineFile(index, labels[index] if labels else "", text.text, text.join) for index, text in enumerate(texts)
    ]
    return Extracted(
        format="pdf",
        files=files,
        title=name_book(facts.title, placed),
        authors=name_authors(facts.author),
        language=name_language(facts.language),
        toc=read_outline(outline, placed, texts),
        headings=find_headings(placed, texts, flow),
        pages=[PageMark(label, index, 0) for index, label in enumerate(labels) if label],
        blind=blind,
        warnings=warnings,
        machine_read=read_by_machine(pages),
    )


def lay_out(pages: list[list[Line]]) -> tuple[list[list[Placed]], Flow]:
    """The lines of all pages with what their columns and the book's habits say about them."""
    edges: list[list[Edges]] = []
    columns: list[Column] = []
    for lines in pages:
        found, columns = find_edges(lines, columns)
        edges.append(found)
    shape = measure(pages, edges)
    placed = [place(lines, sides, shape) for lines, sides in zip(pages, edges, strict=True)]
    return placed, Flow(shape, Hyphens(line.text for lines in pages for line in lines))
