"""A `ChatModel` whose calls are paid for: reserved before, settled after. It stands under the call ledger."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

from core.errors import LimitReached, OperatorError, ReaderError, UpstreamError
from core.llm.closing import closable
from core.model import ChatEvent, ChatModel, ChatRequest, Finished, Payer, Usage
from core.spending import terms
from core.spending.terms import Terms
from core.store import Charge, Pot, Spending

_BILLED = ("model_timeout",)
"""Failures before the first word that a provider may charge for all the same."""


class Purse:
    """The one place where money and passages are counted against their caps. `now` gives the time of day."""

    def __init__(self, spending: Spending, rules: Terms, now: Callable[[], datetime]) -> None:
        self._spending = spending
        self._rules = rules
        self._now = now

    async def reserve(self, request: ChatRequest, model: str) -> Charge:
        """Count the call before it is made. Raises LimitReached."""
        at = self._now().astimezone(UTC)
        usage = terms.estimate(request)
        held = await self._spending.reserve(
            terms.pots(request.payer, self._rules.caps, at),
            self._rules.prices.cost(usage),
            purpose=request.purpose,
            model=model,
            usage=usage,
            at=at,
        )
        if isinstance(held, Pot):
            raise LimitReached(held.key, retry_after=terms.seconds_left(held, at))
        return held

    async def settle(self, charge: Charge, usage: Usage) -> None:
        """What the call took, once that is known. One that never comes here stays counted as it was estimated."""
        await self._spending.settle(charge, self._rules.prices.cost(usage), usage)

    async def press(self, reader: str, book: str, title: str, characters: int, start: int, end: int) -> None:
        """Count what a reader (`platform:id`), or a chat as a whole (`platform#id`), opens of a book of so many characters;
        what was seen today is free.

        Raises ReaderError when it is more than the day allows.
        """
        day = f"{self._now().astimezone(UTC):%Y-%m-%d}"
        cap = self._rules.passages(characters, local=reader.startswith(("console:", "console#")))
        pot = Pot(f"passages:{reader}:{book}", day, cap)
        if not await self._spending.open(pot, reader, book, (start, end), terms.uncovered):
            raise ReaderError("cap_passages", title=title)


class Metered:
    """Another model, each of whose calls is reserved and settled."""

    def __init__(self, model: ChatModel, purse: Purse) -> None:
        self._model = model
        self._purse = purse

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """As `ChatModel.stream`; also raises LimitReached before anything is sent, and what a store raises."""
        charge = await self._purse.reserve(request, self.name)
        end: Finished | None = None
        try:
            async with aclosing(closable(self._model.stream(request))) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        end = event
                    else:
                        yield event
        except (UpstreamError, OperatorError) as error:
            if error.key not in _BILLED:
                await self._purse.settle(charge, Usage())
            raise
        if end is not None:
            try:
                yield end  # first: a reply that is paid for is put on record before it is counted
            finally:
                await self._purse.settle(charge, end.usage)


class Paying:
    """A model in whose requests it says on whose behalf they are made."""

    def __init__(self, model: ChatModel, payer: Payer) -> None:
        self._model = model
        self._payer = payer

    @property
    def name(self) -> str:
        return self._model.name

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """As `ChatModel.stream`."""
        return self._model.stream(replace(request, payer=self._payer))
