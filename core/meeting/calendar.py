"""What people write of dates and plans ("finished 3 on Friday 19:00", "two chapters a week from Monday"), and fair shares. Pure."""

import re
from calendar import isleap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from core import words
from core.strings import LOCALES, say

EVENING = time(19)
"""When no time is said."""
_CLOCK = re.compile(
    r"\s+(?P<lead>(?:at|a las?|as|@)(?: |(?<=@)))?(?P<hour>\d{1,2})(?:[:h](?P<minute>\d{2}))?\s*(?:(?P<half>[ap])\.? ?m\.?|(?P<h>h))?"
    r"(?: (?:in the|at|de la|por la|da|a) (?P<part>morning|afternoon|evening|night|manana|tarde|noche|manha|noite))?\Z"
)
_NOON = re.compile(r"\s+(?:at |a |al |ao )?(?:noon|midday|mediodia|meio[- ]dia)\Z")
_MIDNIGHT = re.compile(r"\b(?:midnight|medianoche|meia[- ]noite)\Z")
_TONIGHT = re.compile(r"\b(?:tonight|noche|noite)\Z")
_LATE = ("night", "noche", "noite")
_EARLY = ("morning", "manana", "manha")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\Z")
_DAYS = re.compile(r"(\d{1,2})[./](\d{1,2})(?:[./](\d{4}|\d{2})|\.)?\Z")
_YEAR = r"(?:,? (?:de |del )?(\d{4}))?\Z"
_DAY_OF_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|[oaºª]|\.)? (?:of |de )?([^\W\d]+)\.?" + _YEAR)
_MONTH_AND_DAY = re.compile(r"([^\W\d]+)\.? (\d{1,2})(?:st|nd|rd|th)?" + _YEAR)
_LONGEST = 6
"""Words of a date: "sábado, 5 de diciembre de 2026"."""
_YEARS = range(1900, 9000)
"""Years that a club can mean. Beyond them a plan, or another zone, would leave the calendar."""
_LEADING = re.compile(r"(?:on|el|em|no|na|by|para|until|till|hasta|ate)\Z")
_PLAN = re.compile(
    r"(?P<count>\d{1,4}|[^\W\d]+) (?:chapters?|capitulos?) (?:a|an|per|each|every|por|cada|al|a la|ao|a cada) (?P<unit>week|day|semana|dia)"
    r"(?: (?:from|starting|desde|a partir de|a partir da|a partir do)(?: el| la| o| a)? (?P<day>.+))?\Z"
)
_COUNTS = {
    name: number
    for names in (
        "one two three four five six seven eight nine ten",
        "uno dos tres cuatro cinco seis siete ocho nueve diez",
        "um dois tres quatro cinco seis sete oito nove dez",
    )
    for number, name in enumerate(names.split(), 1)
} | {"a": 1, "un": 1, "uma": 1, "una": 1, "duas": 2}


@dataclass(frozen=True, slots=True)
class Plan:
    """So many chapters each period, the first one beginning on `first`; met at `at`."""

    count: int
    days: int
    first: date
    at: time


def read_plan(said: str, today: date) -> Plan | None:
    """A whole plan; None when the words are none."""
    folded, at = _read(said)
    match = _PLAN.fullmatch(folded)
    if match is None:
        return None
    count = int(match["count"]) if match["count"].isdecimal() else _COUNTS.get(match["count"], 0)
    first = _day(match["day"], today) if match["day"] else today
    if not 1 <= count <= 100 or first is None:
        return None
    return Plan(count, 1 if match["unit"] in ("day", "dia") else 7, first, at or EVENING)


def read_date(said: str, today: date) -> tuple[str, datetime] | None:
    """A place and when the club wants to be there (wall clock): the words before the date, and it. None: there is no date.

    A time without a day is today's.
    """
    folded, at = _read(said)
    tokens = folded.split(" ")
    for length in range(_LONGEST, 0, -1):
        day = _day(" ".join(tokens[-length:]), today) if len(tokens) > length else None
        if day is not None:
            return _placed(tokens[:-length], day, at or EVENING)
    return None if at is None else _placed(tokens, today, at)


def _placed(place: Sequence[str], day: date, at: time) -> tuple[str, datetime] | None:
    if place and _LEADING.fullmatch(place[-1]):
        place = place[:-1]
    spelled = " ".join(place).strip("\"'“”„«» ,")
    return (spelled, datetime.combine(day, at)) if spelled else None


def unclear(said: str) -> bool:
    """Whether words end in an hour that may be one of the morning or one of the evening: "at 7", "midnight"."""
    folded, at = _read(said)
    match = _CLOCK.search(folded)
    return at is None and (_MIDNIGHT.search(folded) is not None or bool(match and (match["lead"] or match["part"])))


def day_name(day: date, locale: str | None) -> str:
    """The day of the week in a few letters."""
    return say("schedule_days", locale).split()[day.weekday()]


def _read(said: str) -> tuple[str, time | None]:
    """The words, folded, without the time at their end; and the time, where one is said that cannot be mistaken."""
    folded = " ".join(words.fold(said).split())
    if noon := _NOON.search(folded):
        return folded[: noon.start()], time(12)
    match = _CLOCK.search(folded)
    at = None if match is None else _clock(match, bool(_TONIGHT.search(folded[: match.start()])))
    return (folded, None) if match is None or at is None else (folded[: match.start()], at)


def _clock(match: re.Match[str], tonight: bool) -> time | None:
    """What a clock shows then; None for no time of day, for a mere number, and for an hour that there is twice a day."""
    hour, minute, part = int(match["hour"]), int(match["minute"] or 0), match["part"]
    if match["half"] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
    elif part and 1 <= hour <= 12:
        if (hour == 12 and part in (*_LATE, *_EARLY)) or (hour < 6 and part in _LATE):
            return None
        hour = hour % 12 + (0 if part in _EARLY else 12)
    elif tonight and 5 < hour < 12:
        hour += 12
    elif not (match["minute"] or match["h"]) and (not match["lead"] or 1 <= hour <= 12):
        return None
    return time(hour, minute) if hour <= 23 and minute <= 59 else None


def _day(said: str, today: date) -> date | None:
    """A date, or the next day of that name."""
    found = _named_day(said, today)
    return found if found is not None and found.year in _YEARS else None


def _named_day(said: str, today: date) -> date | None:
    said = said.strip(" ,")
    for locale in LOCALES:
        if said in words.fold(say("schedule_today", locale)).split("/"):
            return today
        if said == words.fold(say("schedule_tomorrow", locale)):
            return today + timedelta(days=1)
    said = re.sub(r"\A(?:on|el|la|o|a|next|this|este|esta|proximo|proxima) ", "", said)
    first, _, rest = said.partition(" ")
    if rest and _weekday(first.rstrip(",")) is not None:
        said = rest  # of "Saturday, 5 December" the number counts
    try:
        if iso := _ISO.fullmatch(said):
            return date(int(iso[1]), int(iso[2]), int(iso[3]))
        if dotted := _DAYS.fullmatch(said):
            return _coming(int(dotted[1]), int(dotted[2]), dotted[3], today)
        if (found := _DAY_OF_MONTH.fullmatch(said)) and (month := _month(found[2])):
            return _coming(int(found[1]), month, found[3], today)
        if (found := _MONTH_AND_DAY.fullmatch(said)) and (month := _month(found[1])):
            return _coming(int(found[2]), month, found[3], today)
    except ValueError:
        return None
    number = _weekday(said)
    return None if number is None else today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)


def _coming(day: int, month: int, year: str | None, today: date) -> date:
    """A day of a year, or the next one without. Raises ValueError for a day that the month does not have."""
    if year:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    years = (today.year + more for more in range(9) if month != 2 or day != 29 or isleap(today.year + more))
    return next(named for named in (date(year, month, day) for year in years) if named >= today)


def _weekday(name: str) -> int | None:
    return _listed(name, "schedule_day_names")


def _month(name: str) -> int:
    """Its number; 0 for a word that is none. "Mar" is none: in Spanish it is a Tuesday."""
    found = _listed(name, "schedule_month_names")
    return 0 if found is None else found + 1


def _listed(name: str, key: str) -> int | None:
    for locale in LOCALES:
        for number, names in enumerate(words.fold(say(key, locale)).split()):
            if name in names.split("/"):
                return number
    return None


def shares(lengths: Sequence[int], groups: int) -> list[int]:
    """Where each of so many groups ends (exclusive), neighbours together, the longest group as short as can be."""
    groups = max(1, min(groups, len(lengths)))
    low, high = max(lengths, default=0), sum(lengths)
    while low < high:
        middle = (low + high) // 2
        if len(_packed(lengths, middle)) <= groups:
            high = middle
        else:
            low = middle + 1
    ends = _packed(lengths, low)
    while len(ends) < groups:  # the shares are small enough; the club wanted more of them
        starts = [0, *ends[:-1]]
        at = max(
            (at for at in range(len(ends)) if ends[at] - starts[at] > 1),
            key=lambda at: sum(lengths[starts[at] : ends[at]]),
        )
        half = _packed(lengths[starts[at] : ends[at]], -(-sum(lengths[starts[at] : ends[at]]) // 2))
        ends.insert(at, starts[at] + min(half[0], ends[at] - starts[at] - 1))
    return ends


def _packed(lengths: Sequence[int], most: int) -> list[int]:
    ends: list[int] = []
    total = 0
    for at, length in enumerate(lengths):
        if total and total + length > most:
            ends.append(at)
            total = 0
        total += length
    return [*ends, len(lengths)]
