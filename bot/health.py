"""What `doctor` says of the data folder and its database. It only looks, so it works while a bot or a chat is running."""

from collections.abc import Mapping
from datetime import timedelta

from bot.config import Config
from bot.wiring import now
from core.errors import OperatorError
from core.model import Notice
from core.store import Health, read_health, read_room
from core.strings import say

_LATELY = timedelta(days=1)
_LITTLE = 1_000_000_000
"""Bytes: twenty of the largest uploads."""


async def examine_data(config: Config) -> tuple[list[Notice], bool, Health | None]:
    """What is found, whether all of it is well, and the database when there is one that can be read."""
    found, well = _room(config), True
    try:
        health = await read_health(config.database_url or "", config.data, now() - _LATELY)
    except OperatorError as error:
        return [*found, Notice(error.key, error.params)], False, None
    if health is None:
        return [*found, Notice("doctor_no_database")], True, None
    found.append(Notice("doctor_database", {"engine": health.engine, "revision": health.revision}))
    if not health.known:
        found.append(Notice("schema_newer"))
        well = False
    elif not health.newest:
        found.append(Notice("doctor_schema_older"))
    if health.pending:
        found.append(Notice("doctor_pending", {"counts": _counted("pending", health.pending, config.locale)}))
    if health.failed:
        found.append(Notice("doctor_failed", {"counts": _counted("failed", health.failed, config.locale)}))
    return found, well, health


def _room(config: Config) -> list[Notice]:
    try:
        room = read_room(config.data)
    except OSError:
        return []
    facts = {"path": str(config.data), "kind": room.kind or "?", "free": f"{room.free / 1e9:.1f}"}
    found = [Notice("doctor_folder", facts)]
    if room.free < _LITTLE:
        found.append(Notice("doctor_little_room"))
    return found


def _counted(kind: str, counts: Mapping[str, int], locale: str) -> str:
    return ", ".join(say(f"doctor_{kind}_{name}", locale, count=count) for name, count in counts.items())
