"""Whether words alone decide, and what the model chooses where they do not. Rules first, then whole turns."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from core import words
from core.llm.arguments import WORDS, read_words
from core.model import ChatRequest, Position, Segment, Span
from core.ranking import Ranked, Window
from core.retrieval import catalogue, overviews
from core.retrieval.confidence import DROP, SHARE, is_decisive, is_foreign
from tests.clubs import MEMBER, ROOM, lantern_house, long_book, open_club, said
from tests.fakes.counting import CountingModel
from tests.fakes.model import ScriptedModel, Step

NO_PICK = '{"Thinking":"","answer":[]}'
FIND, RELATED, FULL = "find_in_book", "get_related_segment_summaries", "get_full_book_segment_summaries"


def windows(*scores: float, share: float = 1.0) -> tuple[Window, ...]:
    return tuple(Window((Span(0, 100 * n, 100 * n + 90),), (30,), score, share) for n, score in enumerate(scores))


def called(request: ChatRequest) -> list[str]:
    return [call.name for message in request.messages for call in message.tool_calls]


def shown(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages if message.role == "tool")


# Rules


def test_words_decide_when_what_was_left_out_scores_far_below_the_best() -> None:
    near, far = windows(20, 20 - DROP / 2), windows(20, 20 - DROP)
    first = {near[0].runs[0]}
    assert not is_decisive(Ranked(near), first)
    assert is_decisive(Ranked(far), first)
    assert is_decisive(Ranked(near), {run for window in near for run in window.runs})


def test_words_decide_nothing_without_a_match_or_when_the_weighty_ones_are_missing() -> None:
    assert not is_decisive(Ranked(), set())
    poor = windows(20, 1, share=SHARE / 2)
    assert not is_decisive(Ranked(poor), {poor[0].runs[0]})


@pytest.mark.parametrize(
    ("question", "book", "foreign"),
    [
        ("Who kept the log?", "en", False),
        ("¿Quién escribió el diario?", "en", True),
        ("Кто вёл журнал?", "en", True),
        ("Who kept the log?", "ru", True),
        ("谁写了日志？", "en", True),
        ("谁写了灯塔的日志？", "ja", True),
        ("誰が灯台の日誌をつけたのですか", "ja", False),
        ("Mara Tobin?", "pt", False),
        ("Heathcliff", "de", False),
        ("Was übersetzte Mara?", "en", True),
        ("Who was Müller?", "en", False),
        ("Wie heißt der Hund?", "de-AT", False),
        ("Mara", "fi", False),
        ("Кто написал Liber servitoris?", "en", True),
        ("Кто написал Liber servitoris?", "ru", False),
        ("¿Qué metro cubre Tyne and Wear?", "en", True),
        ("¿Qué metro cubre Tyne and Wear?", "es", False),
        ("من كتب The Lantern House and Other Tales", "ar", False),
    ],
)
def test_a_question_is_foreign_when_its_script_or_stop_words_say_so(question: str, book: str, foreign: bool) -> None:
    assert is_foreign(question, book) is foreign


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"Thinking": "x", "words": "green  ink", "answer": ["1"]}', "green ink"),
        ('{"Thinking": "x", "words": ["green", "ink"], "answer": []}', "green ink"),
        ("```json\n{'words': 'tinta', 'answer': [1],}\n```", "tinta"),
        ('<think>{"words": "no"}</think>{"answer": ["1"]}', ""),
        ('{"words": 5, "answer": ["1"]}', ""),
        ("no object", ""),
    ],
)
def test_the_words_of_a_picker_are_read_leniently(reply: str, found: str) -> None:
    assert read_words(reply) == found
    assert len(read_words(json.dumps({"words": "ink " * 500}))) <= WORDS


def segments(count: int) -> list[Segment]:
    return [
        Segment(n, f"Day {n}", Position(n, 0), Position(n + 1, 0), f"{'What happened then. ' * 8} [f{n}-0-90]")
        for n in range(count)
    ]


def test_a_catalogue_that_is_too_long_is_narrowed_to_what_fits_the_question_in_reading_order() -> None:
    every = segments(400)
    batch = 1_000
    assert not catalogue.fits(every, batch)
    hits = [Window((Span(file, 0, 90),), (30,), score) for file, score in ((390, 9.0), (7, 8.0), (201, 7.0))]
    kept = catalogue.narrow(every, hits, [words.stem("day"), words.stem("333")], batch)
    assert catalogue.fits(kept, batch)
    numbers = [segment.sequence for segment in kept]
    assert numbers == sorted(numbers)
    assert {390, 7, 201, 333} <= set(numbers)
    assert sum(words.tokens(catalogue._entry(segment)) for segment in kept) > 4 * batch


def test_where_no_word_fits_a_long_catalogue_is_narrowed_evenly() -> None:
    every = segments(400)
    numbers = [segment.sequence for segment in catalogue.narrow(every, (), (), 1_000)]
    gaps = [after - before for before, after in pairwise(numbers)]
    assert numbers[0] == 0
    assert max(gaps) <= 8 * min(gaps)
    assert numbers[-1] > 360


def test_summaries_of_an_overview_are_shortened_to_one_length_behind_a_tag() -> None:
    long = " ".join(f"Something happened on day {n} [f1-{n}-{n + 9}]." for n in range(40))
    short = Segment(9, "Short", Position(9, 0), Position(10, 0), "Nothing [f9-0-7].")
    every = [*(Segment(n, f"T{n}", Position(n, 0), Position(n + 1, 0), long) for n in range(6)), short]
    whole = sum(words.tokens(segment.summary or "") for segment in every)
    assert overviews.shortened(every, 2 * whole) == every
    cut = overviews.shortened(every, whole // 3)
    assert sum(words.tokens(segment.summary or "") for segment in cut) <= whole // 3
    assert cut[-1] == short
    lengths = {len(segment.summary or "") for segment in cut[:-1]}
    assert len(lengths) == 1
    assert all((segment.summary or "").endswith("]") for segment in cut[:-1])


# Turns


async def test_a_clear_question_is_answered_without_choosing(tmp_path: Path) -> None:
    model = CountingModel()
    async with open_club(tmp_path, model) as club:
        await club.shelve(long_book())
        turn = await club.ask("What happened on day 7021?")
    assert [call.purpose for call in model.calls] == ["answer"]
    assert turn.answer.outcome == "grounded"


@pytest.mark.parametrize(
    "question", ["¿Qué pasó con la tinta verde de los días?", "zxqv?", "日誌には何が書かれていますか"]
)
async def test_a_question_that_words_do_not_decide_or_in_another_language_is_chosen_for_first(
    question: str, tmp_path: Path
) -> None:
    def speak(request: ChatRequest) -> Step:
        return '{"Thinking":"","words":"","answer":["3"]}' if request.purpose == "pick" else "The book does not say."

    model = ScriptedModel(speak)
    async with open_club(tmp_path, model) as club:
        await club.shelve(long_book())
        await club.ask(question)
    assert [request.purpose for request in model.requests][:2] == ["pick", "answer"]
    assert called(model.requests[1]) == [FIND, RELATED]
    assert "[f4-0-" in shown(model.requests[1])


async def test_the_words_the_model_would_search_for_are_looked_up(tmp_path: Path) -> None:
    def speak(request: ChatRequest) -> Step:
        if request.purpose == "pick":
            return '{"Thinking":"","words":"day 7021","answer":[]}'
        return "The book does not say."

    model = ScriptedModel(speak)
    async with open_club(tmp_path, model) as club:
        await club.shelve(long_book())
        await club.ask("¿Qué pasó el día siete mil veintiuno?")
    assert "7021" in shown(model.requests[1])


async def test_chosen_parts_larger_than_the_budget_give_their_best_windows_in_reading_order(tmp_path: Path) -> None:
    def speak(request: ChatRequest) -> Step:
        if request.purpose == "pick":
            return json.dumps({"answer": [str(n) for n in range(2, 7)]})
        return "The book does not say."

    model = ScriptedModel(speak)
    async with open_club(tmp_path, model) as club:
        await club.shelve(long_book())
        await club.ask("Was geschah am Tag mit der Nummer 4028?")
    result = [message.content for message in model.requests[1].messages if message.role == "tool"][-1]
    heads = [line for line in result.splitlines() if line.startswith("## Part")]
    assert heads == sorted(heads, key=lambda line: int(line.split()[-1]))
    assert words.tokens(result) <= 12_500
    assert "4028" in shown(model.requests[1])


async def test_nothing_found_says_where_was_looked_and_what_else_can_be_tried(tmp_path: Path) -> None:
    def honest(question: str, given: Sequence[tuple[Span, str]]) -> Sequence[Span]:
        return ()

    model = CountingModel(honest)
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Which year was the palace of Xanadu sold?")
    assert [call.purpose for call in model.calls] == ["pick", "answer", "answer"]
    assert said(turn).startswith("I found nothing about this in The Lantern House. I looked in chapters 1–3.")
    assert [notice.key for notice in turn.answer.notices] == ["try_quote", "try_without_book"]


async def test_without_a_model_only_the_search_for_words_is_offered(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Which year was the palace of Xanadu sold?")
    assert [notice.key for notice in turn.answer.notices] == ["try_quote"]


async def test_the_sweep_shows_other_forms_of_the_words_before_nothing_was_found_may_stand(tmp_path: Path) -> None:
    asked: list[ChatRequest] = []

    def speak(request: ChatRequest) -> Step:
        if request.purpose == "pick":
            return NO_PICK
        asked.append(request)
        return "He was a surveyor [f2-51-102]." if "[f2-51-102]" in shown(request) else "The book does not say."

    async with open_club(tmp_path, ScriptedModel(speak)) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Surveying?")
    assert "[f2-51-102]" in shown(asked[-1])
    assert turn.answer.outcome == "grounded"


# Overviews


async def test_an_overview_is_given_as_the_executed_call_and_counts_its_summaries(tmp_path: Path) -> None:
    model = ScriptedModel(["It begins with a log [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What are the themes so far?")
    assert called(model.requests[0]) == [FULL]
    assert "[f3-84-122]" in shown(model.requests[0])
    assert turn.answer.outcome == "grounded"
    [notice] = turn.answer.notices
    assert (notice.key, notice.params) == ("overview_partly", {"done": 0, "total": 3})


async def test_an_overview_ends_at_the_limit_and_counts_no_further(tmp_path: Path) -> None:
    model = ScriptedModel(["It begins with a log [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        turn = await club.ask("Summarise what we have read")
    assert "[f1-0-42]" in shown(model.requests[0])
    assert not any(word in shown(model.requests[0]) for word in ("[f2-", "[f3-", "Ferry", "Coat"))
    assert turn.answer.notices[0].params == {"done": 0, "total": 1}


@pytest.mark.parametrize("limit", [None, "finished 4"])
async def test_without_a_model_an_overview_quotes_openings_of_parts_far_apart(
    limit: str | None, tmp_path: Path
) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(long_book())
        if limit:
            await club.club.progress(ROOM, MEMBER, words=limit)
        turn = await club.ask("What is the book about?")
    files = [note.span.file for note in turn.answer.footnotes]
    assert turn.answer.outcome == "grounded"
    assert len(set(files)) >= 3
    assert files == sorted(files)
    assert max(files) <= (4 if limit else 12)


async def test_a_question_in_another_language_is_chosen_for_even_when_it_quotes_the_book(tmp_path: Path) -> None:
    model = CountingModel()
    book = long_book()
    quoted = book.files[5].text.split(". ")[3]
    async with open_club(tmp_path, model) as club:
        await club.shelve(book)
        await club.ask(f"¿Quién dijo lo que está escrito aquí: “{quoted}”?")
        assert [call.purpose for call in model.calls][:1] == ["pick"]
        model.calls.clear()
        await club.ask(f"Who has said what is written here: “{quoted}”?")
        assert [call.purpose for call in model.calls][:1] == ["answer"]
