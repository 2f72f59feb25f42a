"""Counters that no number of calls at once passes, on both databases."""

import asyncio
from datetime import timedelta

from core.model import Conversation, Usage
from core.spending.terms import uncovered
from core.store import Charge, Pot, Spending, Store, read_statistics
from tests.core.stores import NOON, Place, question_of, turn_of

DAY = "2026-03-01"
CAP = 1_000


def _pots(reader: str, cap: int | None = CAP) -> list[Pot]:
    return [Pot("total", "2026-03", cap, "cap_total_month"), Pot(f"reader:x:{reader}", DAY, cap, "cap_reader_day")]


async def _reserve(spending: Spending, pots: list[Pot], amount: int) -> Charge | Pot:
    return await spending.reserve(pots, amount, purpose="answer", model="m", usage=Usage(1, amount, 0), at=NOON)


async def test_two_hundred_reservations_at_once_never_pass_a_cap(place: Place, store: Store) -> None:
    other = await place.open()  # a second process on the same database
    try:
        made = await asyncio.gather(
            *(
                _reserve((store, other)[number % 2].spending, _pots(str(number % 3)), 30 + number % 7)
                for number in range(200)
            )
        )
    finally:
        await other.close()
    held = sum(charge.amount for charge in made if isinstance(charge, Charge))
    assert CAP - 37 < held <= CAP
    assert await store.spending.spent(_pots("0")[0]) == held
    each = [await store.spending.spent(_pots(str(number))[1]) for number in range(3)]
    assert sum(each) == held
    assert {charge.key for charge in made if isinstance(charge, Pot)} == {"cap_total_month"}


async def test_what_a_call_cost_takes_the_place_of_its_estimate_and_makes_room(store: Store) -> None:
    first = await _reserve(store.spending, _pots("ann"), 900)
    assert isinstance(first, Charge)
    refused = await _reserve(store.spending, _pots("ann"), 200)
    assert isinstance(refused, Pot)
    await store.spending.settle(first, 100, Usage(1, 80, 20))
    assert await store.spending.spent(_pots("ann")[1]) == 100
    assert isinstance(await _reserve(store.spending, _pots("ann"), 900), Charge)
    assert isinstance(await _reserve(store.spending, _pots("ann"), 1), Pot)


async def test_a_refused_reservation_counts_nowhere(store: Store) -> None:
    roomy, tight = Pot("a", DAY, 1_000), Pot("b", DAY, 10)
    assert await _reserve(store.spending, [roomy, tight], 11) == tight
    assert await store.spending.spent(roomy) == 0


async def test_without_a_cap_everything_is_counted_all_the_same(store: Store) -> None:
    for _ in range(3):
        assert isinstance(await _reserve(store.spending, _pots("ann", None), 5_000), Charge)
    assert await store.spending.spent(_pots("ann")[0]) == 15_000


async def test_what_a_crash_left_stays_spent_and_is_told_after_a_while(place: Place, store: Store) -> None:
    charge = await _reserve(store.spending, _pots("ann"), 700)
    assert isinstance(charge, Charge)
    settled = await _reserve(store.spending, _pots("bob"), 300)
    assert isinstance(settled, Charge)
    await store.spending.settle(settled, 50, Usage(1, 40, 10))
    again = await place.open()
    try:
        assert await again.spending.spent(_pots("ann")[0]) == 750
        assert isinstance(await _reserve(again.spending, _pots("cid"), 300), Pot)
    finally:
        await again.close()
    for given_up, lost in ((NOON, 0), (NOON + timedelta(minutes=15), 1)):
        found = await read_statistics(place.url, place.folder, given_up)
        assert found is not None
        [day] = found[0]
        assert (day.day, day.calls, day.amount, day.unsettled) == (DAY, 2, 750, lost)


async def test_what_was_opened_today_is_free_and_presses_at_once_never_pass_the_day(store: Store) -> None:
    async def press(start: int, end: int, day: str = DAY, reader: str = "ann") -> bool:
        return await store.spending.open(Pot("p", day, 1_000), reader, "b" * 64, (start, end), uncovered)

    assert await press(0, 600)
    assert await press(300, 900)
    assert await press(100, 800)
    assert not await press(2_000, 2_200)
    assert await press(850, 1_000)
    assert await store.spending.spent(Pot("p", DAY)) == 1_000
    assert await press(0, 1_000)
    assert await press(2_000, 2_200, "2026-03-02")
    assert not all(await asyncio.gather(*(press(at, at + 100, "2026-03-03") for at in range(0, 2_000, 100))))
    assert await store.spending.spent(Pot("p", "2026-03-03")) == 1_000


async def test_statistics_look_on_and_make_no_database(place: Place, store: Store, other_place: Place) -> None:
    await store.turns.save(
        turn_of("t1", ["n1", "n2"]), await store.shelf.channel(turn_of("t").conversation, NOON), None
    )
    found = await read_statistics(place.url, place.folder, NOON)
    assert found is not None
    [fact] = found[1]
    assert (fact.day, fact.outcome, fact.notes, fact.dropped, fact.first_text_ms) == (DAY, "grounded", 2, 0, None)
    if not other_place.url:
        assert await read_statistics("", other_place.folder, NOON) is None
        assert not (other_place.folder / "loccit.db").exists()


async def test_a_question_taken_up_after_a_crash_still_knows_its_server(place: Place, store: Store) -> None:
    room = Conversation("discord", "room", server="guild")
    channel = await store.shelf.channel(room, NOON)
    await store.inbox.accept_question(question_of("e", conversation=room), channel, NOON)
    again = await place.open()
    try:
        [row] = await again.inbox.unfinished_questions("discord")
    finally:
        await again.close()
    assert row.question.conversation.server == "guild"
    assert row.question.conversation == Conversation("discord", "room")  # no part of who is meant
