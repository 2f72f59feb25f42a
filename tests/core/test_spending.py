"""Money in whole millionths, periods, what is new of a stretch; and a metered model from reservation to settlement."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import LimitReached, OperatorError, ReaderError, UpstreamError
from core.ledgered import Ledgered
from core.model import ChatEvent, ChatRequest, Conversation, Finished, Message, Payer, Reader, Said, Usage
from core.spending import Caps, Metered, Paying, Prices, Purse, Terms
from core.spending.tallies import tallies
from core.spending.terms import estimate, pots, seconds_left, uncovered
from core.store import CallDay, Store, TurnFacts
from tests.core.stores import NOON
from tests.fakes.model import Says, ScriptedModel

ANN = Payer("discord", "room", "ann", "guild")
REQUEST = ChatRequest((Message("user", "Who came?" * 40),), payer=ANN)
DOLLAR = Terms(Prices(Decimal(1), Decimal(2)), Caps(total_month=Decimal("0.01")))
TOTAL = pots(None, Caps(), NOON)[0]


# Arithmetic


def test_prices_are_per_million_and_an_unknown_one_is_the_default_price() -> None:
    assert Prices(Decimal("0.15"), Decimal("0.60")).cost(Usage(1, 1_000_000, 500_000)) == 450_000
    assert Prices(Decimal("0.15"), Decimal("0.60")).cost(Usage(1, 1, 0)) == 1
    assert Prices().cost(Usage(1, 1_000, 100)) == 3 * 1_000 + 15 * 100
    assert Prices(input=Decimal(0)).cost(Usage(1, 1_000, 100)) == 1_500


def test_an_estimate_is_more_than_any_text_of_that_length_takes() -> None:
    reply = estimate(ChatRequest((Message("user", "x" * 4_000),)))
    assert reply.calls == 1
    assert reply.input_tokens >= 1_500
    assert reply.output_tokens == 2_000
    assert estimate(ChatRequest((Message("user", "雨" * 100),), max_tokens=7)).output_tokens == 7


def test_a_call_counts_against_its_reader_channel_server_and_all() -> None:
    named = {pot.scope: pot.period for pot in pots(ANN, Caps(), NOON)}
    assert named == {
        "reader:discord:ann": "2026-03-01",
        "channel:discord:room": "2026-03-01",
        "server:discord:guild": "2026-03",
        "total": "2026-03",
    }
    assert [pot.scope for pot in pots(None, Caps(), NOON)] == ["total"]
    assert len(pots(Payer("console", "local", "me"), Caps(), NOON)) == 3


def test_a_day_ends_at_midnight_and_a_month_on_the_first() -> None:
    late = datetime(2026, 12, 31, 23, 59, 30, tzinfo=UTC)
    assert {seconds_left(pot, late) for pot in pots(ANN, Caps(), late)} == {30.0}
    early = datetime(2028, 2, 1, tzinfo=UTC)
    assert seconds_left(pots(None, Caps(), early)[0], early) == 29 * 86_400


@given(st.tuples(*[st.integers(0, 40)] * 2), st.lists(st.tuples(*[st.integers(0, 40)] * 2)))
def test_what_is_new_of_a_stretch_is_what_no_other_covers(
    stretch: tuple[int, int], others: list[tuple[int, int]]
) -> None:
    start, end = sorted(stretch)
    pairs = [(min(pair), max(pair)) for pair in others]
    seen = {at for first, last in pairs for at in range(first, last)}
    assert uncovered((start, end), pairs) == len(set(range(start, end)) - seen)


def test_who_is_served_is_named_by_platform_and_the_console_always_is() -> None:
    terms = Terms(chats=frozenset({"discord:guild", "telegram:7"}), uploaders=frozenset({"discord:ann"}))
    terms.admit(Conversation("discord", "any", server="guild"))
    terms.admit(Conversation("telegram", "7"))
    terms.admit_upload(Conversation("console", "local"), Reader("anybody"))
    terms.admit_upload(Conversation("discord", "any", server="guild"), Reader("ann"))
    for stranger in (Conversation("discord", "7"), Conversation("telegram", "guild"), Conversation("slack", "None")):
        with pytest.raises(ReaderError, match="chat_not_served"):
            terms.admit(stranger)
    with pytest.raises(ReaderError, match="uploader_not_served"):
        terms.admit_upload(Conversation("telegram", "7"), Reader("ann"))
    Terms().admit_upload(Conversation("discord", "any"), Reader("anybody"))


def test_a_fifth_of_a_book_may_be_pressed_but_fifty_thousand_characters_of_any() -> None:
    assert Terms().passages(1_000_000) == 200_000
    assert Terms().passages(10_000) == 50_000
    assert Terms(passages_day=7).passages(1_000_000) == 7


def test_days_add_up_to_months_and_all() -> None:
    days = [
        CallDay("2026-03-01", 2, 10, 1, 40, 0),
        CallDay("2026-03-02", 1, 5, 1, 20, 1),
        CallDay("2026-04-01", 1, 1, 1, 1, 0),
    ]
    turns = [TurnFacts("2026-03-01", "grounded", 9, 1, wait) for wait in (100, 300, None)]
    months = tallies(days, [*turns, TurnFacts("2026-05-01", "chat", 0, 0, 5)], 7)
    assert [month.period for month in months] == ["2026-03", "2026-04", "2026-05"]
    march = months[0]
    assert (march.calls, march.input_tokens, march.output_tokens, march.amount, march.unsettled) == (3, 15, 2, 60, 1)
    assert (march.answers, march.outcomes, march.tags, march.dropped) == (3, {"grounded": 3}, 30, 3)
    assert (march.drops_per_100_tags, march.median_ms, march.p95_ms) == (10.0, 100, 300)
    [everything] = tallies(days, turns, 0)
    assert (everything.period, everything.calls, everything.amount) == ("", 4, 61)
    assert tallies([], [], 0) == []


# A metered model


def _metered(store: Store, model: ScriptedModel, rules: Terms = DOLLAR) -> Metered:
    return Metered(model, Purse(store.spending, rules, lambda: NOON))


async def _ask(model: Metered | Ledgered | Paying, request: ChatRequest = REQUEST) -> list[ChatEvent]:
    return [event async for event in model.stream(request)]


async def test_a_call_is_reserved_before_it_is_made_and_settled_with_what_it_took(sqlite_store: Store) -> None:
    seen: list[int] = []

    class Watching(ScriptedModel):
        async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
            seen.append(await sqlite_store.spending.spent(TOTAL))
            async for event in super().stream(request):
                yield event

    model = Watching([Says("Ann.", usage=Usage(1, 100, 20))])
    assert (await _ask(_metered(sqlite_store, model)))[-1] == Finished("stop", Usage(1, 100, 20))
    assert seen[0] > 2_000 * 2
    assert await sqlite_store.spending.spent(TOTAL) == 100 + 20 * 2


async def test_at_a_cap_nothing_is_sent_and_the_error_says_when_it_ends(sqlite_store: Store) -> None:
    model = ScriptedModel([Says("Ann.", usage=Usage(1, 1_000, 3_000))])
    metered = _metered(sqlite_store, model)
    await _ask(metered)
    with pytest.raises(LimitReached, match="cap_total_month") as caught:
        await _ask(metered)
    assert caught.value.retry_after == 30.5 * 86_400
    model.finish()


@pytest.mark.parametrize(
    ("error", "stays"),
    [
        (UpstreamError("model_down"), False),
        (OperatorError("model_quota"), False),
        (UpstreamError("model_timeout"), True),
    ],
)
async def test_a_call_that_failed_costs_nothing_unless_it_may_be_billed(
    sqlite_store: Store, error: Exception, stays: bool
) -> None:
    with pytest.raises(type(error)):
        await _ask(_metered(sqlite_store, ScriptedModel([error])))
    assert bool(await sqlite_store.spending.spent(TOTAL)) == stays


async def test_a_call_that_is_cut_off_stays_counted_as_it_was_estimated(sqlite_store: Store) -> None:
    events = _metered(sqlite_store, ScriptedModel([Says(["An", "n."])])).stream(REQUEST)
    assert await anext(events) == Said("An")
    await events.aclose()
    assert await sqlite_store.spending.spent(TOTAL) > 2_000 * 2


async def test_a_replay_costs_nothing_and_who_pays_does_not_tell_requests_apart(sqlite_store: Store) -> None:
    model = ScriptedModel([Says("Ann.", usage=Usage(1, 100, 20))])
    ledgered = Ledgered(_metered(sqlite_store, model), sqlite_store.ledger, lambda: NOON)
    await _ask(Paying(ledgered, ANN))
    before = await sqlite_store.spending.spent(TOTAL)
    await _ask(Paying(ledgered, Payer("discord", "room", "bob")))
    assert await sqlite_store.spending.spent(TOTAL) == before
    assert [request.payer for request in model.requests] == [ANN]


async def test_many_calls_at_once_stay_under_the_cap(sqlite_store: Store) -> None:
    model = ScriptedModel(lambda _: Says("Ann.", usage=Usage(1, 100, 20)))
    metered = _metered(sqlite_store, model, Terms(Prices(Decimal(1), Decimal(2)), Caps(reader_day=Decimal("0.05"))))
    done = await asyncio.gather(*(_ask(metered) for _ in range(100)), return_exceptions=True)
    assert any(isinstance(each, LimitReached) for each in done)
    assert not [each for each in done if isinstance(each, Exception) and not isinstance(each, LimitReached)]
    assert 0 < await sqlite_store.spending.spent(pots(ANN, Caps(), NOON)[0]) <= 50_000
