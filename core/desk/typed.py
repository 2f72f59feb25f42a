"""What a typed command does."""

from core.desk import (
    arriving,
    discussing,
    forgetting,
    house,
    indexing,
    places,
    polling,
    quotations,
    quoting,
    remembering,
    scheduling,
    shelves,
)
from core.desk.asking import aimed
from core.desk.keys import Action, Visit
from core.desk.writing import sentence, short
from core.errors import Missing, ReaderError
from core.model import Question, Reply

_BOOKS = 10
"""Books a picker shows."""
_KEPT = 200
"""Characters that its buttons keep of what was typed."""


async def command(visit: Visit, name: str, words: str, event: str, book: str | None = None) -> Reply | Question:
    """Do what was typed: `name` without its slash, and the words behind it. `book`: chosen when asked which is meant."""
    try:
        return await _done(visit, name, words, event, book)
    except Missing as missing:
        shelf = await visit.club.shelf(visit.conversation)
        if missing.key != "which_book" or book is not None or len(shelf) > _BOOKS or len(words) > _KEPT:
            raise
        typed: Action = {"do": "typed", "name": name, "words": words}
        rows = [
            await visit.choices([(short(f"“{card.title}”"), {**typed, "book": card.sha256})], own=True)
            for card in shelf
        ]
        return Reply(sentence("which_book_short", visit.locale), tuple(rows))


async def _done(visit: Visit, name: str, words: str, event: str, book: str | None) -> Reply | Question:
    match name:
        case "ask":
            return aimed(visit, words, event)
        case "books":
            return await shelves.books(visit)
        case "use":
            return await shelves.use(visit, book or words or None)
        case "add":
            return Reply(sentence("desk_add_how", visit.locale, add=visit.spell("add")))
        case "remove":
            return await shelves.remove(visit, book or words or None)
        case "undo":
            return await shelves.undo(visit)
        case "toc":
            return await shelves.contents(visit, book or words or None)
        case "quote":
            if not words:
                raise ReaderError("desk_quote_what", quote=visit.spell("quote"))
            return await quoting.quote(visit, words, book)
        case "progress":
            return await places.progress(visit, words or None, book)
        case "place":
            return await places.place(visit, words or None, book)
        case "recap":
            return await remembering.recap(visit, words, book)
        case "who":
            return await remembering.who(visit, words, book)
        case "discuss":
            return await discussing.discuss(visit, words, event, book)
        case "wrap":
            return await discussing.wrap(visit)
        case "schedule":
            return await scheduling.schedule(visit, words, book)
        case "quotes":
            return await quotations.quotes(visit, words)
        case "next":
            return await polling.following(visit, words, event)
        case "setup":
            return await arriving.setup(visit)
        case "index":
            return await indexing.index(visit, words, book)
        case "export":
            return await quoting.export(visit)
        case "model":
            return await house.model(visit, words or None)
        case "settings":
            return await house.settings(visit)
        case "privacy":
            return await house.privacy(visit)
        case "forget":
            return await forgetting.ask(visit, words, book)
        case "help" | "start":
            return await house.help(visit)
        case "about":
            return house.about(visit)
        case _:
            raise ReaderError("desk_unknown_command", command=name[:40], help=visit.spell("help"))
