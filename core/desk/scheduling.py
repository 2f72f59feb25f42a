"""Dates at the desk: made from words, listed, called off, put off; reminders, and the question whether the club has arrived."""

import re

from core.desk.keys import Action, Visit
from core.desk.writing import heading, numbered, paragraphs, sentence
from core.errors import ReaderError
from core.meeting.calendar import day_name
from core.meeting.schedule import SHOWN, Date, next_dates
from core.model import Document, Letter, Reply
from core.strings import is_word, say, say_limit

_NUMBER = re.compile(r"\d{1,6}")
_HOURS = re.compile(r"(\d{1,2})(?::00)?\s*(?:-|–|to|a|às|as)?\s*(\d{1,2})(?::00)?")


async def schedule(visit: Visit, words: str, book: str | None = None) -> Reply:
    """What is ahead, or a new date or plan; `zone`, `quiet` and `cancel` change what there is."""
    rooms = visit.club.meeting.schedule
    first, _, rest = words.partition(" ")
    if not words:
        return await _ahead(visit)
    if is_word(first, "schedule_word_zone") and not rest.strip():
        zone = await rooms.zone(visit.conversation)
        return Reply(sentence("schedule_zone", visit.locale, zone=zone, schedule=visit.spell("schedule")))
    if is_word(first, "schedule_word_zone"):
        zone = await rooms.set_zone(visit.conversation, visit.reader, rest)
        return Reply(sentence("schedule_zone_set", visit.locale, zone=zone))
    if is_word(first, "schedule_word_quiet"):
        return await _quiet(visit, rest.strip().lower())
    if is_word(first, "schedule_word_cancel"):
        number = int(rest) if _NUMBER.fullmatch(rest.strip()) else None
        if number is None and not is_word(rest.strip(), "schedule_word_all"):
            return await _ahead(visit)
        async with visit.club.meeting.alone(visit.conversation):
            count = await rooms.call_off(visit.conversation, visit.reader, number)
        if not count:
            return await _ahead(visit)
        return Reply(sentence("schedule_called_off", visit.locale, count=count))
    async with visit.club.meeting.alone(visit.conversation):
        made = await rooms.make(visit.conversation, visit.reader, words, book)
    return await _listed(visit, "schedule_made", made)


async def _quiet(visit: Visit, said: str) -> Reply:
    rooms = visit.club.meeting.schedule
    if not said:
        none = sentence("schedule_quiet_off", visit.locale) + sentence("schedule_quiet_how", visit.locale)
        return Reply(await _quiet_now(visit) or none)
    if is_word(said, "schedule_word_off"):
        await rooms.set_quiet(visit.conversation, visit.reader, None)
        return Reply(sentence("schedule_quiet_off", visit.locale))
    found = _HOURS.fullmatch(said)
    if found is None:
        raise ReaderError("schedule_quiet_how")
    first, last = int(found[1]), int(found[2])
    await rooms.set_quiet(visit.conversation, visit.reader, (first, last))
    return Reply(sentence("schedule_quiet_set", visit.locale, first=first, last=last))


async def _ahead(visit: Visit) -> Reply:
    dates = await visit.club.meeting.schedule.ahead(visit.conversation)
    if not dates:
        return Reply(sentence("schedule_none", visit.locale, schedule=visit.spell("schedule")))
    return await _listed(visit, "schedule_ahead", dates)


async def _listed(visit: Visit, key: str, dates: tuple[Date, ...]) -> Reply:
    zone = await visit.club.meeting.schedule.zone(visit.conversation)
    lines = [say("schedule_line", visit.locale, **_facts(one, visit)) for one in next_dates(dates)]
    document: Document = (heading(say(key, visit.locale)), numbered(lines))
    if len(dates) > SHOWN:
        document += paragraphs(say("schedule_more", visit.locale, count=len(dates) - SHOWN))
    document += sentence("schedule_zone", visit.locale, zone=zone, schedule=visit.spell("schedule"))
    return Reply(document + await _quiet_now(visit))


async def _quiet_now(visit: Visit) -> Document:
    """The hours for which a reminder waits; nothing where there are none."""
    quiet = await visit.club.meeting.schedule.quiet(visit.conversation)
    if quiet is None:
        return ()
    first, last = quiet
    return sentence("schedule_quiet_now", visit.locale, first=first, last=last, schedule=visit.spell("schedule"))


async def letter(visit: Visit, letter: Letter) -> Reply | None:
    """A reminder the day before, or the question at the hour."""
    found = await visit.club.meeting.schedule.reminded(letter)
    if found is None:
        return None
    one, now = found
    if not now:
        return Reply(sentence("schedule_reminder", visit.locale, zone=one.zone, **_facts(one, visit)))
    yes: tuple[str, Action] = (
        say("schedule_yes", visit.locale),
        {"do": "reach", "book": one.card.sha256, "words": one.limit.words},
    )
    not_yet: tuple[str, Action] = (say("schedule_not_yet", visit.locale), {"do": "date", "id": one.id})
    document = sentence("schedule_arrived", visit.locale, **_facts(one, visit))
    return Reply(document, (await visit.choices([yes, not_yet]),))


async def act(visit: Visit, action: Action) -> Reply:
    """Not yet: ask again later, the same hour."""
    id = str(action["id"])
    if "days" in action:
        moved = await visit.club.meeting.schedule.put_off(visit.conversation, visit.reader, id, int(action["days"]))
        return await _listed(visit, "schedule_made", (moved,))
    labelled: list[tuple[str, Action]] = [
        (say("schedule_in_days", visit.locale, count=2), {"do": "date", "id": id, "days": 2}),
        (say("schedule_in_week", visit.locale), {"do": "date", "id": id, "days": 7}),
    ]
    return Reply(sentence("schedule_when", visit.locale), (await visit.choices(labelled),))


def _facts(one: Date, visit: Visit) -> dict[str, str]:
    return {
        "day": day_name(one.local.date(), visit.locale),
        "date": f"{one.local:%Y-%m-%d}",
        "time": f"{one.local:%H:%M}",
        "title": one.card.title,
        "reach": say_limit(one.limit, visit.locale),
    }
