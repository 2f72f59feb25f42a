"""A `ChatModel` that answers from what it was given, honestly, and counts what it was sent; it picks by common words."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field

from core import words
from core.model import ChatEvent, ChatRequest, Finished, Said, Span, Usage
from core.offline import OfflineReader, quote
from core.tags import read_tagged, tag

Given = Sequence[tuple[Span, str]]
"""The runs of this turn with their texts."""


@dataclass(frozen=True)
class Call:
    purpose: str
    tokens: int
    """Of the request, estimated: everything said, the calls, the tools on offer."""


def sent(request: ChatRequest) -> int:
    """Tokens of a request, estimated."""
    tools = json.dumps([asdict(tool) for tool in request.tools]) if request.tools else ""
    calls = "".join(call.name + call.arguments for message in request.messages for call in message.tool_calls)
    return words.tokens(tools) + words.tokens(calls) + sum(words.tokens(m.content) for m in request.messages)


def telling(question: str, given: Given) -> list[Span]:
    """The runs that share most words with the question; else the first one that was given."""
    return [span for span, _ in quote(question, given)] or [span for span, _ in given[:1]]


@dataclass
class CountingModel:
    """`proofs` says which of the given runs answer a question; without any it says that the book does not say."""

    proofs: Callable[[str, Given], Sequence[Span]] = telling
    name: str = "counting"
    calls: list[Call] = field(default_factory=list)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.calls.append(Call(request.purpose, sent(request)))
        if request.purpose == "pick":
            async for event in OfflineReader().stream(request):
                yield event
            return
        since = max(at for at, message in enumerate(request.messages) if message.role == "user")
        question = next(message.content for message in request.messages if message.role == "user")
        given: dict[Span, str] = {}
        for at, message in enumerate(request.messages):
            if message.role == "tool" or (message.role == "user" and at == since):
                given.update(read_tagged(message.content))
        proofs = self.proofs(question, list(given.items()))
        yield Said(" ".join(f"So it stands there {tag(span)}." for span in proofs) or "The book does not say.")
        yield Finished("stop", Usage(1, self.calls[-1].tokens, 10))
