"""The channel's books at the desk: the list, which one is meant, removing and bringing back, contents, the ready card."""

from core.desk import editions
from core.desk.indexing import estimated, yes_choice
from core.desk.keys import Action, Visit
from core.desk.places import reach_choices
from core.desk.writing import heading, numbered, paragraphs, sentence, short
from core.errors import Missing
from core.model import BookCard, Choice, Contents, Position, Ready, Reply
from core.strings import say, say_limit, tell

_LISTED = 10
"""Books whose buttons a list shows; the others go by number or title."""
_PAGE = 30
"""Lines of a table of contents in one message."""


async def books(visit: Visit) -> Reply:
    """The books here by the numbers that `use` takes, each with a button."""
    shelf = await visit.club.shelf(visit.conversation)
    if not shelf:
        return Reply(sentence("desk_no_books", visit.locale, add=visit.spell("add")))
    lines = []
    for card in shelf:
        parts = [named(card, visit.locale), say("console_chapters", visit.locale, count=card.chapters)]
        if card.current and len(shelf) > 1:
            parts.append(say("console_current", visit.locale))
        lines.append(" · ".join(parts))
    rows = []
    for card in shelf[:_LISTED] if len(shelf) > 1 else ():
        label = say("desk_use", visit.locale, title=short(card.title, 30))
        rows.append(await visit.choices([(label, {"do": "use", "book": card.sha256})]))
    remove = (say("desk_remove_which", visit.locale), {"do": "remove"})
    rows.append(await visit.choices([remove]))
    document = (heading(say("desk_books", visit.locale)), numbered(lines))
    return Reply(document, tuple(rows))


async def use(visit: Visit, choice: str | None) -> Reply:
    """Choose the book that questions are about; without words, from a list."""
    if choice is None:
        return await _picker(visit, "use", "desk_use", "desk_use_which")
    card = await visit.club.use(visit.conversation, visit.reader, choice)
    return Reply(sentence("console_using", visit.locale, title=card.title))


async def remove(visit: Visit, choice: str | None) -> Reply:
    """Take a book away, with a button that brings it back; without words, from a list when there are several."""
    shelf = await visit.club.shelf(visit.conversation)
    if choice is None and len(shelf) > 1:
        return await _picker(visit, "remove", "desk_remove", "desk_remove_what")
    card = await visit.club.remove(visit.conversation, visit.reader, choice)
    undo = await visit.choices([(say("desk_undo", visit.locale), {"do": "undo", "book": card.sha256})])
    return Reply(sentence("desk_removed", visit.locale, title=card.title), (undo,))


async def undo(visit: Visit, book: str | None = None) -> Reply:
    """Bring back the book removed last, or the one that the button was made for."""
    card = await visit.club.undo(visit.conversation, visit.reader, book)
    return Reply(sentence("console_undone", visit.locale, title=card.title))


async def _picker(visit: Visit, do: str, label: str, question: str) -> Reply:
    shelf = await visit.club.shelf(visit.conversation)
    if not shelf:
        raise Missing("no_book")
    rows = []
    for card in shelf[:_LISTED]:
        action: Action = {"do": do, "book": card.sha256}
        rows.append(await visit.choices([(say(label, visit.locale, title=short(card.title, 30)), action)]))
    return Reply(sentence(question, visit.locale), tuple(rows))


async def look(visit: Visit, book: str) -> Reply:
    """What a book is, how far the club is in it, and its contents up to there."""
    card, found = await visit.club.contents(visit.conversation, book)
    facts = [say("console_chapters", visit.locale, count=card.chapters), card.language]
    blocks = [heading(named(card, visit.locale)), *paragraphs(" · ".join(filter(None, facts)))]
    if card.limit_words is not None:
        _, limit = await visit.club.progress(visit.conversation, visit.reader, book)
        reach = say_limit(limit, visit.locale)
        blocks += sentence(
            "desk_progress", visit.locale, title=card.title, reach=reach, progress=visit.spell("progress")
        )
    lines = contents_lines(found)
    blocks += paragraphs("\n".join(lines[:_PAGE]))
    further: Action = {"do": "toc", "book": book, "page": 1}
    rows = [await visit.choices([(say("desk_after", visit.locale), further)])] if len(lines) > _PAGE else []
    return Reply(tuple(blocks), tuple(rows))


async def contents(visit: Visit, choice: str | None, page: int = 0) -> Reply:
    """The contents up to the limit, chapters by their number, so many lines at a time."""
    card, found = await visit.club.contents(visit.conversation, choice)
    lines = contents_lines(found)
    if not lines:
        key = "console_no_contents" if card.limit_words is None else "desk_contents_unread"
        return Reply(sentence(key, visit.locale, progress=visit.spell("progress")))
    pages = -(-len(lines) // _PAGE)
    page = min(max(page, 0), pages - 1)
    shown = "\n".join(lines[page * _PAGE : (page + 1) * _PAGE])
    turn: list[tuple[str, Action]] = []
    if page > 0:
        turn.append((say("desk_before", visit.locale), {"do": "toc", "book": card.sha256, "page": page - 1}))
    if page + 1 < pages:
        turn.append((say("desk_after", visit.locale), {"do": "toc", "book": card.sha256, "page": page + 1}))
    rows = (await visit.choices(turn, step=True),) if turn else ()
    return Reply((heading(card.title), *paragraphs(shown)), rows)


def contents_lines(contents: Contents) -> list[str]:
    """One line for each entry, indented by its depth; a chapter's begins with its number."""
    lines = []
    chapters = {chapter.start: chapter for chapter in contents.chapters}
    last = {Position(entry.file, entry.offset): at for at, entry in enumerate(contents.toc)}
    for at, entry in enumerate(contents.toc):
        place = Position(entry.file, entry.offset)
        chapter = chapters.pop(place, None) if last[place] == at else None
        mark = f"{chapter.number}. " if chapter else ""
        lines.append("\u2003" * entry.depth + mark + (chapter.title if chapter else entry.title))
    lines += [f"{chapter.number}. {chapter.title}" for chapter in chapters.values()]
    return lines


async def ready(visit: Visit, event: Ready) -> Reply:
    """The card of a book that can be asked about: what it is, what to do next, and in a group where the club is."""
    card = event.card
    facts = [
        say("desk_known" if event.known else "desk_ready", visit.locale),
        say("console_chapters", visit.locale, count=card.chapters),
    ]
    if card.language:
        facts.append(card.language)
    blocks: list[str] = [" · ".join(facts), *(tell(warning, visit.locale) for warning in card.warnings)]
    rows: tuple[tuple[Choice, ...], ...] = ()
    if visit.private:
        blocks.append(say("desk_ready_private", visit.locale))
    else:
        blocks.append(say("desk_ready_group", visit.locale, ask=visit.spell("ask")))
        if card.limit_words is None:
            blocks.append(say("desk_where_is_the_club", visit.locale))
            rows = await reach_choices(visit, card)
    document = (heading(named(card, visit.locale)), *paragraphs(*blocks))
    if event.known:
        rows = (await editions.known_choices(visit, card), *rows)
    elif (earlier := await visit.club.editions.earlier(visit.conversation, card)) is not None:
        rows = (*rows, await editions.earlier_choices(visit, earlier, card))
    if event.estimate is not None:
        document += estimated(card, event.estimate, visit)
        if event.estimate.asks:
            rows = (*rows, await yes_choice(visit, card))
    cover = None if event.known else await visit.club.passages.cover(visit.conversation, card.sha256)
    return Reply(document, rows, picture=cover)


def named(card: BookCard, locale: str | None) -> str:
    """Title and authors."""
    if not card.authors:
        return card.title
    return say("console_by", locale, title=card.title, authors=", ".join(card.authors))
