"""Summaries at the desk: what they will take, how far they are, a yes to what they cost, a stop."""

from core.desk.keys import Action, Visit
from core.desk.writing import sentence
from core.model import BookCard, Choice, Document, Estimate, Reply
from core.strings import is_word, say


async def index(visit: Visit, words: str, book: str | None = None) -> Reply:
    """How far the summaries of a book are; "yes" agrees to what they cost, "stop" ends them."""
    word, _, choice = words.partition(" ")
    if is_word(word, "word_yes"):
        return await agree(visit, book or choice.strip() or None)
    if is_word(word, "word_stop"):
        return await stop(visit, book or choice.strip() or None)
    return await look(visit, book or words or None)


async def look(visit: Visit, choice: str | None) -> Reply:
    """How far they are, with buttons for what can be done."""
    card, found = await visit.club.summaries.state(visit.conversation, choice)
    params: dict[str, str | int] = {"title": card.title, "done": found.done, "total": found.total}
    params["index"] = visit.spell("index")
    document = sentence(f"index_state_{found.state}", visit.locale, **params)
    if found.notice is not None:
        document += sentence(found.notice.key, visit.locale, **found.notice.params)
    if found.state == "done":
        return Reply(document)
    document += estimated(card, await visit.club.summaries.estimate(visit.conversation, card.sha256), visit)
    acts: list[tuple[str, Action]] = []
    if found.state in ("waiting", "cancelled"):
        acts.append((say("desk_index_yes", visit.locale), {"do": "index", "book": card.sha256, "what": "yes"}))
    else:
        acts.append((say("desk_index_stop", visit.locale), {"do": "index", "book": card.sha256, "what": "stop"}))
    again: tuple[str, Action] = (say("desk_index_look", visit.locale), {"do": "index", "book": card.sha256})
    return Reply(document, (await visit.choices(acts), await visit.choices([again], step=True)))


async def agree(visit: Visit, choice: str | None) -> Reply:
    """Somebody who may says yes."""
    card = await visit.club.summaries.approve(visit.conversation, visit.reader, choice)
    return Reply(sentence("index_started", visit.locale, title=card.title))


async def stop(visit: Visit, choice: str | None) -> Reply:
    """No further call is made for this book until somebody agrees again."""
    card = await visit.club.summaries.cancel(visit.conversation, visit.reader, choice)
    return Reply(sentence("index_cancelled_now", visit.locale, title=card.title, index=visit.spell("index")))


async def press(visit: Visit, action: Action) -> Reply:
    """A button of `look` or of a ready card."""
    book = str(action["book"])
    match action.get("what"):
        case "yes":
            return await agree(visit, book)
        case "stop":
            return await stop(visit, book)
        case _:
            return await look(visit, book)


def estimated(card: BookCard, found: Estimate, visit: Visit) -> Document:
    """What summarising a book will take, and whether that waits for a yes; nothing when nothing is left to do."""
    if not found.calls:
        return ()
    facts: dict[str, str | int] = {
        "title": card.title,
        "calls": found.calls,
        "tokens": -(-(found.input_tokens + found.output_tokens) // 1_000),
        "minutes": max(1, round(found.seconds / 60)),
    }
    if found.amount is None:
        document = sentence("index_estimate", visit.locale, **facts)
    else:
        document = sentence("index_estimate_money", visit.locale, **facts, money=f"{found.amount:.2f}")
    return document + sentence("index_asks", visit.locale, index=visit.spell("index")) if found.asks else document


async def yes_choice(visit: Visit, card: BookCard) -> tuple[Choice, ...]:
    """The button that agrees, for a ready card."""
    return await visit.choices(
        [(say("desk_index_yes", visit.locale), {"do": "index", "book": card.sha256, "what": "yes"})]
    )
