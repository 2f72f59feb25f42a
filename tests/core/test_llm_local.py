"""The provider door against a real server with a real, small model."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.errors import OperatorError
from core.llm import OpenAIChat, Provider, ask_context, describe, probe
from core.model.chat import ChatRequest, Finished, Message, Said
from core.prompts import tools
from tests.fakes.local_model import CONTEXT, MODEL, local_model
from tests.parts import needs_local_model

pytestmark = needs_local_model

EVIDENCE = "The green ink in the log was not Mara’s. [f3-0-40] Ivo’s suitcase held Tobin’s oilskin coat. [f3-40-84]"


@pytest.fixture
async def chat() -> AsyncIterator[OpenAIChat]:
    async with local_model() as url:
        chat = OpenAIChat(Provider(url, MODEL, max_in_flight=2), sleep=asyncio.sleep, jitter=lambda: 0.0)
        yield chat
        await chat.close()


async def test_ten_streamed_requests_arrive_in_pieces_with_usage_and_a_reason(chat: OpenAIChat) -> None:
    user = f"{tools.fence(EVIDENCE)}\n\nWhose ink was it?"
    request = ChatRequest((Message("system", "Answer briefly."), Message("user", user)), max_tokens=16)

    async def ask() -> tuple[int, Finished]:
        events = [event async for event in chat.stream(request)]
        assert isinstance(events[-1], Finished)
        return sum(isinstance(event, Said) for event in events), events[-1]

    for pieces, finished in await asyncio.gather(*(ask() for _ in range(10))):
        assert pieces >= 1
        assert finished.reason in ("stop", "length")
        assert finished.usage.input_tokens > 50
        assert 1 <= finished.usage.output_tokens <= 16


async def test_the_server_tells_its_window_and_a_prompt_beyond_it_is_named(chat: OpenAIChat) -> None:
    assert await ask_context(chat) == CONTEXT
    with pytest.raises(OperatorError) as caught:
        async for _ in chat.stream(ChatRequest((Message("user", "ink " * 9_000),), max_tokens=5)):
            pass
    assert caught.value.key == "model_context_exceeded"


async def test_the_probe_describes_it(chat: OpenAIChat) -> None:
    found = await probe(chat)
    assert found.failure is None
    assert found.streaming
    assert len(describe(found)) == 7
