"""A model over the ledger: a finished reply is recorded before it ends, replayed ever after, and asked for once at a time."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from core.errors import UpstreamError
from core.ledgered import Ledgered
from core.llm import request_key
from core.model import Called, ChatEvent, ChatRequest, Finished, Message, Said, Usage
from core.store import Store
from tests.core.stores import NOON
from tests.fakes.model import Says, ScriptedModel

REQUEST = ChatRequest((Message("user", "Summarise this."),), purpose="summarise", stamp="summarise@1+abc")


def _over(store: Store, model: ScriptedModel) -> Ledgered:
    return Ledgered(model, store.ledger, lambda: NOON)


async def _ask(model: Ledgered, request: ChatRequest = REQUEST) -> list[ChatEvent]:
    return [event async for event in model.stream(request)]


async def test_a_finished_reply_is_replayed_without_a_call(store: Store) -> None:
    model = ScriptedModel([Says(["It ", "rains."], calls=[("find_in_book", '{"words": "rain"}')])])
    first = await _ask(_over(store, model))
    again = await _ask(_over(store, model))
    assert first[:2] == [Said("It "), Said("rains.")]
    assert first[-1] == Finished("tool_calls", Usage(1, 10, 5))
    assert again == [Said("It rains."), first[2], Finished("tool_calls", Usage())]
    assert isinstance(first[2], Called)
    assert len(model.requests) == 1


async def test_a_reply_is_on_record_before_its_end_is_handed_on(store: Store) -> None:
    async for event in _over(store, ScriptedModel(["It rains."])).stream(REQUEST):
        kept = await store.ledger.find(request_key(REQUEST, "scripted"))
        assert (kept is not None) == isinstance(event, Finished)


@pytest.mark.parametrize("reason", ["", "content_filter"])
async def test_a_reply_that_may_come_out_otherwise_next_time_is_not_recorded(store: Store, reason: str) -> None:
    model = ScriptedModel([Says("It ra", reason=reason), Says("It rains.")])
    ledgered = _over(store, model)
    assert (await _ask(ledgered))[-1] == Finished(reason, Usage(1, 10, 5))
    assert (await _ask(ledgered))[0] == Said("It rains.")


async def test_an_error_is_raised_and_not_recorded(store: Store) -> None:
    ledgered = _over(store, ScriptedModel([UpstreamError("model_down"), "It rains."]))
    with pytest.raises(UpstreamError, match="model_down"):
        await _ask(ledgered)
    assert (await _ask(ledgered))[0] == Said("It rains.")


async def test_every_part_of_a_request_but_its_book_tells_it_from_others(store: Store) -> None:
    model = ScriptedModel(lambda request: f"reply {len(model.requests)}")
    ledgered = _over(store, model)
    others = [
        replace(REQUEST, messages=(Message("user", "Summarise this!"),)),
        replace(REQUEST, stamp="summarise@2+abc"),
        replace(REQUEST, purpose="pick"),
        replace(REQUEST, max_tokens=9),
    ]
    for number, request in enumerate([REQUEST, *others], 1):
        assert (await _ask(ledgered, request))[0] == Said(f"reply {number}")
    assert (await _ask(ledgered, replace(REQUEST, book="f" * 64)))[0] == Said("reply 1")
    other_model = ScriptedModel(["by another model"], name="other")
    assert (await _ask(_over(store, other_model)))[0] == Said("by another model")


@dataclass
class _Slow:
    """Says nothing until it is let go; then the first `failing` replies end without a reason."""

    name: str = "slow"
    failing: int = 0
    asked: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.asked += 1
        mine = self.asked
        self.came.set()
        await self.go.wait()
        yield Said(f"reply {mine}")
        yield Finished("" if mine <= self.failing else "stop", Usage(1, 1, 1))


@pytest.mark.parametrize(("failing", "calls"), [(0, 1), (1, 2)])
async def test_identical_requests_at_once_are_sent_once_unless_the_first_brings_nothing(
    store: Store, failing: int, calls: int
) -> None:
    model = _Slow(failing=failing)
    ledgered = Ledgered(model, store.ledger, lambda: NOON)
    together = [asyncio.create_task(_ask(ledgered)) for _ in range(5)]
    await model.came.wait()
    model.go.set()
    replies = await asyncio.gather(*together)
    assert model.asked == calls
    assert [reply[0] for reply in replies[failing:]] == [Said(f"reply {calls}")] * (5 - failing)


async def test_when_the_first_is_cancelled_the_next_goes_itself(store: Store) -> None:
    model = _Slow()
    ledgered = Ledgered(model, store.ledger, lambda: NOON)
    first = asyncio.create_task(_ask(ledgered))
    await model.came.wait()
    second = asyncio.create_task(_ask(ledgered))
    first.cancel()
    model.go.set()
    assert (await second)[0] == Said("reply 2")
    with pytest.raises(asyncio.CancelledError):
        await first
