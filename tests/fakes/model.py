"""A `ChatModel` without any wire: replies from a list of steps or a function, for unit tests of what stands above."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from core.model.chat import Called, ChatEvent, ChatRequest, Finished, Said, ToolCall, Usage


@dataclass(frozen=True)
class Says:
    """One reply: pieces of text, then calls (name, arguments as raw text), then the end."""

    pieces: Sequence[str] | str = ()
    calls: Sequence[tuple[str, str]] = ()
    reason: str | None = None
    """None: stop, or tool_calls when there are calls."""
    usage: Usage = field(default_factory=lambda: Usage(1, 10, 5))


Step = Says | str | Exception


@dataclass
class ScriptedModel:
    """Gives the steps in order, or asks the function; a string is a reply in one piece, an exception is raised.

    `requests` holds what was asked. Asking beyond the script fails the test; `finish` fails it for steps left over.
    """

    script: Sequence[Step] | Callable[[ChatRequest], Step]
    name: str = "scripted"
    requests: list[ChatRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._steps = [] if callable(self.script) else list(self.script)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.requests.append(request)
        if callable(self.script):
            step = self.script(request)
        else:
            assert self._steps, "a request beyond the script"
            step = self._steps.pop(0)
        if isinstance(step, Exception):
            raise step
        says = Says(step) if isinstance(step, str) else step
        for piece in [says.pieces] if isinstance(says.pieces, str) else says.pieces:
            yield Said(piece)
        for number, (name, arguments) in enumerate(says.calls):
            yield Called(ToolCall(f"call_{len(request.messages)}_{number}", name, arguments))
        reason = says.reason if says.reason is not None else "tool_calls" if says.calls else "stop"
        yield Finished(reason, says.usage)

    def finish(self) -> None:
        """Fail the test when steps are left over."""
        assert not self._steps, f"{len(self._steps)} steps were not used"
