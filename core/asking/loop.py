"""The tool loop of one turn: the model speaks or calls, tools deliver, guards end it. Text leaves settled as it arrives."""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from core.footnotes import Settled, Settler
from core.llm.arguments import read_arguments
from core.llm.calls import find_calls, hold_from
from core.model import Called, ChatModel, ChatRequest, Finished, Message, Said, Searching, Span, ToolCall, Usage
from core.prompts import tools as texts
from core.retrieval import Tools

ROUNDS = 6
"""Requests one turn may make to the answering model."""
CALLS = 10
"""Tool calls one turn may make."""
SECONDS = 180.0
"""A turn that has run this long gets one last request without tools."""
SAME = 3
"""The identical call that is answered with "you already have this" and ends the use of tools."""


_BY_NAME = {tool.name: tool for tool in texts.TOOLS}
_NAMES = tuple(_BY_NAME)
DRAFT_EVERY = 0.1
"""Seconds between two drafts of one reply: nobody reads faster, and parsing each piece would not be linear."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The answer so far as settled Markdown; safe to show."""

    markdown: str
    runs: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Spoken:
    """The end of one attempt: the settled text, why the model stopped, what it cost."""

    settled: Settled
    raw: str
    reason: str


class Loop:
    """One question's conversation with the model. `messages` grows; `usage` adds up over all attempts."""

    def __init__(
        self,
        model: ChatModel,
        tools: Tools | None,
        messages: list[Message],
        settler: Callable[[], Settler],
        clock: Callable[[], float],
    ) -> None:
        self._model = model
        self._tools = tools
        self._settler = settler
        self._clock = clock
        self._deadline = clock() + SECONDS
        self._asked: Counter[tuple[str, str]] = Counter()
        self._made = 0
        self.messages = messages
        self.usage = Usage()

    def remember(self, name: str, argument: str) -> None:
        """Count a call that the core made itself before the model spoke."""
        self._asked[name, argument] += 1

    async def run(self) -> AsyncGenerator[Searching | Draft | Spoken, None]:
        """Yield searches and drafts; the last event is `Spoken`. Raises UpstreamError or OperatorError."""
        for round_ in range(ROUNDS):
            last = round_ == ROUNDS - 1 or self._made >= CALLS or self._clock() > self._deadline
            last = last or any(count >= SAME for count in self._asked.values())
            attempt = _Attempt(self._settler())
            due = self._clock()
            offered = self._tools is not None and not last
            request = ChatRequest(
                tuple(self.messages),
                tools=texts.TOOLS if self._tools is not None else (),
                tool_choice="auto" if offered else "none",
            )
            async for event in self._model.stream(request):
                if isinstance(event, Said):
                    if attempt.hear(event.text) and self._clock() >= due:
                        yield attempt.draft()
                        due = self._clock() + DRAFT_EVERY
                elif isinstance(event, Called):
                    attempt.calls.append(event.call)
                elif isinstance(event, Finished):
                    attempt.reason = event.reason
                    self.usage += event.usage
            calls = attempt.close(offered=offered)
            if not calls or self._tools is None:
                yield Spoken(attempt.settle(), attempt.said, attempt.reason)
                return
            self.messages.append(Message("assistant", "", tool_calls=tuple(calls)))
            for call in calls:
                async for found in self._execute(call):
                    yield found
        raise AssertionError("the last round offers no tools, so it ends the loop")

    async def _execute(self, call: ToolCall) -> AsyncGenerator[Searching, None]:
        assert self._tools is not None
        table = self._tools.table()
        if call.name not in table:
            self._reply(call, texts.unknown_tool(call.name, list(table)))
            return
        if self._made >= CALLS:
            self._reply(call, texts.enough())
            return
        parameter = _parameter(call.name)
        argument = ""
        if parameter is not None:
            try:
                value = read_arguments(call.arguments).get(parameter)
            except ValueError:
                value = None
            if not isinstance(value, str) or not value.strip():
                self._reply(call, texts.bad_arguments(_BY_NAME[call.name]))
                self._asked[call.name, call.arguments] += 1
                return
            argument = value.strip()
        self._made += 1
        self._asked[call.name, argument] += 1
        if self._asked[call.name, argument] >= SAME:
            self._reply(call, texts.already_given(call.name))
            return
        yield Searching(argument)
        self._reply(call, await table[call.name](argument))

    def _reply(self, call: ToolCall, content: str) -> None:
        self.messages.append(Message("tool", content, tool_call_id=call.id))


class _Attempt:
    """What came in one reply: text that may be shown, text that may yet turn out to be a call, and calls."""

    def __init__(self, settler: Settler) -> None:
        self._settler = settler
        self._released = 0
        self.said = ""
        self.calls: list[ToolCall] = []
        self.reason = ""

    def hear(self, piece: str) -> bool:
        """Take a piece of text; True when there is something new to show."""
        self.said += piece
        free = hold_from(self.said, _NAMES, self._released)
        if free == self._released:
            return False
        piece, self._released = self.said[self._released : free], free
        return self._settler.feed(piece)

    def close(self, *, offered: bool) -> list[ToolCall]:
        """The reply is over: calls written as text run if tools are on offer; what is no call goes on as text."""
        held = self.said[self._released :]
        found, rest = find_calls(held, _NAMES) if held else ([], "")
        if rest:
            self._settler.feed(rest)
        self._released = len(self.said)
        return [*self.calls, *found] if offered else []

    def draft(self) -> Draft:
        return Draft(self._settler.markdown, self._settler.runs)

    def settle(self) -> Settled:
        return self._settler.finish(self.reason)


def executed(name: str, argument: str, result: str, number: int = 0) -> tuple[Message, Message]:
    """A tool call the core made itself, as the model would have made it, with its result; `number` tells them apart."""
    parameter = _parameter(name)
    arguments = json.dumps({parameter: argument} if parameter else {}, ensure_ascii=False)
    call = ToolCall(f"call_{number}", name, arguments)
    return Message("assistant", "", tool_calls=(call,)), Message("tool", result, tool_call_id=call.id)


def _parameter(name: str) -> str | None:
    """The one argument of a tool, when it takes one."""
    return next(iter(_BY_NAME[name].parameters["properties"]), None)
