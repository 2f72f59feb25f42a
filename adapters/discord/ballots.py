"""A poll of the desk as Discord's own: within the vendor's limits, or not at all."""

from datetime import datetime, timedelta
from math import ceil

import discord

from adapters.discord.text import units
from core.model import Ballot

QUESTION, ANSWER, ANSWERS = 300, 55, 10
"""Characters of a question and of an answer, answers of a poll: the vendor's documentation of the poll object."""
HOURS = 768
"""Hours a poll may be open, 32 days; whole ones only."""
REFUSED = (50013, 50035, 520002)
"""Codes that say that a poll is not taken here: no permission, another limit than ours, a channel without polls."""


def drawn(ballot: Ballot | None, now: datetime) -> discord.Poll | None:
    """The poll as the library sends it; None for one that Discord cannot show.

    Hours are rounded up: the poll is ended here when its time has come. When that is stands in the question, since the
    vendor tells no more than the hours left.
    """
    if ballot is None:
        return None
    question = f"{ballot.question} {ballot.closing}".strip()
    hours = HOURS if ballot.until is None else max(1, ceil((ballot.until - now) / timedelta(hours=1)))
    titles = [title for _, title in ballot.options]
    if units(question) > QUESTION or hours > HOURS or not 1 <= len(titles) <= ANSWERS:
        return None
    if not all(1 <= units(title) <= ANSWER for title in titles):
        return None
    poll = discord.Poll(question, timedelta(hours=hours))
    for title in titles:
        poll.add_answer(text=title)
    return poll
