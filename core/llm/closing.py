"""A model's events as a generator that is surely closed."""

from collections.abc import AsyncGenerator, AsyncIterator

from core.model.chat import ChatEvent


async def closable(events: AsyncIterator[ChatEvent]) -> AsyncGenerator[ChatEvent, None]:
    """The events as a generator that can be closed, whatever a model hands out."""
    try:
        async for event in events:
            yield event
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
