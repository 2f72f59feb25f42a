"""A process that accepts uploads and questions until it is killed, and prints each one once it is acknowledged.

Its words are URL FOLDER NAME; an empty URL means SQLite.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from core.store import Store
from tests.core.stores import NOON, ROOM, question_of, upload_of


async def upload(url: str, folder: Path, name: str) -> None:
    store = await Store.open(url, folder)
    channel = await store.shelf.channel(ROOM, NOON)
    source = folder / f"{name}.txt"
    for number in count():
        data = f"{name} {number} ".encode() * 5000
        source.write_bytes(data)
        sha256 = await store.originals.put(source)
        assert sha256 == hashlib.sha256(data).hexdigest()
        await store.inbox.accept_upload(upload_of(f"{name}-u{number}", source), channel, sha256, len(data), NOON)
        print(f"upload {name}-u{number} {sha256}", flush=True)  # noqa: T201 - the acknowledgement
        await store.inbox.accept_question(question_of(f"{name}-q{number}"), channel, NOON)
        print(f"question {name}-q{number} -", flush=True)  # noqa: T201


def main(words: Sequence[str]) -> int:
    url, folder, name = words
    asyncio.run(upload(url, Path(folder), name))
    return 0
