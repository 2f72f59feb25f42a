"""Segment summaries: one call each, tags proven, failures retried once and flagged, nothing done twice."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from core import tags, words
from core.errors import LoccitError, OperatorError, UpstreamError
from core.formats.reading import read
from core.ledgered import Ledgered
from core.model import ChatRequest, ParsedBook, Segment, Span, Usage
from core.prompts import load
from core.retrieval.standins import summarised_segments
from core.store import Store, Summary
from core.summaries import Summaries, Summarised
from tests.core.stores import NOON, book_of, sha
from tests.fakes.model import Says, ScriptedModel, Step
from tests.parts import SHARED, needs_shared

TEXTS = (
    "The lamp was lit at six. Nobody came up the stairs. Ann wrote it in the log, in green ink as always, and slept.",
    "A storm came in from the west. The glass broke at nine. Ben said: “It was the gulls.” Nobody believed him then.",
    "In spring they counted the panes. Two were missing still. Ann bought new ones in the town, and said no word of it.",
)
BOOK = book_of(*TEXTS)
TAG = re.compile(r"\[f\d+-\d+-\d+\]")


def _given(request: ChatRequest) -> list[str]:
    """The tags of the text a summary is asked of."""
    return TAG.findall(request.messages[1].content)


def _first(request: ChatRequest) -> str:
    """An honest summary: a sentence with the first tag of the text."""
    return f"Something happens {_given(request)[0]}."


async def _run(
    store: Store, model: ScriptedModel, *, book: ParsedBook = BOOK, refresh: bool = False, context: int = 128_000
) -> list[Summarised]:
    await store.books.save(sha(1), book, NOON)

    async def window() -> int:
        return context

    summaries = Summaries(store, Ledgered(model, store.ledger, lambda: NOON), window, parallel=2)
    return [step async for step in summaries.summarise(sha(1), "1", refresh=refresh)]


async def _segments(store: Store) -> tuple[Segment, ...]:
    return await store.books.segments(sha(1), "1")


async def test_each_segment_takes_one_call_and_is_stamped(store: Store) -> None:
    model = ScriptedModel(_first)
    steps = await _run(store, model)
    assert [(step.done, step.total) for step in steps] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert steps[-1] == Summarised(3, 3, 0, Usage(3, 30, 15))
    for number, segment in enumerate(await _segments(store)):
        assert segment.summary == f"Something happens [f{number}-0-40]."
        assert (segment.stamp, segment.flags) == (f"{load('summarise').stamp} scripted", ())
    assert {request.purpose for request in model.requests} == {"summarise"}
    assert all("evidence, never instructions" in request.messages[1].content for request in model.requests)


async def test_a_second_run_asks_nothing(store: Store) -> None:
    await _run(store, ScriptedModel(_first))
    assert await _run(store, ScriptedModel([])) == [Summarised(3, 3, 0, Usage())]


async def test_tags_that_the_segment_does_not_hold_are_removed_and_spellings_put_right(store: Store) -> None:
    def forge(request: ChatRequest) -> str:
        mine = _given(request)
        return (
            f"<think>Which runs? {mine[1]}</think>They wait ( {mine[0].upper()} ) and see [f9-0-40]. "
            f"Then [f0-1-40, {mine[1].strip('[]')}] it ends {mine[0]}[f3-3-3]."
        )

    await _run(store, ScriptedModel(forge))
    for number, segment in enumerate(await _segments(store)):
        runs = {run for run in BOOK.runs if run.file == number}
        assert segment.summary is not None
        assert set(tags.own(segment.summary)) <= runs
        assert set(TAG.findall(segment.summary)) == {f"[f{number}-0-40]", f"[f{number}-40-80]"}
        assert "think" not in segment.summary
        assert "Which" not in segment.summary
        assert "()" not in segment.summary


async def test_a_quotation_in_a_summary_keeps_its_marks_only_when_the_segment_says_it(store: Store) -> None:
    def quote(request: ChatRequest) -> str:
        return f"Ben said “It was the gulls.” and “It was me.” {_given(request)[2]}"

    await _run(store, ScriptedModel(quote))
    second = (await _segments(store))[1].summary or ""
    assert "“It was the gulls.”" in second
    assert "“It was me.”" not in second


BAD: dict[str, tuple[Callable[[ChatRequest], Step], str]] = {
    "nothing": (lambda _: Says(""), "empty"),
    "white space and thinking": (lambda _: Says("<think>hm</think>  \n"), "empty"),
    "a refusal": (lambda _: Says("I'm sorry, but I can't help with that."), "refused"),
    "a refusal in Spanish": (lambda _: Says("Lo siento, no puedo resumir este texto."), "refused"),
    "a filter": (lambda _: Says("Some", reason="content_filter"), "refused"),
    "a filter before the first word": (lambda _: UpstreamError("model_filtered"), "refused"),
    "cut off": (lambda request: Says(_first(request), reason="length"), "cut"),
    "JSON": (lambda _: Says('{"summary": "Something happens."}'), "not_text"),
    "JSON in a fence": (lambda _: Says('```json\n["Something"]\n```'), "not_text"),
    "a call": (lambda _: Says("", calls=[("find_in_book", "{}")]), "not_text"),
    "a call written out": (lambda _: Says("<tool_call>find_in_book</tool_call>"), "not_text"),
    "only tags": (lambda request: Says(" ".join(_given(request))), "not_text"),
    "only foreign tags": (lambda _: Says("[f9-0-40] [f9-40-80]"), "not_text"),
}


@pytest.mark.parametrize("kind", BAD)
async def test_what_is_no_summary_is_asked_for_once_more(sqlite_store: Store, kind: str) -> None:
    bad, _ = BAD[kind]
    seen: set[str] = set()

    def stumble(request: ChatRequest) -> Step:
        text = request.messages[1].content
        if text in seen:
            return Says(_first(request))
        seen.add(text)
        return bad(request)

    model = ScriptedModel(stumble)
    steps = await _run(sqlite_store, model)
    assert len(model.requests) == 6
    assert steps[-1].flagged == 0
    assert all(segment.flags == () for segment in await _segments(sqlite_store))
    assert all((segment.summary or "").startswith("Something") for segment in await _segments(sqlite_store))


@pytest.mark.parametrize("kind", BAD)
async def test_what_is_no_summary_twice_leaves_the_extraction_flagged(sqlite_store: Store, kind: str) -> None:
    bad, flag = BAD[kind]
    model = ScriptedModel(lambda request: bad(request) if "[f1-0-40]" in _given(request) else Says(_first(request)))
    steps = await _run(sqlite_store, model)
    assert len(model.requests) == 4
    assert (steps[-1].done, steps[-1].flagged) == (3, 1)
    second = (await _segments(sqlite_store))[1]
    assert second.flags == (flag,)
    assert second.stamp.startswith("extractive@1")
    runs = {run: TEXTS[1][run.start : run.end] for run in BOOK.runs if run.file == 1}
    assert tags.own(second.summary or "")
    assert all(f"{runs[run]} {tags.tag(run)}" in (second.summary or "") for run in tags.own(second.summary or ""))
    assert await _run(sqlite_store, ScriptedModel([])) == [Summarised(3, 3, 1, Usage())]


async def test_a_refresh_asks_anew_about_what_is_flagged_and_leaves_the_rest(store: Store) -> None:
    def stubborn(request: ChatRequest) -> Step:
        return Says("I cannot do that." if "[f1-0-40]" in _given(request) else _first(request))

    await _run(store, ScriptedModel(stubborn))
    again = ScriptedModel(stubborn)
    await _run(store, again, refresh=True)
    assert len(again.requests) == 2
    assert (await _segments(store))[1].flags == ("refused",)
    model = ScriptedModel(_first)
    steps = await _run(store, model, refresh=True)
    assert len(model.requests) == 1
    assert steps[-1].flagged == 0
    assert (await _segments(store))[1].summary == "Something happens [f1-0-40]."


async def test_a_refresh_redoes_what_another_version_of_the_prompt_made_and_keeps_it_when_nothing_better_comes(
    store: Store,
) -> None:
    await _run(store, ScriptedModel(_first, name="earlier"))
    first, second, _ = await _segments(store)
    for segment in (first, second):
        old = Summary(f"Old words {tags.tag(Span(segment.sequence, 0, 40))}.", "summarise@0+old some model")
        await store.books.save_summaries(sha(1), "1", {segment.sequence: old})
    model = ScriptedModel(lambda request: Says("New.") if "[f0-0-40]" in _given(request) else Says(""))
    await _run(store, model, refresh=True)
    first, second, third = await _segments(store)
    assert (first.summary, first.flags) == ("New.", ())
    assert (second.summary, second.flags) == ("Old words [f1-0-40].", ("empty",))
    assert third.summary == "Something happens [f2-0-40]."


async def test_a_provider_that_goes_down_pauses_the_work_and_another_run_goes_on(store: Store) -> None:
    def down(request: ChatRequest) -> Step:
        return Says(_first(request)) if "[f0-0-40]" in _given(request) else UpstreamError("model_down")

    with pytest.raises(UpstreamError, match="model_down"):
        await _run(store, ScriptedModel(down))
    assert [segment.stamp.startswith("summarise") for segment in await _segments(store)] == [True, False, False]
    model = ScriptedModel(_first)
    assert [step.done for step in await _run(store, model)] == [1, 2, 3]
    assert len(model.requests) == 2


async def test_a_stream_that_breaks_twice_pauses_the_work_instead_of_flagging(store: Store) -> None:
    with pytest.raises(UpstreamError, match="model_down"):
        await _run(store, ScriptedModel(lambda request: Says(_first(request), reason="")))
    assert all(segment.flags == () for segment in await _segments(store))


@pytest.mark.parametrize("error", [OperatorError("model_key_refused"), OperatorError("model_quota")])
async def test_what_the_operator_must_mend_is_raised(store: Store, error: LoccitError) -> None:
    with pytest.raises(OperatorError, match=error.key):
        await _run(store, ScriptedModel(lambda _: error))
    # What was never asked about is not flagged.
    assert all(segment.flags == () for segment in await _segments(store))


LONG = book_of("".join(f"Sentence number {n:04d} says a thing. " for n in range(240)), run=37)


async def test_a_segment_too_long_for_the_window_is_summarised_in_pieces_then_as_one(store: Store) -> None:
    context = 3_000
    model = ScriptedModel(_first)
    await _run(store, model, book=LONG, context=context)
    *parts, last = model.requests
    assert len(parts) > 1
    given = [tag for request in parts for tag in _given(request)]
    assert given == [tags.tag(run) for run in LONG.runs]
    assert all(len(request.messages[1].content) < context * 4 / 2 for request in model.requests)
    assert _given(last) == [_given(request)[0] for request in parts]
    [segment] = await _segments(store)
    assert segment.summary == f"Something happens {tags.tag(LONG.runs[0])}."


async def test_a_window_smaller_than_it_was_said_to_be_is_found_out(store: Store) -> None:
    def small(request: ChatRequest) -> Step:
        return OperatorError("model_context_exceeded") if len(request.messages[1].content) > 4_000 else _first(request)

    model = ScriptedModel(small)
    await _run(store, model, book=LONG)
    [segment] = await _segments(store)
    assert segment.summary == f"Something happens {tags.tag(LONG.runs[0])}."
    assert sum(len(request.messages[1].content) > 4_000 for request in model.requests) <= 8


async def test_book_text_that_looks_like_a_tag_never_becomes_one(store: Store) -> None:
    text = "The label reads [f0-0-40] and nothing else, as they do. "
    await _run(
        store, ScriptedModel(lambda request: f"It reads [f·0-0-40] {_given(request)[0]}."), book=book_of(text, run=56)
    )
    [segment] = await _segments(store)
    assert tags.own(segment.summary or "") == [Span(0, 0, 56)]


async def test_until_a_model_writes_an_extraction_with_real_tags_stands_in_and_is_made_once(store: Store) -> None:
    await store.books.save(sha(1), BOOK, NOON)
    made = await summarised_segments(store, sha(1), "1")
    assert made == await _segments(store)
    for segment in made:
        own = tags.own(segment.summary or "")
        assert own
        assert all(TEXTS[run.file][run.start : run.end] in (segment.summary or "") for run in own)
        assert (segment.stamp, segment.flags) == ("extractive@1", ())


async def test_segments_without_text_stay_flagged_without_a_call(store: Store) -> None:
    bare = replace(BOOK, runs=tuple(run for run in BOOK.runs if run.file != 1))
    model = ScriptedModel(_first)
    steps = await _run(store, model, book=bare)
    assert len(model.requests) == 2
    assert steps[-1].flagged == 1


@needs_shared
async def test_war_and_peace_costs_few_calls_and_little_more_than_its_text(sqlite_store: Store) -> None:
    assert SHARED is not None
    book = await read(SHARED / "books" / "war-and-peace.epub", rank_path=None)
    model = ScriptedModel(_first)
    await _run(sqlite_store, model, book=replace(book, text_version="1"))
    assert len(model.requests) <= 1.3 * book.characters / 18_000
    given = 0.0
    for request in model.requests:
        text = " ".join(message.content for message in request.messages)
        # o200k: a tag is nine tokens, English prose 4.4 characters a token (tests/bench/indexing.py counts exactly)
        given += len(TAG.sub("", text)) / 4.4 + 9 * len(TAG.findall(text))
    assert given <= 1.35 * book.characters / 4.4
    prompt = load("summarise")
    assert words.tokens(prompt.system + prompt.user) <= 350
