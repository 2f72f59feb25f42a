"""The schema brought up to date when the store opens."""

from core.store.engines import Engines


async def bring_up_to_date(engines: Engines) -> None:
    raise NotImplementedError
