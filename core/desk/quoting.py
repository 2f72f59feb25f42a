"""Exact words at the desk: where they stand, each place with a button that opens it; and the chat as a file."""

from core import tags
from core.desk.asking import QUOTED
from core.desk.keys import Action, Visit
from core.desk.notes import CLOSE, in_the_book, moved_past, passage_document, warning
from core.desk.writing import heading, sentence
from core.exports import Form
from core.model import Attachment, Block, Choice, Paragraph, Quote, Reply, Text
from core.strings import say, say_limit

_SHOWN = 5
"""Places a reply shows: more would bury the chat."""


async def quote(visit: Visit, words: str, choice: str | None = None, page: int = 0, turn: str | None = None) -> Reply:
    """Where these words stand, word for word or nearly, so many places at a time; or those that an answer's question has."""
    wanted: Action = {"words": words}
    if turn is not None and not words:
        wanted = {"turn": turn}
        words = (await visit.club.questions.asked(visit.conversation, turn)).question[:QUOTED]
    card, found = await visit.club.passages.find_quote(
        visit.conversation, words, choice, reader=visit.reader, private=visit.private
    )
    reach = say_limit(found.limit, visit.locale)
    blocks: list[Block] = [*sentence(found.told_by, visit.locale, count=len(found.hits), title=card.title, reach=reach)]
    labelled: list[tuple[str, Action]] = []
    copies: list[Choice] = []
    pages = max(1, -(-len(found.hits) // _SHOWN))
    first = _SHOWN * min(max(page, 0), pages - 1)
    for at, hit in enumerate(found.hits[first : first + _SHOWN], first + 1):
        blocks += [heading(hit.heading)] if hit.heading else []
        blocks.append(Quote((Paragraph((Text(hit.quote),)),)))
        if hit.run is not None:
            action: Action = {"do": "open", "book": card.sha256, "tag": tags.tag(hit.run)}
            labelled.append((say("desk_open", visit.locale, number=at), action))
        if len(hit.quote) <= visit.copies:
            copies.append(Choice(say("desk_copy", visit.locale, number=at), hit.quote, "copy"))
    if (further := len(found.hits) - first - _SHOWN) > 0:
        blocks += sentence("desk_more_places", visit.locale, count=further)
    if await visit.club.questions.keeps(visit.conversation.platform):
        blocks += sentence("desk_model_away", visit.locale)
    turning: list[tuple[str, Action]] = []
    here: Action = {"do": "quote", **wanted, "book": card.sha256}
    if first > 0:
        turning.append((say("desk_previous", visit.locale), {**here, "page": first // _SHOWN - 1}))
    if further > 0:
        turning.append((say("desk_next", visit.locale), {**here, "page": first // _SHOWN + 1}))
    rows = [await visit.choices(labelled), tuple(copies), await visit.choices(turning, step=True)]
    return Reply(tuple(blocks), tuple(row for row in rows if row))


async def opened(visit: Visit, action: Action) -> Reply:
    """A place the quote finder named, in its surroundings; one past the reader's own place after a warning, as a note's."""
    passage = await visit.club.passages.open_tag(
        visit.conversation, str(action["book"]), str(action["tag"]), reader=visit.reader, locale=visit.locale
    )
    how = action.get("how")
    if passage.ahead is not None and how is None:
        ways: list[tuple[str, Action]] = [("", {**action, "how": "anyway"}), ("", {**action, "how": "move"})]
        anyway, move = await visit.choices(ways, own=True)
        return await warning(visit, passage, passage.ahead, anyway.id, move.id)
    said = await moved_past(visit, passage) if how == "move" else ()
    close = Choice(say("desk_close", visit.locale), CLOSE, "close")
    keep: Action = {"do": "save", "book": passage.book, "tag": passage.tag}
    save = await visit.choices([(say("quotes_save", visit.locale), keep)])
    row = (*save, *in_the_book(visit, passage), close)
    return Reply(said + passage_document(passage, visit.locale), (row,), private=True, passage=passage)


async def export(visit: Visit) -> Reply:
    """The chat as a Markdown and an HTML file, every note with its exact passage and its place in the reading view."""
    link_for = visit.link_for
    link = None if link_for is None else lambda passage: link_for(visit.conversation, passage, None)
    files = []
    forms: tuple[tuple[Form, str], ...] = (("md", "text/markdown"), ("html", "text/html"))
    for form, media in forms:
        text = await visit.club.passages.export(
            visit.conversation, visit.locale, form=form, link=link, reader=visit.reader, alone=visit.private
        )
        files.append(Attachment(f"loccit.{form}", text.encode(), media))
    return Reply(sentence("desk_exported", visit.locale), attachments=tuple(files))
