"""The next book: proposals, votes and counts that a hand would make, with ties and late votes."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.desk import Desk
from core.document import plain
from core.errors import LoccitError, ReaderError, UpstreamError
from core.meeting.tally import count
from core.model import Conversation, Reader, Reply
from core.strings import say
from tests.clubs import MEMBER, ROOM, TestClub, open_club
from tests.core.test_discussions import command, drained, press

KEEPER = Reader("keeper", "en", manages=True)


@pytest.mark.parametrize(
    ("ballots", "ranked", "winners", "rounds"),
    [
        ({"a": 3, "b": 2}, False, "a", 1),
        ({"a": 2, "b": 2, "c": 1}, False, "ab", 1),
        ({}, False, "", 0),
        ({}, True, "", 0),
        # Tennessee: Memphis 42, Nashville 26, Chattanooga 15, Knoxville 17; Knoxville wins the runoff.
        ({"mnck": 42, "nckm": 26, "cknm": 15, "kcnm": 17}, True, "k", 3),
        ({"ab": 3, "ba": 2}, True, "a", 1),
        ({"abc": 4, "bca": 3, "cba": 2}, True, "b", 2),
        # b and c are last together in the first round and never differed: both go.
        ({"a": 2, "b": 1, "c": 1}, True, "a", 2),
        ({"a": 2, "b": 2}, True, "ab", 1),
        ({"a": 1, "b": 1, "c": 1}, True, "abc", 1),
        # In round 2 b and d are last together; b had fewer in round 1.
        ({"a": 5, "b": 3, "d": 4, "cb": 1}, True, "a", 3),
        # Ballots that are used up count no more: a has half of what is left and more.
        ({"a": 4, "b": 3, "c": 2}, True, "a", 2),
        ({"aab": 1, "xb": 2, "": 3}, True, "b", 1),
    ],
)
def test_ballots_are_counted_as_by_hand(ballots: dict[str, int], ranked: bool, winners: str, rounds: int) -> None:
    candidates = sorted({letter for ballot in ballots for letter in ballot} - {"x"}) or ["a", "b"]
    cast = [tuple(ballot) for ballot, times in ballots.items() for _ in range(times)]
    counted = count(candidates, cast, ranked=ranked)
    assert "".join(sorted(counted.winners)) == winners
    assert len(counted.rounds) == rounds


async def _ready(club: TestClub) -> None:
    for title in ("Emma", "Hamlet", "emma ", "“Dom Casmurro”"):
        await command(club, f"next {title}", MEMBER)


async def test_books_are_proposed_once_voted_on_and_counted(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await _ready(club)
        proposed = plain((await command(club, "next")).document)
        assert "1. Emma" in proposed
        assert "3. Dom Casmurro" in proposed
        with pytest.raises(ReaderError, match="managers_only"):
            await command(club, "next vote", MEMBER)
        poll = await command(club, "next vote")
        club.clock.pass_minutes(1)
        with pytest.raises(ReaderError, match="next_open_already"):
            await command(club, "next vote")
        for reader, label in (("a", "Vote 1"), ("b", "Vote 2"), ("a", "Vote 3"), ("c", "Vote 3"), ("d", "Vote 1")):
            answer = await press(club, poll, label, Reader(reader, "en"))
            assert answer.private
        await press(club, poll, "Take my vote back", Reader("d", "en"))
        assert "3 have voted" in plain((await command(club, "next")).document)
        closed = await command(club, "next close")
        assert "Dom Casmurro 2, Hamlet 1, Emma 0" in plain(closed.document)
        assert "Next we read Dom Casmurro." in plain(closed.document)
        with pytest.raises(ReaderError, match="next_late"):
            await press(club, poll, "Vote 1", Reader("e", "en"))
        again = await press(club, closed, "Undo")
        await press(club, again, "Vote 2", Reader("e", "en"))
        assert "A tie between Hamlet · Dom Casmurro" in plain((await command(club, "next close")).document)
        assert "Dom Casmurro" in plain((await command(club, "next")).document)


async def test_a_ranked_poll_takes_an_order_and_closes_by_itself_late_votes_not_counted(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await command(club, "schedule zone Madrid")
        await command(club, "schedule quiet off")
        await _ready(club)
        poll = await command(club, "next vote ranked 2026-03-05 19:00")
        assert "Open until 2026-03-05 19:00 (Europe/Madrid)" in plain(poll.document)
        for reader, order in (("a", "12"), ("b", "12"), ("c", "23"), ("d", "32"), ("e", "32")):
            for number in order:
                told = await press(club, poll, f"Vote {number}", Reader(reader, "en"))
        assert plain(told.document) == "Your vote: Dom Casmurro › Hamlet"
        club.clock.now = datetime(2026, 3, 5, 18, tzinfo=UTC)
        with pytest.raises(ReaderError, match="next_late"):
            await press(club, poll, "Vote 1", Reader("f", "en"))
        [(_, result)] = await drained(club)
        assert "Round 2: Dom Casmurro 3, Emma 2" in plain(result.document)
        assert "Next we read Dom Casmurro." in plain(result.document)
        assert await drained(club) == []


async def test_votes_outlive_a_restart_and_are_forgotten_with_their_reader(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await _ready(club)
        poll = await command(club, "next vote")
        await press(club, poll, "Vote 1", MEMBER)
    async with open_club(tmp_path) as club:
        assert "1 has voted" in plain((await command(club, "next")).document)
        with pytest.raises(LoccitError):
            await Desk(club.club, str).press(
                Conversation("console", "elsewhere"), KEEPER, poll.choices[0][0].id, event="e"
            )
        await club.club.forget_reader(ROOM.platform, MEMBER.id)
        shown = await command(club, "next")
        assert isinstance(shown, Reply)
        assert "0 have voted" in plain(shown.document)


async def test_a_poll_shown_by_the_platform_counts_until_its_closing_is_on_record(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await command(club, "schedule quiet off")
        await _ready(club)
        opened = await command(club, "next vote 2026-03-05 19:00")
        ballot = opened.ballot
        assert ballot is not None
        assert [title for _, title in ballot.options] == ["Emma", "Hamlet", "Dom Casmurro"]
        assert ballot.until == datetime(2026, 3, 5, 19, tzinfo=UTC)
        assert ballot.closing == "Open until 2026-03-05 19:00 (UTC)."
        assert (ballot.fits(12), ballot.fits(11)) == (True, False)
        desk, (emma, hamlet, _) = Desk(club.club, str), [id for id, _ in ballot.options]
        for reader, choice in (("a", emma), ("b", hamlet), ("a", hamlet), ("c", emma), ("c", None)):
            await desk.vote(ROOM, Reader(reader, "en"), ballot.poll, choice)
        with pytest.raises(LoccitError, match="unknown_button"):
            await desk.vote(Conversation("console", "elsewhere"), Reader("x"), ballot.poll, emma)
        club.clock.now = datetime(2026, 3, 5, 20, tzinfo=UTC)
        # The reader still saw the poll open: nobody had said that it was over.
        await desk.vote(ROOM, Reader("d", "en"), ballot.poll, emma)
        [(_, result)] = await drained(club)
        assert result.over == ballot.poll
        assert "Hamlet 2, Emma 1, Dom Casmurro 0" in plain(result.document)
        with pytest.raises(ReaderError, match="next_late"):
            await desk.vote(ROOM, Reader("e", "en"), ballot.poll, emma)


async def test_a_vote_told_as_taken_back_and_given_anew_counts_in_whichever_order_it_is_told(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await _ready(club)
        ballot = (await command(club, "next vote")).ballot
        assert ballot is not None
        desk, (emma, hamlet, _) = Desk(club.club, str), [id for id, _ in ballot.options]
        for reader, told in (
            ("a", [(emma, False), (emma, True), (hamlet, False)]),
            ("b", [(emma, False), (hamlet, False), (emma, True)]),
            ("c", [(emma, False), (emma, True)]),
        ):
            for choice, back in told:
                await desk.vote(ROOM, Reader(reader, "en"), ballot.poll, choice, back=back)
        assert "Hamlet 2, Emma 0" in plain((await command(club, "next close")).document)


async def test_what_the_platform_knows_of_a_poll_is_gathered_before_it_is_counted_by_whoever_may_close_it(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path) as club:
        gathered: list[str] = []

        async def gather(poll: str) -> None:
            if not gathered:
                gathered.append(poll)
                raise UpstreamError("model_down")
            gathered.append(poll)
            await desk.vote(ROOM, Reader("late", "en"), poll, emma)

        await command(club, "schedule quiet off")
        await _ready(club)
        desk = Desk(club.club, str, gather=gather)
        opened = await desk.command(ROOM, KEEPER, "next", "vote 2026-03-05 19:00", event="v")
        assert isinstance(opened, Reply)
        assert opened.ballot is not None
        emma = opened.ballot.options[0][0]
        with pytest.raises(ReaderError, match="managers_only"):
            await desk.command(ROOM, MEMBER, "next", "close", event="c")
        assert gathered == []
        club.clock.now = datetime(2026, 3, 5, 20, tzinfo=UTC)
        [letter] = await club.club.post.due(ROOM.platform)
        with pytest.raises(UpstreamError):  # the platform is away: nothing is counted, the letter stays due
            await desk.letter(letter)
        counted = await desk.letter(letter)
        assert counted is not None
        assert "Emma 1" in plain(counted.document)
        assert gathered == [opened.ballot.poll] * 2


async def test_a_poll_that_stands_in_the_platforms_own_way_is_told_of_without_a_second_ballot(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        asked: list[str] = []

        async def stands(poll: str) -> bool:
            asked.append(poll)
            return len(asked) < 3

        await _ready(club)
        desk = Desk(club.club, str, stands=stands)
        opened = await desk.command(ROOM, KEEPER, "next", "vote 2026-03-05 19:00", event="v")
        assert isinstance(opened, Reply)
        assert opened.ballot is not None
        assert len(opened.choices) > 0  # for where the platform does not take it
        emma, hamlet, _ = [id for id, _ in opened.ballot.options]
        for reader, choice in (("a", emma), ("b", hamlet)):
            await desk.vote(ROOM, Reader(reader), opened.ballot.poll, choice)
        for locale, words in (("en", "poll above"), ("es", "encuesta de arriba")):
            shown = await desk.command(ROOM, Reader("m", locale), "next", event="n")
            assert isinstance(shown, Reply)
            assert words in plain(shown.document)
            assert all(part in plain(shown.document) for part in ("Emma", "Dom Casmurro", "2026-03-05 19:00 (UTC)"))
            assert shown.choices == ()
            assert say("next_voters", locale, count=2) in plain(shown.document)
        gone = await desk.command(ROOM, MEMBER, "next", event="n")
        assert isinstance(gone, Reply)
        assert len([choice for row in gone.choices for choice in row]) == 4
        assert asked == [opened.ballot.poll] * 3


async def test_ranks_and_a_poll_opened_again_stay_with_our_own_buttons(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await _ready(club)
        assert (await command(club, "next vote ranked")).ballot is None
        closed = await command(club, "next close")
        assert closed.over is not None
        again = await press(club, closed, "Undo")
        assert again.ballot is None
        assert len([choice for row in again.choices for choice in row]) == 4


async def test_what_opens_or_closes_a_poll_says_the_same_again_when_a_crash_swallowed_the_reply(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await command(club, "schedule quiet off")
        await _ready(club)
        opened = await command(club, "next vote 2026-03-05 19:00")
        again = await command(club, "next vote 2026-03-05 19:00")
        assert again.ballot == opened.ballot
        await press(club, opened, "Vote 1", Reader("a", "en"))
        closed = await command(club, "next close")
        club.clock.pass_minutes(14)
        repeated = await command(club, "next close")
        assert repeated.document == closed.document
        assert repeated.over == closed.over
        with pytest.raises(ReaderError, match="managers_only"):
            await command(club, "next close", MEMBER)
        club.clock.pass_minutes(2)
        with pytest.raises(ReaderError, match="next_none_open"):
            await command(club, "next close")
        club.clock.now = datetime(2026, 3, 5, 20, tzinfo=UTC)
        assert await drained(club) == []


async def test_a_poll_whose_time_is_over_but_not_yet_counted_can_be_closed_by_hand_and_is_counted_once(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path) as club:  # in the quiet hours nothing is said unasked
        await _ready(club)
        poll = await command(club, "next vote 2026-03-05 23:00")
        await press(club, poll, "Vote 1", Reader("a", "en"))
        club.clock.now = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
        assert await drained(club) == []
        assert "Next we read Emma." in plain((await command(club, "next close")).document)
        club.clock.now = datetime(2026, 3, 6, 9, tzinfo=UTC)
        assert await drained(club) == []


async def test_who_proposes_while_a_vote_is_open_is_told_that_it_waits(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await _ready(club)
        assert "/next remove 2 takes one back" in plain((await command(club, "next")).document)
        await command(club, "next vote")
        late = plain((await command(club, "next Ulysses")).document)
        assert "1. Ulysses" in late
        assert "wait for the one after it" in late
        assert "opens a poll" not in late
        for line in ("next remove", "next  remove "):
            with pytest.raises(ReaderError, match="next_how"):
                await command(club, line)


async def test_the_end_of_a_poll_is_a_time_and_nothing_beside_it(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:  # it is noon there
        await _ready(club)
        for said, key in (("at 7", "schedule_which_hour"), ("next friday of all", "next_how"), ("31 june 19:00", "next_how"),
                          ("Emma friday", "next_how"), ("11am", "schedule_past")):  # fmt: skip
            with pytest.raises(ReaderError, match=key):
                await command(club, f"next vote {said}")
        ballot = (await command(club, "next vote until 6pm")).ballot
        assert ballot is not None
        assert ballot.until == datetime(2026, 3, 1, 18, tzinfo=UTC)
