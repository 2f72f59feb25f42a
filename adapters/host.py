"""What the run loop gives every chat platform. Each has `async def serve(club, settings, host) -> None` in its `app.py`.

`serve` ends only by being cancelled (within a few seconds), or by OperatorError when waiting cannot help, such as
`token_refused`. What passes by itself (no network, another program on the token) it tells once and waits.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.desk import LinkFor
from core.model import Notice


@dataclass(frozen=True, slots=True)
class Host:
    """The process a platform runs in."""

    folder: Path
    """For files on their way to the club; the platform's own. What a crash left in it is of no use any more."""
    locale: str
    """What whoever runs the bot prefers; readers and channels have their own."""
    now: Callable[[], datetime]
    clock: Callable[[], float]
    """Seconds, steadily."""
    sleep: Callable[[float], Awaitable[None]]
    new_id: Callable[[], str]
    """Opaque ids of at most 40 bytes."""
    source: str
    """Where the source of this version lies, for `about`; "" when the operator names no place."""
    tell: Callable[[Notice], None]
    """One sentence for whoever runs the bot; never for readers."""
    link_for: LinkFor | None = None
    """Makes links into the public reading view, for the `Desk`; None when there is none."""
