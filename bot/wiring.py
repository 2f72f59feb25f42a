"""The one place that picks the real things: clock, ids, store, model. Imports what it needs when it is needed."""

import secrets
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from bot.config import Config

if TYPE_CHECKING:
    from core.club import Club

_ID_BYTES = 16
"""128 bits: nobody guesses one, and its 22 characters fit into every platform's button (40 bytes in DESIGN section 6)."""


def new_id() -> str:
    """An opaque id that is safe in a URL."""
    return secrets.token_urlsafe(_ID_BYTES)


def now() -> datetime:
    return datetime.now(UTC)


async def open_club(config: Config) -> "Club":
    """The club on the configured store. Raises OperatorError when the store cannot be opened."""
    from core.club import Club
    from core.offline import OfflineReader
    from core.store import Store

    store = await Store.open(config.database_url or "", config.data)
    reader = OfflineReader()
    return Club(store, reader, reader, config.data, now=now, clock=monotonic, new_id=new_id)
