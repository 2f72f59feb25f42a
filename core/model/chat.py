"""What is said to a language model and what comes back; `ChatModel` is the only protocol of the house. Stdlib only."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call a model asks for. `arguments` is the raw text it sent, meant to be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function on offer; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Payer:
    """On whose behalf a call is made: what its cost counts against."""

    platform: str
    channel: str
    reader: str
    server: str | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    """auto; `none` keeps the tools in the request (a stable prefix is cheaper) but asks for words; required; or the
    name of the tool that must be called."""
    purpose: str = "answer"
    """answer, pick or summarise: part of the ledger key and of the usage record."""
    max_tokens: int | None = None
    json: bool = False
    """True when the reply is meant to be one JSON object."""
    stamp: str = ""
    """The stamp of the prompt this was rendered from; part of the ledger key, never sent."""
    book: str = ""
    """sha256 of the book whose text this holds, if it is of one: its ledger row is forgotten with the book. Never sent."""
    payer: Payer | None = None
    """None: the house itself (summaries). No part of the ledger key, never sent."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens as the provider counted them (characters / 4 where it did not)."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of the reply's text, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A complete tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of the reply. `reason`: stop, length, tool_calls, content_filter, or "" when the stream just ended."""

    reason: str
    usage: Usage
    pieces: int = field(default=0, compare=False)
    """In how many pieces its words came; for whoever asks what a provider can do."""


ChatEvent = Said | Called | Finished


class ChatModel(Protocol):
    """Something that answers a chat request: a provider, or the offline reader that quotes."""

    @property
    def name(self) -> str:
        """What is recorded with each turn; `offline` for the offline reader."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """Yield pieces of text and tool calls; the last event is always `Finished`.

        Raises UpstreamError or OperatorError.
        """
        ...
