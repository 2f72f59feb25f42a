"""The ledger keeps the first complete reply to a request, exactly."""

from core.model import Usage
from core.store import Store
from tests.core.stores import NOON, Place, sha

KEY = "a" * 64


async def _record(store: Store, text: str, key: str = KEY) -> bool:
    return await store.ledger.record(
        key,
        purpose="summarise",
        stamp="summarise@1+abc",
        model="m",
        book=sha(1),
        result={"text": text, "reason": "stop"},
        usage=Usage(1, 900, 80),
        at=NOON,
    )


async def test_a_recorded_reply_is_found_with_what_it_cost_also_after_a_restart(place: Place, store: Store) -> None:
    assert await store.ledger.find(KEY) is None
    assert await _record(store, "Zwei \0 \ud800 雨 [f0-1-2].")
    again = await place.open()
    try:
        kept = await again.ledger.find(KEY)
    finally:
        await again.close()
    assert kept is not None
    assert kept.result == {"text": "Zwei \0 \ud800 雨 [f0-1-2].", "reason": "stop"}
    assert (kept.usage, kept.at) == (Usage(1, 900, 80), NOON)


async def test_the_first_reply_to_a_request_stays(store: Store) -> None:
    assert await _record(store, "first")
    assert not await _record(store, "second")
    assert await _record(store, "other", "b" * 64)
    kept = await store.ledger.find(KEY)
    assert kept is not None
    assert kept.result["text"] == "first"
