"""The stream as it stands on the wire: server-sent events to JSON, deltas to text and whole tool calls. Pure.

Read leniently, because hosts differ: calls without index or id, names repeated in every piece, whole calls in one
piece, arguments as an object, null choices, content as a list of parts, a whole `message` where a delta should be.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.llm.arguments import is_complete
from core.llm.halves import Pairing, paired
from core.model.chat import Finished, ToolCall, Usage
from core.words import tokens

_REASONS = {
    "stop": "stop", "eos": "stop", "end_turn": "stop", "stop_sequence": "stop", "complete": "stop",
    "length": "length", "max_tokens": "length", "model_length": "length",
    "tool_calls": "tool_calls", "function_call": "tool_calls", "tool_use": "tool_calls",
    "content_filter": "content_filter", "safety": "content_filter", "recitation": "content_filter",
    "error": "", "": "",
}  # fmt: skip

_MOST_TOKENS = 50_000_000
"""More than any model reads or writes at once; what a call cost still fits into the database's whole numbers."""


class Events:
    """Bytes in, JSON objects out. Cut lines anywhere; only line feeds end a line (U+2028 may stand in a text)."""

    def __init__(self) -> None:
        self._rest = b""
        self.done = False
        self.broken = False
        """Whether a piece was not JSON: what follows it cannot be trusted to be whole, and is not read."""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The objects completed by `data`, up to a broken one."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        return self._read_all(lines)

    def close(self) -> list[dict[str, Any]]:
        """What a last line without its line feed holds."""
        rest, self._rest = self._rest, b""
        return self._read_all([rest])

    def _read_all(self, lines: list[bytes]) -> list[dict[str, Any]]:
        found = []
        for line in lines:
            if self.broken:
                break
            if (data := self._read(line)) is not None:
                found.append(data)
        return found

    def _read(self, line: bytes) -> dict[str, Any] | None:
        if not line.startswith(b"data:"):
            return None  # comments (": keep alive"), event names, blank lines
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self.done = True
            return None
        if not payload.startswith(b"{"):
            return None
        try:
            data = json.loads(payload)
        except ValueError:
            self.broken = True
            return None
        return data if isinstance(data, dict) else None


@dataclass(slots=True)
class _Slot:
    """A tool call in the making."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


class Reply:
    """One reply put together from its pieces."""

    def __init__(self, call_prefix: str, prompt: Iterable[str]) -> None:
        """`call_prefix` names calls that come without an id; `prompt` is what was sent, for an estimate of the usage."""
        self._prefix = call_prefix
        self._prompt = prompt
        self._slots: list[_Slot] = []
        self._reason: str | None = None
        self._refused = False
        self._usage: Mapping[str, Any] | None = None
        self._said: list[str] = []
        self._pieces = 0
        self._pairing = Pairing()
        self.length = 0
        """Characters of words and of calls so far."""

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take one object of the stream; gives back the text it adds. Reasoning fields are not looked at."""
        usage = chunk.get("usage")
        if isinstance(usage, Mapping) and usage.get("prompt_tokens") is not None:
            self._usage = usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping) or choice.get("index") not in (0, None):
            return ""
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self._reason = _REASONS.get(reason.lower(), "stop")
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return ""
        self._refused = self._refused or bool(delta.get("refusal"))
        calls = delta.get("tool_calls")
        for piece in calls if isinstance(calls, list) else ():
            self._take(piece)
        if isinstance(delta.get("function_call"), Mapping):
            self._take({"index": 0, "function": delta["function_call"]})
        text = self._pairing.feed(_text(delta.get("content")))
        if text:
            self._said.append(text)
            self._pieces += 1
        self.length += len(text)
        return text

    def cut(self) -> None:
        """No more of it is read: it ends here as one that its length cut off."""
        self._reason = "length"

    def finish(self) -> tuple[list[ToolCall], Finished]:
        """The whole calls and the end. A call cut off in the middle of its arguments is not a call."""
        reason = self._reason or ""
        slots = [slot for slot in self._slots if slot.name]
        if reason in ("", "length"):
            slots = [slot for slot in slots if is_complete(slot.arguments)]
        if slots and reason == "stop":
            reason = "tool_calls"
        if self._refused:
            reason = "content_filter"
        calls = [
            ToolCall(paired(slot.id) or f"{self._prefix}{number}", paired(slot.name), paired(slot.arguments))
            for number, slot in enumerate(slots)
        ]
        return calls, Finished(reason, self._count(), self._pieces)

    @property
    def ended(self) -> bool:
        """Whether the reply said how it ended (the usage may still follow)."""
        return self._reason is not None

    def _count(self) -> Usage:
        told = self._usage or {}
        given, made = _figure(told.get("prompt_tokens")), _figure(told.get("completion_tokens"))
        if given is None:
            given = sum(tokens(text) for text in self._prompt)
        if made is None:
            made = tokens("".join([*self._said, *(f"{slot.name}{slot.arguments}" for slot in self._slots)]))
        return Usage(calls=1, input_tokens=given, output_tokens=made)

    def _take(self, piece: Any) -> None:
        if not isinstance(piece, Mapping):
            return
        function = piece.get("function")
        if not isinstance(function, Mapping):
            function = {}
        name = function.get("name") or ""
        call_id = piece.get("id") or ""
        slot = self._slot(piece.get("index"), str(call_id), str(name))
        slot.id = slot.id or str(call_id)
        if name and name != slot.name:
            slot.name += str(name)
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            slot.arguments = json.dumps(arguments, ensure_ascii=False)
        elif isinstance(arguments, str) and not (arguments == slot.arguments and is_complete(arguments)):
            slot.arguments += arguments
            self.length += len(arguments)

    def _slot(self, index: Any, call_id: str, name: str) -> _Slot:
        last = self._slots[-1] if self._slots else None
        if call_id:
            for slot in self._slots:
                if slot.id == call_id:
                    return slot
        if isinstance(index, int):
            for slot in reversed(self._slots):
                # a second id under the same index is a second call (some hosts number every call 0)
                if slot.index == index and not (call_id and slot.id):
                    return slot
        elif last is not None and not call_id:
            ended = bool(last.arguments) and is_complete(last.arguments)
            if not name or (name == last.name and not ended):
                return last
        slot = _Slot(index if isinstance(index, int) else None)
        self._slots.append(slot)
        return slot


def _figure(told: Any) -> int | None:
    """A number of tokens that can be true; None for one that would cost nothing, or more than there is."""
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= _MOST_TOKENS else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts; those of type "thinking" and the like carry no "text" type
        parts = (part for part in content if isinstance(part, Mapping) and part.get("type") in ("text", "output_text"))
        return "".join(str(part.get("text") or "") for part in parts)
    return ""
