"""How a task beside an answer is ended: once, and without losing our own end meanwhile."""

import asyncio
import logging

log = logging.getLogger(__name__)


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task unless that was done before, and wait until it has ended; what it failed on is logged.

    Whoever is cancelled while waiting hears of it (`await task` under `suppress` would hide that), and the task is not cut
    off in what it finishes: a second call waits for the rest.
    """
    if not task.cancelling():
        task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        log.info("ended by a failure", exc_info=error)
