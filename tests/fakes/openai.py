"""An OpenAI-compatible provider on the loopback, at wire level: scripted or computed replies, faults, a journal.

    async with FakeOpenAI([Reply("Green ink [f1-0-42].", cut=3), Fault(429, retry_after=1)]) as fake:
        ...  # base_url=fake.url

Steps are used in order, one a request; a function is asked each time. Steps left over, requests beyond the script,
requests that break the API's rules and unknown paths fail the test when the block ends.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from aiohttp import web

JsonObject = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Seconds before the first piece and between pieces."""

    first: float = 0.0
    gap: float = 0.0


@dataclass(frozen=True)
class Reply:
    """What the model says."""

    text: str | Sequence[str] = ""
    """A sequence is streamed piece by piece as it stands."""
    calls: Sequence[tuple[str, str | JsonObject]] = ()
    finish: str | None = None
    """None: stop, or tool_calls when there are calls; "" sends no reason at all."""
    cut: int | None = None
    """Length of the pieces a text is streamed in; None: words; 0: cut at random."""
    bytes_cut: int | None = None
    """Length of the writes to the socket, whatever the pieces: cuts lines and characters."""
    timing: Timing = Timing()
    usage: bool = True
    reasoning: str = ""
    chunks: Sequence[JsonObject | str] | None = None
    """Raw chunks in place of everything above; a string is written after `data: ` as it stands."""
    disconnect_after: int | None = None
    """Pieces after which the connection is torn."""
    truncate_after: int | None = None
    """Pieces after which the stream ends as if it were whole, without a reason and without [DONE]."""
    stall_after: int | None = None
    """Pieces after which nothing comes any more, until the client leaves."""
    streams: bool = True
    """False: a host that answers a streamed request with one JSON object."""


@dataclass(frozen=True)
class Fault:
    """A refusal with an HTTP status; status 0 tears the connection before any answer."""

    status: int
    message: str = "scripted fault"
    code: str | None = None
    retry_after: str | float | None = None
    body: bytes | None = None
    """In place of an error object, such as a proxy's page."""


Step = Reply | Fault
Behaviour = Callable[[JsonObject], Step]


@dataclass
class Entry:
    """One request as it came. Times are seconds since the fake started."""

    path: str
    body: JsonObject
    headers: Mapping[str, str]
    begun: float
    ended: float | None = None
    spoke: float | None = None
    """When the first piece of text was written."""
    in_flight: int = 0
    """Chat requests being answered when this one came, itself included."""
    input_tokens: int = 0
    output_tokens: int = 0
    left_early: bool = False
    """The client went away before the reply was whole."""

    @property
    def messages(self) -> list[JsonObject]:
        return list(self.body.get("messages", []))

    @property
    def text(self) -> str:
        """Everything the model was given to read, joined."""
        return "\n".join(str(message.get("content") or "") for message in self.messages)


@dataclass
class FakeOpenAI:
    """The server. `models` are the entries of /v1/models; `pages` are further GET and POST answers by path."""

    script: Sequence[Step] | Behaviour = ()
    models: Sequence[JsonObject] = ({"id": "fake"},)
    pages: Mapping[str, JsonObject] = field(default_factory=dict)
    key: str | None = None
    """The only API key that is accepted; None accepts all."""
    seed: int = 0
    journal: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._steps = [] if callable(self.script) else list(self.script)
        self._random = random.Random(self.seed)
        self._flying = 0
        self.began = time.monotonic()
        self._leaving = asyncio.Event()
        self._arrived = asyncio.Condition()
        self._number = 0

    async def __aenter__(self) -> "FakeOpenAI":
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        app.router.add_route("*", "/{path:.*}", self._page)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.set()
        await self._runner.cleanup()
        if error is None:
            if self._steps:
                self.problems.append(f"{len(self._steps)} steps were not used")
            assert not self.problems, "; ".join(self.problems)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Entry]:
        """The chat requests, in order."""
        return [entry for entry in self.journal if entry.path == "/v1/chat/completions"]

    @property
    def most_in_flight(self) -> int:
        return max((entry.in_flight for entry in self.chats), default=0)

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output tokens of all chats, as the fake counts them (characters / 4)."""
        return sum(entry.input_tokens for entry in self.chats), sum(entry.output_tokens for entry in self.chats)

    async def wait_for_chats(self, count: int) -> None:
        """Return when so many chat requests have come."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.chats) >= count)

    def _enter(self, request: web.Request, body: JsonObject) -> Entry:
        entry = Entry(request.path, body, dict(request.headers), time.monotonic() - self.began)
        self.journal.append(entry)
        return entry

    async def _list(self, request: web.Request) -> web.Response:
        self._enter(request, {})
        return web.json_response({"object": "list", "data": [{"object": "model", **model} for model in self.models]})

    async def _page(self, request: web.Request) -> web.Response:
        self._enter(request, {})
        if request.path in self.pages:
            return web.json_response(self.pages[request.path])
        if request.path not in ("/props", "/api/ps", "/api/show"):  # asked of every server, had by few
            self.problems.append(f"unknown path {request.method} {request.path}")
        return web.json_response({"error": {"message": "no such path"}}, status=404)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        entry = self._enter(request, body)
        async with self._arrived:
            self._arrived.notify_all()
        self._flying += 1
        entry.in_flight = self._flying
        entry.input_tokens = -(-len(json.dumps(body.get("messages", []), ensure_ascii=False)) // 4)
        try:
            return await self._answer(request, body, entry)
        except (ConnectionResetError, asyncio.CancelledError):
            entry.left_early = True
            raise
        finally:
            self._flying -= 1
            entry.ended = time.monotonic() - self.began

    async def _answer(self, request: web.Request, body: JsonObject, entry: Entry) -> web.StreamResponse:
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(Fault(401, f"Incorrect API key provided: {self.key}", "invalid_api_key"))
        known = {str(model["id"]) for model in self.models}
        if body.get("model") not in known:
            return _error(Fault(404, f"The model `{body.get('model')}` does not exist", "model_not_found"))
        if problem := check_request(body):
            self.problems.append(problem)
            return _error(Fault(400, problem, "invalid_request_error"))
        if callable(self.script):
            step = self.script(body)
        elif self._steps:
            step = self._steps.pop(0)
        else:
            self.problems.append("a request beyond the script")
            return _error(Fault(500, "the script is over"))
        if isinstance(step, Fault):
            if step.status == 0:
                return await _tear(request)
            return _error(step)
        self._number += 1
        written = sum(map(len, _texts(step))) + sum(len(name) + len(_raw(given)) for name, given in step.calls)
        entry.output_tokens = -(-written // 4)
        if not body.get("stream") or not step.streams:
            await asyncio.sleep(step.timing.first)
            return web.json_response(self._whole(step, body, entry))
        return await self._stream(request, step, body, entry)

    def _whole(self, step: Reply, body: JsonObject, entry: Entry) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": "".join(_texts(step)) or None}
        if step.calls:
            message["tool_calls"] = [self._call(number, *call) for number, call in enumerate(step.calls)]
        if step.reasoning:
            message["reasoning_content"] = step.reasoning
        choice = {"index": 0, "message": message, "finish_reason": _finish(step)}
        return self._frame(body, [choice], "chat.completion") | ({"usage": _usage(entry)} if step.usage else {})

    def _call(self, number: int, name: str, given: str | JsonObject) -> JsonObject:
        return {
            "id": f"call_{self._number}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": _raw(given)},
        }

    def _frame(self, body: JsonObject, choices: list[JsonObject], kind: str = "chat.completion.chunk") -> JsonObject:
        return {"id": f"c{self._number}", "object": kind, "created": 1, "model": body["model"], "choices": choices}

    def _chunks(self, step: Reply, body: JsonObject, entry: Entry) -> list[JsonObject | str]:
        if step.chunks is not None:
            return list(step.chunks)
        deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in step.reasoning.split()]
        deltas += [{"content": piece} for piece in self._pieces(step)]
        for number, call in enumerate(step.calls):
            whole = self._call(number, *call)
            arguments = whole["function"]["arguments"]
            head = {**whole, "index": number, "function": {"name": call[0], "arguments": ""}}
            deltas.append({"tool_calls": [head]})
            deltas += [
                {"tool_calls": [{"index": number, "function": {"arguments": arguments[at : at + 5]}}]}
                for at in range(0, len(arguments), 5)
            ]
        chunks: list[JsonObject | str] = [
            self._frame(body, [{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas
        ]
        if (finish := _finish(step)) is not None:
            chunks.append(self._frame(body, [{"index": 0, "delta": {}, "finish_reason": finish}]))
        if step.usage and (body.get("stream_options") or {}).get("include_usage"):
            chunks.append(self._frame(body, []) | {"usage": _usage(entry)})
        return chunks

    def _pieces(self, step: Reply) -> list[str]:
        if not isinstance(step.text, str):
            return list(step.text)
        text, pieces, at = step.text, [], 0
        if step.cut is None:
            return [word for word in text.replace(" ", " \0").split("\0") if word]
        while at < len(text):
            size = step.cut or self._random.randint(1, 12)
            pieces.append(text[at : at + size])
            at += size
        return pieces

    async def _stream(self, request: web.Request, step: Reply, body: JsonObject, entry: Entry) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        await asyncio.sleep(step.timing.first)
        for number, chunk in enumerate(self._chunks(step, body, entry)):
            if number == step.truncate_after:
                await response.write_eof()
                return response
            if number == step.disconnect_after:
                return await _tear(request, response)
            if number == step.stall_after:
                await self._leaving.wait()
                return response
            if number and step.timing.gap:
                await asyncio.sleep(step.timing.gap)
            if entry.spoke is None and _speaks(chunk):
                entry.spoke = time.monotonic() - self.began
            payload = chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)
            await self._write(response, f"data: {payload}\n\n".encode(), step.bytes_cut)
        await self._write(response, b"data: [DONE]\n\n", step.bytes_cut)
        await response.write_eof()
        return response

    async def _write(self, response: web.StreamResponse, data: bytes, cut: int | None) -> None:
        for at in range(0, len(data), cut or len(data)):
            await response.write(data[at : at + (cut or len(data))])
            if cut:
                await asyncio.sleep(0)


def check_request(body: JsonObject) -> str | None:
    """What is wrong with a chat request by the rules every provider has; None when nothing is."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: must be a non-empty list"
    waiting: list[str] = []
    for number, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ("system", "user", "assistant", "tool"):
            return f"messages[{number}]: unknown role {role!r}"
        if role == "system" and number:
            return f"messages[{number}]: system after the beginning"
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"messages[{number}]: answers no open call"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return f"messages[{number}]: calls {waiting} have no answer"
        calls = message.get("tool_calls") or []
        if calls and role != "assistant":
            return f"messages[{number}]: only the assistant calls tools"
        if not isinstance(content, str) or (not content and not calls and role != "tool"):
            return f"messages[{number}]: content is missing"
        for call in calls:
            try:
                given = json.loads(call["function"]["arguments"])
            except (ValueError, KeyError, TypeError):
                return f"messages[{number}]: arguments are not JSON"
            if not isinstance(given, dict) or call.get("type") != "function" or not call.get("id"):
                return f"messages[{number}]: a tool call has no id, type or object"
            waiting.append(call["id"])
        if len(set(waiting)) != len(waiting):
            return f"messages[{number}]: two calls with one id"
    if waiting:
        return f"calls {waiting} have no answer"
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    if len(set(names)) != len(names):
        return "tools: a name stands twice"
    if "tools" in body and not names:
        return "tools: empty"
    if "tool_choice" in body and not names:
        return "tool_choice without tools"
    return None


def _speaks(chunk: JsonObject | str) -> bool:
    """Whether a chunk carries text for the reader."""
    choices = chunk.get("choices") if isinstance(chunk, dict) else None
    return any((choice.get("delta") or {}).get("content") for choice in choices or () if choice)


def _texts(step: Reply) -> Sequence[str]:
    return [step.text] if isinstance(step.text, str) else step.text


def _raw(given: str | JsonObject) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _finish(step: Reply) -> str | None:
    if step.finish is None:
        return "tool_calls" if step.calls else "stop"
    return step.finish or None


def _usage(entry: Entry) -> JsonObject:
    given, made = entry.input_tokens, entry.output_tokens
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _error(fault: Fault) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    if fault.body is not None:
        return web.Response(status=fault.status, body=fault.body, headers=headers, content_type="text/html")
    error = {"message": fault.message, "type": "scripted", "param": None, "code": fault.code}
    return web.json_response({"error": error}, status=fault.status, headers=headers)


async def _tear(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Close the socket without a word."""
    if request.transport is not None:
        await asyncio.sleep(0.01)  # what was written has to leave first
        request.transport.abort()
    return response if response is not None else web.Response()
