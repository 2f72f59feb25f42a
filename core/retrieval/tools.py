"""The three tools of a turn. Each returns tagged source text (or summaries) and records what it delivered as evidence."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise

from core import quotes, ranking, tags, words
from core.model import ChatModel, Position, Segment, Span, Usage
from core.prompts import tools as texts
from core.retrieval import catalogue
from core.retrieval.budgets import Budgets
from core.retrieval.evidence import Evidence
from core.retrieval.ranks import Ranks
from core.retrieval.source import Source

_QUOTED = re.compile(r"[“„«»「『\"‹](.{2,300}?)[”“»«」』\"›]")


class Tools:
    """The tools of one turn over the turn's books. `usage` counts the calls that selection made."""

    def __init__(self, evidence: Evidence, ranks: Ranks, model: ChatModel, budgets: Budgets) -> None:
        self.evidence = evidence
        self.usage = Usage()
        self.selected = False
        """True once selection by the model has run over the whole catalogue."""
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
            quoted = await self._with_costs(source, await self._quoted(source, wanted))
            ranked = await self._ranks.search(source, wanted)
            found.append(await self._deliver(source, ranking.fill([*quoted, *ranked.windows], share, delivered)))
        return _fenced(found) or texts.nothing_found(wanted)

    async def related_segments(self, question: str) -> str:
        """Let the model choose segments from the catalogue; returns their source text, never their summaries."""
        found = []
        share = self._budgets.selected // len(self.evidence.sources)
        for source in self.evidence.sources:
            segments = await source.segments()
            chosen, usage = await catalogue.pick(self._model, question, segments, self._budgets.batch)
            self.usage += usage
            found.append(await self._deliver(source, await self._windows_of(source, question, chosen, share)))
        self.selected = True
        return _fenced(found) or texts.nothing_found(question)

    async def overview(self) -> str:
        """Every summary up to the limit, in reading order; the tags inside become citable evidence."""
        found = []
        for source in self.evidence.sources:
            segments = await source.segments()
            cited = [run for segment in segments for run in tags.own(segment.summary or "")]
            real = [run for run in cited if await source.is_run(run)]
            await self._deliver(source, [[run] for run in real])
            found += [f"## {tags.defuse(segment.title)}\n{self._rebased(source, segment)}" for segment in segments]
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
        self.selected = True
        return _fenced([await self._deliver(source, [own]) for source, own in runs if own])

    async def _quoted(self, source: Source, wanted: str) -> list[list[Span]]:
        """The places of a quotation in the request, or of the whole request when it has no telling words."""
        phrase = _quoted_part(wanted) or ("" if words.terms(wanted, source.language) else wanted)
        if not phrase:
            return []
        _, hits = await asyncio.to_thread(quotes.find_quote, phrase, await source.texts(), source.limit.position)
        windows = []
        for hit in hits:
            spans = [run for run in await source.runs(hit[0].file) if run.start < hit[0].end and run.end > hit[0].start]
            windows.append(spans)
        return [window for window in windows if window]

    async def _with_costs(self, source: Source, windows: Sequence[Sequence[Span]]) -> list[ranking.Window]:
        return [
            ranking.Window(tuple(window), tuple([await self._cost(source, run) for run in window]), 0.0)
            for window in windows
        ]

    async def _cost(self, source: Source, run: Span) -> int:
        return ranking.cost(await source.text(run), self.evidence.globally(source, run))

    async def _windows_of(
        self, source: Source, question: str, chosen: Sequence[Segment], budget: int
    ) -> list[tuple[Span, ...]]:
        """The chosen segments whole while they fit, else their best windows."""
        delivered = self.evidence.delivered(source)
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
                gaps[run] = (following, await source.gap(run, following))
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
