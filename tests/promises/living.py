"""A process that takes up what was left, then uploads and asks until it is killed; it prints what it acknowledged.

Its words are FOLDER NAME SEED; with NAME `-` it only takes up what was left.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from time import monotonic
from uuid import uuid4

from core.club import Club
from core.model import ChatEvent, ChatRequest, Question, Upload
from core.offline import OfflineReader
from core.store import Store
from tests.clubs import MEMBER, ROOM

QUESTIONS = (
    "What did Mara keep the log in?",
    "Whose coat was in the suitcase?",
    "Who discovered penicillin?",
    "Thanks!",
)


class Slow:
    """The offline reader with pauses, so that a kill may fall into the midst of an answer."""

    name = "slow"

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        await asyncio.sleep(0.01)
        async for event in OfflineReader().stream(request):
            yield event
            await asyncio.sleep(0.01)


def say(*words: str) -> None:
    print(*words, flush=True)  # noqa: T201  # the acknowledgement


async def uploads(club: Club, folder: Path, name: str, rng: random.Random, first_book: asyncio.Event) -> None:
    """Books that differ in a word, now and then the same one again."""
    for number in count():
        event = f"{name}-u{number}"
        path = folder / f"{event}.txt"
        edition = rng.choice((f"edition {event}", "edition one"))
        lines = "\n\n".join(f"Line {at} of the harbour book names a boat." for at in range(rng.randrange(400)))
        path.write_text(
            f"The Lantern House, {edition}\n\nMara kept the log in green ink.\n\nTobin's coat.\n\n{lines}\n"
        )
        acknowledged = False
        async for _ in club.add_book(Upload(event, ROOM, MEMBER, path, path.name)):
            if not acknowledged:
                path.unlink()  # from here on the bot's own copy is all there is
                say("upload", event)
                acknowledged = True
        first_book.set()


async def questions(club: Club, name: str, rng: random.Random, first_book: asyncio.Event) -> None:
    await first_book.wait()
    for number in count():
        event = f"{name}-q{number}"
        question = Question(event, ROOM, MEMBER, rng.choice(QUESTIONS), book="1", evidence_tokens=500)
        acknowledged = False
        async for _ in club.questions.ask(question):
            if not acknowledged:
                say("question", event)
                acknowledged = True
        # A platform that heard no answer in time delivers the same event again.
        if rng.random() < 0.3:
            async for _ in club.questions.ask(question):
                pass


async def live(folder: Path, name: str, seed: int) -> None:
    store = await Store.open("", folder / "data")
    club = Club(
        store,
        Slow(),
        OfflineReader(),
        folder / "data",
        now=lambda: datetime.now(UTC),
        clock=monotonic,
        new_id=lambda: uuid4().hex,
    )
    async for _ in club.resume(ROOM.platform):
        pass
    say("resumed", name)
    if name != "-":
        rng = random.Random(seed)
        book = asyncio.Event()
        await asyncio.gather(uploads(club, folder, name, rng, book), questions(club, name, rng, book))
    await club.close()


def main(words: Sequence[str]) -> int:
    folder, name, seed = words
    asyncio.run(live(Path(folder), name, int(seed)))
    return 0
