"""Forgetting at the desk: what would go, a button that says yes, and the counts of what went."""

from core.desk.keys import Action, Visit
from core.desk.writing import paragraphs, sentence
from core.errors import ReaderError
from core.model import Forgotten, Reply
from core.strings import is_word, say
from core.strings.counts import counted as counts

_WHAT = ("me", "channel", "book")


async def ask(visit: Visit, words: str, book: str | None = None) -> Reply:
    """Say what would be forgotten and wait for a yes; without words, what can be."""
    first, _, rest = words.partition(" ")
    if not first:
        return Reply(sentence("desk_forget_what", visit.locale, forget=visit.spell("forget")), private=True)
    what = next((what for what in _WHAT if first.lower() == what or is_word(first, f"desk_word_{what}")), None)
    if what is None:
        raise ReaderError("desk_forget_unknown", forget=visit.spell("forget"))
    action: Action = {"do": "forget", "what": what}
    title = ""
    if what == "book":
        card = await visit.club.book(visit.conversation, book or rest.strip() or None)
        action, title = {**action, "book": card.sha256}, card.title
    yes = (say("desk_forget_yes", visit.locale), action)
    no: tuple[str, Action] = (say("desk_forget_no", visit.locale), {"do": "keep"})
    rows = (await visit.choices([yes, no], own=True),)
    return Reply(sentence(f"desk_forget_{what}", visit.locale, title=title), rows, private=True)


async def forget(visit: Visit, action: Action) -> Reply:
    """It was confirmed: forget, and say how much went."""
    match action["what"]:
        case "me":
            gone = await visit.club.forget_reader(visit.conversation.platform, visit.reader.id)
        case "channel":
            gone = await visit.club.forget_channel(visit.conversation, visit.reader)
        case _:
            _, gone = await visit.club.forget_book(visit.conversation, visit.reader, str(action["book"]))
    return Reply(paragraphs(counted(gone, visit.locale)), private=True)


def counted(gone: Forgotten, locale: str | None) -> str:
    """What went, in words."""
    return say("desk_forgot", locale, counts=counts(gone, locale)) if gone else say("desk_forgot_nothing", locale)
