"""What is known of a language model by its name: probed abilities and habits that only its answers show."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, update

from core.store import schema
from core.store.engines import Engines, insert_new

_model = schema.model.c


class Models:
    """Facts by model name (JSON values by fact). A fact outlives restarts, so that nothing is learnt twice."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def facts(self, name: str) -> dict[str, Any]:
        """What is known of the model; empty at first."""
        query = select(_model.facts).where(_model.name == name)
        async with self._engines.read() as connection:
            found = (await connection.execute(query)).scalar_one_or_none()
        return dict(found or {})

    async def learn(self, name: str, facts: Mapping[str, Any]) -> None:
        """Add facts, in place of earlier ones of the same name."""
        async with self._engines.write() as connection:
            await insert_new(connection, schema.model, {"name": name, "facts": {}})
            query = select(_model.facts).where(_model.name == name).with_for_update()
            known = (await connection.execute(query)).scalar_one()
            values = {"facts": {**known, **facts}}
            await connection.execute(update(schema.model).where(_model.name == name).values(values))
