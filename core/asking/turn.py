"""One turn: evidence first, then the loop, then the outcome; every rule about what may stand as an answer is here."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core import document, prompts
from core.asking import history, wording
from core.asking.loop import Draft, Loop, Spoken, executed
from core.asking.overviews import is_overview
from core.asking.smalltalk import is_chat
from core.asking.unreadable import unreadable
from core.errors import LimitReached, OperatorError, ReaderError, UpstreamError
from core.footnotes import Settled, Settler
from core.limits import say_limit
from core.model import (
    Answer,
    Answered,
    AskEvent,
    ChatModel,
    Document,
    Drafting,
    Footnote,
    Message,
    Notice,
    Outcome,
    Question,
    Searching,
    Span,
    Turn,
    Usage,
)
from core.offline import closest
from core.prompts import tools as texts
from core.retrieval import Budgets, Evidence, Ranks, Source, Tools
from core.strings import say
from core.tags import defuse, tag

OFFLINE = "offline"
_ENDINGS = {"length": "answer_cut", "content_filter": "answer_filtered", "": "answer_broke_off"}
"""What is said when a reply did not end by itself."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a turn is answered with. `fallback` quotes while `model` cannot be reached."""

    ranks: Ranks
    model: ChatModel
    fallback: ChatModel
    budgets: Budgets
    closing_think: bool
    """True for a model known to send its reasoning with only a closing mark: nothing is shown before that."""
    clock: Callable[[], float]
    new_id: Callable[[], str]


class TurnRun:
    """Answers one question. Nothing it yields is stored yet; the caller stores `Answered` before showing it."""

    def __init__(self, question: Question, sources: Sequence[Source], earlier: Turn | None, means: Means) -> None:
        self._question = question
        self._sources = sources
        self._evidence = Evidence(sources)
        self._earlier = earlier
        self._means = means
        self._locale = question.reader.locale
        self._stamps: dict[str, str] = {}
        self._notes: dict[Span, str] = {}
        self.interim = False
        """True when the provider failed and the answer only quotes meanwhile."""
        self.saw_closing_think = False

    async def events(self, asked_at: datetime, *, interim: bool = True) -> AsyncGenerator[AskEvent, None]:
        """Yield searches and drafts; the last event is `Answered`.

        With `interim`, a provider that fails is replaced by quotations and named; else its error is raised.
        """
        notices: list[Notice] = []
        model = self._means.model
        try:
            async for event in self._attempt(model, asked_at, notices):
                yield event
        except LimitReached as error:
            # No outage to wait for: this is the answer, and the money of the next day is for its own questions.
            notices = [Notice(error.key, error.params), Notice("quotes_at_limit")]
            self._evidence = Evidence(self._sources)
            self._question = replace(self._question, without_book=False)
            async for event in self._attempt(self._means.fallback, asked_at, notices):
                yield event
        except (UpstreamError, OperatorError) as error:
            if not interim or model is self._means.fallback or self._question.without_book:
                raise
            self.interim = True
            notices = [Notice(error.key, error.params), Notice("interim_quotes")]
            self._evidence = Evidence(self._sources)
            async for event in self._attempt(self._means.fallback, asked_at, notices):
                yield event

    async def _attempt(
        self, model: ChatModel, asked_at: datetime, notices: list[Notice]
    ) -> AsyncGenerator[AskEvent, None]:
        blind = self._unreadable()
        if self._question.without_book:
            yield await self._general(model, asked_at)
        elif is_chat(self._question.text):
            yield await self._chat(model, asked_at, notices)
        elif blind:  # nothing is looked up or asked of a model: what stands on a picture is not known
            body = wording.page_unreadable(blind, self._locale)
            nothing = self._settler(grounded=False).finish("stop")
            yield self._answered(body, nothing, "not_in_book", [], Usage(), self._means.fallback, asked_at)
        else:
            async for event in self._from_the_book(model, asked_at, notices):
                yield event

    async def _from_the_book(
        self, model: ChatModel, asked_at: datetime, notices: list[Notice]
    ) -> AsyncGenerator[AskEvent, None]:
        if self._question.go_on and self._earlier is None:
            raise ReaderError("nothing_to_continue")
        tools = Tools(self._evidence, self._means.ranks, model, self._budgets())
        loop = self._loop(model, tools)
        wanted = self._question.text
        if self._earlier:
            going_on = self._question.go_on
            wanted = self._earlier.question if going_on else history.search_words(wanted, self._earlier)
        yield Searching(wanted)
        self._open(loop, await self._consulted(loop, tools, model, wanted))

        spoken: Spoken | None = None
        for retry in (False, True):
            if retry and not await self._try_again(loop, tools, model, spoken, wanted):
                break
            async for event in loop.run():
                if isinstance(event, Draft):
                    if self._limited and not event.runs:
                        continue  # words without proof may be what the model knows of later chapters
                    yield Drafting(self._parsed(event.markdown, event.runs), self._footnotes(event.runs))
                elif isinstance(event, Spoken):
                    spoken = self._heard(event)
                else:
                    yield event
            if spoken is not None and spoken.settled.runs:
                break
        assert spoken is not None  # the loop always ends by speaking
        settled, usage = spoken.settled, loop.usage + tools.usage
        if settled.runs:
            if model.name == OFFLINE and not notices:
                notices.append(Notice("quotes_only"))
            notices += _ending(spoken)
            if tools.summarised < tools.segments and model.name != OFFLINE:
                notices.append(Notice("overview_partly", {"done": tools.summarised, "total": tools.segments}))
            body = self._parsed(settled.markdown, settled.runs)
            yield self._answered(body, settled, "grounded", notices, usage, model, asked_at)
            return
        body = wording.nothing_found(self._sources, self._locale)
        near = None if model.name == OFFLINE else await self._closest(wanted)
        if near is not None:
            body = (*body, *wording.closest(near[1], 1, self._locale))
        if _shows(settled.markdown) and not self._limited:  # under a limit, what a model knows by itself may lie ahead
            body = (*body, wording.not_from_the_book(self._locale), *self._parsed(settled.markdown, ()))
        if model.name != OFFLINE:
            notices += _ending(spoken)  # a model that failed is no book that does not say
        notices.append(Notice("try_quote"))
        if model.name != OFFLINE:
            notices.append(Notice("try_without_book"))
        runs = () if near is None else (near[0],)
        yield self._answered(body, settled, "not_in_book", notices, usage, model, asked_at, runs)

    async def _closest(self, wanted: str) -> tuple[Span, str] | None:
        """What of this turn's evidence is nearest to the question, by its words; None when nothing would be quoted for it.

        Found by us and quoted as it stands: no word of the model takes part, and nothing past the limit was delivered.
        What could be taken for a tag is not quoted.
        """
        pieces = [(run, text) for run, text in sorted(self._evidence.texts.items()) if defuse(text) == text]
        return await asyncio.to_thread(closest, wanted, pieces)

    async def _consulted(self, loop: Loop, tools: Tools, model: ChatModel, wanted: str) -> list[Message]:
        """What the book says before the model does, as executed calls: all of it, an overview, or what was looked up.

        Where words alone decide nothing, the model chooses from the catalogue first. One that only quotes does not:
        it has no more than the same words to choose by, and asks for it when nothing can be quoted.
        """
        quoting = model.name == OFFLINE
        given = None if self._question.evidence_tokens else await tools.whole_book()
        if given is None and is_overview(self._question.text, [source.card.title for source in self._sources]):
            loop.remember(texts.FULL.name, "")
            return [*executed(texts.FULL.name, "", await (tools.excerpts() if quoting else tools.overview()))]
        found = executed(texts.FIND.name, wanted, await tools.find_in_book(wanted) if given is None else given)
        loop.remember(texts.FIND.name, wanted)
        if tools.decisive or quoting:
            return [*found]
        loop.remember(texts.RELATED.name, wanted)
        return [*found, *executed(texts.RELATED.name, wanted, await tools.related_segments(wanted), 1)]

    def _loop(self, model: ChatModel, tools: Tools | None, settler: Settler | None = None) -> Loop:
        grounded = tools is not None
        return Loop(model, tools, [], lambda: settler or self._settler(grounded=grounded), self._means.clock)

    def _open(self, loop: Loop, found: Sequence[Message]) -> None:
        """The conversation up to the model's turn: a stable beginning, then question and evidence."""
        prompt = prompts.answer(self._card(), self._question.text)
        self._stamps["answer"] = prompt.stamp
        loop.messages.append(Message("system", prompt.system))
        if self._earlier and self._question.go_on:
            asked, answered = history.exchange(self._earlier, self._means.budgets.selected)
            going_on = prompts.go_on()
            self._stamps["continue"] = going_on.stamp
            loop.messages += [asked, *found, answered, Message("user", going_on.user)]
            return
        if self._earlier:
            loop.messages += history.exchange(self._earlier, self._means.budgets.history)
        loop.messages += [Message("user", prompt.user), *found]

    async def _try_again(self, loop: Loop, tools: Tools, model: ChatModel, spoken: Spoken | None, wanted: str) -> bool:
        """Before "not in the book" may stand: selection must have run and the whole text been swept, and the model is
        asked once more; one that only quotes just when the sweep found something."""
        if spoken is None:
            return False
        if model.name == OFFLINE:
            swept = await tools.sweep(wanted)
            loop.messages += executed(texts.FIND.name, wanted, swept, 2) if swept else ()
            return bool(swept)
        if spoken.raw:
            loop.messages.append(Message("assistant", spoken.raw))
        prompt = prompts.retry()
        self._stamps["retry"] = prompt.stamp
        loop.messages.append(Message("user", prompt.user))
        if not tools.selected:
            found = await tools.related_segments(wanted)
            loop.messages += executed(texts.RELATED.name, wanted, found, 1)
        if swept := await tools.sweep(wanted):
            loop.messages += executed(texts.FIND.name, wanted, swept, 2)
        return True

    async def _chat(self, model: ChatModel, asked_at: datetime, notices: list[Notice]) -> Answered:
        """Small talk: one call without evidence; without a model a fixed sentence."""
        settler = self._settler(grounded=False)
        if model.name == OFFLINE:
            body = wording.sentence(say("chat_offline", self._locale))
            return self._answered(body, settler.finish("stop"), "chat", notices, Usage(), model, asked_at)
        spoken, usage = await self._spoken(self._loop(model, None, settler), prompts.chat(self._question.text))
        body = self._parsed(spoken.settled.markdown, ())
        if _shows(spoken.settled.markdown):
            notices += _ending(spoken)
        else:  # nobody asked anything: how to ask is as good an answer
            body = wording.sentence(say("chat_offline", self._locale))
        return self._answered(body, spoken.settled, "chat", notices, usage, model, asked_at)

    async def _general(self, model: ChatModel, asked_at: datetime) -> Answered:
        """General knowledge on explicit wish: no tools, no notes, marked as not from the book."""
        if model.name == OFFLINE:
            raise OperatorError("no_model")
        cut = self._earlier if self._question.go_on else None
        if self._question.go_on and cut is None:
            raise ReaderError("nothing_to_continue")
        prompt = prompts.general(self._card(), self._question.text if cut is None else cut.question)
        spoken, usage = await self._spoken(self._loop(model, None), prompt, cut)
        notices = _ending(spoken)
        if self._limited:  # it is told to keep to what has been read, and has read the rest elsewhere
            notices.append(Notice("general_unbounded"))
        body = (wording.not_from_the_book(self._locale), *self._parsed(spoken.settled.markdown, ()))
        return self._answered(body, spoken.settled, "general_knowledge", notices, usage, model, asked_at)

    async def _spoken(self, loop: Loop, prompt: prompts.Prompt, cut: Turn | None = None) -> tuple[Spoken, Usage]:
        """One reply without tools, whole; `cut`: the one it goes on with."""
        self._stamps[prompt.stamp.partition("@")[0]] = prompt.stamp
        loop.messages += [Message("system", prompt.system), Message("user", prompt.user)]
        if cut is not None:
            _, answered = history.exchange(cut, self._means.budgets.selected)
            going_on = prompts.go_on()
            self._stamps["continue"] = going_on.stamp
            loop.messages += [answered, Message("user", going_on.user)]
        spoken = [event async for event in loop.run() if isinstance(event, Spoken)][-1]
        return self._heard(spoken), loop.usage

    def _heard(self, spoken: Spoken) -> Spoken:
        self.saw_closing_think = self.saw_closing_think or spoken.settled.saw_closing_think
        return spoken

    def _budgets(self) -> Budgets:
        tokens = self._question.evidence_tokens
        return self._means.budgets if tokens is None else replace(self._means.budgets, looked_up=tokens)

    def _unreadable(self) -> list[str]:
        """The pages the question names that are pictures."""
        if len(self._sources) != 1 or not self._sources[0].blind:
            return []
        source = self._sources[0]
        return unreadable(self._question.text, [source.label(file) for file in range(source.files)], source.blind)

    def _card(self) -> str:
        """What the model is told of the books beforehand."""
        return "\n\n".join(
            prompts.book_card(source.card.title, source.card.authors, say_limit(source.limit) if source.bounded else "")
            for source in self._sources
        )

    @property
    def _limited(self) -> bool:
        return any(source.bounded for source in self._sources)

    def _reach(self, outcome: Outcome) -> list[Notice]:
        """In a group an answer says how far it looked: the whole book, until somebody has said how far the club is."""
        if self._question.conversation.platform == "console" or self._question.private:
            return []
        if outcome in ("grounded", "not_in_book") and any(source.card.limit_words is None for source in self._sources):
            return [Notice("reach")]
        if outcome == "grounded" and len(self._sources) == 1 and self._limited:  # "not in the book" names it by itself
            [source] = self._sources
            return [
                Notice("reach_limited", {"title": source.card.title, "reach": say_limit(source.limit, self._locale)})
            ]
        return []

    def _settler(self, *, grounded: bool) -> Settler:
        titles = [source.card.title for source in self._sources]
        titles += [chapter.title for source in self._sources for chapter in source.chapters]
        languages = {source.language for source in self._sources}
        return Settler(
            self._evidence.texts,
            self._evidence.passages,
            exempt=(self._question.text, *titles),
            grounded=grounded,
            language=languages.pop() if len(languages) == 1 else None,
            hold_until_think_close=self._means.closing_think,
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
        runs: Sequence[Span] = (),
    ) -> Answered:
        """`runs`: the notes of an answer that is not grounded."""
        notices = [*notices, *self._reach(outcome)]
        notes = self._footnotes(settled.runs if outcome == "grounded" else runs)
        return Answered(
            Turn(
                id=self._means.new_id(),
                conversation=self._question.conversation,
                question=self._question.text,
                answer=Answer(body, notes, outcome, settled.dropped, tuple(notices)),
                books=tuple((source.sha256, source.text_version) for source in self._sources),
                evidence=tuple(self._evidence.windows),
                usage=usage,
                model=model.name,
                limit=self._sources[0].limit,
                further_limits=tuple(source.limit for source in self._sources[1:]),
                asked_at=asked_at,
                reply_to=self._earlier.id if self._earlier else None,
                stamps=dict(self._stamps),
            )
        )

    def _parsed(self, markdown: str, runs: Sequence[Span]) -> Document:
        """Settled Markdown as a tree; a link lives only when its address stands in a cited passage (P12)."""
        return document.parse(
            markdown, lambda address: any(document.stands(address, self._evidence.texts[run]) for run in runs)
        )

    def _footnotes(self, runs: Sequence[Span]) -> tuple[Footnote, ...]:
        found = []
        for number, run in enumerate(runs, 1):
            source, span = self._evidence.origin(run)
            note = self._notes.setdefault(run, self._means.new_id())
            found.append(Footnote(number, tag(run), source.sha256, source.text_version, span, note))
        return tuple(found)


def _ending(spoken: Spoken) -> list[Notice]:
    """What is said of a reply that did not end by itself, or that has nothing in it."""
    if not _shows(spoken.settled.markdown) and not spoken.settled.dropped:
        return [Notice("model_filtered" if spoken.reason == "content_filter" else "answer_empty")]
    return [Notice(_ENDINGS[spoken.reason])] if spoken.reason in _ENDINGS else []


def _shows(markdown: str) -> bool:
    """True when there is something to be seen in it: invisible characters alone are no words."""
    return any(char.isalnum() for char in markdown)
