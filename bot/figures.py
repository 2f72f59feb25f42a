"""What the metrics page is told: the database's figures of all platforms together."""

from collections import Counter
from datetime import timedelta

from adapters.web.health import Figures
from bot.config import Config
from bot.wiring import now
from core.spending import UNIT
from core.spending.tallies import tallies
from core.store import read_statistics

_GIVEN_UP = timedelta(minutes=15)
"""After this a call that was not settled never will be: no provider is waited for that long."""


async def read_figures(config: Config) -> Figures:
    """Since the data folder was made. Raises OperatorError when the database cannot be read."""
    found = await read_statistics(config.database_url or "", config.data, now() - _GIVEN_UP) or ([], [])
    total = tallies(*found, 0)
    if not total:
        return Figures(Counter())
    [tally] = total
    return Figures(
        Counter(tally.outcomes),
        tally.calls,
        tally.input_tokens,
        tally.output_tokens,
        tally.amount / UNIT,
        tally.dropped,
    )
