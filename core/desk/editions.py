"""A book that is here already, brought again: opened, read anew, or put in the place of an earlier edition; asked back first."""

from core.desk.keys import Action, Visit
from core.desk.notes import CLOSE
from core.desk.writing import sentence, short
from core.model import BookCard, Choice, Reply
from core.strings import say


async def known_choices(visit: Visit, card: BookCard) -> tuple[Choice, ...]:
    """Under "nothing was read twice": look at the book, or read its file anew."""
    again: Action = {"do": "edition", "book": card.sha256}
    return await visit.choices(
        [
            (say("desk_look", visit.locale), {"do": "look", "book": card.sha256}),
            (say("desk_replace", visit.locale), again),
        ]
    )


async def earlier_choices(visit: Visit, earlier: BookCard, card: BookCard) -> tuple[Choice, ...]:
    """Under a new book with the title of one that is here: put it in that one's place."""
    action: Action = {"do": "edition", "book": card.sha256, "old": earlier.sha256}
    return await visit.choices([(say("desk_replace_earlier", visit.locale), action)])


async def act(visit: Visit, action: Action) -> Reply:
    """Ask back, and after a yes do it."""
    book, old = str(action["book"]), action.get("old")
    if not action.get("sure"):
        card = await visit.club.book(visit.conversation, book)
        what = "again" if old is None else "earlier"
        yes = await visit.choices([(say(f"desk_replace_{what}_yes", visit.locale), {**action, "sure": True})], own=True)
        no = Choice(say("desk_forget_no", visit.locale), CLOSE, "close")
        document = sentence(f"desk_replace_{what}_sure", visit.locale, title=short(card.title, 60))
        return Reply(document, ((*yes, no),), private=True)
    if old is None:
        card, changed = await visit.club.editions.again(visit.conversation, visit.reader, book)
        return Reply(sentence("desk_read_anew" if changed else "desk_read_same", visit.locale, title=card.title))
    card = await visit.club.editions.replace(visit.conversation, visit.reader, str(old), book)
    undo = await visit.choices([(say("desk_undo", visit.locale), {"do": "undo", "book": str(old)})])
    return Reply(sentence("desk_replaced", visit.locale, title=card.title), (undo,))
