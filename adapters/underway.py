"""Answers under way: what can be stopped by its asker, and ends with the program without being lost."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any


@dataclass
class Underway:
    """An answer under way; `user` asked for it."""

    user: str
    stopped: bool = False
    """True once somebody wants it no more."""
    settled: bool = False
    """True once the answer is made: from then on it is shown whatever is pressed."""
    _task: "asyncio.Task[None] | None" = None

    async def run(self, answer: Coroutine[Any, Any, None]) -> None:
        """Answer. When we are ended meanwhile, so is it: the question is taken up at the next start."""
        self._task = asyncio.create_task(answer)
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            raise

    def stop(self) -> None:
        """Have it stopped."""
        self.stopped = True
        if self._task is not None:
            self._task.cancel()
