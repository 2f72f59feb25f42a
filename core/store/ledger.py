"""The call ledger: a model's complete reply to one exact request, written before it is used (DESIGN section 5)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from core.model import Usage
from core.store import schema
from core.store.engines import Engines, insert_new

_call = schema.llm_call.c


@dataclass(frozen=True, slots=True)
class KeptCall:
    """A reply on record."""

    result: Any
    """JSON values, as they were handed to `Ledger.record`."""
    usage: Usage
    """What it cost when it was made."""
    at: datetime


class Ledger:
    """Replies by the key of their request (`core.llm.request_key`)."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def find(self, key: str) -> KeptCall | None:
        """The reply on record for this request."""
        query = select(_call.result, _call.input_tokens, _call.output_tokens, _call.at).where(_call.key == key)
        async with self._engines.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else KeptCall(row.result, Usage(1, row.input_tokens, row.output_tokens), row.at)

    async def record(
        self, key: str, *, purpose: str, stamp: str, model: str, book: str, result: Any, usage: Usage, at: datetime
    ) -> bool:
        """Keep a reply; of two for one key the first stays. True when it was this one.

        `book`: sha256 of the book whose text was read, "" for none; `result`: JSON values.
        """
        values = {
            "key": key,
            "book": book or None,
            "purpose": purpose,
            "stamp": stamp,
            "model": model,
            "result": result,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "at": at,
        }
        async with self._engines.write() as connection:
            return await insert_new(connection, schema.llm_call, values) is not None
