"""Dates and reminders: what people write, fair shares, a year with both clock changes, restarts and a platform that is away."""

import itertools
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from core import hours
from core.desk import Desk
from core.document import plain
from core.errors import LoccitError, ReaderError
from core.meeting.calendar import Plan, read_date, read_plan, shares, unclear
from core.model import Letter, Reader, Reply
from core.strings import say
from tests.books.planted import hidden, planted_book
from tests.clubs import MEMBER, ROOM, Clock, TestClub, lantern_house, long_book, open_club
from tests.core.test_discussions import command, press
from tests.promises.test_p6_never_ahead import LIMITS

KEEPER = Reader("keeper", "en", manages=True)
THURSDAY = date(2026, 12, 3)


@pytest.mark.parametrize(
    ("said", "place", "day", "at"),
    [
        ('"finished 3" 2026-12-05 19:00', "finished 3", date(2026, 12, 5), time(19)),
        ("finished 3 on Friday 20:30", "finished 3", date(2026, 12, 4), time(20, 30)),
        ("3 thursday", "3", date(2026, 12, 10), time(19)),
        ("page 120 tomorrow 7pm", "page 120", date(2026, 12, 4), time(19)),
        ("40 % 24.12. 9:05", "40 %", date(2026, 12, 24), time(9, 5)),
        ("finished 2 1.2.", "finished 2", date(2027, 2, 1), time(19)),
        ("terminado 3 el viernes a las 21h", "terminado 3", date(2026, 12, 4), time(21)),
        ("terminado 3 mañana", "terminado 3", date(2026, 12, 4), time(19)),
        ("terminado 2 na terça-feira 18:00", "terminado 2", date(2026, 12, 8), time(18)),
        ("finished 3 5 December", "finished 3", date(2026, 12, 5), time(19)),
        ("finished 3 Dec 5, 7pm", "finished 3", date(2026, 12, 5), time(19)),
        ("page 120 on Saturday, December 5th, 2026 at 7:30 p.m.", "page 120", date(2026, 12, 5), time(19, 30)),
        ("3 1 january", "3", date(2027, 1, 1), time(19)),
        ("40 % 29 february", "40 %", date(2028, 2, 29), time(19)),
        ("terminado 3 el sábado, 5 de diciembre de 2026 a la 1 p. m.", "terminado 3", date(2026, 12, 5), time(13)),
        ("terminado 3 mar 20h", "terminado 3", date(2026, 12, 8), time(20)),
        ("terminado 3 em 1º de março às 19h30", "terminado 3", date(2027, 3, 1), time(19, 30)),
        ("finished 3 2026/12/5", "finished 3", date(2026, 12, 5), time(19)),
        ("finished 3 5.12.26", "finished 3", date(2026, 12, 5), time(19)),
        ("finished 3 tonight 8pm", "finished 3", THURSDAY, time(20)),
        ("terminado 3 esta noche", "terminado 3", THURSDAY, time(19)),
        ("terminado 3 hoje à noite", "terminado 3", THURSDAY, time(19)),
        ("terminado 3 el viernes a las 21", "terminado 3", date(2026, 12, 4), time(21)),
        ("terminado 3 hoje às 20", "terminado 3", THURSDAY, time(20)),
        ("finished 3 friday at 19", "finished 3", date(2026, 12, 4), time(19)),
        ("finished 3 tomorrow @20", "finished 3", date(2026, 12, 4), time(20)),
        ("finished 3 tonight at 8", "finished 3", THURSDAY, time(20)),
        ("finished 3 tonight at 8:30", "finished 3", THURSDAY, time(20, 30)),
        ("terminado 3 esta noche a las 9", "terminado 3", THURSDAY, time(21)),
        ("terminado 3 el viernes a las 7 de la tarde", "terminado 3", date(2026, 12, 4), time(19)),
        ("terminado 3 amanhã às 7:30 da noite", "terminado 3", date(2026, 12, 4), time(19, 30)),
        ("finished 3 Saturday at 11 in the morning", "finished 3", date(2026, 12, 5), time(11)),
        ("finished 3 Saturday noon", "finished 3", date(2026, 12, 5), time(12)),
        ("terminado 3 el sábado al mediodía", "terminado 3", date(2026, 12, 5), time(12)),
        ("terminado 3 sábado ao meio-dia", "terminado 3", date(2026, 12, 5), time(12)),
        ("finished 3 6pm", "finished 3", THURSDAY, time(18)),
        ("3 19:00", "3", THURSDAY, time(19)),
        ("page 120 at noon", "page 120", THURSDAY, time(12)),
        ("40 % at 21", "40 %", THURSDAY, time(21)),
    ],
)
def test_a_place_and_a_date_are_read_in_three_languages(said: str, place: str, day: date, at: time) -> None:
    assert read_date(said, THURSDAY) == (place, datetime.combine(day, at))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "finished 3",
        "friday",
        "finished 3 2026-13-45",
        "finished 3 31.2.",
        "19:00",
        "5 December",
        "finished 3 31 June",
        "finished 3 Smarch 5",
        "finished 3 30 february",
    ],
)
def test_words_without_a_date_are_none(said: str) -> None:
    assert read_date(said, THURSDAY) is None
    assert not unclear(said)


@pytest.mark.parametrize(
    "said",
    [
        "finished 3 friday at 7",
        "finished 3 at 12",
        "terminado 3 el viernes a las 7",
        "terminado 3 amanhã às 8",
        "terminado 3 el viernes a las 12 de la noche",
        "finished 3 friday at midnight",
        "terminado 3 sexta à meia-noite",
        "two chapters a week from Monday at 7",
        "finished 3 friday at 25",
    ],
)
def test_an_hour_that_there_is_twice_a_day_is_asked_for(said: str) -> None:
    assert read_date(said, THURSDAY) is None
    assert read_plan(said, THURSDAY) is None
    assert unclear(said)


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("two chapters a week from Monday", Plan(2, 7, date(2026, 12, 7), time(19))),
        ("3 chapters per day from tomorrow 8:00", Plan(3, 1, date(2026, 12, 4), time(8))),
        ("dos capítulos por semana desde el lunes", Plan(2, 7, date(2026, 12, 7), time(19))),
        ("um capítulo por dia a partir de segunda 21:00", Plan(1, 1, date(2026, 12, 7), time(21))),
        ("a chapter a week", Plan(1, 7, THURSDAY, time(19))),
    ],
)
def test_a_plan_is_read_in_three_languages(said: str, plan: Plan) -> None:
    assert read_plan(said, THURSDAY) == plan


def test_shares_are_as_even_as_whole_chapters_can_be() -> None:
    for lengths in ([5], [1, 1, 1, 9], [9, 1, 1, 1], [3, 3, 3, 3, 3], [2, 8, 3, 7, 1, 4, 6], [10] * 6 + [1] * 3):
        for groups in range(1, len(lengths) + 1):
            ends = shares(lengths, groups)
            assert len(ends) == groups
            assert ends[-1] == len(lengths)
            parts = [sum(lengths[a:b]) for a, b in itertools.pairwise([0, *ends])]
            assert all(b > a for a, b in itertools.pairwise([0, *ends]))
            cuts = itertools.combinations(range(1, len(lengths)), groups - 1)
            best = min(max(sum(lengths[a:b]) for a, b in itertools.pairwise([0, *cut, len(lengths)])) for cut in cuts)
            assert max(parts) == best, (lengths, groups)


def test_a_skipped_time_comes_an_hour_later_a_repeated_one_first_and_nights_are_quiet() -> None:
    madrid = ZoneInfo("Europe/Madrid")
    assert hours.moment(datetime.fromisoformat("2026-03-29T02:30"), madrid).astimezone(madrid).hour == 3
    assert hours.moment(datetime.fromisoformat("2026-10-25T02:30"), madrid) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    settings = {"zone": "Europe/Madrid"}
    night = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    assert hours.quiet_until(settings, night) == datetime(2026, 3, 29, 6, tzinfo=UTC)
    assert hours.quiet_until(settings, datetime(2026, 3, 29, 6, tzinfo=UTC)) is None
    assert hours.quiet_until(settings, datetime(2026, 3, 28, 21, tzinfo=UTC)) == datetime(2026, 3, 29, 6, tzinfo=UTC)
    assert hours.quiet_until({**settings, "quiet": False}, night) is None
    assert hours.quiet_until({"quiet": [13, 15]}, datetime(2026, 1, 1, 14, tzinfo=UTC)) is not None


@pytest.mark.parametrize(
    ("said", "zone"),
    [("madrid", "Europe/Madrid"), ("New York", "America/New_York"), ("são paulo", "America/Sao_Paulo"), ("utc", "UTC"),
     ("europe/lisbon", "Europe/Lisbon"), ("atlantis", None), ("", None), ("../etc", None)],
)  # fmt: skip
def test_a_zone_is_named_by_its_city(said: str, zone: str | None) -> None:
    assert hours.find_zone(said) == zone


async def test_the_hour_asks_whether_the_club_arrived_and_only_a_press_moves_the_limit(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        await command(club, "schedule zone Madrid")
        made = await command(club, 'schedule "finished The Ferry" 2026-03-04 19:00')
        assert "Wed 2026-03-04 19:00: The Lantern House, up to chapter 2" in plain(made.document)
        assert "Europe/Madrid" in plain(made.document)
        assert "Ferry" not in plain(made.document)
        [eve] = await _at(club, datetime(2026, 3, 3, 18, tzinfo=UTC))
        assert "A reminder: Wed 2026-03-04 19:00 (Europe/Madrid)" in plain(eve.document)
        [asked] = await _at(club, datetime(2026, 3, 4, 18, tzinfo=UTC))
        assert "Has the club arrived?" in plain(asked.document)
        assert (await club.club.progress(ROOM, KEEPER))[1].words == "finished 1"
        with pytest.raises(ReaderError, match="managers_only"):
            await press(club, asked, "Yes, we are there", Reader("guest", "en"))
        when = await press(club, asked, "Not yet")
        later = await press(club, when, "In a week")
        assert "2026-03-11 19:00" in plain(later.document)
        assert len(await _at(club, datetime(2026, 3, 10, 18, tzinfo=UTC))) == 1
        [again] = await _at(club, datetime(2026, 3, 11, 18, tzinfo=UTC))
        await press(club, again, "Yes, we are there")
        assert (await club.club.progress(ROOM, KEEPER))[1].words == "finished 2"


async def test_what_is_called_off_moved_or_reached_already_says_nothing(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        await command(club, "schedule 2 2026-03-10 19:00")
        await command(club, "schedule 3 2026-03-12 19:00")
        assert "1 date called off" in plain((await command(club, "schedule cancel 1")).document)
        assert await _at(club, datetime(2026, 3, 10, 19, tzinfo=UTC)) == []
        await club.club.progress(ROOM, KEEPER, words="finished 3")
        assert await _at(club, datetime(2026, 3, 12, 19, tzinfo=UTC)) == []
        assert "Nothing is scheduled" in plain((await command(club, "schedule")).document)


async def test_a_plan_covers_what_is_left_in_even_weeks(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(long_book(9, 800))
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        text = plain((await command(club, "schedule two chapters a week from Monday 20:00")).document)
        assert [f"2026-03-{day:02} 20:00" in text for day in (9, 16, 23, 30)] == [True] * 4
        assert "up to chapter 9" in text
        assert "Part" not in text
        assert "4 dates called off" in plain((await command(club, "schedule cancel all")).document)


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("finished 3", "schedule_how_short"),
        ("start tomorrow", "discuss_nothing_before"),
        ("0 tomorrow", "discuss_nothing_before"),
        ("finished 3 tomorrow at 7", "schedule_which_hour"),
        ("finished 3 1am", "schedule_past"),
        ("finished 3 2020-01-01", "schedule_past"),
        ("finished 9 2026-12-05", "limit_no_such_chapter"),
        ("zone Atlantis", "schedule_no_zone"),
        ("quiet 99 3", "schedule_quiet_how"),
        ("cancel 7", "schedule_no_such"),
    ],
)
async def test_what_cannot_be_scheduled_gets_one_sentence(tmp_path: Path, said: str, key: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        with pytest.raises(LoccitError) as refused:
            await command(club, f"schedule {said}")
        assert refused.value.key == key


async def test_only_who_manages_or_added_the_book_schedules(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        with pytest.raises(ReaderError, match="book_managers_only"):
            await command(club, "schedule 2 2026-12-05", Reader("guest"))
        await command(club, "schedule 2 2026-12-05", MEMBER)


@pytest.mark.parametrize("zone", ["Europe/Madrid"])
async def test_over_a_year_each_reminder_comes_once_at_the_right_local_hour(tmp_path: Path, zone: str) -> None:
    here, clock = ZoneInfo(zone), Clock(datetime(2026, 1, 1, 12, tzinfo=UTC))
    sent: dict[str, datetime] = {}
    dates: list[datetime] = []
    for quarter in range(4):  # a restart each quarter; in February and August the platform is away for a while
        async with open_club(tmp_path, clock=clock) as club:
            if quarter == 0:
                await club.shelve(long_book(60, 60))
                await club.club.progress(ROOM, KEEPER, words="finished 1")
                await club.club.meeting.schedule.set_zone(ROOM, KEEPER, zone)
                made = await club.club.meeting.schedule.make(ROOM, KEEPER, "a chapter a week from 2026-01-04 19:00")
                dates = [one.local for one in made if one.local.year == 2026]
                assert len(dates) == 51
            last = datetime(2026, 3 * quarter + 4, 1, tzinfo=UTC) if quarter < 3 else datetime(2027, 1, 1, tzinfo=UTC)
            while clock.now < last:
                local = clock.now.astimezone(here)
                away = (2, 10) < (local.month, local.day) < (2, 25) or (8, 2) <= (local.month, local.day) <= (8, 3)
                if not away:
                    for letter in await club.club.post.due(ROOM.platform):
                        await _send(club, letter, sent, clock.now)
                clock.now = _next(local)
    for local in dates:
        eve, hour = local - timedelta(days=1), local
        for when, name in ((eve, ":before"), (hour, "")):
            moments = [at for id, at in sent.items() if id.endswith(f"{local.isoformat(timespec='minutes')}{name}")]
            if len(moments) == 1 and moments[0].astimezone(here).replace(tzinfo=None) == when:
                continue
            assert when.month in (2, 8), (when, moments)  # it was away: said later if at all, and not at night
            assert all(8 <= moment.astimezone(here).hour < 22 for moment in moments)
            assert len(moments) == (1 if not name else len(moments) and 1)


def _next(local: datetime) -> datetime:
    """The next moment at which an adapter looks: at night, in the morning, around the hour. Midweek nothing is due."""
    for days in range(8):
        day = local.date() + timedelta(days=days)
        for at in (time(3), time(8), time(18, 59), time(19), time(23))[
            : {5: 5, 6: 5, 0: 2, 1: 2}.get(day.weekday(), 0)
        ]:
            moment = datetime.combine(day, at, local.tzinfo)
            if moment.astimezone(UTC) > local.astimezone(UTC):
                return moment.astimezone(UTC)
    raise AssertionError


async def _send(club: TestClub, letter: Letter, sent: dict[str, datetime], now: datetime) -> None:
    reply = await Desk(club.club, str).letter(letter)
    if reply is not None and 0 not in await club.club.post.delivered(letter.id):
        assert letter.id not in sent
        sent[letter.id] = now
        await club.club.post.sent(letter.conversation, letter.id, 0, f"m{len(sent)}")
        if len(sent) % 7 == 0:
            return  # a crash before the letter is done: it comes again and is not sent twice
    await club.club.post.done(letter.id)


async def _at(club: TestClub, moment: datetime) -> list[Reply]:
    """What is said unasked by then."""
    club.clock.now = moment
    found = []
    for letter in await club.club.post.due(ROOM.platform):
        reply = await Desk(club.club, lambda name: f"/{name}").letter(letter)
        found += [reply] if reply is not None else []
        await club.club.post.done(letter.id)
    return found


@pytest.mark.parametrize("limit", LIMITS)
async def test_no_planted_word_past_a_limit_stands_in_a_schedule(tmp_path: Path, limit: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(planted_book())
        _, reach = await club.club.progress(ROOM, KEEPER, words=limit)
        replies = [
            await command(club, "schedule finished The Thessimund 2026-03-05 19:00"),
            await command(club, "schedule finished Part Pharrowdene 2026-03-06 19:00"),
            await command(club, "schedule in The Vantorel 2026-03-07 19:00"),
            await command(club, "schedule a chapter a day from 2026-03-08"),
            await command(club, "schedule"),
        ]
        for day in range(4, 13):
            replies += await _at(club, datetime(2026, 3, day, 19, tzinfo=UTC))
        shown = "\n".join(plain(reply.document) for reply in replies)
        shown += "\n".join(choice.label for reply in replies for row in reply.choices for choice in row)
        for word in hidden(reach.position):
            assert word.lower() not in shown.lower(), word


async def test_a_list_tells_the_quiet_hours_that_a_reminder_waits_for(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        made = plain((await command(club, "schedule finished 2 2026-03-04 23:00")).document)
        assert "From 22 to 8 o'clock I say nothing unasked; /schedule quiet 23 7 or" in made
        assert await _at(club, datetime(2026, 3, 4, 23, 30, tzinfo=UTC)) == []
        assert "From 22 to 8" in plain((await command(club, "schedule quiet")).document)
        await command(club, "schedule quiet off")
        assert "unasked" not in plain((await command(club, "schedule")).document)
        assert "Write two hours" in plain((await command(club, "schedule quiet")).document)


async def test_calling_off_nothing_says_what_can_be_done(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        assert "Nothing is scheduled. Write" in plain((await command(club, "schedule cancel all")).document)


async def test_a_moment_that_is_past_is_named_with_the_zone_it_was_read_in(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await command(club, "schedule zone Tokyo")
        with pytest.raises(ReaderError) as refused:
            await command(club, "schedule finished 2 today 20:00")  # 11:00 UTC, an hour ago
        assert "2026-03-01 20:00 is past (Asia/Tokyo)" in say(refused.value.key, "en", **refused.value.params)
