"""The line to one provider: the `openai` client, made late and told everything, and the places for requests in flight.

The only module that imports `openai`.
"""

import asyncio
import importlib
import logging
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import cache
from typing import TYPE_CHECKING

from core.llm.places import Places
from core.llm.provider import Provider

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI


class Line:
    """The line to one provider, shared by all models spoken to over it: one client, one count of requests in flight.

    `opened` is called once, when the client and all it imports are there.
    """

    def __init__(self, provider: Provider, opened: Callable[[], None] = lambda: None) -> None:
        self._provider = provider
        self._opened = opened
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()
        self._places = Places(provider.max_in_flight)

    async def take_place(self, purpose: str, stack: AsyncExitStack) -> None:
        """Wait for a place among the requests in flight; it is given back when the stack unwinds."""
        await stack.enter_async_context(self._places.one(patient=purpose == "summarise"))

    async def client(self) -> "AsyncOpenAI":
        """The client, made at the first use in a thread: importing it takes half a second."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_open_client, self._provider)
                self._opened()
            return self._client

    @property
    def refusals(self) -> "tuple[type[APIStatusError], ...]":
        """What the client raises for an answer with an HTTP status of failure."""
        return (importlib.import_module("openai").APIStatusError,)

    @property
    def broken(self) -> tuple[type[Exception], ...]:
        """What the client and the HTTP library under it raise for a line that cannot be had, or breaks."""
        openai, http, transport = (importlib.import_module(name) for name in ("openai", "httpx2", "aiohttp"))
        return (openai.APIConnectionError, http.RequestError, http.StreamError, transport.ClientError, OSError)

    async def close(self) -> None:
        """Close the client; the line cannot be used afterwards."""
        if self._client is not None:
            await self._client.close()


def _open_client(provider: Provider) -> "AsyncOpenAI":
    openai = importlib.import_module("openai")
    # Nothing is left for the client to look up in the environment: OPENAI_* may belong to somebody else.
    client: AsyncOpenAI = openai.AsyncOpenAI(
        api_key=provider.api_key or "none",
        admin_api_key="none",
        organization="none",
        project="none",
        webhook_secret="none",
        base_url=provider.url,
        max_retries=0,
        http_client=openai.DefaultAioHttpClient(
            verify=_trusted()
        ),  # three times the answers a second of the default one
        timeout=openai.Timeout(None, connect=provider.timeouts.connect),
    )
    client.organization = client.project = client.admin_api_key = client.webhook_secret = None
    client._custom_headers = {}  # filled from OPENAI_CUSTOM_HEADERS; there is no public way to refuse it
    logging.getLogger("openai").setLevel(logging.WARNING)  # OPENAI_LOG must not turn it up either
    _ = client.chat.completions.with_streaming_response  # the rest of the import happens here
    return client


@cache
def _trusted() -> ssl.SSLContext:
    """Whom we believe that a server is the one it says: read once, which takes 30 ms."""
    context: ssl.SSLContext = importlib.import_module("httpx2").create_ssl_context()
    return context
