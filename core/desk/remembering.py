"""Coming back to a book at the desk: what has happened so far, and everything said of a person, with notes as buttons."""

from dataclasses import replace

from core.desk.keys import Action, Visit
from core.desk.notes import alone, choices_of, in_rows
from core.desk.writing import heading, paragraphs, sentence
from core.errors import ReaderError
from core.meeting.people import Person
from core.meeting.recaps import Recap
from core.model import Block, Document, Reply
from core.strings import is_word, say, say_limit, tell


async def recap(visit: Visit, words: str, choice: str | None = None) -> Reply:
    """What has been read so far, by the reader or the club; asked first where the two differ."""
    first, _, rest = words.partition(" ")
    mine = is_word(first, "recap_word_mine")
    said = mine or is_word(first, "recap_word_club")
    if said:
        words = rest.strip()
    card = await visit.club.book(visit.conversation, choice or words or None)
    if not said:
        _, club = await visit.club.progress(visit.conversation, visit.reader, card.sha256)
        _, own = await visit.club.place(visit.conversation, visit.reader, card.sha256)
        nearer = own.position is not None and (club.position is None or own.position < club.position)
        if nearer:
            return await _whose(
                visit, card.sha256, card.title, say_limit(own, visit.locale), say_limit(club, visit.locale)
            )
    found = await visit.club.meeting.recaps.recap(visit.conversation, visit.reader, card.sha256, mine=mine)
    reply = await _recapped(visit, found, private=mine)
    if not mine:
        return reply
    return replace(reply, before=await alone(visit, {"do": "recap", "words": "mine", "book": card.sha256}))


async def _whose(visit: Visit, book: str, title: str, mine: str, club: str) -> Reply:
    labelled: list[tuple[str, Action]] = [
        (say("recap_mine", visit.locale), {"do": "recap", "words": "mine", "book": book}),
        (say("recap_club", visit.locale), {"do": "recap", "words": "club", "book": book}),
    ]
    document = sentence("recap_whose", visit.locale, title=title, mine=mine, club=club)
    before = await alone(visit, {"do": "recap", "words": "", "book": book})
    return Reply(document, (await visit.choices(labelled, own=True),), private=True, before=before)


async def _recapped(visit: Visit, found: Recap, *, private: bool) -> Reply:
    reach = say_limit(found.limit, visit.locale)
    document: Document = (
        heading(say("recap_head", visit.locale, title=found.card.title, reach=reach)),
        *found.answer.document,
    )
    following = found.upcoming
    if following is not None:
        key = "recap_next_titled" if following.title else "recap_next"
        document += sentence(
            key, visit.locale, number=following.number, minutes=following.minutes, title=following.title
        )
    document += paragraphs(*(tell(notice, visit.locale) for notice in found.answer.notices))
    return Reply(document, in_rows(await choices_of(visit, found.answer.footnotes)), private=private)


async def who(visit: Visit, words: str, choice: str | None = None, page: int = 0) -> Reply:
    """Where a person is named, by chapter, so many chapters at a time."""
    if not words:
        raise ReaderError("who_what", who=visit.spell("who"))
    card = await visit.club.book(visit.conversation, choice)
    mine = visit.reader if visit.private else None
    found = await visit.club.meeting.people.who(
        visit.conversation, words, card.sha256, reader=visit.reader, mine=mine, page=page
    )
    return await _named(visit, found, max(0, min(page, found.pages - 1)))


async def _named(visit: Visit, found: Person, page: int) -> Reply:
    bounded = found.limit.position is not None
    said = {"name": found.name, "title": found.card.title, "reach": say_limit(found.limit, visit.locale)}
    if not found.count:
        return Reply(sentence("who_nobody_so_far" if bounded else "who_nobody", visit.locale, **said))
    key = "who_named_so_far" if bounded else "who_named"
    blocks: list[Block] = [heading(say(key, visit.locale, count=found.count, **said))]
    sightings = [("who_first", found.first), ("who_latest", found.latest)]
    if found.count == 1:
        sightings = [("who_only", found.first)]
    footnotes = []
    for key, sighting in sightings:
        if sighting is not None:
            blocks += [*sentence(key, visit.locale, where=_chapter(sighting.chapter, visit)), sighting.mention]
            footnotes.append(sighting.note)
    if found.count > 1:
        for group in found.groups:
            where = _chapter(group.chapter, visit)
            blocks += sentence("who_group", visit.locale, count=group.count, where=where[:1].upper() + where[1:])
            blocks.append(group.mention)
            footnotes.append(group.note)
    notes = await choices_of(visit, sorted(set(footnotes), key=lambda note: note.number))
    turning: list[tuple[str, Action]] = []
    here: Action = {"do": "who", "words": found.name, "book": found.card.sha256}
    if page > 0:
        turning.append((say("desk_before", visit.locale), {**here, "page": page - 1}))
    if page + 1 < found.pages:
        turning.append((say("desk_after", visit.locale), {**here, "page": page + 1}))
    rows = in_rows(notes)
    if turning:
        rows += (await visit.choices(turning, step=True),)
    return Reply(tuple(blocks), rows)


def _chapter(number: int | None, visit: Visit) -> str:
    if number is None:
        return say("who_outside", visit.locale)
    return say("who_chapter", visit.locale, number=number)
