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
from core.desk.keys import Visit
from core.desk.writing import sentence
from core.errors import ReaderError
from core.model import Question, Reply


async def command(visit: Visit, name: str, words: str, event: str) -> Reply | Question:
    """Do what was typed: `name` without its slash, and the words behind it."""
    match name:
        case "ask":
            return aimed(visit, words, event)
        case "books":
            return await shelves.books(visit)
        case "use":
            return await shelves.use(visit, words or None)
        case "add":
            return Reply(sentence("desk_add_how", visit.locale, add=visit.spell("add")))
        case "remove":
            return await shelves.remove(visit, words or None)
        case "undo":
            return await shelves.undo(visit)
        case "toc":
            return await shelves.contents(visit, words or None)
        case "quote":
            if not words:
                raise ReaderError("desk_quote_what", quote=visit.spell("quote"))
            return await quoting.quote(visit, words)
        case "progress":
            return await places.progress(visit, words or None)
        case "place":
            return await places.place(visit, words or None)
        case "recap":
            return await remembering.recap(visit, words)
        case "who":
            return await remembering.who(visit, words)
        case "discuss":
            return await discussing.discuss(visit, words, event)
        case "wrap":
            return await discussing.wrap(visit)
        case "schedule":
            return await scheduling.schedule(visit, words)
        case "quotes":
            return await quotations.quotes(visit, words)
        case "next":
            return await polling.following(visit, words, event)
        case "setup":
            return await arriving.setup(visit)
        case "index":
            return await indexing.index(visit, words)
        case "export":
            return await quoting.export(visit)
        case "model":
            return await house.model(visit, words or None)
        case "settings":
            return await house.settings(visit)
        case "privacy":
            return await house.privacy(visit)
        case "forget":
            return await forgetting.ask(visit, words)
        case "help" | "start":
            return await house.help(visit)
        case "about":
            return house.about(visit)
        case _:
            raise ReaderError("desk_unknown_command", command=name[:40], help=visit.spell("help"))
