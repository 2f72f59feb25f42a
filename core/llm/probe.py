"""What a provider can do, asked with a few tiny requests; for `loccit doctor`."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from core.errors import LoccitError
from core.llm.arguments import is_complete
from core.llm.chat import OpenAIChat
from core.llm.context import ask_context
from core.model import Notice
from core.model.chat import Called, ChatRequest, Finished, Message, Said, Tool

_TOOL = Tool(
    "look_up",
    "Look up the colour of a thing.",
    {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]},
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One model's abilities; what could not be asked because of a failure carries its key in `failure`."""

    model: str
    context_tokens: int
    streaming: bool = False
    """The reply came in more than one piece."""
    usage: bool = False
    """The provider counts tokens in streams."""
    tools: bool = False
    forced_choice: bool = False
    json: bool = False
    thinking: str = "none"
    """none: no reasoning was seen; off: a switch against it is sent and taken; on: it cannot be switched off."""
    closing_think: bool = False
    """A closing mark of reasoning came that nothing had opened (DESIGN 2.5)."""
    failure: str | None = None

    @property
    def facts(self) -> dict[str, str | int | bool]:
        """What is worth remembering of the model, by name. A habit that did not show this time is not denied."""
        found = asdict(self)
        for left_out in ("model", "failure", *(() if self.closing_think else ("closing_think",))):
            del found[left_out]
        return found


async def probe(chat: OpenAIChat) -> Capabilities:
    """Ask. Costs four short requests; never raises for the provider's failures."""
    context = await ask_context(chat)
    try:
        pieces, _, told_in = await _ask(chat, "Count from one to ten in words.", max_tokens=40)
        said, _, _ = await _ask(chat, 'Reply with the JSON object {"ok": true}.', json=True, max_tokens=40)
        _, called, _ = await _ask(chat, "Look up the colour of ink with the tool.", tools=(_TOOL,), max_tokens=80)
        _, forced, _ = await _ask(chat, "Say hello.", tools=(_TOOL,), tool_choice=_TOOL.name, max_tokens=80)
    except LoccitError as error:
        return Capabilities(chat.name, context, failure=error.key)
    text = "".join(pieces).lower()
    opens, closes = "<think" in text, "</think" in text
    return Capabilities(
        model=chat.name,
        context_tokens=context,
        streaming=told_in > 1,
        usage=chat.dialect.usage,
        tools=chat.dialect.tools and _calls(called),
        forced_choice=chat.dialect.tool_choice and chat.dialect.tools and _calls(forced),
        json=chat.dialect.json and _is_json("".join(said)),
        thinking="on" if opens or closes else "off" if chat.switches_thinking else "none",
        closing_think=closes and not opens,
    )


def describe(found: Capabilities) -> list[Notice]:
    """One sentence for each ability."""
    if found.failure is not None:
        return [Notice(found.failure, {"model": found.model})]
    abilities = ("streaming", "usage", "tools", "forced_choice", "json")
    return [
        Notice("probe_context", {"model": found.model, "count": found.context_tokens}),
        *(Notice(f"probe_{name}_{'yes' if getattr(found, name) else 'no'}") for name in abilities),
        Notice(f"probe_thinking_{found.thinking}"),
    ]


async def _ask(
    chat: OpenAIChat,
    text: str,
    *,
    tools: tuple[Tool, ...] = (),
    tool_choice: str = "auto",
    json: bool = False,
    max_tokens: int,
) -> tuple[list[str], list[Called], int]:
    """What was said, what was called, and in how many pieces it came: of a fast provider several arrive together."""
    request = ChatRequest(
        (Message("user", text),), tools, tool_choice=tool_choice, purpose="probe", max_tokens=max_tokens, json=json
    )
    pieces: list[str] = []
    calls: list[Called] = []
    told_in = 0
    async for event in chat.stream(request):
        match event:
            case Said(piece):
                pieces.append(piece)
            case Called():
                calls.append(event)
            case Finished():
                told_in = event.pieces
    return pieces, calls, told_in


def _calls(called: Sequence[Called]) -> bool:
    return any(event.call.name == _TOOL.name and is_complete(event.call.arguments) for event in called)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
