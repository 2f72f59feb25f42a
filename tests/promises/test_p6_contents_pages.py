"""P6 against printed contents pages: permitted text that tells of later chapters reaches nobody, by any route."""

import json
from pathlib import Path

import pymupdf
import pytest
from sqlalchemy import select, update

from core import tags
from core.errors import Missing
from core.formats.reading import read
from core.limits import find_listings
from core.model import ChatRequest, ParsedBook, Position, Question, Span, SpineFile
from core.passages import open_passage
from core.reading import open_page
from core.retrieval import Source
from core.store import schema
from core.store.structure import digest
from core.strings import say
from tests.books.pdfs import Sheet, prose
from tests.books.planted import PARTS, TITLES, TOLD, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, book_of, lantern_house, open_club, said
from tests.fakes.model import ScriptedModel
from tests.parts import SHARED, needs_shared
from tests.promises.shelves import upload
from tests.promises.test_p6_never_ahead import Curious, leaks

REAL = (
    ("don-quijote-es.epub", "¿Qué capítulos tiene el libro, y cómo muere don Quijote?"),
    ("entre-nous-fr.md", "Quels sont les chapitres du livre?"),
    ("maint-guide-es.pdf", "¿Qué capítulos tiene la guía?"),
    ("problems-of-philosophy.docx", "Which chapters does the book have?"),
)
"""Of `../shared/books`: one of each kind that prints a contents page."""


async def _opened(club: TestClub, sha256: str) -> Source:
    channel = await club.store.shelf.channel(ROOM, club.clock())
    return await Source.open(club.store, channel, sha256)


@needs_shared
@pytest.mark.parametrize(("name", "asked"), REAL)
async def test_the_contents_page_of_a_real_book_tells_nothing_later(name: str, asked: str, tmp_path: Path) -> None:
    assert SHARED is not None
    book = await read(SHARED / "books" / name, rank_path=None, accept_partial=True)
    curious = Curious()
    async with open_club(tmp_path, curious.model, steady=True) as club:
        sha256 = await club.shelve(book)
        await club.club.progress(ROOM, MEMBER, words="20 %")
        source = await _opened(club, sha256)
        assert source.limit.position is not None
        told = _told(book, source.limit.position)
        assert len(told) >= 5
        named = told[-1]
        shown: list[str] = []
        for question in (asked, f"{asked} “{named}”"):
            turn = await club.ask(question)
            shown += [said(turn), *(drop.raw for drop in turn.answer.dropped)]
        for line in told[:: max(1, len(told) // 3)]:
            _, found = await club.club.passages.find_quote(ROOM, line)
            shown += [part for hit in found.hits for part in (hit.quote, hit.heading)]
        listed = [run for run in book.runs if run.first < book.chapters[0].start][::9]
        for run in listed:
            shown += await _everything_opened(club, run)
        for file in {run.file for run in listed}:
            shown.append((await open_page(source, Position(file, 0), None, "en")).text)
        shown.append(await club.club.passages.export(ROOM))
        shown.append("\n".join(f"{each.title} {each.summary}" for each in await source.segments()))
        # what a reader has asked may be said again
        everything = tags.restore("\n".join([*shown, curious.requests()])).replace(named, "")
        assert leaks([line for line in told if line not in named], everything) == []


def _told(book: ParsedBook, limit: Position) -> list[str]:
    """The lines before a limit that tell of what lies past it, those that stand nowhere else before it."""
    texts, labels = [file.text for file in book.files], [file.label for file in book.files]
    listed = find_listings(texts, labels, book.toc, book.chapters, book.pages)
    hidden = [line for line, place in listed if place >= limit and line.last <= limit]
    told = [texts[line.file][line.start : line.end] for line in hidden]
    before = "\n".join([*texts[: limit.file], texts[limit.file][: limit.offset]]).lower()
    return [line for line in told if len(line) >= 9 and before.count(line.lower()) == 1]


async def _everything_opened(club: TestClub, run: Span) -> list[str]:
    try:
        passage = await club.club.passages.open_tag(ROOM, None, tags.tag(run), before=2, after=2)
    except Missing as error:
        return [say(error.key, "en", **error.params)]
    return [passage.before, passage.quote, passage.after]


async def test_a_run_of_the_contents_page_is_refused_like_anything_later_and_opens_when_the_club_has_read_it(
    tmp_path: Path,
) -> None:
    book = planted_book()
    run = next(run for run in book.runs if TITLES[1] in book.files[0].text[run.start : run.end])
    async with open_club(tmp_path, ScriptedModel([f"There is one more {tags.tag(run)}."])) as club:
        await club.shelve(book)
        turn = await club.ask("What is there?", evidence_tokens=None)
        [note] = turn.answer.footnotes
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        for attempt in (
            club.club.passages.press(ROOM, note.id),
            club.club.passages.open_tag(ROOM, None, tags.tag(run)),
        ):
            with pytest.raises(Missing, match="beyond_limit"):
                await attempt
        assert TITLES[1] not in await club.club.passages.export(ROOM)
        await club.club.progress(ROOM, MEMBER, words="finished 3")
        assert TITLES[1] in (await club.club.passages.press(ROOM, note.id)).quote


async def test_the_surroundings_of_a_passage_show_a_gap_where_the_contents_page_stands(tmp_path: Path) -> None:
    preface, contents, dedication = "A preface of little.", "Green Ink\nThe Ferry\nTobin’s Coat", "For my sister alone."
    text = "\n\n".join((preface, contents, dedication))
    starts = [text.index(part) for part in (preface, contents, dedication)]
    runs = [
        Span(0, start, start + len(part)) for start, part in zip(starts, (preface, contents, dedication), strict=True)
    ]
    house = lantern_house()
    titles = ["Green Ink", "The Ferry", "Tobin's Coat"]
    files = [SpineFile(0, "", text), *house.files[1:]]
    book = book_of(files, [*runs, *(run for run in house.runs if run.file)], titles, "The House")
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(book)
        channel = await club.store.shelf.channel(ROOM, club.clock())
        for words, between in (("all", f"\n\n{contents}\n\n"), ("finished 1", "\n\n[…]\n\n")):
            await club.club.progress(ROOM, MEMBER, words=words)
            source = await Source.open(club.store, channel, sha256)
            last = await open_passage(source, runs[2], tags.tag(runs[2]))
            assert last.before == f"{preface}{between}"
            first = await open_passage(source, runs[0], tags.tag(runs[0]))
            assert first.after.startswith(f"{between}{dedication}")
        page = await open_page(await _opened(club, sha256), Position(0, 0), None, "en")
        assert len(page.text) == len(text)
        assert page.text.split() == [*preface.split(), "Green", "Ink", "…", "…", *dedication.split()]
        for across in ("of little. For my sister", "of little. Green Ink For my sister", "Green Ink The Ferry"):
            _, found = await club.club.passages.find_quote(ROOM, across)
            assert found.match != "verbatim"
            assert leaks(["Ferry", "Coat"], "".join(hit.quote for hit in found.hits)) == []


async def test_a_private_reader_is_told_no_more_of_the_contents_page_than_the_own_place_allows(tmp_path: Path) -> None:
    curious = Curious()
    async with open_club(tmp_path, curious.model, steady=True) as club:
        await club.shelve(planted_book())
        await club.club.place(ROOM, MEMBER, words="finished 2")
        question = Question("private", ROOM, MEMBER, "What did the keeper see?", private=True, evidence_tokens=4_000)
        async for _ in club.club.questions.ask(question):
            pass
        assert leaks((*TITLES[2:], *TOLD[2:], PARTS[1]), curious.requests()) == []
        assert leaks((*TITLES[:2], TOLD[0]), curious.requests()) == [*TITLES[:2], TOLD[0]]


async def test_a_picture_of_a_contents_page_is_painted_over_where_it_tells_of_later_chapters(tmp_path: Path) -> None:
    path = _manual(tmp_path / "manual.pdf")
    model = ScriptedModel(lambda request: f"It is of lamps {_first_tag(request)}.")
    async with open_club(tmp_path / "club", model) as club:
        await upload(club, path)
        turn = await club.ask("What is the manual about?", evidence_tokens=None)
        [note] = turn.answer.footnotes
        assert note.span.file == 0
        ink = []
        for words in ("finished 1", "finished 2", "finished 3", "all"):
            await club.club.progress(ROOM, MEMBER, words=words)
            [picture] = await club.club.passages.picture(ROOM, note.id)
            ink.append(_ink(picture.png))
        assert ink[0] < ink[1] < ink[2] == ink[3]


async def test_a_picture_shows_one_reader_no_more_than_the_own_place_allows(tmp_path: Path) -> None:
    path = _manual(tmp_path / "manual.pdf")
    model = ScriptedModel(lambda request: f"It is of lamps {_first_tag(request)}.")
    async with open_club(tmp_path / "club", model) as club:
        await upload(club, path)
        [note] = (await club.ask("What is the manual about?", evidence_tokens=None)).answer.footnotes
        ink = []
        for words in ("finished 1", "finished 2", "all"):
            await club.club.place(ROOM, MEMBER, words=words)
            [picture] = await club.club.passages.picture(ROOM, note.id, reader=MEMBER)
            ink.append(_ink(picture.png))
        assert ink[0] < ink[1] < ink[2]
        await club.club.place(ROOM, MEMBER, words="start")
        [picture] = await club.club.passages.picture(ROOM, note.id, reader=MEMBER)
        assert _ink(picture.png) == ink[2]  # the note itself lies past it: the warning came before


def _manual(path: Path) -> Path:
    """A page with a contents list, and three chapters of a page each."""
    sheet = Sheet()
    sheet.page()
    sheet.paragraph("This is a small manual of the harbour and of the lamps in it.")
    sheet.line("Contents", size=18)
    titles = ("Lamps and Oil", "Boats and Ropes", "Storms and Losses")
    for number, title in enumerate(titles, 1):
        sheet.line(f"{number}. {title} " + ". " * 20 + str(number + 1), indent=9.0)
    for number, title in enumerate(titles, 1):
        sheet.page()
        sheet.line(f"{number}. {title}", size=16)
        sheet.paragraph(prose(120, number))
    sheet.document.set_toc([[1, f"{number}. {title}", number + 1] for number, title in enumerate(titles, 1)])
    return sheet.save(path)


def _first_tag(request: ChatRequest) -> str:
    found = tags.read_tagged("\n".join(message.content for message in request.messages))
    return next((tags.tag(run) for run, text in found if "small manual" in text), "")


def _ink(png: bytes) -> int:
    """Dark dots of a picture."""
    picture = pymupdf.Pixmap(png)
    return sum(value < 100 for value in bytes(picture.samples)[:: picture.n])


async def test_a_book_stored_by_an_earlier_program_is_looked_through_before_anything_of_it_is_shown(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(planted_book())
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        async with club.store.books._engines.write() as connection:
            [data] = (await connection.execute(select(schema.extraction.c.structure))).scalars()
            value = json.loads(data)
            del value["foretold"]
            old = json.dumps(value).encode()
            values = {"structure": old, "structure_hash": digest("structure", (), old)}
            await connection.execute(update(schema.extraction).values(**values))
        page = await open_page(await _opened(club, sha256), Position(0, 0), None, "en")
        assert leaks(TITLES, page.text) == [TITLES[0]]


# General knowledge


@pytest.mark.parametrize("words", ["start", "finished 1", "in 3", "50 %"])
async def test_general_knowledge_is_asked_for_without_anything_later_and_says_that_it_is_not_kept_to_what_is_read(
    words: str, tmp_path: Path
) -> None:
    """On wish only. What a model has read elsewhere is not ours to bound: it is told to keep it to itself, and so are we."""
    model = ScriptedModel(lambda request: "{}" if request.purpose == "pick" else "Keepers live in lighthouses.")
    async with open_club(tmp_path, model) as club:
        await club.shelve(planted_book())
        earlier = await club.ask("What lay in the drawer?", evidence_tokens=None)
        await club.club.progress(ROOM, MEMBER, words=words)
        model.requests.clear()
        turn = await club.ask("And who lives in lighthouses?", without_book=True, reply_to=earlier.id)
        assert turn.answer.outcome == "general_knowledge"
        assert [notice.key for notice in turn.answer.notices] == ["general_unbounded"]
        [request] = model.requests
        sent = "\n".join(message.content for message in request.messages)
        assert leaks([*TITLES, *TOLD, *PARTS, "drawer", "harbour"], sent) == []
        assert "Tell nothing of the book's plot" in sent
        assert "Read so far:" in sent
        assert (request.tools, club.drafts()) == ((), [])


# Several books in one turn


async def test_an_overview_of_two_books_is_not_told_once_the_second_has_a_limit(tmp_path: Path) -> None:
    """It tells more than its notes name, so the reach of every book counts, not just that of the first."""
    model = ScriptedModel(lambda _: "In the end the harbour is sold. A log is kept in green ink [f1-0-42].")
    async with open_club(tmp_path, model) as club:
        for title in ("The First House", "The Second House"):
            book = lantern_house()
            await club.shelve(book_of(book.files, book.runs, ["Green Ink", "The Ferry", "Tobin's Coat"], title))
        await club.club.progress(ROOM, MEMBER, "The First House", "finished 2")
        turn = await club.ask("Summarise what we have read", every_book=True, evidence_tokens=4_000)
        assert [limit.words for limit in (turn.limit, *turn.further_limits)] == ["finished 2", "all"]
        kept = await club.store.turns.get(turn.id)
        assert kept is not None
        assert (kept.books, kept.limit, kept.further_limits) == (turn.books, turn.limit, turn.further_limits)
        assert "is sold" in await club.club.passages.export(ROOM)
        await club.club.progress(ROOM, MEMBER, "The Second House", "finished 1")
        assert "is sold" not in await club.club.passages.export(ROOM)
        model.requests.clear()
        await club.ask("And then?", reply_to=turn.id, every_book=True)
        first = next(request for request in model.requests if request.purpose == "answer")
        assert not any("is sold" in message.content for message in first.messages)
        await club.club.progress(ROOM, MEMBER, "The Second House", "all")
        assert "is sold" in await club.club.passages.export(ROOM)
