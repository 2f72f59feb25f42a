"""`stats`: what the language model was asked, what it cost and how answers ended, by day, by month and altogether."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator
from datetime import timedelta

from bot import shapes
from bot.config import Config
from bot.output import print_json, print_lines
from bot.wiring import now
from core.spending.tallies import Tally, tallies
from core.store import read_statistics
from core.strings import say

_GIVEN_UP = timedelta(minutes=15)
"""After this a call that was not settled never will be: no provider is waited for that long."""


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; its exit code. Takes no lock and writes nothing: it may look on while a chat is open."""
    found = asyncio.run(read_statistics(config.database_url or "", config.data, now() - _GIVEN_UP)) or ([], [])
    days, months, total = (tallies(*found, length) for length in (10, 7, 0))
    if arguments.json:
        everything = total[0] if total else Tally("", 0, 0, 0, 0, 0, 0, {}, 0, 0, None, None)
        print_json(
            {
                "days": [shapes.tally(each) for each in days],
                "months": [shapes.tally(each) for each in months],
                "total": shapes.tally(everything),
            }
        )
        return 0
    lines = [line for each in (*days, *months, *total) for line in _lines(each, config.locale)]
    print_lines(lines or [say("stats_none", config.locale)])
    return 0


def _lines(tally: Tally, locale: str) -> Iterator[str]:
    period = tally.period or say("stats_total", locale)
    money = f"{tally.amount / 1_000_000:.4f}"
    yield say(
        "stats_calls",
        locale,
        period=period,
        calls=tally.calls,
        read=tally.input_tokens,
        wrote=tally.output_tokens,
        money=money,
    )
    if tally.unsettled:
        yield say("stats_unsettled", locale, count=tally.unsettled)
    if tally.answers:
        named = [say(f"outcome_{name}", locale, count=count) for name, count in sorted(tally.outcomes.items())]
        drops = f"{tally.drops_per_100_tags:g}"
        yield say("stats_turns", locale, period=period, count=tally.answers, outcomes=", ".join(named), drops=drops)
    if tally.median_ms is not None and tally.p95_ms is not None:
        yield say("stats_first_text", locale, period=period, median=tally.median_ms, slow=tally.p95_ms)
