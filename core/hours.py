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
SILENT = frozenset({"reminder", "digest", "quote_of_the_day"})
"""Kinds of letters that wait for the morning."""


def zone_of(settings: Mapping[str, Any]) -> ZoneInfo:
    """The channel's zone; UTC until somebody has said."""
    try:
        return ZoneInfo(str(settings.get(ZONE) or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):  # a zone that this machine does not know (any more)
        return ZoneInfo("UTC")


def find_zone(said: str) -> str | None:
    """The zone that words name: "Europe/Madrid", "madrid", "new york"; None when none or several do."""
    wanted = words.fold(said).strip().replace(" ", "_")
    if not wanted:
        return None
    names = _names()
    if wanted in names:
        return names[wanted]
    found = {name for folded, name in names.items() if folded.rsplit("/", 1)[-1] == wanted}
    regions = {name for name in found if "/" in name}
    return next(iter(regions)) if len(regions) == 1 else next(iter(found)) if len(found) == 1 else None


@cache
def _names() -> dict[str, str]:
    return {words.fold(name): name for name in available_timezones() if not name.startswith(("posix/", "right/"))}


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """When a wall clock shows this. A time that a clock change skips comes an hour later; one that it repeats, first."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def quiet_until(settings: Mapping[str, Any], now: datetime) -> datetime | None:
    """When the quiet hours under way end; None when it is not quiet."""
    quiet = settings.get(QUIET, NIGHT)
    if not quiet or quiet[0] == quiet[1]:
        return None
    first, last = (time(int(hour)) for hour in quiet)
    zone = zone_of(settings)
    here = now.astimezone(zone)
    at = here.time()
    inside = first <= at < last if first < last else at >= first or at < last
    if not inside:
        return None
    day = here.date() + timedelta(days=1 if at >= last else 0)
    return moment(datetime.combine(day, last), zone)
