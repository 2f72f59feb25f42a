"""Local time: zones by name, moments of wall clocks over clock changes, and the hours in which nothing is said unasked. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from core import words

ZONE, QUIET = "zone", "quiet"
"""The channel's settings: the name of its zone; the hours between which it is not disturbed, or False."""
NIGHT = (22, 8)
"""Quiet from ten in the evening to eight in the morning unless the channel says otherwise."""
_CALLED = {
    city: zone
    for zone, cities in {
        "America/Argentina/Buenos_Aires": "buenos aires",
        "America/Bogota": "medellin|cali",
        "America/Guayaquil": "quito",
        "America/Havana": "la habana",
        "America/Los_Angeles": "san francisco|seattle",
        "America/Mexico_City": "ciudad de mexico|cidade do mexico|mexico",
        "America/New_York": "nueva york|nova york|nova iorque|washington|boston",
        "America/Sao_Paulo": "brasilia|rio de janeiro|rio|belo horizonte",
        "Asia/Kolkata": "mumbai|delhi|new delhi",
        "Asia/Shanghai": "beijing|pekin|pequim",
        "Asia/Tokyo": "tokio|toquio",
        "Europe/Athens": "atenas",
        "Europe/Berlin": "berlim|munich|munique|hamburg|hamburgo|frankfurt",
        "Europe/Brussels": "bruselas|bruxelas",
        "Europe/Lisbon": "lisboa|porto|oporto",
        "Europe/London": "londres",
        "Europe/Madrid": "barcelona|valencia|sevilla",
        "Europe/Moscow": "moscu|moscou|moscovo",
        "Europe/Rome": "roma|milan|milano|milao",
        "Europe/Vienna": "viena",
    }.items()
    for city in cities.split("|")
}
"""What people call cities, folded, where the names of zones do not have it: in Spanish and Portuguese, or of no zone's own."""
SILENT = frozenset({"reminder", "digest", "quote_of_the_day"})
"""Kinds of letters that wait for the morning."""


def zone_of(settings: Mapping[str, Any]) -> ZoneInfo:
    """The channel's zone; UTC until somebody has said."""
    try:
        return ZoneInfo(str(settings.get(ZONE) or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):  # a zone that this machine does not know (any more)
        return ZoneInfo("UTC")


def find_zone(said: str) -> str | None:
    """The zone that words name: "Europe/Madrid", "madrid", "new york", "lisboa"; None when none or several do."""
    city = " ".join(words.fold(said).split())
    if city in _CALLED:
        return _CALLED[city]
    wanted = city.replace(" ", "_")
    if not wanted:
        return None
    names = _names()
    if wanted in names:
        return names[wanted]
    found = {name for folded, name in names.items() if folded.rsplit("/", 1)[-1] == wanted}
    regions = sorted(name for name in found if "/" in name) or sorted(found)
    # Some cities stand under two names, such as Asia/Istanbul and Europe/Istanbul: that is one zone.
    return regions[-1] if len({_course(name) for name in regions}) == 1 else None


def _course(name: str) -> tuple[timedelta | None, ...]:
    """How far a zone is from UTC over some years."""
    zone = ZoneInfo(name)
    return tuple(
        datetime(year, month, 1, tzinfo=zone).utcoffset() for year in range(2020, 2031) for month in range(1, 13)
    )


@cache
def _names() -> dict[str, str]:
    return {words.fold(name): name for name in available_timezones() if not name.startswith(("posix/", "right/"))}


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """When a wall clock shows this. A time that a clock change skips comes an hour later; one that it repeats, first."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def quiet_of(settings: Mapping[str, Any]) -> tuple[int, int] | None:
    """The hours between which a channel is not disturbed; None when there are none."""
    quiet = settings.get(QUIET, NIGHT)
    return (int(quiet[0]), int(quiet[1])) if quiet and quiet[0] != quiet[1] else None


def quiet_until(settings: Mapping[str, Any], now: datetime) -> datetime | None:
    """When the quiet hours under way end; None when it is not quiet."""
    quiet = quiet_of(settings)
    if quiet is None:
        return None
    first, last = (time(hour) for hour in quiet)
    zone = zone_of(settings)
    here = now.astimezone(zone)
    at = here.time()
    inside = first <= at < last if first < last else at >= first or at < last
    if not inside:
        return None
    day = here.date() + timedelta(days=1 if at >= last else 0)
    return moment(datetime.combine(day, last), zone)
