"""How far the club, or one reader, has read: said, set from words or from buttons, taken back."""

from core.desk.keys import Action, Visit
from core.desk.notes import alone
from core.desk.writing import sentence
from core.errors import Missing
from core.model import WHOLE_BOOK, BookCard, Choice, Document, Question, Reply
from core.strings import is_word, say, say_limit

_OFFERED = 6
"""Chapters a picker offers at once. Their titles may be spoilers: numbers only."""
_ROW = 3
"""Buttons in a row that a phone still shows whole."""


async def progress(visit: Visit, words: str | None, choice: str | None = None) -> Reply:
    """The club's limit; set by words, with a button that takes it back; without words also from buttons."""
    if words and is_word(words, "word_undo"):
        return await undo_progress(visit, choice)
    card, limit = await visit.club.progress(visit.conversation, visit.reader, choice, words)
    said = {"title": card.title, "reach": say_limit(limit, visit.locale), "progress": visit.spell("progress")}
    if words:
        taken_back: Action = {"do": "undo_progress", "book": card.sha256, "words": limit.words}
        undo = (say("desk_undo", visit.locale), taken_back)
        key = "desk_progress_all" if limit == WHOLE_BOOK else "desk_progress_set"
        return Reply(sentence(key, visit.locale, **said) + _changed_by(visit), (await visit.choices([undo]),))
    key = "desk_progress_whole" if limit == WHOLE_BOOK else "desk_progress"
    document = sentence(key, visit.locale, **said)
    _, own = await visit.club.place(visit.conversation, visit.reader, card.sha256)
    if own != WHOLE_BOOK and visit.private:  # everybody reads this, and it is nobody else's business
        reach = say_limit(own, visit.locale)
        document += sentence("desk_place", visit.locale, title=card.title, reach=reach, place=visit.spell("place"))
    return Reply(document, await reach_choices(visit, card))


async def undo_progress(visit: Visit, choice: str | None, words: str | None = None) -> Reply:
    """Take back the last change of the club's limit; a button only the one that it stands under."""
    card, limit = await visit.club.undo_progress(visit.conversation, visit.reader, choice, words)
    reach = say_limit(limit, visit.locale)
    document = sentence("console_progress_undone", visit.locale, title=card.title, reach=reach)
    return Reply(document + _changed_by(visit))


def _changed_by(visit: Visit) -> Document:
    """Who moved everybody's limit, where the platform tells what they are called."""
    name = visit.reader.name
    return sentence("desk_changed_by", visit.locale, name=name) if name and not visit.private else ()


async def place(visit: Visit, words: str | None, choice: str | None = None) -> Reply:
    """The reader's own place, for this reader's eyes."""
    card, limit = await visit.club.place(visit.conversation, visit.reader, choice, words)
    said = {"title": card.title, "reach": say_limit(limit, visit.locale), "place": visit.spell("place")}
    key = "desk_place"
    if limit == WHOLE_BOOK:
        key = "place_gone" if words else "desk_place_none"
    # What was typed here all have seen; where the reader was before, nobody has.
    before = None if words else await alone(visit, {"do": "place", "book": card.sha256})
    return Reply(sentence(key, visit.locale, **said), private=True, before=before)


async def reach_choices(visit: Visit, card: BookCard, first: int = 1) -> tuple[tuple[Choice, ...], ...]:
    """Rows of buttons that say where the club is: not begun, so many chapters, everything."""

    def act(words: str) -> Action:
        return {"do": "reach", "book": card.sha256, "words": words}

    last = min(card.chapters - 1, first + _OFFERED - 1)
    labelled = [
        (say("desk_finished", visit.locale, number=number), act(f"finished {number}"))
        for number in range(first, last + 1)
    ]
    rows = [await visit.choices([(say("desk_not_begun", visit.locale), act("start"))])] if first == 1 else []
    rows += [await visit.choices(labelled[at : at + _ROW]) for at in range(0, len(labelled), _ROW)]
    ends: list[tuple[str, Action]] = [(say("desk_whole_book", visit.locale), act("all"))]
    if last + 1 < card.chapters:
        on: Action = {"do": "reaches", "book": card.sha256, "first": last + 1}
        ends.insert(0, (say("desk_later_chapters", visit.locale), on))
    rows.append(await visit.choices(ends))
    return tuple(rows)


async def later(visit: Visit, action: Action) -> Reply:
    """The next chapters of the picker."""
    card, _ = await visit.club.progress(visit.conversation, visit.reader, str(action["book"]))
    rows = await reach_choices(visit, card, int(action["first"]))
    return Reply(sentence("desk_where_is_the_club", visit.locale), rows)


async def asked_first(visit: Visit, question: Question) -> Reply | None:
    """The picker, when this channel is to be asked where it is before its first answer and has not said so yet."""
    if visit.private or not (await visit.club.settings(visit.conversation)).get("ask_first"):
        return None
    try:
        card = await visit.club.questions.about(question)
    except Missing:
        return None  # which book is meant is asked by the answer itself
    if card is None or card.limit_words is not None:
        return None
    document = sentence("desk_ask_first", visit.locale, title=card.title, progress=visit.spell("progress"))
    return Reply(document, await reach_choices(visit, card))
