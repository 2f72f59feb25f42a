"""The catalogue of segments and the model's choice from it: batches of about 30,000 tokens, at most five, run together."""

import asyncio
import logging
from collections.abc import Sequence

from core import prompts, words
from core.llm.arguments import read_choice
from core.model import ChatModel, ChatRequest, Finished, Message, Said, Segment, Usage
from core.prompts import tools

log = logging.getLogger(__name__)

BATCHES = 5
PICKS = 5
"""Ids one batch may choose."""


async def pick(
    model: ChatModel, question: str, segments: Sequence[Segment], batch_tokens: int
) -> tuple[list[Segment], Usage]:
    """The segments the model chose, in reading order, and what asking cost. Raises UpstreamError or OperatorError."""
    batches = _batches(segments, batch_tokens)
    replies = await asyncio.gather(*[_ask(model, question, batch) for batch in batches])
    chosen: list[Segment] = []
    usage = Usage()
    for batch, (reply, spent) in zip(batches, replies, strict=True):
        usage += spent
        by_id = {str(segment.sequence): segment for segment in batch}
        chosen += [by_id[number] for number in _choice(reply)[:PICKS] if number in by_id]
    return sorted(set(chosen), key=lambda segment: segment.sequence), usage


def _choice(reply: str) -> list[str]:
    """The ids a reply names; a reply without any choice chose nothing, and the log says so."""
    try:
        return read_choice(reply)
    except ValueError:
        log.warning("the picker's reply held no choice", extra={"characters": len(reply)})
        return []


def _entry(segment: Segment) -> str:
    return tools.catalogue([(str(segment.sequence), segment.title, segment.summary or "")])


def _batches(segments: Sequence[Segment], batch_tokens: int) -> list[list[Segment]]:
    batches: list[list[Segment]] = [[]]
    left = batch_tokens
    for segment in segments:
        cost = words.tokens(_entry(segment))
        if cost > left and batches[-1]:
            batches.append([])
            left = batch_tokens
        batches[-1].append(segment)
        left -= cost
    return [batch for batch in batches if batch][:BATCHES]


async def _ask(model: ChatModel, question: str, batch: Sequence[Segment]) -> tuple[str, Usage]:
    prompt = prompts.pick(question, "\n".join(map(_entry, batch)), PICKS)
    request = ChatRequest(
        (Message("system", prompt.system), Message("user", prompt.user)),
        purpose="pick",
        json=True,
        max_tokens=600,
        stamp=prompt.stamp,
    )
    reply, usage = "", Usage()
    async for event in model.stream(request):
        if isinstance(event, Said):
            reply += event.text
        elif isinstance(event, Finished):
            usage = event.usage
    return reply, usage
