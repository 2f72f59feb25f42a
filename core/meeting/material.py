"""What a model is given to talk about, and what is quoted without one: the permitted text, its summaries, telling sentences."""

from collections.abc import Sequence
from itertools import pairwise, zip_longest

from core import tags, words
from core.model import ChatModel, Position, Span
from core.prompts import tools as texts
from core.retrieval import Budgets, Evidence, Ranks, Source, Tools
from core.retrieval.overviews import spread
from core.sentences import CLOSERS, SPACED_STOPS, TIGHT_STOPS, sentences

SHORTEST, LONGEST = 20, 320
"""Characters of a sentence that tells something and can be read at a glance; a third of that in CJK."""


async def read_up(
    source: Source, start: Position, ranks: Ranks, model: ChatModel, budgets: Budgets
) -> tuple[Evidence, str]:
    """The permitted text from `start` on, all of it where it fits; else the summaries up to the limit. With its evidence."""
    evidence = Evidence([source])
    runs = await source.runs_between(start, source.end)
    if source.place_of(source.end) - source.place_of(start) <= 4 * budgets.selected:
        text = await _whole(source, runs, evidence)
        if words.tokens(text) <= 2 * budgets.selected:
            return evidence, texts.fence(text)
        evidence = Evidence([source])
    return evidence, await Tools(evidence, ranks, model, budgets).overview()


async def _whole(source: Source, runs: Sequence[Span], evidence: Evidence) -> str:
    parts: list[str] = []
    delivered: dict[Span, str] = {}
    gaps: dict[Span, tuple[Span, str]] = {}
    title: str | None = None
    for stretch, group in await source.stretches(runs):
        begin = group[0].start
        pieces = [(run, stretch[run.start - begin : run.end - begin]) for run in group]
        delivered.update(pieces)
        for run, following in pairwise(group):
            gaps[run] = (following, stretch[run.end - begin : following.start - begin])
        path = " › ".join(source.heading_path(group[0].first))
        if path != title:
            parts.append(f"## {tags.defuse(path)}".rstrip())
            title = path
        parts.append(tags.annotate(pieces))
    evidence.add(source, [tuple(runs)] if runs else [], delivered, gaps)
    return "\n\n".join(parts)


async def telling(source: Source, start: Position, most: int) -> list[tuple[Span, str]]:
    """Whole sentences that tell something, at most so many, spread over the permitted text from `start` on, in reading order.

    Each with the run it stands in; no run gives a second one while another has none.
    """
    segments = [segment for segment in await source.segments() if segment.end > start]
    queues: list[list[tuple[Span, int, str]]] = []
    for segment in spread(segments, most) if segments else []:
        runs = await source.runs_between(max(segment.start, start), segment.end)
        cited = [run for run in dict.fromkeys(tags.own(segment.summary or "")) if run in set(runs)]
        offers = [
            [(run, at, sentence) for at, sentence in enumerate(whole_sentences(await source.text(run)))]
            for run in [*cited, *(run for run in runs if run not in set(cited))][: 4 * most]
        ]
        queues.append([one for turn in zip_longest(*offers) for one in turn if one is not None])
    found: list[tuple[Span, int, str]] = []
    said: set[str] = set()
    for one in (one for turn in zip_longest(*queues) for one in turn if one is not None):
        if one[2] not in said and len(found) < most:
            found.append(one)
            said.add(one[2])
    return [(run, sentence) for run, _, sentence in sorted(found)]


def whole_sentences(text: str, shortest: int = SHORTEST, longest: int = LONGEST) -> list[str]:
    """The sentences of a run that begin and end as such, neither too short to tell anything nor too long to be read at once."""
    part = 3 if any(map(words.is_cjk, text[:40])) else 1
    found = (text[start:end] for start, end in sentences(text))
    return [one for one in found if shortest // part <= len(one) <= longest // part and is_whole(one)]


def is_whole(sentence: str) -> bool:
    """True when it ends with a stop and does not begin in the middle: a page may have cut it."""
    ending = sentence.rstrip(CLOSERS)
    first = next((char for char in sentence if char.isalnum()), "")
    return bool(first) and not first.islower() and ending[-1:] in SPACED_STOPS + TIGHT_STOPS and "\n" not in sentence
