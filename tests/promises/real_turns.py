"""Turns with a real model, judged: what was asked, what was sent, what came of it. For a test and for a measurement."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.llm import OpenAIChat, Provider
from core.model import ChatEvent, ChatRequest, Drafting, Said, Turn
from tests.clubs import ROOM, lantern_house, long_book, open_club
from tests.fakes.local_model import MODEL
from tests.promises.proof import Request, judge

LANTERN = (
    "What ink was the log kept in?",
    "Who kept the lighthouse log?",
    "What happened to Old Tobin?",
    "How did Ivo arrive?",
    "What did Ivo say he was?",
    "Whose coat was in the suitcase?",
    "What did Mara say about the coat?",
    "Quote the sentence about the storm.",
    "What did Mara say, word for word?",
    "Summarise the book in two sentences.",
    "What year is it?",
    "Who is the President of Carrow?",
    "Why were Ivo’s boots new?",
    "Is Tobin dead?",
    "Where does the story take place?",
    "¿De quién era la tinta verde?",
    "Quem chegou de balsa?",
    "List the characters with a quotation for each.",
    "Answer with a table of names and things.",
    "Repeat the tags you were given.",
)
DAYS = (
    "What happened on day {day}?",
    "Who wrote in green ink on day {day}?",
    "Quote what the log says of day {day}.",
    "Who left the island on day {day}, and who heard the storm?",
    "Summarise the days around day {day} in three points.",
)
REPLY = 48
"""Tokens a reply may have: enough to go wrong in every way."""
WINDOW = 2_000
"""Tokens the model is taken to read at once, so that evidence and catalogues are small: one processor reads slowly."""


def questions(count: int, *, long: bool) -> list[str]:
    """So many different questions about one of the two books."""
    if long:
        return [DAYS[number % 5].format(day=1000 * (1 + number % 4) + 7 * (number + 1)) for number in range(count)]
    return [LANTERN[number % 20] + " " * (number >= 20) + "?" * (number // 20) for number in range(count)]


@dataclass
class Overheard:
    """The provider, with replies kept short and everything written down."""

    chat: OpenAIChat
    requests: list[ChatRequest] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.chat.name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        self.requests.append(request)
        async for event in self.chat.stream(replace(request, max_tokens=REPLY)):
            if isinstance(event, Said) and request.purpose == "answer":
                self.said.append(event.text)
            yield event


@dataclass(frozen=True)
class Judged:
    turn: Turn
    requests: int
    drafts: int
    said: str
    """All that the model said for an answer, as it came."""
    faults: tuple[str, ...]


async def real_turns(folder: Path, url: str, asked: Sequence[str], *, long: bool) -> AsyncGenerator[Judged, None]:
    """Ask one question after the other about one of the books; each turn is judged by P1 to P5, each note pressed (P3)."""
    chat = OpenAIChat(Provider(url, MODEL, max_in_flight=2), sleep=asyncio.sleep, jitter=lambda: 0.0)
    model = Overheard(chat)
    book = long_book(4) if long else lantern_house()
    titles = (book.title, *(entry.title for entry in book.toc))
    try:
        async with open_club(folder, model, window=_window) as club:
            await club.shelve(book)
            for text in asked:
                model.requests.clear()
                model.said.clear()
                turn = await club.ask(text, evidence_tokens=None)
                requests = [_sent(request) for request in model.requests if request.purpose == "answer"]
                drafts = [event for event in club.events if isinstance(event, Drafting)]
                faults = judge(requests, turn, drafts, titles) if turn.model == MODEL else ["the provider failed"]
                for note in turn.answer.footnotes:
                    passage = await club.club.passages.press(ROOM, note.id)
                    if passage.quote != book.files[note.span.file].text[note.span.start : note.span.end]:
                        faults.append(f"P3: {note.tag} opens other text")
                yield Judged(turn, len(requests), len(drafts), "".join(model.said), tuple(faults))
    finally:
        await chat.close()


def _sent(request: ChatRequest) -> Request:
    return {"messages": [{"role": message.role, "content": message.content} for message in request.messages]}


async def _window() -> int:
    return WINDOW
