"""Journey: a stored book's segments summarised by a model, one call each, in parallel; what is done stays done."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from core import prompts, tags
from core.errors import LoccitError, OperatorError, UpstreamError
from core.llm.provider import DEFAULT_CONTEXT
from core.model import Called, ChatModel, ChatRequest, Finished, Message, Said, Segment, Usage
from core.prompts import tools
from core.retrieval.standins import Pieces, segment_pieces, summarised_segments
from core.store import EXTRACTIVE, Store, Summary
from core.summaries.judging import Unusable, settle_summary
from core.summaries.parts import join, split

INPUT = 24_000
"""Tokens of tagged text one summary is made of at most; no segment is longer, unless its book has no paragraphs."""
_SHARE = 3
"""A third of the model's window goes to the text: our estimate misses up to a half, and the reply needs room too."""
_SMALLEST = 250
_REPLY = 1_000
"""Tokens; 150 words with their tags take 250 to 600, by language. The second attempt gets twice as many."""
_ATTEMPTS = 2
_AFTER = " after "
"""Stands in the stamp of a flagged summary before the number of attempts, so that a refresh makes new ones."""


@dataclass(frozen=True, slots=True)
class Summarised:
    """How far a book is. `usage` is what this run has cost; replies from the ledger cost nothing."""

    done: int
    total: int
    flagged: int
    """Segments that kept what they had because the model gave nothing usable."""
    usage: Usage


class Superseded(Exception):
    """Somebody said stop, or another process took the book over."""


@dataclass(slots=True)
class _Job:
    """One book at work."""

    sha256: str
    text_version: str
    pieces: dict[int, Pieces]
    budget: int
    mine: Callable[[], Awaitable[bool]] | None
    usage: Usage = field(default_factory=Usage)


class Summaries:
    """Summarises books. One run a book at a time; a second waits and finds the work done.

    `model` should stand on the call ledger (`core.ledgered`), so that no finished reply is paid for twice. `window`
    tells the model's window in tokens, asked once when it is needed; without it one of 128,000 is assumed. `parallel`
    bounds the calls that are not yet on record, which is what a crash may lose; twice as many segments are at work, for
    storing one must not keep the next from being asked for.
    """

    def __init__(
        self,
        store: Store,
        model: ChatModel,
        window: Callable[[], Awaitable[int]] | None = None,
        *,
        parallel: int = 8,
    ) -> None:
        self._store = store
        self._model = model
        self._window = window
        self._calls = asyncio.Semaphore(parallel)
        self._at_work = 2 * parallel
        # One book at a time: several threads that compute hold up everybody who asks, for they share one interpreter.
        self._preparing = asyncio.Semaphore(1)
        self._budget = 0
        self._most_reply = 0
        self._running: dict[tuple[str, str], asyncio.Lock] = {}

    async def summarise(
        self,
        sha256: str,
        text_version: str,
        *,
        refresh: bool = False,
        mine: Callable[[], Awaitable[bool]] | None = None,
    ) -> AsyncGenerator[Summarised, None]:
        """Summarise what no model was asked about yet; yield at the beginning and after each segment, stored by then.

        `refresh`: also what is flagged, or was made with another version of the prompt. Calling it again goes on.
        `mine` is asked before each call whether this run still has the book.
        Raises UpstreamError (trying later helps) or OperatorError once the calls under way have ended, and Superseded.
        """
        async with self._running.setdefault((sha256, text_version), asyncio.Lock()):
            async with self._preparing:
                segments = await summarised_segments(self._store, sha256, text_version)
            waiting = [segment for segment in segments if _waits(segment, refresh)]
            flagged = sum(bool(segment.flags) for segment in segments if segment not in waiting)
            done = len(segments) - len(waiting)
            if waiting and not self._budget:
                tokens = await self._window() if self._window is not None else DEFAULT_CONTEXT
                self._budget = min(INPUT, max(_SMALLEST, tokens // _SHARE))
                self._most_reply = max(_SMALLEST, tokens // 4)
            job = _Job(sha256, text_version, await self._pieces(sha256, text_version, waiting), self._budget, mine)
            yield Summarised(done, len(segments), flagged, job.usage)
            failure: LoccitError | Superseded | None = None
            todo = iter(waiting)
            flying: set[asyncio.Task[bool]] = set()
            try:
                while True:
                    while failure is None and len(flying) < self._at_work and (segment := next(todo, None)):
                        flying.add(asyncio.create_task(self._one(job, segment)))
                    if not flying:
                        break
                    landed, flying = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                    for task in landed:
                        try:
                            flagged += not task.result()
                        except (LoccitError, Superseded) as error:
                            failure = failure or error
                            continue
                        done += 1
                        yield Summarised(done, len(segments), flagged, job.usage)
            finally:
                for task in flying:
                    task.cancel()
                await asyncio.gather(*flying, return_exceptions=True)
            if failure is not None:
                raise failure

    async def _pieces(self, sha256: str, text_version: str, waiting: Sequence[Segment]) -> dict[int, Pieces]:
        if not waiting:
            return {}
        async with self._preparing:
            book = await self._store.books.parsed(sha256, text_version)
            found = await asyncio.to_thread(segment_pieces, book)
        return {segment.sequence: found[segment.sequence] for segment in waiting}

    async def _one(self, job: _Job, segment: Segment) -> bool:
        """Summarise and store; False when what was there stays, flagged."""
        made_by, asked = _made_by(segment)
        try:
            text = await self._summary(job, segment.title, job.pieces.pop(segment.sequence), asked)
            made = Summary(text, f"{prompts.load('summarise').stamp} {self._model.name}")
        except Unusable as unusable:
            # What stands there stays: the extraction, or what an earlier prompt brought.
            made = Summary(segment.summary or "", f"{made_by}{_AFTER}{asked + _ATTEMPTS}", (str(unusable),))
        await self._store.books.save_summaries(
            job.sha256, job.text_version, {segment.sequence: made}, over={segment.sequence: segment.stamp}
        )
        return not made.flags

    async def _summary(self, job: _Job, title: str, pieces: Pieces, asked: int) -> str:
        """One call, or one for each part that fits the window and one more to put them together."""
        if not pieces:
            raise Unusable("empty")
        while True:
            budget = job.budget
            try:
                texts = [tags.annotate(part) for part in split(pieces, budget)]
                while len(texts) > 1:
                    texts = [await self._asked_for(job, title, text, pieces, asked) for text in texts]
                    texts = join(texts, budget)
                return await self._asked_for(job, title, texts[0], pieces, asked)
            except OperatorError as error:
                if error.key != "model_context_exceeded" or budget <= _SMALLEST:
                    raise
                job.budget = self._budget = min(self._budget, max(budget // 2, _SMALLEST))

    async def _asked_for(self, job: _Job, title: str, text: str, pieces: Pieces, asked: int) -> str:
        """Two attempts at a usable summary of `text`, whose tags are those of `pieces`. Raises Unusable."""
        prompt = prompts.summarise(title, tools.fence(text))
        flag = ""
        for attempt in range(asked, asked + _ATTEMPTS):
            request = ChatRequest(
                (Message("system", prompt.system), Message("user", prompt.user)),
                purpose="summarise",
                max_tokens=min(_REPLY * (1 + attempt - asked), self._most_reply),
                # Never sent; it makes another attempt another row of the ledger.
                stamp=f"{prompt.stamp}#{attempt}" if attempt else prompt.stamp,
                book=job.sha256,
            )
            try:
                async with self._calls:
                    if job.mine is not None and not await job.mine():
                        raise Superseded
                    draft, called, end = await self._reply(job, request)
            except UpstreamError as error:
                if error.key != "model_filtered":
                    raise
                flag = "refused"
                continue
            try:
                return settle_summary(draft, pieces, called=called, reason=end)
            except Unusable as unusable:
                flag = str(unusable)
        if flag == "broken":
            raise UpstreamError("model_down")
        raise Unusable(flag)

    async def _reply(self, job: _Job, request: ChatRequest) -> tuple[str, bool, str]:
        """The reply's text, whether it called a tool (none was offered), and how it ended."""
        said: list[str] = []
        called = False
        reason = ""
        async for event in self._model.stream(request):
            if isinstance(event, Said):
                said.append(event.text)
            elif isinstance(event, Called):
                called = True
            elif isinstance(event, Finished):
                job.usage += event.usage
                reason = event.reason
        return "".join(said), called, reason


def _waits(segment: Segment, refresh: bool) -> bool:
    if segment.flags:
        return refresh
    if segment.stamp.startswith(EXTRACTIVE) or not segment.stamp:
        return True
    return refresh and segment.stamp.split()[0] != prompts.load("summarise").stamp


def _made_by(segment: Segment) -> tuple[str, int]:
    """The stamp of what stands on a segment, and how often a model was asked in vain since."""
    stamp, _, times = segment.stamp.partition(_AFTER)
    return stamp, int(times) if times.isdecimal() else 0
