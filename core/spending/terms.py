"""What the operator set about money, passages and people, and the arithmetic on it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal

from core import words
from core.errors import ReaderError
from core.model import ChatRequest, Conversation, Payer, Reader, Usage
from core.store.spending import Pot, Stretch

DEFAULT_INPUT = Decimal(3)
DEFAULT_OUTPUT = Decimal(15)
"""Per million tokens, when no price is set: about what a large hosted model asks in dollars, so that a cap is never met late."""
UNIT = 1_000_000
"""Amounts are whole millionths: prices are per million tokens, so tokens times price is an amount."""

_MISSED = Decimal("1.5")
"""Our estimate of tokens misses up to a half; a reservation must not."""
_REPLY = 2_000
"""Tokens reserved for a reply without a bound of its own; a page of answer takes 500. A model that thinks longer than that
may pass a cap by what one call takes, and then that counts."""

SHARE = 5
"""One in five characters of a book may be pressed out of it by one reader in a day."""
LEAST = 50_000
"""Characters of a book that may be pressed in a day in any case: some fifty passages with their surroundings."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Per million tokens, in whatever unit the caps are in."""

    input: Decimal | None = None
    output: Decimal | None = None

    def cost(self, usage: Usage) -> int:
        """What these tokens cost, in millionths, rounded up. A price that is not known is the default price."""
        price_in = DEFAULT_INPUT if self.input is None else self.input
        price_out = DEFAULT_OUTPUT if self.output is None else self.output
        exact = usage.input_tokens * price_in + usage.output_tokens * price_out
        return int(exact.to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Caps:
    """Money; None = no cap. Days and months are those of UTC."""

    reader_day: Decimal | None = None
    channel_day: Decimal | None = None
    server_month: Decimal | None = None
    total_month: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything about spending that whoever runs the bot decides."""

    prices: Prices = field(default_factory=Prices)
    caps: Caps = field(default_factory=Caps)
    passages_day: int | None = None
    """Characters one reader may press out of a book in a day; None: a fifth of it, LEAST at least."""
    chats: frozenset[str] = frozenset()
    """`platform:id` of the channels and servers that are served; empty = all."""
    uploaders: frozenset[str] = frozenset()
    """`platform:id` of the readers who may add books; empty = everybody."""
    ask_above: Decimal | None = None
    """Money: a book whose summaries are likely to cost more waits until somebody says yes; None = never asks."""

    def admit(self, conversation: Conversation) -> None:
        """Raises ReaderError when this chat is not served. Whoever sits at the console runs the bot."""
        here = f"{conversation.platform}:{conversation.channel}"
        there = f"{conversation.platform}:{conversation.server}"
        if self.chats and conversation.platform != "console" and not self.chats & {here, there}:
            raise ReaderError("chat_not_served", chat=here)

    def admit_upload(self, conversation: Conversation, reader: Reader) -> None:
        """Raises ReaderError when this reader may not add books here."""
        self.admit(conversation)
        who = f"{conversation.platform}:{reader.id}"
        if self.uploaders and conversation.platform != "console" and who not in self.uploaders:
            raise ReaderError("uploader_not_served", reader=who)

    def passages(self, characters: int, *, local: bool = False) -> int | None:
        """How many characters of a book of this length one reader may press in a day; None: as many as there are.

        At the console (`local`) only a number that was set holds: whoever sits there has the book's file.
        """
        if self.passages_day is None:
            return None if local else max(LEAST, characters // SHARE)
        return self.passages_day


def estimate(request: ChatRequest) -> Usage:
    """What a request will take at most, as far as that can be told beforehand."""
    said = sum(words.tokens(message.content) + _calls(message.tool_calls) for message in request.messages)
    offered = sum(words.tokens(f"{tool.name}{tool.description}{dict(tool.parameters)}") for tool in request.tools)
    return Usage(1, int(_MISSED * (said + offered)) + 1, _REPLY if request.max_tokens is None else request.max_tokens)


def _calls(calls: Iterable[object]) -> int:
    return sum(words.tokens(str(call)) for call in calls)


def pots(payer: Payer | None, caps: Caps, at: datetime) -> tuple[Pot, ...]:
    """What a call at this time counts against; a call of the house only against all."""
    day, month = f"{at:%Y-%m-%d}", f"{at:%Y-%m}"
    total = Pot("total", month, _amount(caps.total_month), "cap_total_month")
    if payer is None:
        return (total,)
    found = [
        Pot(f"reader:{payer.platform}:{payer.reader}", day, _amount(caps.reader_day), "cap_reader_day"),
        Pot(f"channel:{payer.platform}:{payer.channel}", day, _amount(caps.channel_day), "cap_channel_day"),
        total,
    ]
    if payer.server is not None:
        scope = f"server:{payer.platform}:{payer.server}"
        found.append(Pot(scope, month, _amount(caps.server_month), "cap_server_month"))
    return tuple(found)


def _amount(cap: Decimal | None) -> int | None:
    return None if cap is None else int(cap * UNIT)


def seconds_left(pot: Pot, at: datetime) -> float:
    """Until the pot's day or month is over."""
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if len(pot.period) == len("2026-03"):
        turn = (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)
    else:
        turn = midnight + timedelta(days=1)
    return (turn - at).total_seconds()


def uncovered(stretch: Stretch, others: Iterable[Stretch]) -> int:
    """How many characters of a stretch no other covers."""
    at, end = stretch
    new = 0
    for first, last in sorted(others):
        if last <= at:
            continue
        if first >= end:
            break
        new += max(0, first - at)
        at = min(max(at, last), end)
    return new + end - at
