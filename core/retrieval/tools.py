"""The three tools of a turn. Each returns tagged source text (or summaries) and records what it delivered as evidence."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import pairwise

from core import quotes, ranking, tags, words
from core.model import ChatModel, Position, Segment, Span, Usage
from core.prompts import tools as texts
from core.retrieval import catalogue, overviews
from core.retrieval.budgets import Budgets
from core.retrieval.confidence import is_decisive, is_foreign
from core.retrieval.evidence import Evidence
from core.retrieval.ranks import Ranks
from core.retrieval.source import GAP, Source

_QUOTED = re.compile(r"[“„«»「『\"‹](.{2,300}?)[”“»«」』\"›]")

SWEPT = 0.8
"""Which part of a question's words, by weight, a window must have that only the sweep found."""
WORDS_SHARE = 4
"""The part (a quarter) of what selection delivers that goes to the words the model would search for."""


class Tools:
    """The tools of one turn over the turn's books. `usage` counts the calls that selection made."""

    def __init__(self, evidence: Evidence, ranks: Ranks, model: ChatModel, budgets: Budgets) -> None:
        self.evidence = evidence
        self.usage = Usage()
        self.selected = False
        """True once selection by the model has run over the whole catalogue."""
        self.decisive = False
        """True once the words of the question alone found what most probably answers it."""
        self.summarised = self.segments = 0
        """Of so many segments that an overview showed, so many have a summary that a model wrote."""
        self._ranks = ranks
        self._model = model
        self._budgets = budgets

    def table(self) -> dict[str, Callable[[str], Awaitable[str]]]:
        """Tool name -> what runs it; the argument is the tool's one string argument ("" when it has none)."""
        return {
            texts.FIND.name: self.find_in_book,
            texts.RELATED.name: self.related_segments,
            texts.FULL.name: lambda _: self.overview(),
        }

    async def find_in_book(self, wanted: str) -> str:
        """Ranked and near matches of words or a quotation."""
        found = []
        share = max(1, self._budgets.looked_up // len(self.evidence.sources))
        for source in self.evidence.sources:
            delivered = self.evidence.delivered(source)
            match, places = await self._quoted(source, wanted)
            ranked = await self._ranks.search(source, wanted)
            quoted = await self._with_costs(source, places)
            found.append(await self._deliver(source, ranking.fill([*quoted, *ranked.windows], share, delivered)))
            sure = match == "verbatim" or is_decisive(ranked, self.evidence.delivered(source))
            if sure and not is_foreign(wanted, source.language):
                self.decisive = True
        return _fenced(found) or texts.nothing_found(wanted)

    async def sweep(self, wanted: str) -> str:
        """What the whole permitted text has of the question in any form of its words, or nearly word for word.

        Only what is not delivered yet and says most of the question; empty when there is nothing such.
        """
        found = []
        share = max(1, self._budgets.looked_up // len(self.evidence.sources))
        for source in self.evidence.sources:
            delivered = self.evidence.delivered(source)
            _, places = await self._quoted(source, wanted)
            ranked = await self._ranks.search(source, wanted, wide=True)
            telling = [window for window in ranked.windows if window.share >= SWEPT]
            quoted = await self._with_costs(source, places)
            found.append(await self._deliver(source, ranking.fill([*quoted, *telling], share, delivered)))
        return _fenced(found)

    async def related_segments(self, question: str) -> str:
        """Let the model choose segments from the catalogue; returns their source text, never their summaries.

        The words that it would search the book for are looked up as well.
        """
        found = []
        share = self._budgets.selected // len(self.evidence.sources)
        for source in self.evidence.sources:
            choice = await catalogue.pick(self._model, question, await self._catalogue(source, question), self._batch)
            self.usage += choice.usage
            wanted = f"{question} {choice.words}".strip()
            windows = await self._looked_up(source, choice.words, share // WORDS_SHARE) if choice.words else []
            spent = share // WORDS_SHARE if windows else 0
            taken = {run for window in windows for run in window}
            windows = [*await self._windows_of(source, wanted, choice.segments, share - spent, taken), *windows]
            found.append(await self._deliver(source, windows))
        self.selected = True
        return _fenced(found) or texts.nothing_found(question)

    async def overview(self) -> str:
        """Every summary up to the limit, in reading order; the tags inside become citable evidence.

        Summaries that would fill more than a batch are shortened, all of them to the same length.
        """
        found = []
        share = self._batch // len(self.evidence.sources)
        for source in self.evidence.sources:
            segments = overviews.shortened(await source.segments(), share)
            self.summarised += sum(overviews.is_written(segment) for segment in segments)
            self.segments += len(segments)
            cited = [run for segment in segments for run in tags.own(segment.summary or "")]
            real = [run for run in cited if await source.is_run(run)]
            await self._deliver(source, [[run] for run in real])
            found += [f"## {tags.defuse(segment.title)}\n{self._rebased(source, segment)}" for segment in segments]
        return _fenced(found) or texts.nothing_found("")

    async def excerpts(self) -> str:
        """Book text instead of summaries, for a reader that can only quote: a telling run of each spread segment."""
        found = []
        for source in self.evidence.sources:
            runs = []
            for segment in overviews.spread(await source.segments(), overviews.EXCERPTS):
                cited = [run for run in tags.own(segment.summary or "") if await source.is_run(run)]
                runs += overviews.telling(cited)
            found.append(await self._deliver(source, [[run] for run in runs]))
        return _fenced(found) or texts.nothing_found("")

    async def whole_book(self) -> str | None:
        """All permitted text, when it fits the budget for selected text with its tags; else None."""
        runs = []
        left = self._budgets.selected
        for source in self.evidence.sources:
            if source.characters > 4 * self._budgets.selected:
                return None
            own = await source.runs_between(Position(0, 0), source.end)
            left -= sum([await self._cost(source, run) for run in own])
            if left < 0:
                return None
            runs.append((source, own))
        self.selected = self.decisive = True
        return _fenced([await self._deliver(source, [own]) for source, own in runs if own])

    @property
    def _batch(self) -> int:
        return self._budgets.batch

    async def _catalogue(self, source: Source, question: str) -> Sequence[Segment]:
        """The segments to choose from: all of them, or, of a book too long for that, those that fit the question."""
        segments = await source.segments()
        if catalogue.fits(segments, self._batch):
            return segments
        ranked = await self._ranks.search(source, question, top=10_000)
        asked = {words.stem(term) for term in ranked.terms}
        return catalogue.narrow(segments, ranked.windows, asked, self._batch)

    async def _looked_up(self, source: Source, wanted: str, budget: int) -> list[tuple[Span, ...]]:
        ranked = await self._ranks.search(source, wanted)
        return ranking.fill(ranked.windows, budget, self.evidence.delivered(source))

    async def _quoted(self, source: Source, wanted: str) -> tuple[quotes.Match, list[list[Span]]]:
        """The places of a quotation in the request, or of the whole request when it has no telling words."""
        phrase = _quoted_part(wanted) or ("" if words.terms(wanted, source.language) else wanted)
        if not phrase:
            return "none", []
        match, hits = await source.find(phrase)
        windows = []
        for hit in hits:
            spans = [run for run in await source.runs(hit[0].file) if run.start < hit[0].end and run.end > hit[0].start]
            windows.append(spans)
        return match, [window for window in windows if window]

    async def _with_costs(self, source: Source, windows: Sequence[Sequence[Span]]) -> list[ranking.Window]:
        return [
            ranking.Window(tuple(window), tuple([await self._cost(source, run) for run in window]), 0.0)
            for window in windows
        ]

    async def _cost(self, source: Source, run: Span) -> int:
        return ranking.cost(await source.text(run), self.evidence.globally(source, run))

    async def _windows_of(
        self, source: Source, question: str, chosen: Sequence[Segment], budget: int, taken: Collection[Span] = ()
    ) -> list[tuple[Span, ...]]:
        """The chosen segments whole while they fit, else their best windows; nothing delivered or `taken`."""
        delivered = self.evidence.delivered(source).union(taken)
        stretches = [tuple(await source.runs_between(segment.start, segment.end)) for segment in chosen]
        ranked = await self._ranks.search(source, question, top=10_000)
        inside = {run for stretch in stretches for run in stretch}
        best = [window for window in ranked.windows if inside.issuperset(window.runs)]
        rest = await self._with_costs(source, stretches)
        if sum(sum(window.costs) for window in rest) <= budget:
            return ranking.fill(rest, budget, delivered)
        return ranking.fill([*best, *rest], budget, delivered)

    def _rebased(self, source: Source, segment: Segment) -> str:
        """A stored summary with its tags counted through the books of this turn; unknown tags are gone."""

        def spell(run: Span) -> str:
            known = self.evidence.globally(source, run)
            return f" {tags.tag(known)}" if known in self.evidence.texts else ""

        return tags.respell(segment.summary or "", spell)

    async def _deliver(self, source: Source, windows: Sequence[Sequence[Span]]) -> str:
        """Record windows as evidence and write them for the prompt: reading order, headings, each run with its tag."""
        runs = sorted({run for window in windows for run in window})
        texts: dict[Span, str] = {}
        gaps: dict[Span, tuple[Span, str]] = {}
        parts: list[str] = []
        title: str | None = None
        for stretch, group in await source.stretches(runs):
            start = group[0].start
            for run, following in pairwise(group):
                gaps[run] = (following, stretch[run.end - start : following.start - start])
            texts.update((run, stretch[run.start - start : run.end - start]) for run in group)
            path = " › ".join(source.heading_path(group[0].first))
            if path != title:
                parts.append(f"## {tags.defuse(path)}".rstrip())
                title = path
            elif parts:
                parts.append("[…]")
            parts.append(self._tagged(source, group, texts, gaps))
        for run, following in pairwise(runs):
            runs_on = following.file == run.file + 1 and source.join_after(run.file) is not None
            if runs_on and await source.next_run(run) == following:
                gap = await source.gap(run, following)
                if gap != GAP:
                    gaps[run] = (following, gap)
        self.evidence.add(source, [window for window in windows if window], texts, gaps)
        return "\n\n".join(parts)

    def _tagged(
        self, source: Source, group: Sequence[Span], texts: Mapping[Span, str], gaps: Mapping[Span, tuple[Span, str]]
    ) -> str:
        """A stretch for the prompt: its white space kept, each run followed by its tag."""
        line = ""
        for run in group:
            line += f"{tags.defuse(texts[run])} {tags.tag(self.evidence.globally(source, run))}"
            if run in gaps:
                line += gaps[run][1] or " "
        return line


def _quoted_part(wanted: str) -> str:
    """The longest part of a request that stands in quotation marks, when it has more than one word."""
    found = max(_QUOTED.findall(wanted), key=len, default="").strip()
    return found if " " in found or any(map(words.is_cjk, found)) else ""


def _fenced(found: Sequence[str]) -> str:
    """Book text between lines that say that it is evidence, never instructions; nothing when there is none."""
    text = "\n\n".join(filter(None, found))
    return texts.fence(text) if text else ""
