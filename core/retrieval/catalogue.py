"""The catalogue of segments and the model's choice from it: batches of about 30,000 tokens, at most five, run together."""

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import NamedTuple

from core import prompts, ranking, words
from core.llm.arguments import read_choice, read_words
from core.model import ChatModel, ChatRequest, Finished, Message, Said, Segment, Usage
from core.prompts import tools

log = logging.getLogger(__name__)

BATCHES = 5
PICKS = 5
"""Ids one batch may choose."""


class Choice(NamedTuple):
    """What the model chose from a catalogue."""

    segments: list[Segment]
    """In reading order."""
    words: str
    """What it would search the book for, as the book would spell it; empty when it has no better words than the question's."""
    usage: Usage


async def pick(model: ChatModel, question: str, segments: Sequence[Segment], batch_tokens: int) -> Choice:
    """Let the model choose from a catalogue of at most `BATCHES` batches. Raises UpstreamError or OperatorError."""
    batches = _batches(segments, batch_tokens)
    if len(batches) > BATCHES:
        raise ValueError("a catalogue of so many batches is narrowed first")
    replies = await asyncio.gather(*[_ask(model, question, batch) for batch in batches])
    chosen: list[Segment] = []
    wanted: dict[str, None] = {}
    usage = Usage()
    for batch, (reply, spent) in zip(batches, replies, strict=True):
        usage += spent
        by_id = {str(segment.sequence): segment for segment in batch}
        chosen += [by_id[number] for number in _choice(reply)[:PICKS] if number in by_id]
        wanted.update(dict.fromkeys(read_words(reply).split()))
    return Choice(sorted(set(chosen), key=lambda segment: segment.sequence), " ".join(wanted), usage)


def fits(segments: Sequence[Segment], batch_tokens: int) -> bool:
    """True when the whole catalogue can be read in `BATCHES` calls."""
    return len(_batches(segments, batch_tokens)) <= BATCHES


def narrow(
    segments: Sequence[Segment], windows: Sequence[ranking.Window], title_terms: Collection[str], batch_tokens: int
) -> list[Segment]:
    """As many segments as `BATCHES` calls can read, in reading order: those that fit the question's words best.

    A segment counts what its best window does, and as much again when its title has all the words. Those without any
    word of the question fill the rest, spread evenly over the book: a question in another language has nothing else.
    """
    starts = [segment.start for segment in segments]
    scores = [0.0] * len(segments)
    for window in windows:
        at = bisect_right(starts, window.runs[0].first) - 1
        if at >= 0:
            scores[at] = max(scores[at], window.score)
    best = max(scores, default=0.0) or 1.0
    for at, segment in enumerate(segments):
        titled = {words.stem(term) for term in words.words(segment.title)}
        scores[at] += best * len(titled & set(title_terms)) / max(len(title_terms), 1)
    ranked = sorted((at for at in range(len(segments)) if scores[at]), key=lambda at: (-scores[at], at))
    others = [at for at in range(len(segments)) if not scores[at]]
    order = ranked + sorted(others, key=lambda at: _spread(at, len(segments)))
    left = BATCHES * batch_tokens
    kept: list[int] = []
    for at in order:
        left -= words.tokens(_entry(segments[at]))
        if left < 0:
            break
        kept.append(at)
    while kept and not fits([segments[at] for at in sorted(kept)], batch_tokens):
        kept.pop()  # what the ends of batches leave empty
    log.info("the catalogue is narrowed", extra={"segments": len(segments), "kept": len(kept)})
    return [segments[at] for at in sorted(kept)]


def _spread(at: int, count: int) -> int:
    """An order in which any beginning is spread evenly over 0..count: the binary digits of a place, read backwards."""
    width = max(count - 1, 1).bit_length()
    return int(format(at, f"0{width}b")[::-1], 2)


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
    return [batch for batch in batches if batch]


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
