"""The main thread of the dialogue: reads lines while the event loop works in a thread of its own.

So Ctrl-C always reaches the reader's side: it stops the waiting, never the work.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from adapters.console import view
from adapters.console.app import Console
from adapters.console.terminal import Page, Terminal

_Result = TypeVar("_Result")


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A running event loop in a thread; at the end its tasks are cancelled and waited for."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="event loop", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_wind_up(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cancel(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _wind_up() -> None:
    loop = asyncio.get_running_loop()
    await _cancel({task for task in asyncio.all_tasks() if task is not asyncio.current_task()})
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


class _Dialogue:
    """What is under way: the line being waited for, and those that go on in the background."""

    def __init__(self, loop: asyncio.AbstractEventLoop, terminal: Terminal, console: Console) -> None:
        self._loop = loop
        self._terminal = terminal
        self._console = console
        self._background: list[tuple[Page, Future[Any]]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    def _begin(self, work: Coroutine[Any, Any, _Result]) -> "Future[_Result]":
        async def begun() -> _Result:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                return await work
            finally:
                self._tasks.discard(task)

        return asyncio.run_coroutine_threadsafe(begun(), self._loop)

    async def end(self) -> None:
        """End what was begun here, before the doors are closed. What keeps the doors open is not ours: a pool of connections
        whose own tasks are gone cannot be closed any more."""
        await _cancel(set(self._tasks))

    def wait(self, work: Callable[[Page], Coroutine[Any, Any, _Result]]) -> _Result | None:
        """The result of `work`; None when Ctrl-C ended the waiting and the work goes on in the background."""
        page = Page(self._terminal)
        future = self._begin(work(page))
        try:
            return future.result()
        except KeyboardInterrupt:
            page.withdraw()
            self._background.append((page, future))
            self._terminal.write("\n" + _text(self._terminal, "console_background"))
            return None

    def behind(self, work: Callable[[Page], Coroutine[Any, Any, None]]) -> None:
        """Let `work` go on behind the dialogue; what it says is shown when it has finished."""
        page = Page(self._terminal)
        future = self._begin(work(page))
        page.withdraw()
        self._background.append((page, future))

    def catch_up(self) -> None:
        """Show what has finished in the background."""
        for page, _ in [entry for entry in self._background if entry[1].done()]:
            page.catch_up()
            asyncio.run_coroutine_threadsafe(self._console.mark(page), self._loop).result()
        self._background = [entry for entry in self._background if not entry[1].done()]

    @property
    def busy(self) -> bool:
        return any(not future.done() for _, future in self._background)


def talk(
    open_console: Callable[[], Coroutine[Any, Any, Console]],
    terminal: Terminal,
    *,
    books: Sequence[Path] = (),
    script: Sequence[str] = (),
    listen: bool = True,
) -> None:
    """Hold the dialogue until the reader leaves or the input ends: first `books`, then the lines of `script` (shown as if
    they were typed), then, with `listen`, the reader's own. The first book becomes the one that questions are about.

    Raises KeyboardInterrupt when Ctrl-C was typed at the prompt; everything acknowledged is stored by then.
    """
    with _event_loop() as loop:

        def call(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

        console = call(open_console())
        dialogue = _Dialogue(loop, terminal, console)
        try:
            dialogue.wait(console.resume)
            for path in books:
                dialogue.wait(partial(console.add, path, use=path is books[0]))
            dialogue.wait(console.greet)
            for line in script:
                terminal.write(f"> {line}\n")
                dialogue.wait(partial(console.hear, line))
            if listen:
                _listen(console, dialogue, terminal)
            dialogue.catch_up()
            if dialogue.busy:
                terminal.write(_text(terminal, "console_kept"))
        finally:
            call(dialogue.end())
            call(console.close())


def _listen(console: Console, dialogue: _Dialogue, terminal: Terminal) -> None:
    waiting = False
    while True:
        if console.keeps and not waiting:
            dialogue.behind(console.answer_kept)
        waiting = console.keeps
        dialogue.catch_up()
        line = terminal.read()
        if line is None or dialogue.wait(partial(console.hear, line)) is False:
            return


def _text(terminal: Terminal, key: str) -> str:
    return "\n".join(view.sentence(terminal.look(), key)) + "\n"
