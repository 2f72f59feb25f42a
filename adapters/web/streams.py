"""How bytes travel: lines to the browser while work goes on, news to every open window, a book's bytes into a file."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import web

from adapters.web import guard
from core.errors import BadBook
from core.strings import say

LARGEST_BOOK = 50_000_000
"""Bytes; what the core takes. Checked here too, so that no more than this is ever written down."""
_HEARTBEAT = 20.0
"""Seconds after which an idle stream of news says that it is alive."""

Line = dict[str, Any]


class Streams:
    """What is under way, and the windows that are open. The browser may leave at any time: work goes on."""

    def __init__(self, new_id: Callable[[], str], stopped: Callable[[str], Awaitable[None]]) -> None:
        """`stopped` puts on record that a reader wants no more of an event, before anybody is told that it ended."""
        self._new_id = new_id
        self._record = stopped
        self._work: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()
        self._windows: set[asyncio.Queue[Line | None]] = set()

    async def close(self) -> None:
        """End the streams of news and the work under way; everything acknowledged is stored."""
        for window in self._windows:
            window.put_nowait(None)
        under_way = list(self._work.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def stop(self, event: str) -> None:
        """A reader wants no more of this: it ends, and is not taken up again. What is no longer under way is let be."""
        task = self._work.get(event)
        if task is not None:
            self._stopped.add(event)
            task.cancel()
            await asyncio.wait({task})

    async def send(
        self, request: web.Request, event: str, lines: AsyncIterator[Line], locale: str | None
    ) -> web.StreamResponse:
        """Send lines as they come. `event` names the work, for `stop`. Making them is a task of its own: a browser that leaves does not end it."""
        queue: asyncio.Queue[Line | None] = asyncio.Queue()

        async def work() -> None:
            try:
                async for line in lines:
                    queue.put_nowait(line)
            except asyncio.CancelledError:
                if event in self._stopped:
                    queue.put_nowait({"do": "failed", "text": await self._ended(event, locale)})
                raise
            except Exception as error:  # noqa: BLE001  # this task's outer edge: the reader is told in one sentence
                queue.put_nowait({"do": "failed", "text": self._explained(error, locale)})
            finally:
                queue.put_nowait(None)
                self._work.pop(event, None)
                self._stopped.discard(event)

        self._work[event] = asyncio.create_task(work())
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson; charset=utf-8"})
        guard.set_headers(response)
        with suppress(ConnectionError):
            await response.prepare(request)
            while (line := await queue.get()) is not None:
                await response.write(json.dumps(line).encode() + b"\n")
            await response.write_eof()
        return response

    async def _ended(self, event: str, locale: str | None) -> str:
        try:
            await self._record(event)
        except Exception as error:  # noqa: BLE001  # the outer edge of stopping: the reader is told in one sentence
            return self._explained(error, locale)
        return say("answer_stopped", locale)

    def _explained(self, error: Exception, locale: str | None) -> str:
        sentence, _ = guard.explain(error, locale, self._new_id)
        return sentence

    async def news(self, request: web.Request) -> web.StreamResponse:
        """What nobody in this window asked for: answers that a restart or an outage held up (server-sent events)."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        guard.set_headers(response)
        window: asyncio.Queue[Line | None] = asyncio.Queue()
        self._windows.add(window)
        try:
            await response.prepare(request)
            await response.write(b": \n\n")
            while True:
                try:
                    async with asyncio.timeout(_HEARTBEAT):  # not wait_for, which can hide that the page is stopped
                        line = await window.get()
                except TimeoutError:
                    await response.write(b": \n\n")
                    continue
                if line is None:
                    break
                await response.write(b"data: " + json.dumps(line).encode() + b"\n\n")
        except ConnectionError:
            pass
        finally:
            self._windows.discard(window)
        return response

    @property
    def watched(self) -> bool:
        """Whether any window is open."""
        return bool(self._windows)

    def tell(self, line: Line) -> None:
        """Send a line to every open window."""
        for window in self._windows:
            window.put_nowait(line)


async def receive(request: web.Request, folder: Path) -> Path:
    """The body of a request as a file under a name of our own. Raises BadBook for one that is too large."""
    descriptor, name = await asyncio.to_thread(tempfile.mkstemp, dir=folder)
    path, size = Path(name), 0
    try:
        with open(descriptor, "wb") as file:  # noqa: ASYNC230  # it is open already; the writes are off the loop
            async for piece in request.content.iter_chunked(256 * 1024):
                size += len(piece)
                if size > LARGEST_BOOK:
                    told = max(size, request.content_length or 0)
                    raise BadBook("book_too_large", size=-(-told // 1_000_000), limit=LARGEST_BOOK // 1_000_000)
                await asyncio.to_thread(file.write, piece)
    except BaseException:
        await asyncio.to_thread(path.unlink)
        raise
    return path


async def read_json(request: web.Request) -> dict[str, Any]:
    """The body of a request as an object. Raises HTTPBadRequest."""
    try:
        said = json.loads(await request.text())
    except (ValueError, RecursionError, LookupError) as error:
        raise web.HTTPBadRequest from error
    if not isinstance(said, dict):
        raise web.HTTPBadRequest
    return said
