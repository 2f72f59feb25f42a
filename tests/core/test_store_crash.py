"""kill -9 in the midst of uploads and questions: what was acknowledged is there afterwards (P7)."""

import asyncio
import os
import random

from tests import programs
from tests.core.stores import Place

_KILLS = 10
_TOGETHER = 2


async def _accept_and_kill(place: Place, name: str, acknowledgements: int, delay: float) -> list[list[str]]:
    """Everything that the process acknowledged before it was killed in its work."""
    process = await programs.start(
        "tests.core.uploading",
        *(place.url, place.folder, name),
        environment={"PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    lines: list[bytes] = []
    try:
        while len(lines) < acknowledgements:
            line = await process.stdout.readline()
            assert line, "the process ended before it was killed"
            lines.append(line)
        await asyncio.sleep(delay)
    finally:
        process.kill()
    lines += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()
    return [line.decode().split() for line in lines if line.endswith(b"\n")]


async def test_ten_kills_lose_no_acknowledged_upload_or_question(place: Place) -> None:
    place.folder.mkdir()
    rng = random.Random(11)
    acknowledged: list[list[str]] = []
    for first in range(0, _KILLS, _TOGETHER):
        kills = [
            _accept_and_kill(place, f"p{number}", rng.randrange(1, 16), rng.random() * 0.02)
            for number in range(first, first + _TOGETHER)
        ]
        acknowledged += [line for lines in await asyncio.gather(*kills) for line in lines]
    assert len(acknowledged) >= _KILLS

    store = await place.open()
    try:
        uploads = {row.upload.event: row for row in await store.inbox.unfinished_uploads("console")}
        questions = {row.question.event for row in await store.inbox.unfinished_questions("console")}
        for kind, event, sha256 in acknowledged:
            if kind == "question":
                assert event in questions
            else:
                assert uploads[event].sha256 == sha256
        # Rows that were not acknowledged in time may be there too, but never without their bytes.
        for row in uploads.values():
            path = await store.originals.checked(row.sha256)
            assert path.stat().st_size == row.size
    finally:
        await store.close()
