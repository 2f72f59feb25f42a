"""What a button does."""

from dataclasses import replace

from core.desk import (
    arriving,
    discussing,
    editions,
    forgetting,
    house,
    indexing,
    notes,
    places,
    polling,
    quotations,
    quoting,
    remembering,
    scheduling,
    seeing,
    shelves,
    trying,
    typed,
)
from core.desk.asking import QUOTED, asked
from core.desk.keys import Action, Visit
from core.desk.writing import sentence
from core.errors import Missing, ReaderError
from core.model import Question, Reply
from core.strings import say


async def press(visit: Visit, id: str, event: str) -> Reply | Question:
    """Do what the button with this id says: a footnote gives its passage, any other is what we keep under its id."""
    if id.endswith(".p"):
        return await notes.pictured(visit, id)
    if id.endswith(notes.SAVE):
        return await quotations.saved(visit, id)
    if id.endswith(notes.MOVE):
        return await notes.moved(visit, id)
    if notes.is_note(id) or await visit.club.passages.is_note(id):
        return await notes.opened(visit, id)
    return await _done(visit, await visit.club.post.pressed(visit.conversation, visit.reader, id), event)


async def fill(visit: Visit, id: str, written: str, event: str) -> Reply | Question:
    """Do what the button with this id says, with what was written into its form."""
    action = await visit.club.post.pressed(visit.conversation, visit.reader, id)
    return await _done(visit, {**action, "written": written}, event)


async def _done(visit: Visit, action: Action, event: str) -> Reply | Question:
    """A button names its book by an id, which no sentence shows: the book was here when the button was made."""
    try:
        return await act(visit, action, event)
    except Missing as missing:
        if missing.key == "no_such_book" and missing.params.get("choice") == action.get("book"):
            raise Missing("book_removed") from missing
        raise


async def _question(visit: Visit, action: Action) -> str:
    turn = await visit.club.questions.asked(visit.conversation, str(action["turn"]))
    return turn.question[:QUOTED]


async def act(visit: Visit, action: Action, event: str) -> Reply | Question:
    """Do what is kept under a button's id."""
    words, book = str(action.get("words", "")), action.get("book")
    match action["do"]:
        case "typed":
            return await typed.command(visit, str(action["name"]), words, event, str(book))
        case "use":
            return await shelves.use(visit, book)
        case "remove":
            return await shelves.remove(visit, book)
        case "undo":
            return await shelves.undo(visit, book)
        case "toc":
            return await shelves.contents(visit, book, int(action["page"]))
        case "quote":
            return await quoting.quote(visit, words, book, int(action.get("page", 0)), action.get("turn"))
        case "look":
            return await shelves.look(visit, str(book))
        case "edition":
            return await editions.act(visit, action)
        case "seen":
            return await seeing.answered(visit, action)
        case "try":
            return await trying.again(visit, action, event)
        case "open":
            return await quoting.opened(visit, action)
        case "progress":
            return await places.progress(visit, None, book)
        case "reach":
            return await places.progress(visit, words, book)
        case "place":
            return await places.place(visit, None, book)
        case "reaches":
            return await places.later(visit, action)
        case "undo_progress":
            return await places.undo_progress(visit, book, words or None)
        case "recap":
            return await remembering.recap(visit, words, book)
        case "who":
            return await remembering.who(visit, words, book, int(action.get("page", 0)))
        case "discuss":
            return await discussing.act(visit, action)
        case "date":
            return await scheduling.act(visit, action)
        case "quotes":
            return await quotations.quotes(visit, "", int(action["page"]))
        case "like":
            return await quotations.like(visit, action)
        case "save":
            return await quotations.saved_tag(visit, action)
        case "poll":
            return await polling.act(visit, action)
        case "setup":
            if "key" in action:
                await arriving.switch(visit, action)
            return await arriving.setup(visit)
        case "settings":
            return await house.settings(visit)
        case "index":
            return await indexing.press(visit, action)
        case "model":
            return await house.model(visit, str(action["name"]))
        case "set":
            return await house.change(visit, action)
        case "forget":
            return await forgetting.forget(visit, action)
        case "keep":
            return Reply(sentence("desk_kept", visit.locale), private=True)
        case "more":
            return await notes.more(visit, action)
        case "flag":
            await visit.club.questions.flag(visit.conversation, visit.reader, str(action["turn"]))
            return Reply(sentence("desk_flagged", visit.locale), private=True)
        case "delete":
            await visit.club.questions.delete(visit.conversation, visit.reader, str(action["turn"]))
            return Reply(sentence("desk_deleted", visit.locale), private=True, deleted=str(action["turn"]))
        case "continue":
            turn = await visit.club.questions.asked(visit.conversation, str(action["turn"]))
            aside = turn.answer.outcome == "general_knowledge"
            question = asked(visit, say("desk_continue", visit.locale), event)
            return replace(question, reply_to=turn.id, go_on=True, without_book=aside)
        case "again":
            turn = await visit.club.questions.asked(visit.conversation, str(action["turn"]))
            aside = turn.answer.outcome == "general_knowledge"
            if action["how"] == "same":
                books = [book for book, _ in turn.books]
                one = books[0] if len(books) == 1 and not aside else None
                anew = replace(asked(visit, turn.question, event), reply_to=turn.reply_to, book=one)
                return replace(anew, every_book=len(books) > 1, without_book=aside)
            wanted = say(f"desk_again_{action['how']}", visit.locale, question=turn.question[:QUOTED])
            return replace(asked(visit, wanted, event), reply_to=turn.id, without_book=aside)
        case "without":
            return replace(asked(visit, words or await _question(visit, action), event), without_book=True)
        case _:
            raise ReaderError("unknown_button")
