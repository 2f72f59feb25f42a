"""One turn: evidence first, then the loop, then the outcome; every rule about what may stand as an answer is here."""

from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import datetime

from core import document, prompts
from core.asking import history
from core.asking.loop import Draft, Loop, Spoken, executed
from core.asking.smalltalk import is_chat
from core.asking.unreadable import unreadable
from core.errors import OperatorError, UpstreamError
from core.footnotes import Settled, Settler
from core.limits import say_limit
from core.model import (
    Answer,
    Answered,
    AskEvent,
    ChatModel,
    Document,
    Drafting,
    Emphasis,
    Footnote,
    Message,
    Notice,
    Outcome,
    Paragraph,
    Question,
    Searching,
    Span,
    Text,
    Turn,
    Usage,
)
from core.prompts import tools as texts
from core.retrieval import LOOKED_UP, Evidence, Ranks, Source, Tools
from core.strings import ranges, say
from core.tags import tag

OFFLINE = "offline"
_ENDINGS = {"length": "answer_cut", "content_filter": "answer_filtered", "": "answer_broke_off"}
"""What is said when a reply did not end by itself."""


class TurnRun:
    """Answers one question. Nothing it yields is stored yet; the caller stores `Answered` before showing it."""

    def __init__(
        self,
        question: Question,
        sources: Sequence[Source],
        earlier: Turn | None,
        ranks: Ranks,
        model: ChatModel,
        fallback: ChatModel,
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._question = question
        self._sources = sources
        self._evidence = Evidence(sources)
        self._earlier = earlier
        self._ranks = ranks
        self._model = model
        self._fallback = fallback
        self._clock = clock
        self._new_id = new_id
        self._locale = question.reader.locale
        self._stamps: dict[str, str] = {}
        self._notes: dict[Span, str] = {}

    async def events(self, asked_at: datetime) -> AsyncGenerator[AskEvent, None]:
        """Yield searches and drafts; the last event is `Answered`."""
        notices: list[Notice] = []
        model = self._model
        try:
            async for event in self._attempt(model, asked_at, notices):
                yield event
        except (UpstreamError, OperatorError) as error:
            if model is self._fallback or self._question.without_book:
                raise
            notices = [Notice(error.key, error.params), Notice("interim_quotes")]
            self._evidence = Evidence(self._sources)
            async for event in self._attempt(self._fallback, asked_at, notices):
                yield event

    async def _attempt(
        self, model: ChatModel, asked_at: datetime, notices: list[Notice]
    ) -> AsyncGenerator[AskEvent, None]:
        if self._question.without_book:
            yield await self._general(model, asked_at)
            return
        if is_chat(self._question.text):
            yield await self._chat(model, asked_at, notices)
            return
        blind = self._unreadable()
        if blind:
            yield self._cannot_read(blind, asked_at)
            return
        tools = Tools(self._evidence, self._ranks, model, self._question.evidence_tokens or LOOKED_UP)
        prompt = prompts.answer(self._card(), self._question.text)
        self._stamps["answer"] = prompt.stamp
        earlier = history.exchange(self._earlier) if self._earlier else ()
        messages = [Message("system", prompt.system), *earlier, Message("user", prompt.user)]
        loop = Loop(model, tools, messages, lambda: self._settler(grounded=True), self._clock)

        wanted = history.search_words(self._question.text, self._earlier)
        yield Searching(wanted)
        given = None if self._question.evidence_tokens else await tools.whole_book()
        if given is None:
            given = await tools.find_in_book(wanted)
        messages += executed(texts.FIND.name, wanted, given)
        loop.remember(texts.FIND.name, wanted)

        spoken: Spoken | None = None
        for retry in (False, True):
            if retry and not await self._try_again(loop, tools, model, spoken):
                break
            async for event in loop.run():
                if isinstance(event, Draft):
                    if self._limited and not event.runs:
                        continue  # words without proof may be what the model knows of later chapters
                    yield Drafting(self._parsed(event.markdown, event.runs), self._footnotes(event.runs))
                elif isinstance(event, Spoken):
                    spoken = event
                else:
                    yield event
            if spoken is not None and spoken.settled.runs:
                break
        assert spoken is not None  # the loop always ends by speaking
        usage = loop.usage + tools.usage
        if spoken.settled.runs:
            if model.name == OFFLINE and not notices:
                notices.append(Notice("quotes_only"))
            if spoken.reason in _ENDINGS:
                notices.append(Notice(_ENDINGS[spoken.reason]))
            body = self._parsed(spoken.settled.markdown, spoken.settled.runs)
            yield self._answered(body, spoken.settled, "grounded", notices, usage, model, asked_at)
            return
        body = self._not_in_book(spoken.settled)
        yield self._answered(body, spoken.settled, "not_in_book", notices, usage, model, asked_at)

    async def _try_again(self, loop: Loop, tools: Tools, model: ChatModel, spoken: Spoken | None) -> bool:
        """Before "not in the book" may stand: selection must have run, and the model is asked once more."""
        if spoken is None or model.name == OFFLINE:
            return False
        if spoken.raw:
            loop.messages.append(Message("assistant", spoken.raw))
        prompt = prompts.retry()
        self._stamps["retry"] = prompt.stamp
        loop.messages.append(Message("user", prompt.user))
        if not tools.selected:
            found = await tools.related_segments(self._question.text)
            loop.messages += executed(texts.RELATED.name, self._question.text, found)
        return True

    async def _chat(self, model: ChatModel, asked_at: datetime, notices: list[Notice]) -> Answered:
        """Small talk: one call without evidence; without a model a fixed sentence."""
        usage = Usage()
        settler = self._settler(grounded=False)
        if model.name == OFFLINE:
            settled = settler.finish("stop")
            body = _sentence(say("chat_offline", self._locale))
        else:
            prompt = prompts.chat(self._question.text)
            self._stamps["chat"] = prompt.stamp
            messages = [Message("system", prompt.system), Message("user", prompt.user)]
            loop = Loop(model, None, messages, lambda: settler, self._clock)
            settled = settler.finish("stop")
            async for event in loop.run():
                if isinstance(event, Spoken):
                    settled = event.settled
            usage = loop.usage
            body = self._parsed(settled.markdown, ())
        return self._answered(body, settled, "chat", notices, usage, model, asked_at)

    def _unreadable(self) -> list[str]:
        """The pages the question names that are pictures."""
        if len(self._sources) != 1 or not self._sources[0].blind:
            return []
        source = self._sources[0]
        return unreadable(self._question.text, [source.label(file) for file in range(source.files)], source.blind)

    def _cannot_read(self, pages: list[str], asked_at: datetime) -> Answered:
        """Nothing is looked up or asked of a model: what stands on a picture is not known."""
        body = _sentence(say("page_unreadable", self._locale, count=len(pages), pages=", ".join(pages)))
        settled = self._settler(grounded=False).finish("stop")
        return self._answered(body, settled, "not_in_book", [], Usage(), self._fallback, asked_at)

    async def _general(self, model: ChatModel, asked_at: datetime) -> Answered:
        """General knowledge on explicit wish: no tools, no notes, marked as not from the book."""
        if model.name == OFFLINE:
            raise OperatorError("no_model")
        prompt = prompts.general(self._card(), self._question.text)
        self._stamps["general"] = prompt.stamp
        messages = [Message("system", prompt.system), Message("user", prompt.user)]
        loop = Loop(model, None, messages, lambda: self._settler(grounded=False), self._clock)
        notices: list[Notice] = []
        settled: Settled | None = None
        async for event in loop.run():
            if isinstance(event, Spoken):
                settled = event.settled
                if event.reason in _ENDINGS:
                    notices.append(Notice(_ENDINGS[event.reason]))
        assert settled is not None  # the loop always ends by speaking
        body = (self._mark(), *self._parsed(settled.markdown, ()))
        return self._answered(body, settled, "general_knowledge", notices, loop.usage, model, asked_at)

    def _card(self) -> str:
        """What the model is told of the books beforehand."""
        return "\n\n".join(
            prompts.book_card(source.card.title, source.card.authors, say_limit(source.limit) if source.bounded else "")
            for source in self._sources
        )

    @property
    def _limited(self) -> bool:
        return any(source.bounded for source in self._sources)

    def _names_reach(self) -> bool:
        """In a group, until somebody has said how far the club is, every answer says that it is from the whole book."""
        group = self._question.conversation.platform != "console" and not self._question.private
        return group and any(source.card.limit_words is None for source in self._sources)

    def _mark(self) -> Paragraph:
        """The line above words that do not come from the book."""
        return Paragraph((Emphasis((Text(say("not_from_the_book", self._locale)),), strong=True),))

    def _not_in_book(self, settled: Settled) -> Document:
        """Our sentence that the book does not say it; then the model's words, if any, marked as not from the book.

        Under a reading limit the sentence stands alone: "later" and "not at all" read the same, and what a model knows
        of the book by itself may lie ahead of the club.
        """
        books = self._evidence.sources
        title = books[0].card.title if len(books) == 1 else ""
        key = ("not_in_book" if title else "not_in_books") + ("_so_far" if self._limited else "")
        reach = say_limit(books[0].limit, self._locale)
        sentence = _sentence(say(key, self._locale, title=title, reach=reach))
        blind = [page + 1 for source in books for page in source.blind]
        if blind and title:
            pages = ranges(blind)
            sentence += _sentence(say("pages_not_looked_at", self._locale, count=len(blind), pages=pages))
        if not settled.markdown or self._limited:
            return sentence
        return (*sentence, self._mark(), *self._parsed(settled.markdown, ()))

    def _settler(self, *, grounded: bool) -> Settler:
        titles = [source.card.title for source in self._evidence.sources]
        titles += [chapter.title for source in self._evidence.sources for chapter in source.chapters]
        languages = {source.language for source in self._evidence.sources}
        return Settler(
            self._evidence.texts,
            self._evidence.passages,
            exempt=(self._question.text, *titles),
            grounded=grounded,
            language=languages.pop() if len(languages) == 1 else None,
        )

    def _answered(
        self,
        body: Document,
        settled: Settled,
        outcome: Outcome,
        notices: list[Notice],
        usage: Usage,
        model: ChatModel,
        asked_at: datetime,
    ) -> Answered:
        notes = settled.runs if outcome == "grounded" else ()
        if outcome in ("grounded", "not_in_book") and self._names_reach():
            notices = [*notices, Notice("reach")]
        answer = Answer(
            body,
            self._footnotes(notes),
            outcome,
            settled.dropped,
            tuple(notices),
        )
        sources = self._evidence.sources
        return Answered(
            Turn(
                id=self._new_id(),
                conversation=self._question.conversation,
                question=self._question.text,
                answer=answer,
                books=tuple((source.sha256, source.text_version) for source in sources),
                evidence=tuple(self._evidence.windows),
                usage=usage,
                model=model.name,
                limit=sources[0].limit,
                asked_at=asked_at,
                reply_to=self._earlier.id if self._earlier else None,
                stamps=dict(self._stamps),
            )
        )

    def _parsed(self, markdown: str, runs: Sequence[Span]) -> Document:
        """Settled Markdown as a tree; a link lives only when its address stands in a cited passage (P12)."""
        return document.parse(markdown, lambda address: any(address in self._evidence.texts[run] for run in runs))

    def _footnotes(self, runs: Sequence[Span]) -> tuple[Footnote, ...]:
        found = []
        for number, run in enumerate(runs, 1):
            source, span = self._evidence.origin(run)
            note = self._notes.setdefault(run, self._new_id())
            found.append(Footnote(number, tag(run), source.sha256, source.text_version, span, note))
        return tuple(found)


def _sentence(text: str) -> Document:
    return (Paragraph((Text(text),)),)
