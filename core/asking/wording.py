"""What we say ourselves in an answer: that nothing was found, that a page cannot be read, that words are not the book's. Pure."""

from collections.abc import Sequence

from core.limits import say_limit
from core.model import Cite, Document, Emphasis, Paragraph, Position, Quote, Text
from core.retrieval import Source
from core.strings import ranges, say


def sentence(text: str) -> Document:
    return (Paragraph((Text(text),)),)


def not_from_the_book(locale: str | None) -> Paragraph:
    """The line above words that do not come from the book."""
    return Paragraph((Emphasis((Text(say("not_from_the_book", locale)),), strong=True),))


def page_unreadable(pages: Sequence[str], locale: str | None) -> Document:
    return sentence(say("page_unreadable", locale, count=len(pages), pages=", ".join(pages)))


def nothing_found(sources: Sequence[Source], locale: str | None) -> Document:
    """That the book does not say it, up to where it was looked at, and which pages could not be looked at.

    Under a reading limit the sentence is the same for "later" and "not at all".
    """
    title = sources[0].card.title if len(sources) == 1 else ""
    limited = any(source.bounded for source in sources)
    key = "not_in_book" if title else "not_in_books"
    if limited:
        key = "not_in_book_so_far" if title else "not_in_books_so_far"
    said = [say(key, locale, title=title, reach=say_limit(sources[0].limit, locale))]
    for source in sources:
        looked = [_looked_at(source, locale)]
        if blind := [page + 1 for page in source.blind]:
            looked.append(say("pages_not_looked_at", locale, count=len(blind), pages=ranges(blind)))
        if words := " ".join(filter(None, looked)):
            said.append(words if title else say("looked_in_book", locale, title=source.card.title, looked=words))
    return sentence(" ".join(said))


def closest(text: str, number: int, locale: str | None) -> Document:
    """The sentence of the book that is nearest to a question it does not answer, under a line that says just that."""
    (lead,) = sentence(say("closest_passage", locale))
    return (lead, Quote((Paragraph((Text(f"{' '.join(text.split())} "), Cite(number))),)))


def _looked_at(source: Source, locale: str | None) -> str:
    """Where was looked, as readers count it: chapters, else pages; empty where nothing may be looked at."""
    if source.end <= Position(0, 0):
        return ""
    if numbers := [chapter.number for chapter in source.chapters]:
        return say("looked_in_chapters", locale, count=len(numbers), chapters=ranges(numbers))
    if source.paged:
        pages = [
            file + 1 for file in range(source.files) if Position(file, 0) < source.end and file not in source.blind
        ]
        return say("looked_in_pages", locale, count=len(pages), pages=ranges(pages)) if pages else ""
    return say("looked_in_text", locale)
