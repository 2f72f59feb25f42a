"""The desk: every command and button as any platform has it, on a real club."""

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from core.desk import COMMANDS, Desk, descriptions
from core.document import plain
from core.errors import LoccitError, Missing, ReaderError
from core.model import Choice, Conversation, Question, Reader, Ready, Reply, Upload
from core.spending import Prices, Terms
from core.strings import LOCALES
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, lantern_house, long_book, open_club
from tests.fakes.model import Says, ScriptedModel

KEEPER = Reader("keeper", "en", manages=True)


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    async with open_club(tmp_path) as opened:
        yield opened


def _desk(club: TestClub) -> Desk:
    return Desk(club.club, lambda name: f"/{name}")


async def _type(club: TestClub, line: str, reader: Reader = KEEPER, where: Conversation = ROOM) -> Reply:
    name, _, words = line.partition(" ")
    reply = await _desk(club).command(where, reader, name, words, event="e")
    assert isinstance(reply, Reply)
    _check(reply)
    return reply


async def _press(club: TestClub, choice: Choice, reader: Reader = KEEPER, where: Conversation = ROOM) -> Reply:
    reply = await _desk(club).press(where, reader, choice.id, event="e")
    assert isinstance(reply, Reply)
    _check(reply)
    return reply


def _check(reply: Reply) -> None:
    for choice in (choice for row in reply.choices for choice in row):
        assert len(choice.id.encode()) <= 40
        assert choice.id.isascii()
        assert choice.kind == "note" or not choice.label[0].isdigit()


def _labelled(reply: Reply, label: str) -> Choice:
    found = [choice for row in reply.choices for choice in row if choice.label == label]
    assert found, [choice.label for row in reply.choices for choice in row]
    return found[0]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("shelved", [True, False])
async def test_every_command_answers_in_words_with_a_book_and_without(
    club: TestClub, locale: str, shelved: bool
) -> None:
    if shelved:
        await club.shelve(lantern_house())
    for name in COMMANDS:
        try:
            reply = await _desk(club).command(ROOM, replace(KEEPER, locale=locale), name, event="e")
        except LoccitError:
            continue  # its sentence is the reply; tests/test_house.py sees that every key has one
        assert isinstance(reply, Reply), name
        assert plain(reply.document).strip(), name
        _check(reply)
    assert descriptions(locale).keys() == set(COMMANDS)


async def test_help_fits_a_phone_screen_and_speaks_of_the_book_that_is_here(club: TestClub) -> None:
    assert "no book here yet" in plain((await _type(club, "help")).document)
    await club.shelve(lantern_house())
    text = plain((await _type(club, "help")).document)
    assert "The Lantern House" in text
    assert len(text) < 900
    assert all(f"/{name}" in text for name in COMMANDS if name not in ("help", "add", "model"))


async def test_a_book_is_chosen_removed_and_brought_back_by_buttons(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await club.shelve(long_book(2))
    listed = await _type(club, "books")
    assert "about The Log of Days" in plain((await _press(club, _labelled(listed, "Use The Log of Days"))).document)
    which = await _type(club, "remove")
    removed = await _press(club, _labelled(which, "Remove The Lantern House"))
    assert len(await club.club.shelf(ROOM)) == 1
    back = await _press(club, _labelled(removed, "Undo"))
    assert "is back" in plain(back.document)
    assert len(await club.club.shelf(ROOM)) == 2


async def test_the_picker_sets_how_far_the_club_is_and_undoes_it_without_a_later_title(club: TestClub) -> None:
    await club.shelve(long_book(12))
    asked = await _type(club, "progress")
    shown = plain(asked.document) + "".join(choice.label for row in asked.choices for choice in row)
    assert "Part 1" not in shown
    further = await _press(club, _labelled(asked, "Further …"))
    told = await _press(club, _labelled(further, "Ch. 8 read"))
    assert "chapter 8" in plain(told.document)
    _, limit = await club.club.progress(ROOM, KEEPER)
    assert limit.words == "finished 8"
    await _press(club, _labelled(told, "Undo"))
    assert (await club.club.progress(ROOM, KEEPER))[1].words == "all"


async def test_the_settings_are_shown_in_the_language_that_was_chosen(club: TestClub) -> None:
    shown = await _press(club, _labelled(await _type(club, "settings"), "Español"))
    assert "Ajustes de este chat" in plain(shown.document)
    assert _labelled(shown, "El de cada lector")


async def test_the_contents_come_a_page_at_a_time_up_to_the_limit(club: TestClub) -> None:
    await club.shelve(long_book(70, 300))
    first = await _type(club, "toc")
    assert "30. Part 30" in plain(first.document)
    assert "Part 31" not in plain(first.document)
    second = await _press(club, _labelled(first, "After ›"))
    assert "60. Part 60" in plain(second.document)
    await club.club.progress(ROOM, KEEPER, words="finished 5")
    assert "Part 6" not in plain((await _press(club, _labelled(first, "After ›"))).document)


async def test_a_footnote_opens_widens_and_is_labelled_with_its_chapter(club: TestClub) -> None:
    await club.shelve(lantern_house())
    turn = await club.ask("Who kept the lighthouse log in green ink?")
    notes = await _desk(club).note_choices(ROOM, KEEPER, turn)
    assert notes[0].label == "1 · Ch. 1"
    shown = await _press(club, notes[0])
    assert shown.passage is not None
    assert shown.passage.quote in plain(shown.document)
    assert shown.private
    if shown.passage.more_after:
        wider = await _press(club, _labelled(shown, "After ›"))
        assert wider.passage is not None
        assert len(wider.passage.after) > len(shown.passage.after)
    with pytest.raises(Missing):
        await _press(club, notes[0], where=ELSEWHERE)


async def test_a_passage_past_the_own_place_is_shown_after_a_warning(club: TestClub) -> None:
    await club.shelve(lantern_house())
    turn = await club.ask("Who kept the lighthouse log in green ink?")
    await club.club.place(ROOM, MEMBER, words="start")
    notes = await _desk(club).note_choices(ROOM, MEMBER, turn)
    warned = await _press(club, notes[0], MEMBER)
    assert warned.passage is None
    shown = await _press(club, _labelled(warned, "Show it anyway"), MEMBER)
    assert shown.passage is not None


@pytest.mark.parametrize(
    "id", ["", "x", "a.b", "x.0.0.1", "x.1.2.3.4", "x.-1.0.1", "x.٣.0.1", "x.999.0.0", "x.p", "\0", "💥" * 9]
)
async def test_a_forged_button_gets_one_sentence(club: TestClub, id: str) -> None:
    await club.shelve(lantern_house())
    with pytest.raises(Missing):
        await _desk(club).press(ROOM, KEEPER, id, event="e")


async def test_a_quotation_is_found_and_opened(club: TestClub) -> None:
    await club.shelve(lantern_house())
    found = await _type(club, "quote green ink")
    assert "green ink" in plain(found.document)
    opened = await _press(club, _labelled(found, "Open 1"))
    assert opened.passage is not None


async def test_what_a_question_says_first_decides_what_it_is_asked_of(club: TestClub) -> None:
    desk = _desk(club)
    for words, every, without, text in (
        ("who kept the log?", False, False, "who kept the log?"),
        ("all who kept the log?", True, False, "who kept the log?"),
        ("sin ¿quién escribe?", False, True, "¿quién escribe?"),
        ("All who kept the log?", False, False, "All who kept the log?"),
    ):
        question = await desk.command(ROOM, MEMBER, "ask", words, event="e")
        assert isinstance(question, Question)
        assert (question.every_book, question.without_book, question.text) == (every, without, text)
    with pytest.raises(ReaderError, match="desk_ask_what"):
        await desk.command(ROOM, MEMBER, "ask", "  ", event="e")
    for word in ("all", "sin"):
        with pytest.raises(ReaderError, match="desk_ask_what"):
            await desk.command(ROOM, MEMBER, "ask", word, event="e")


async def test_an_answer_can_be_flagged_by_all_and_deleted_by_its_asker(club: TestClub) -> None:
    await club.shelve(lantern_house())
    turn = await club.ask("Who kept the lighthouse log in green ink?")
    rows = await _desk(club).ways_on(ROOM, MEMBER, turn)
    stranger = Reader("stranger", "en")
    more = await _press(club, rows[-1][-1], stranger)
    await _press(club, _labelled(more, "Wrong / not in the book"), stranger)
    with pytest.raises(ReaderError, match="not_your_answer"):
        await _press(club, _labelled(more, "Delete"), stranger)
    mine = await _press(club, rows[-1][-1], MEMBER)
    with pytest.raises(Missing, match="not_your_button"):
        await _press(club, _labelled(mine, "Delete"), stranger)
    gone = await _press(club, _labelled(mine, "Delete"), MEMBER)
    assert gone.deleted == turn.id
    assert await club.store.turns.get(turn.id) is None


async def test_settings_are_for_those_who_manage_and_hold_for_everybody(club: TestClub) -> None:
    shown = await _type(club, "settings")
    with pytest.raises(ReaderError, match="managers_only"):
        await _press(club, _labelled(shown, "Español"), MEMBER)
    await _press(club, _labelled(shown, "Español"))
    assert "Todavía" in plain((await _type(club, "books", MEMBER)).document)
    again = await _type(club, "settings")
    await _press(club, _labelled(again, "El de cada lector"))
    assert "no book here" in plain((await _type(club, "books", MEMBER)).document)


async def test_a_channel_may_want_to_be_asked_before_its_first_answer(club: TestClub) -> None:
    await club.shelve(lantern_house())
    desk = _desk(club)
    question = desk.question(ROOM, MEMBER, "who kept the log?", event="e", private=False)
    assert await desk.asks_first(ROOM, MEMBER, question) is None
    await _press(club, _labelled(await _type(club, "settings"), "Ask first where the club is"))
    asked = await desk.asks_first(ROOM, MEMBER, question)
    assert asked is not None
    await _press(club, _labelled(asked, "Whole book"))
    assert await desk.asks_first(ROOM, MEMBER, question) is None


async def test_forgetting_waits_for_a_yes_and_counts(club: TestClub) -> None:
    await club.shelve(lantern_house())
    await club.ask("Who kept the lighthouse log in green ink?")
    asked = await _type(club, "forget me", MEMBER)
    kept = await _press(club, _labelled(asked, "No"), MEMBER)
    assert "Nothing" in plain(kept.document)
    gone = await _press(club, _labelled(asked, "Yes, forget"), MEMBER)
    assert "1 question" in plain(gone.document)


async def test_the_ready_card_says_where_to_go_on_and_asks_a_group_where_it_is(club: TestClub) -> None:
    await club.shelve(lantern_house())
    card = (await club.club.shelf(ROOM))[0]
    alone = await _desk(club).ready(ROOM, KEEPER, Ready(card, False), private=True)
    assert not alone.choices
    group = await _desk(club).ready(ROOM, KEEPER, Ready(card, False))
    _check(group)
    assert "The Lantern House, by A. Keeper" in plain(group.document)
    await _press(club, _labelled(group, "Ch. 1 read"))
    assert (await club.club.progress(ROOM, KEEPER))[1].words == "finished 1"


async def test_summaries_that_cost_more_than_is_spent_unasked_wait_for_a_yes_on_the_ready_card(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("Mara kept the lighthouse log in green ink.\n\nTobin's coat hung by the door.\n")
    priced = Terms(Prices(Decimal(3), Decimal(15)), ask_above=Decimal("0.000001"))
    async with open_club(tmp_path / "data", ScriptedModel(lambda _: "Words."), terms=priced) as club:
        upload = Upload("u", ROOM, KEEPER, book, "book.txt")
        [ready] = [event async for event in club.club.add_book(upload) if isinstance(event, Ready)]
        card = await _desk(club).ready(ROOM, KEEPER, ready)
        assert "/index yes begins" in plain(card.document)
        with pytest.raises(ReaderError, match="managers_only"):
            await _press(club, _labelled(card, "Yes, summarise"), MEMBER)
        assert "waiting for a yes" in plain((await _type(club, "index")).document)
        await _press(club, _labelled(card, "Yes, summarise"))
        running = await _type(club, "index")
        await _press(club, _labelled(running, "Stop summarising"))
        assert "stopped" in plain((await _type(club, "index")).document)
        assert "being summarised" in plain((await _type(club, "index yes")).document)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("recap mio", "up to chapter 1"),
        ("recap MÍO", "up to chapter 1"),
        ("schedule silencio 23 7", "From 23 to 7"),
        ("schedule silêncio nao", "no quiet hours"),
        ("quotes diaria nao", "no quote of the day"),
        ("quotes diária 8", "at 8 o'clock"),
    ],
)
async def test_words_of_ours_are_known_without_their_accents_and_in_any_of_our_languages(
    club: TestClub, line: str, said: str
) -> None:
    await club.shelve(lantern_house())
    await club.club.place(ROOM, KEEPER, words="finished 1")
    assert said in plain((await _type(club, line)).document)


@pytest.mark.parametrize(
    "words", ["Without whom is the lamp dark?", "All the logs?", "sin embargo, ¿quién?", "Sem Mara?"]
)
async def test_words_that_begin_like_a_choice_of_books_are_a_question_as_they_stand(club: TestClub, words: str) -> None:
    await club.shelve(lantern_house())
    desk = _desk(club)
    plainly = desk.question(ROOM, KEEPER, words, event="e", private=False)
    assert (plainly.text, plainly.every_book, plainly.without_book) == (words, False, False)
    turn = await club.ask(words)
    for how in ("shorter", "longer"):
        [id] = await club.club.post.buttons(ROOM, [{"do": "again", "turn": turn.id, "how": how}], None)
        anew = await desk.press(ROOM, KEEPER, id, event="e")
        assert isinstance(anew, Question)
        assert anew.text.startswith(words)
        assert not anew.every_book
        assert not anew.without_book
    [id] = await club.club.post.buttons(ROOM, [{"do": "without", "turn": turn.id}], None)
    aside = await desk.press(ROOM, KEEPER, id, event="e")
    assert isinstance(aside, Question)
    assert (aside.text, aside.every_book, aside.without_book) == (words, False, True)


@pytest.mark.parametrize(
    ("says", "aside", "way"),
    [
        (Says("In green ink [f1-0-42] and", reason="length"), False, "Continue"),
        (Says("Ink is a fluid that", reason="length"), True, "Continue"),
        (Says("I do not", reason="length"), False, None),
        (Says(""), False, "Try again"),
        (Says("In green ink [f1-0-42] and", reason=""), False, "Try again"),
    ],
)
async def test_under_an_answer_that_did_not_end_stands_the_way_to_its_rest(
    says: Says, aside: bool, way: str | None, tmp_path: Path
) -> None:
    async with open_club(tmp_path, ScriptedModel(lambda _: says)) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Who kept the lighthouse log in green ink?", without_book=aside)
        rows = await _desk(club).ways_on(ROOM, KEEPER, turn)
        found = [choice for row in rows for choice in row if choice.label in ("Continue", "Try again")]
        assert [choice.label for choice in found] == ([way] if way else [])
        if not way:
            return
        asked = await _desk(club).press(ROOM, KEEPER, found[0].id, event="anew")
        assert isinstance(asked, Question)
        assert asked.without_book == aside
        assert asked.go_on == (way == "Continue")
        assert asked.text == (turn.question if way == "Try again" else "Continue")
        assert asked.reply_to == (turn.id if way == "Continue" else None)
