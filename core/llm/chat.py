"""`OpenAIChat`: any OpenAI-compatible provider as a `ChatModel`."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from core.errors import LoccitError, OperatorError, UpstreamError
from core.llm.dialect import Dialect, build_body, thinking_switches
from core.llm.failures import RETRIED, classify, error_words, read_retry_after, redact
from core.llm.line import Line
from core.llm.provider import Provider
from core.llm.wire import Events, Reply
from core.model.chat import Called, ChatEvent, ChatRequest, Said

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncAPIResponse

log = logging.getLogger(__name__)

_TAIL = 5.0
"""Seconds to wait for the usage once the reply has ended: it is worth little."""
_LONGEST = 100_000
"""Characters after which a reply is read no further: no answer is meant to be so long, and a model that repeats itself
would go on until its time is over."""
_LAST_BYTES = 0.2
"""Seconds to wait for the end of the response once all is said: a connection read to its end is used again."""


class _Refused(Exception):
    """The provider refused the shape of the request; with less it may take it."""

    def __init__(self, words: str, error: LoccitError) -> None:
        super().__init__(error.key)
        self.words = words
        self.error = error


class OpenAIChat:
    """A `ChatModel` over the chat completions API.

    What a provider refuses (usage in streams, a thinking switch, JSON mode, tools) is left out, tried again and
    remembered for this model. `sleep` waits (seconds), `jitter` gives a number in [0, 1), `now` the time of day.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        sleep: Callable[[float], Awaitable[None]],
        jitter: Callable[[], float],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        line: Line | None = None,
    ) -> None:
        self.provider = provider
        self.line = line or Line(provider)
        self.dialect = Dialect()
        self._switches = thinking_switches(provider)
        self._sleep, self._jitter, self._now = sleep, jitter, now

    @property
    def name(self) -> str:
        return self.provider.model

    def with_model(self, model: str) -> "OpenAIChat":
        """The same provider, another model: one line, one limit of requests in flight."""
        provider = replace(self.provider, model=model)
        return OpenAIChat(provider, sleep=self._sleep, jitter=self._jitter, now=self._now, line=self.line)

    async def close(self) -> None:
        """Close the line, for all models that share it."""
        await self.line.close()

    @property
    def switches_thinking(self) -> bool:
        """Whether a switch against thinking is sent, and was not refused so far."""
        return bool(self._switches[self.dialect.thinking])

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """Stream the reply. Once something was given out, a failure is no error but `Finished("")`: the reply is cut.

        Raises UpstreamError: model_down, model_rate_limited, model_timeout, model_filtered.
        Raises OperatorError: model_key_refused, model_quota, model_unknown, model_context_exceeded, model_refused.
        """
        async with AsyncExitStack() as stack:
            await self.line.take_place(request.purpose, stack)
            attempt, dialect = 0, self.dialect
            while True:
                body = build_body(request, self.name, dialect, self._switches)
                try:
                    async with aclosing(self._send(request, body, dialect)) as events:
                        async for event in events:
                            yield event
                    return
                except _Refused as refusal:
                    less = dialect.without(refusal.words, body, self._switches)
                    if less is None:
                        raise refusal.error from None
                    dialect = less
                    continue
                except LoccitError as error:  # only before the first word, see above
                    attempt += 1
                    wait = self._wait(error, attempt)
                    if wait is None:
                        raise
                    log.info("model %s: %s, attempt %d failed, next in %.1f s", self.name, error.key, attempt, wait)
                await self._sleep(wait)

    def _wait(self, error: LoccitError, attempt: int) -> float | None:
        """Seconds until the next attempt; None when there is none."""
        retries = self.provider.retries
        if error.key not in RETRIED or attempt >= retries.attempts or not isinstance(error, UpstreamError):
            return None
        if error.retry_after is not None:
            # a little later than asked, and not all at once
            return error.retry_after + 0.1 * self._jitter() if error.retry_after <= retries.longest_wait else None
        if error.key == "model_timeout":
            return None  # the time a reader waits is used up
        return min(retries.first_wait * 2.0 ** (attempt - 1), retries.longest_wait) * (0.5 + self._jitter() / 2)

    async def _send(
        self, request: ChatRequest, body: Mapping[str, Any], dialect: Dialect
    ) -> AsyncGenerator[ChatEvent, None]:
        """One attempt. Raises only before the first event."""
        patience = self.provider.timeouts
        clock = asyncio.get_running_loop().time
        end = clock() + patience.total
        limit = min(end, clock() + patience.first_token)
        # its length makes an id unique within the conversation, and the same in a repetition
        reply = Reply(f"call_{len(request.messages)}_", (message.content for message in request.messages))
        failure: LoccitError | None = None
        said = seen = False
        breaks: tuple[type[Exception], ...] = (TimeoutError, *self.line.broken)
        async with AsyncExitStack() as stack:
            response = await self._open(body, stack, limit)
            self.dialect = dialect
            events = Events()
            pieces = _pieces(response, events)
            while True:
                try:
                    # never around a yield: a timeout must not strike in the middle of the reader's own work
                    async with asyncio.timeout_at(limit):
                        found = await anext(pieces, None)
                    if found is None:
                        break
                except breaks as error:
                    if not (reply.ended or events.done):
                        late = isinstance(error, TimeoutError)
                        failure = UpstreamError("model_timeout" if late else "model_down")
                        log.info("model %s: the stream broke (%s)", self.name, type(error).__name__)
                    break
                text, failure = self._take(reply, found)
                seen = seen or bool(found)
                if events.done:
                    limit = clock() + _LAST_BYTES
                elif found:
                    limit = min(end, clock() + min(_TAIL if reply.ended else patience.total, patience.between_tokens))
                if text:
                    said = True
                    yield Said(text)
                if failure is None and events.broken:
                    failure = UpstreamError("model_down")
                if failure is not None:
                    break
                if reply.length > _LONGEST:
                    log.warning("model %s: the reply would not end", self.name)
                    reply.cut()
                    break
        if failure is None and not seen:
            failure = UpstreamError("model_down")  # 200 and nothing in it
        if failure is not None and not said:
            raise failure
        calls, finished = reply.finish()
        for call in calls:
            yield Called(call)
        yield finished

    async def _open(self, body: Mapping[str, Any], stack: AsyncExitStack, limit: float) -> "AsyncAPIResponse[Any]":
        client = await self.line.client()
        # all of it as extra body: the client's own walk through the messages costs more than sending them
        manager = client.chat.completions.with_streaming_response.create(
            model=self.name, messages=[], stream=True, extra_body=dict(body)
        )
        try:
            async with asyncio.timeout_at(limit):
                response = await stack.enter_async_context(manager)
        except TimeoutError:
            raise UpstreamError("model_timeout") from None
        except self.line.refusals as error:
            raise self._refusal(error, body) from None
        except self.line.broken as error:
            log.info("model %s: no connection (%s)", self.name, type(error.__cause__ or error).__name__)
            raise UpstreamError("model_down") from None
        if "html" in response.headers.get("content-type", ""):  # a web page stands at this address, no API
            raise OperatorError("model_unknown", model=self.name)
        return response

    def _refusal(self, error: "APIStatusError", body: Mapping[str, Any]) -> Exception:
        status, words = error.status_code, error_words(error.body)
        log.warning("model %s: HTTP %d %s", self.name, status, redact(words, self.provider.api_key))
        asked = read_retry_after(error.response.headers, self._now())
        ours = classify(status, words, model=self.name, retry_after=asked)
        toolless = status == 404 and "tools" in body and "tool" in words.lower()  # OpenRouter's way to say so
        return _Refused(words, ours) if ours.key == "model_refused" or toolless else ours

    def _take(self, reply: Reply, chunks: list[dict[str, Any]]) -> tuple[str, LoccitError | None]:
        """The text that these pieces add, and the error that one of them is."""
        texts: list[str] = []
        for chunk in chunks:
            if chunk.get("error"):
                return "".join(texts), self._stream_error(chunk)
            texts.append(reply.feed(chunk))
        return "".join(texts), None

    def _stream_error(self, chunk: Mapping[str, Any]) -> LoccitError:
        words = error_words(chunk)
        log.warning("model %s: error in the stream: %s", self.name, redact(words, self.provider.api_key))
        code = chunk["error"].get("code") if isinstance(chunk["error"], Mapping) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        return classify(429 if "rate_limit" in words.lower() else status, words, model=self.name)


async def _pieces(response: "AsyncAPIResponse[Any]", events: Events) -> AsyncIterator[list[dict[str, Any]]]:
    """The objects of the stream, as many at a time as arrived together; a host that does not stream gives one."""
    if "json" in response.headers.get("content-type", "").split(";")[0]:
        # as one event: a broken body is then a broken stream
        yield events.feed(b"data:" + (await response.read()).replace(b"\n", b" ").lstrip() + b"\n")
        return
    async for data in response.iter_bytes():
        yield events.feed(data)
    yield events.close()
