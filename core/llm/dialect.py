"""What a provider takes of the API: how its thinking is switched off, what it refused, and the request body. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.llm.arguments import read_arguments
from core.llm.provider import Provider
from core.model.chat import ChatRequest, Message

Fields = Mapping[str, Any]

_TEMPLATE: Fields = {"chat_template_kwargs": {"enable_thinking": False}}  # vLLM, SGLang, llama.cpp
_FLAG: Fields = {"enable_thinking": False}
_TYPE: Fields = {"thinking": {"type": "disabled"}}
_EFFORT_NONE: Fields = {"reasoning_effort": "none"}  # also Ollama: its `think` is ignored under /v1 (ollama #14820)
_EFFORT_LOW: Fields = {"reasoning_effort": "low"}

# By a part of the host's name. Tried in order; the last resort is always to say nothing.
_HOSTS: tuple[tuple[str, tuple[Fields, ...]], ...] = (
    ("openrouter.ai", ({"reasoning": {"enabled": False}}, {"reasoning": {"effort": "low"}})),
    ("dashscope", (_FLAG,)),
    ("siliconflow", (_FLAG,)),
    ("deepseek.com", (_TYPE,)),
    ("bigmodel.cn", (_TYPE,)),
    ("z.ai", (_TYPE,)),
    ("moonshot", (_TYPE,)),
    ("volces.com", (_TYPE,)),
    ("googleapis.com", (_EFFORT_NONE, _EFFORT_LOW)),
    ("groq.com", (_EFFORT_NONE, _EFFORT_LOW)),
    ("ollama.com", (_EFFORT_NONE,)),
)
_TEMPLATED = ("qwen", "qwq", "glm", "deepseek", "hunyuan", "granite", "smollm", "gemma", "nemotron", "gpt-oss")


def thinking_switches(provider: Provider) -> tuple[Fields, ...]:
    """The ways to switch thinking off, best first; the last one is always to send nothing."""
    if provider.no_thinking is not None:
        return (provider.no_thinking, {}) if provider.no_thinking else ({},)
    parts = provider.address
    host, model = (parts.hostname or "").lower(), provider.model.lower().rsplit("/", 1)[-1]
    if host.endswith("openai.com") or host.endswith("openai.azure.com"):
        if model.startswith(("gpt-5", "gpt-6")) and "chat" not in model:
            return (_EFFORT_NONE, {"reasoning_effort": "minimal"}, _EFFORT_LOW, {})
        return (_EFFORT_LOW, {}) if model.startswith(("o1", "o3", "o4")) else ({},)
    for part, ways in _HOSTS:
        if part in host:
            if part == "groq.com" and not any(name in model for name in ("qwen", "gpt-oss", "deepseek")):
                return ({},)
            return (*ways, {})
    if parts.port == 11434:
        return (_EFFORT_NONE, {})
    if any(name in model for name in _TEMPLATED):
        return (_TEMPLATE, {})
    return ({},)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What this model is known to take; everything is tried once and dropped when it is refused."""

    thinking: int = 0
    """Index into `thinking_switches`."""
    usage: bool = True
    tools: bool = True
    tool_choice: bool = True
    json: bool = True
    token_limit: str = "max_tokens"

    def without(self, words: str, body: Mapping[str, Any], switches: tuple[Fields, ...]) -> "Dialect | None":
        """The next thing to try after the provider refused `body` with these words; None: nothing is left to drop.

        What the words name goes first. Tools go only when they are named: without them the book is consulted less.
        """
        words = words.lower()
        options = {
            "usage": self.usage and "stream_options" in body,
            "limit": "max_tokens" in body,
            "choice": self.tool_choice and "tool_choice" in body,
            "json": self.json and "response_format" in body,
            "thinking": self.thinking < len(switches) - 1,
            "tools": self.tools and "tools" in body,
        }
        named = {
            "usage": ("stream_options", "include_usage"),
            "limit": ("max_completion_tokens",),
            "choice": ("tool_choice", "tool choice"),
            "json": ("response_format", "json_object", "json mode"),
            "thinking": ("think", "reasoning", "chat_template", *switches[self.thinking]),
            "tools": ("tool", "function"),
        }
        for option, there in options.items():
            if there and any(name in words for name in named[option]):
                return self._drop(option)
        for option in ("thinking", "usage", "choice", "json"):
            if options[option]:
                return self._drop(option)
        return None

    def _drop(self, option: str) -> "Dialect":
        match option:
            case "usage":
                return replace(self, usage=False)
            case "limit":
                return replace(self, token_limit="max_completion_tokens")
            case "choice":
                return replace(self, tool_choice=False)
            case "json":
                return replace(self, json=False)
            case "thinking":
                return replace(self, thinking=self.thinking + 1)
            case _:
                return replace(self, tools=False)


def build_body(request: ChatRequest, model: str, dialect: Dialect, switches: tuple[Fields, ...]) -> dict[str, Any]:
    """The JSON body of a streamed chat completion. Equal requests give equal bytes up to the first difference."""
    messages = request.messages if dialect.tools else flatten(request.messages)
    body: dict[str, Any] = {"model": model, "messages": [_message(message) for message in messages], "stream": True}
    if dialect.usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools and dialect.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
        if request.tool_choice != "auto" and dialect.tool_choice:
            known = request.tool_choice in ("none", "required")
            named = {"type": "function", "function": {"name": request.tool_choice}}
            body["tool_choice"] = request.tool_choice if known else named
    if request.max_tokens is not None:
        body[dialect.token_limit] = request.max_tokens
    if request.json and dialect.json:
        body["response_format"] = {"type": "json_object"}
    return body | dict(switches[min(dialect.thinking, len(switches) - 1)])


def flatten(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same conversation for a model without tools: results become part of what the user says.

    Neighbouring user messages are joined, because templates of small models insist on turns that alternate.
    """
    flat: list[Message] = []
    for message in messages:
        if message.role == "assistant" and message.tool_calls and not message.content:
            continue
        role = "user" if message.role == "tool" else message.role
        if flat and role == "user" and flat[-1].role == "user":
            flat[-1] = Message("user", f"{flat[-1].content}\n\n{message.content}")
        else:
            flat.append(Message(role, message.content))
    return tuple(flat)


def _message(message: Message) -> dict[str, Any]:
    shaped: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        shaped["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _valid(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        shaped["tool_call_id"] = message.tool_call_id
    return shaped


def _valid(arguments: str) -> str:
    """A model's own broken arguments, made JSON before they are sent back: servers fail on them otherwise."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except ValueError:
        pass
    try:
        return json.dumps(read_arguments(arguments), ensure_ascii=False)
    except ValueError:
        return "{}"
