"""Commands as odd people type them: each is answered, or refused in one sentence that a phone shows."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.desk import COMMANDS, Desk
from core.document import plain
from core.errors import LoccitError
from core.model import Reader, Reply
from core.strings import LOCALES, say
from tests.clubs import ROOM, TestClub, lantern_house, long_book, open_club

KEEPER = Reader("keeper", "en", manages=True)
HUGE = "9" * 5_000
ODD = [
    HUGE, f"remove {HUGE}", f"daily {HUGE}", f"cancel {HUGE}", f"edit {HUGE} x", f"vote {HUGE}", f"book {HUGE}",
    f"{HUGE} chapters a week", f"finished {HUGE}", f"page {HUGE}", "x" * 5_000, "0", "-1", "٣", "²", "🧥", "👩‍👩‍👧‍👦 " * 50,
    "שלום ‏עולם", "\u202eevil", "@everyone", "(", "[", "\\", "*", "\x00", "zone", "quiet 8 8", "daily 25",
    "finished 1 9999-12-31 23:59", "finished 1 0001-01-01 00:00", "one chapter a week from 9999-12-31", "finished 1 2026-02-31",
]  # fmt: skip
_LINE = 500


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    async with open_club(tmp_path) as opened:
        yield opened


async def said(club: TestClub, name: str, words: str, reader: Reader = KEEPER, *, private: bool = False) -> str:
    desk = Desk(club.club, lambda command: f"/{command}")
    try:
        reply = await desk.command(ROOM, reader, name, words, event=f"{name} {words}"[:100], private=private)
    except LoccitError as refused:
        return f"refused: {say(refused.key, reader.locale, **refused.params)}"
    return plain(reply.document) if isinstance(reply, Reply) else f"asked: {reply.text}"


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
async def test_odd_words_are_answered_or_refused_in_a_sentence(club: TestClub, zone: str) -> None:
    await club.shelve(lantern_house())
    await said(club, "schedule", f"zone {zone}")
    for name in (name for name in COMMANDS if name != "ask"):
        for number, words in enumerate(ODD):
            answer = await said(club, name, words, replace(KEEPER, locale=LOCALES[number % len(LOCALES)]))
            assert answer.strip(), (name, words[:40])
            if answer.startswith("refused"):
                assert len(answer) < _LINE, (name, words[:40])
                assert "\n" not in answer.strip(), (name, words[:40])


async def test_a_refusal_names_only_so_many_books_of_a_long_shelf(club: TestClub) -> None:
    for number in range(1, 13):
        await club.shelve(replace(long_book(1, 300), title=f"Volume {number} {'of the log ' * 30}"))
    for name, words in (("use", "nothing of the kind"), ("use", "volume"), ("toc", "")):
        answer = await said(club, name, words)
        assert answer.startswith("refused")
        assert len(answer) < 1_000
        assert "1. Volume 1" in answer


async def test_a_date_agreed_twice_is_one_date(club: TestClub) -> None:
    await club.shelve(lantern_house())
    for words in ("finished 1 2026-12-05 19:00", "chapter 1 5.12. 7pm", "finished 2 2026-12-05 19:00"):
        assert "2026-12-05 19:00" in await said(club, "schedule", words)
    assert (await said(club, "schedule", "")).count("2026-12-05") == 2
    assert "refused" not in await said(club, "schedule", "one chapter a week from monday")
    again = await said(club, "schedule", "one chapter a week from monday")
    assert again.count("The Lantern House") == 3
    assert (await said(club, "schedule", "")).count("The Lantern House") == 5


async def test_what_is_said_of_times_is_true(club: TestClub) -> None:
    await club.shelve(lantern_house())
    assert "Write two hours" in await said(club, "schedule", "quiet 8 8")
    assert "Times are in UTC" in await said(club, "schedule", "zone")
    assert "/quotes daily 9" in await said(club, "quotes", "daily 25")
    assert "/quotes daily 9" in await said(club, "quotes", "daily 9:30")
    assert "at 9 o'clock" in await said(club, "quotes", "daily 9h")
    assert "at 7 o'clock" in await said(club, "quotes", "daily 7:00")


@pytest.mark.parametrize("name", ["Mára", "Ma\u0301ra", "MA\u0301RA", "mara"])
async def test_a_name_is_found_however_its_accents_are_typed(club: TestClub, name: str) -> None:
    await club.shelve(lantern_house())
    await said(club, "progress", "finished 1")
    assert "is named 1 time" in await said(club, "who", name)


@pytest.mark.parametrize(
    ("said_as", "zone"),
    [
        ("Lisboa", "Europe/Lisbon"),
        ("São Paulo", "America/Sao_Paulo"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("nueva york", "America/New_York"),
        ("Ciudad de México", "America/Mexico_City"),
        ("Istanbul", "Europe/Istanbul"),
        ("Rio de Janeiro", "America/Sao_Paulo"),
        ("Barcelona", "Europe/Madrid"),
        ("utc", "UTC"),
    ],
)
async def test_a_zone_is_found_by_a_city_as_people_there_call_it(club: TestClub, said_as: str, zone: str) -> None:
    assert f"Times here are in {zone}" in await said(club, "schedule", f"zone {said_as}")


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_refusal_of_a_zone_names_only_what_is_taken(club: TestClub, locale: str) -> None:
    refused = say("schedule_no_zone", locale, zone="?")
    for named in ("Madrid", "Lisboa", "São Paulo", "Bogotá", "Europe/Madrid", "America/Sao_Paulo"):
        if named in refused:
            assert "refused" not in await said(club, "schedule", f"zone {named}"), named


@pytest.mark.parametrize(
    "plan",
    [
        "un capítulo al día desde mañana",
        "dos capítulos a la semana desde el lunes",
        "um capítulo por dia a partir de amanhã",
    ],
)
async def test_a_plan_is_read_as_it_is_said(club: TestClub, plan: str) -> None:
    await club.shelve(lantern_house())
    assert await said(club, "schedule", plan) == await said(club, "schedule", plan)
    assert "refused" not in await said(club, "schedule", plan)
