"""A club under caps: at a limit the book is quoted and that is said; others, other days and the notes go on."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest

from core import tags
from core.errors import LimitReached, ReaderError
from core.model import Answered, ChatRequest, Conversation, Payer, Position, Question, Reader, Turn, Upload, Usage
from core.spending import Caps, Prices, Terms
from core.spending.terms import pots
from core.strings import say
from core.summaries import Summarised
from tests.clubs import ELSEWHERE, MEMBER, ROOM, Clock, TestClub, lantern_house, long_book, open_club
from tests.fakes.model import Says, ScriptedModel, Step
from tests.promises.shelves import upload, write_every_format

COST = 3_000
"""What a reply of the model below costs, in millionths; less than is reserved for it."""
OTHER = Reader("other", "en")


def _caps(**caps: str) -> Terms:
    return Terms(Prices(Decimal(1), Decimal(1)), Caps(**{name: Decimal(value) for name, value in caps.items()}))


def _model() -> ScriptedModel:
    """Cites what it was given; every reply is dear. No two are alike, so that none comes from the ledger."""
    numbers = count(1)

    def reply(request: ChatRequest) -> Step:
        found = re.search(r"\[f\d+-\d+-\d+\]", request.messages[-1].content)
        return Says(f"Reply {next(numbers)} {found[0] if found else ''}", usage=Usage(1, COST - 10, 10))

    return ScriptedModel(reply)


def _keys(turn: Turn) -> list[str]:
    return [notice.key for notice in turn.answer.notices]


async def _until_quoted(club: TestClub, **options: Reader | Conversation | bool) -> Turn:
    for number in range(40):
        turn = await club.ask(f"What ink was the log kept in ({number})?", **options)  # type: ignore[arg-type]  # readers, places
        if turn.model == "offline":
            return turn
    raise AssertionError("no cap was reached")


async def test_at_a_readers_cap_the_book_is_quoted_and_others_and_tomorrow_go_on(tmp_path: Path) -> None:
    model = _model()
    async with open_club(tmp_path, model, terms=_caps(reader_day="0.03")) as club:
        await club.shelve(lantern_house())
        quoted = await _until_quoted(club)
        assert _keys(quoted)[:2] == ["cap_reader_day", "quotes_at_limit"]
        assert quoted.answer.outcome == "grounded"
        assert quoted.answer.footnotes
        assert 1 <= len(model.requests) <= 10
        assert (await club.ask("Who is Brass?", reader=OTHER)).model == "scripted"
        club.clock.pass_minutes(24 * 60)
        assert (await club.ask("Who is Brass?")).model == "scripted"


async def test_a_restart_gives_nobody_a_new_allowance(tmp_path: Path) -> None:
    async with open_club(tmp_path, _model(), terms=_caps(reader_day="0.03")) as club:
        await club.shelve(lantern_house())
        await _until_quoted(club)
    model = _model()
    async with open_club(tmp_path, model, terms=_caps(reader_day="0.03")) as club:
        assert _keys(await club.ask("Who lights the lamp?"))[0] == "cap_reader_day"
        assert not any(request.purpose == "answer" for request in model.requests)


@pytest.mark.parametrize(
    ("cap", "free"),
    [
        ("channel_day", Conversation("discord", "b", server="s")),
        ("server_month", Conversation("discord", "c", server="other")),
        ("total_month", None),
    ],
)
async def test_each_cap_holds_for_what_it_names(tmp_path: Path, cap: str, free: Conversation | None) -> None:
    here = Conversation("discord", "a", server="s")
    places = (here, Conversation("discord", "b", server="s"), Conversation("discord", "c", server="other"))
    async with open_club(tmp_path, _model(), terms=_caps(**{cap: "0.03"})) as club:
        for place in places:
            await club.shelve(lantern_house(), place)
        assert f"cap_{cap}" in _keys(await _until_quoted(club, conversation=here))
        assert (await club.ask("Who?", conversation=here, reader=OTHER)).model == "offline"
        if free is not None:
            assert (await club.ask("Who?", conversation=free)).model == "scripted"


async def test_a_question_at_a_cap_is_answered_and_not_kept_for_tomorrows_money(tmp_path: Path) -> None:
    async with open_club(tmp_path, _model(), terms=_caps(reader_day="0")) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Who lights the lamp?", patient=True)
        assert "question_kept" not in _keys(turn)
        assert not await club.club.questions.keeps("console")
        assert isinstance(club.events[-1], Answered)
        assert not club.events[-1].kept


async def test_a_wish_for_an_answer_without_the_book_is_quoted_over_too(tmp_path: Path) -> None:
    async with open_club(tmp_path, _model(), terms=_caps(reader_day="0")) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Who lights the lamp?", without_book=True)
        assert (turn.model, _keys(turn)[0]) == ("offline", "cap_reader_day")
        assert (await club.ask("Hello!")).answer.outcome == "chat"


async def test_a_turn_keeps_how_soon_its_text_began(tmp_path: Path) -> None:
    async with open_club(tmp_path, _model(), steady=True) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Who lights the lamp?")
        assert turn.first_text_ms is not None
        assert turn.first_text_ms > 0
        kept = await club.store.turns.get(turn.id)
        assert kept is not None
        assert kept.first_text_ms == turn.first_text_ms


# Summaries


async def test_summaries_pause_at_a_cap_and_go_on_when_the_month_turns(tmp_path: Path) -> None:
    clock = Clock()
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            clock.pass_minutes(31 * 24 * 60)
        await asyncio.sleep(0)

    model = _model()
    async with open_club(tmp_path, model, terms=_caps(total_month="0.02"), clock=clock, sleep=sleep) as club:
        await club.shelve(long_book(chapters=7))
        club.club.summaries.work_behind()
        async with asyncio.timeout(60):
            while await club.store.books.unsummarised():  # noqa: ASYNC110  # nobody tells of rows
                await asyncio.sleep(0.01)
        [total] = pots(None, Caps(), clock())
        assert await club.store.spending.spent(total) <= 20_000
    assert len(waits) >= 3
    assert max(waits) <= 900
    assert len(model.requests) == 7


async def test_waiting_for_summaries_says_that_a_cap_is_reached_and_keeps_what_is_done(tmp_path: Path) -> None:
    async with open_club(tmp_path, _model(), terms=_caps(total_month="0.02")) as club:
        book = await club.shelve(long_book(chapters=7))
        steps: list[Summarised] = []

        async def wait() -> None:
            async for step in club.club.summaries.index(ROOM, book):
                steps.append(step)  # noqa: PERF401  # what came before the error counts

        with pytest.raises(LimitReached, match="cap_total_month"):
            await wait()
        assert steps[-1].done == steps[-1].usage.calls


# Who is served


async def test_strangers_can_neither_ask_nor_add_books(tmp_path: Path) -> None:
    stranger = Conversation("discord", "b")
    terms = Terms(chats=frozenset({"discord:a"}), uploaders=frozenset({"discord:ann"}))
    model = _model()
    async with open_club(tmp_path, model, terms=terms) as club:
        for place in (stranger, ROOM, Conversation("discord", "a")):
            await club.shelve(lantern_house(), place)
        with pytest.raises(ReaderError, match="chat_not_served"):
            await club.ask("Who?", conversation=stranger)
        file = tmp_path / "tale.txt"
        file.write_text("A lamp was lit. " * 50)
        for place, key in ((stranger, "chat_not_served"), (Conversation("discord", "a"), "uploader_not_served")):
            with pytest.raises(ReaderError, match=key):
                await anext(club.club.add_book(Upload("e", place, Reader("bob"), file, "tale.txt")))
        assert model.requests == []
        assert (await club.ask("Who?")).model == "scripted"
        assert (await club.ask("Who?", conversation=Conversation("discord", "a"))).model == "scripted"


# Passages


async def test_a_reader_opens_only_so_much_of_a_book_in_a_day_and_a_repeat_is_free(tmp_path: Path) -> None:
    async with open_club(tmp_path, terms=Terms(passages_day=3_000)) as club:
        await club.shelve(long_book(chapters=3))
        notes = []
        for day in range(1, 6):
            notes += [note.id for note in (await club.ask(f"What happened on day {1000 + 7 * day}?")).answer.footnotes]

        async def press(note: str, reader: Reader | None = MEMBER, after: int = 0) -> str:
            return (await club.club.passages.press(ROOM, note, reader=reader, after=after)).quote

        async def press_on() -> None:
            for steps in range(1, 60):
                await press(notes[0], after=steps)

        first = await press(notes[0])
        with pytest.raises(ReaderError, match="cap_passages") as refused:
            await press_on()
        assert refused.value.params["title"] == "The Log of Days"
        assert await press(notes[0]) == first
        assert await press(notes[0], OTHER, after=2)
        club.clock.pass_minutes(24 * 60)
        assert await press(notes[0], after=2)


Route = Callable[[TestClub, Reader | None, int], Awaitable[object]]


async def _by_tag(club: TestClub, reader: Reader | None, number: int) -> object:
    run = long_book(chapters=3).runs[3 * number]
    return await club.club.passages.open_tag(ROOM, None, tags.tag(run), reader=reader)


async def _by_quote(club: TestClub, reader: Reader | None, number: int) -> object:
    book = long_book(chapters=3)
    run = book.runs[3 * number]
    return await club.club.passages.find_quote(ROOM, book.files[run.file].text[run.start : run.end], reader=reader)


async def _by_page(club: TestClub, reader: Reader | None, number: int) -> object:
    [card] = await club.club.shelf(ROOM)
    return await club.club.passages.page(ROOM, card.sha256, Position(number, 0), reader=reader)


@pytest.mark.parametrize("route", [_by_tag, _by_quote, _by_page])
@pytest.mark.parametrize("reader", [MEMBER, None])
async def test_every_way_to_a_passage_counts_and_a_repeat_by_any_is_free(
    route: Route, reader: Reader | None, tmp_path: Path
) -> None:
    """Somebody whom the platform does not name is the chat as a whole."""
    async with open_club(tmp_path, terms=Terms(passages_day=20_000 if route is _by_page else 3_000)) as club:
        await club.shelve(long_book(chapters=3))
        await route(club, reader, 1)

        async def go_on() -> None:
            for number in range(2, 4 if route is _by_page else 60):
                await route(club, reader, number)

        with pytest.raises(ReaderError, match="cap_passages"):
            await go_on()
        await route(club, reader, 1)
        await route(club, OTHER, 2)
        if route is _by_tag:
            await _by_quote(club, reader, 1)
        club.clock.pass_minutes(24 * 60)
        await route(club, reader, 2)


async def test_an_export_counts_its_passages_and_says_in_their_place_that_there_are_too_many(tmp_path: Path) -> None:
    async with open_club(tmp_path, terms=Terms(passages_day=900)) as club:
        await club.shelve(long_book(chapters=3))
        for day in range(1, 6):
            await club.ask(f"What happened on day {1000 + 7 * day}?")
        refused = say("cap_passages", "en", title="The Log of Days")[:40]
        text = await club.club.passages.export(ROOM, "en", reader=MEMBER)
        assert 0 < text.count(refused) < text.count("**[")
        assert await club.club.passages.export(ROOM, "en", reader=MEMBER) == text
        with pytest.raises(ReaderError, match="cap_passages"):
            await _by_quote(club, MEMBER, 40)


async def test_page_pictures_count_the_text_they_show(tmp_path: Path) -> None:
    *_, pdf = (path for path in write_every_format(tmp_path) if path.suffix == ".pdf")
    async with open_club(tmp_path / "club", terms=Terms(passages_day=700)) as club:
        sha256 = await upload(club, pdf)
        turn = await club.ask("What did the cat say on the quay?")
        note = turn.answer.footnotes[0]
        assert await club.club.passages.picture(ROOM, note.id, reader=MEMBER)
        assert await club.club.passages.page_picture(ROOM, sha256, note.span.file, reader=MEMBER)

        async def leaf_through() -> None:
            for file in range(3):
                await club.club.passages.page_picture(ROOM, sha256, file, reader=MEMBER)

        with pytest.raises(ReaderError, match="cap_passages"):
            await leaf_through()
        assert await club.club.passages.picture(ROOM, note.id, reader=MEMBER)


def test_at_the_console_the_cap_holds_only_when_it_is_set() -> None:
    """Whoever sits there has the book's file; elsewhere a fifth of the book, and never less than fifty thousand."""
    assert Terms().passages(10_000_000, local=True) is None
    assert Terms().passages(10_000_000) == 2_000_000
    assert Terms().passages(100_000) == 50_000
    assert Terms(passages_day=7).passages(100_000, local=True) == 7


# One reader who asks without end


async def test_a_reader_who_asks_without_end_stays_under_the_cap_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    numbers = count(1)

    async def flood(club: TestClub) -> list[str]:
        async def one(number: int) -> str:
            question = Question(f"flood-{number}", ELSEWHERE, Reader("flood"), f"What ink, {number}?")
            try:
                async for event in club.club.questions.ask(question):
                    if isinstance(event, Answered):
                        return event.turn.model
            except ReaderError as error:
                return error.key
            return "nothing"

        return list(await asyncio.gather(*(one(next(numbers)) for _ in range(300))))

    for _ in range(2):  # the second time after a restart
        async with open_club(tmp_path, _model(), terms=_caps(reader_day="0.03")) as club:
            for place in (ROOM, ELSEWHERE):
                await club.shelve(lantern_house(), place)
            flooding = asyncio.create_task(flood(club))
            assert (await club.ask("Who lights the lamp?", reader=OTHER)).model == "scripted"
            told = await flooding
            assert set(told) <= {"scripted", "offline", "too_many_questions"}
            assert told.count("too_many_questions") == 295
            await _until_quoted(club, reader=Reader("flood"), conversation=ELSEWHERE)
            [pot] = [
                pot
                for pot in pots(Payer("console", "elsewhere", "flood"), Caps(), club.clock())
                if pot.key == "cap_reader_day"
            ]
            assert 0 < await club.store.spending.spent(pot) <= 30_000
