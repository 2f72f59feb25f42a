"""The quote wall at the desk: saved from any passage, liked, taken down, exported; the quote of the day."""

import re

from core.desk.keys import Action, Visit
from core.desk.notes import SAVE, choices_of, in_rows
from core.desk.writing import heading, paragraphs, sentence
from core.errors import Missing, ReaderError
from core.meeting.wall import MORNING
from core.model import Attachment, Block, Letter, Paragraph, Quote, Reply, Text
from core.strings import is_word, say

_PAGE = 5
_NUMBER = re.compile(r"\d{1,6}")
_HOUR = re.compile(r"(\d{1,2})(?::00)? ?h?", re.I)
"""The quote of the day comes at a whole hour."""


async def quotes(visit: Visit, words: str, page: int = 0) -> Reply:
    """The wall, so many at a time; `export`, `remove 2`, `daily 9`, `daily off`."""
    first, _, rest = words.partition(" ")
    wall = visit.club.meeting.wall
    mine = visit.reader if visit.private else None
    if is_word(first, "quotes_word_export"):
        text = await wall.export(visit.conversation, visit.reader, visit.locale, visit.link_for, mine)
        file = Attachment("quotes.md", text.encode(), "text/markdown")
        return Reply(sentence("quotes_exported", visit.locale), attachments=(file,))
    if is_word(first, "quotes_word_remove"):
        if not _NUMBER.fullmatch(rest.strip()):
            raise ReaderError("quotes_how", quotes=visit.spell("quotes"))
        await wall.take_down(visit.conversation, visit.reader, int(rest), mine)
        return Reply(sentence("quotes_removed", visit.locale))
    if is_word(first, "quotes_word_daily"):
        return await daily(visit, rest.strip())
    if words:
        raise ReaderError("quotes_how", quotes=visit.spell("quotes"))
    saved = await wall.all(visit.conversation, mine)
    if not saved:
        raise Missing("quotes_none")
    pages = -(-len(saved) // _PAGE)
    page = min(max(page, 0), pages - 1)
    here = saved[page * _PAGE : (page + 1) * _PAGE]
    await wall.show(visit.conversation, visit.reader, here)
    blocks: list[Block] = [heading(say("quotes_title", visit.locale))]
    for one in here:
        parts = [str(one.note.number) + ".", one.heading]
        if one.votes:
            parts.append(f"· {say('quotes_votes', visit.locale, count=one.votes)}")
        blocks += paragraphs(" ".join(filter(None, parts)))
        blocks.append(Quote((Paragraph((Text(one.text),)),)))
    likes: list[tuple[str, Action]] = [
        (say("quotes_like", visit.locale, number=one.note.number), {"do": "like", "id": one.id}) for one in here
    ]
    rows = [*in_rows(await choices_of(visit, [one.note for one in here])), await visit.choices(likes)]
    turning: list[tuple[str, Action]] = []
    if page > 0:
        turning.append((say("desk_before", visit.locale), {"do": "quotes", "page": page - 1}))
    if page + 1 < pages:
        turning.append((say("desk_after", visit.locale), {"do": "quotes", "page": page + 1}))
    if turning:
        rows.append(await visit.choices(turning, step=True))
    return Reply(tuple(blocks), tuple(rows))


async def daily(visit: Visit, said: str) -> Reply:
    """A quote each day, or none."""
    if is_word(said, "schedule_word_off"):
        await visit.club.meeting.wall.set_daily(visit.conversation, visit.reader, None)
        return Reply(sentence("quotes_daily_off", visit.locale))
    hour = _HOUR.fullmatch(said)
    at = int(hour[1]) if hour else MORNING
    if (said and hour is None) or at > 23:
        raise ReaderError("quotes_how", quotes=visit.spell("quotes"))
    await visit.club.meeting.wall.set_daily(visit.conversation, visit.reader, at)
    document = sentence("quotes_daily_on", visit.locale, hour=at)
    try:
        card = await visit.club.book(visit.conversation)
        unset = card.limit_words is None
    except Missing:
        unset = True
    if unset:
        document += sentence("quotes_daily_needs_place", visit.locale, progress=visit.spell("progress"))
    return Reply(document)


async def saved(visit: Visit, id: str) -> Reply:
    """The passage of a note goes onto the wall."""
    passage = await visit.club.passages.press(visit.conversation, id.removesuffix(SAVE), reader=visit.reader)
    new = await visit.club.meeting.wall.save(visit.conversation, visit.reader, passage)
    return Reply(sentence("quotes_saved" if new else "quotes_saved_already", visit.locale), private=True, beside=True)


async def saved_tag(visit: Visit, action: Action) -> Reply:
    """A place that the quote finder named goes onto the wall."""
    passage = await visit.club.passages.open_tag(
        visit.conversation, str(action["book"]), str(action["tag"]), reader=visit.reader
    )
    new = await visit.club.meeting.wall.save(visit.conversation, visit.reader, passage)
    return Reply(sentence("quotes_saved" if new else "quotes_saved_already", visit.locale), private=True, beside=True)


async def like(visit: Visit, action: Action) -> Reply:
    """Liked, or not any more."""
    liked = await visit.club.meeting.wall.like(visit.conversation, visit.reader, str(action["id"]))
    return Reply(sentence("quotes_liked" if liked else "quotes_unliked", visit.locale), private=True, beside=True)


async def letter(visit: Visit, letter: Letter) -> Reply | None:
    """The quote of the day."""
    found = await visit.club.meeting.wall.of_the_day(letter)
    if found is None:
        return None
    where = " · ".join(filter(None, (found.card.title, found.heading)))
    notes = in_rows(await choices_of(visit, [found.note]))
    return Reply((heading(say("quotes_of_the_day", visit.locale)), found.quotation, *paragraphs(where)), notes)
