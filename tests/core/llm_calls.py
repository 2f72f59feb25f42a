"""Calls through the provider door to the fake provider, shared by the tests of the door."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import LoccitError
from core.llm import OpenAIChat, Provider
from core.model.chat import Called, ChatModel, ChatRequest, Finished, Message, Said, Tool, ToolCall
from tests.fakes.openai import Behaviour, FakeOpenAI, Step

FIND = Tool("find_in_book", "Find words.", {"type": "object", "properties": {"words": {"type": "string"}}})
ASK = ChatRequest((Message("system", "Answer."), Message("user", "Whose ink?")))
WITH_TOOLS = replace(ASK, tools=(FIND,))
AFTER_CALL = ChatRequest(
    (
        Message("system", "Answer."),
        Message("user", "Whose ink?"),
        Message("assistant", "", (ToolCall("a", "find_in_book", "{'words': 'ink',}"),)),
        Message("tool", "The green ink [f3-0-40]", tool_call_id="a"),
    ),
    (FIND,),
)


class Naps:
    """A sleep that takes no time and remembers what was asked for."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)


def connect(fake: FakeOpenAI, *, naps: Naps | None = None, **settings: Any) -> OpenAIChat:
    provider = Provider(base_url=fake.url, model="fake", api_key="sk-secret-of-ours", **settings)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return OpenAIChat(provider, sleep=naps or Naps(), jitter=lambda: 0.0, now=lambda: now)


async def hear(chat: ChatModel, request: ChatRequest = ASK) -> tuple[str, list[ToolCall], Finished]:
    events = [event async for event in chat.stream(request)]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert not any(isinstance(event, Finished) for event in events[:-1])
    said = "".join(event.text for event in events if isinstance(event, Said))
    return said, [event.call for event in events if isinstance(event, Called)], finished


async def hear_once(
    script: Sequence[Step] | Behaviour, request: ChatRequest = ASK, **settings: Any
) -> tuple[str, list[ToolCall], Finished]:
    async with FakeOpenAI(script) as fake:
        chat = connect(fake, **settings)
        try:
            return await hear(chat, request)
        finally:
            await chat.close()


async def fail_once(script: Sequence[Step], request: ChatRequest = ASK, **settings: Any) -> LoccitError:
    with pytest.raises(LoccitError) as caught:
        await hear_once(script, request, **settings)
    return caught.value
