"""The next book as Discord's own poll: shown, voted in, caught up with, ended before it is counted; else our buttons."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.discord import ballots
from core.model import Ballot, Conversation, Reader
from core.strings import say
from tests.adapters.discord_club import Site, discord_site, items, text_of
from tests.clubs import TestClub
from tests.fakes.discord import Member, Payload, labels
from tests.fakes.discord.polls import check_poll
from tests.fakes.discord.world import SEND_POLLS

TITLES = ("Emma", "Hamlet", "Dom Casmurro")
EXPIRE = ("POST", "/channels/{channel}/polls/{message}/expire")
VOTERS = ("GET", "/channels/{channel}/polls/{message}/answers/{answer}")


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


async def _opened(site: Site, words: str = "vote", titles: tuple[str, ...] = TITLES) -> Payload:
    """A poll between these; the message that shows it."""
    for title in titles:
        await site.command("next", words=title)
    [shown] = await site.mara.settled(await site.mara.slash(site.channel, "next", {"words": words}))
    return shown


async def _soon(site: Site, hours: float) -> str:
    """A moment so many hours from now, as it is typed; with no quiet hours."""
    await site.command("schedule", words="quiet off")
    assert site.club is not None
    return f"{site.club.clock() + timedelta(hours=hours):%Y-%m-%d %H:%M}"


async def _counted(site: Site, *parts: str) -> str:
    """The count, once it is said."""

    def found() -> str:
        said = [text_of(message) for message in site.mara.answers(site.channel)]
        return next((text for text in said if all(part in text for part in parts)), "")

    return str(await site.fake.until(found))


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await true():  # noqa: ASYNC110  # rows of the database
            await asyncio.sleep(0.02)


async def _voters(site: Site, club: TestClub, count: int) -> None:
    """Wait until so many ballots are on record."""

    async def voted() -> bool:
        latest = await club.club.meeting.polls.latest(_here(site))
        return latest is not None and latest.voters == count

    await _until(voted)


def _here(site: Site) -> Conversation:
    return Conversation("discord", str(site.channel.id), None, str(site.server.id))


async def _memos(club: TestClub) -> list[str]:
    found = [await club.club.post.recall_all("discord", prefix) for prefix in ("ballot:", "poll:", "vote:")]
    return [key for memos in found for key in memos]


async def _forgotten(club: TestClub) -> bool:
    return not await _memos(club)


async def _bare(club: TestClub) -> None:
    """As if the process had died between sending a poll and keeping which message it is."""
    await _until(lambda: _known(club, True))
    [(key, memo)] = (await club.club.post.recall_all("discord", "ballot:")).items()
    await club.club.post.forget("discord", f"poll:{memo['message']}")
    kept = {name: value for name, value in memo.items() if name not in ("message", "answers")}
    await club.club.post.remember("discord", key, kept)


def _people(site: Site, count: int) -> list[Member]:
    return [site.fake.member(f"Voter {number}", site.server) for number in range(count)]


async def test_a_poll_is_discords_own_with_its_closing_in_words_and_votes_are_counted_as_they_are_changed(
    site: Site,
) -> None:
    async with site.running() as club:
        until = await _soon(site, 30.5)
        poll = await _opened(site, f"vote {until}")
        assert poll["content"] == ""
        assert items(poll) == []
        assert poll["poll"]["question"]["text"].endswith(f"Open until {until} (UTC).")
        assert [answer["poll_media"]["text"] for answer in poll["poll"]["answers"]] == list(TITLES)
        left = datetime.fromisoformat(poll["poll"]["expiry"]) - datetime.now(UTC)
        assert timedelta(hours=30) < left <= timedelta(hours=31)
        ana, ben, eva = _people(site, 3)
        for member, answers in ((ana, ["Emma", "Hamlet"]), (ben, ["Hamlet"]), (eva, ["Emma", None]), (ana, ["Emma"])):
            for answer in answers:
                await member.vote(site.channel, poll, answer)
        await _voters(site, club, 2)
        await site.command("next", words="close")
        assert "Emma 1, Hamlet 1, Dom Casmurro 0" in await _counted(site, "Hamlet 1")
        assert site.fake.rest.polls.ended(poll)
        await _until(lambda: _forgotten(club))
    assert not site.fake.journal.refused()


async def test_at_its_time_a_poll_is_ended_first_and_counted_with_all_votes_that_discord_took(site: Site) -> None:
    async with site.running() as club:
        poll = await _opened(site, f"vote {await _soon(site, 2)}")
        ana, ben, eva = _people(site, 3)
        await ana.vote(site.channel, poll, "Emma")
        await _voters(site, club, 1)
        # What is told of these votes is lost on the way.
        sessions, site.fake.gateway.sessions = site.fake.gateway.sessions, {}
        await ana.vote(site.channel, poll, None)
        await ben.vote(site.channel, poll, "Hamlet")
        await eva.vote(site.channel, poll, "Hamlet")
        site.fake.gateway.sessions = sessions
        club.clock.pass_minutes(121)
        await site.command("about")
        assert "Hamlet 2, Emma 0" in await _counted(site, "Next we read Hamlet.")
        await site.fake.until(lambda: len(site.fake.journal.requests(*EXPIRE)) == 1)
        ends = site.fake.journal.entries.index(site.fake.journal.requests(*EXPIRE)[0])
        assert all(site.fake.journal.entries.index(read) > ends for read in site.fake.journal.requests(*VOTERS))
    assert not site.fake.journal.refused()


async def test_votes_missed_while_the_bot_was_away_are_caught_up_and_what_was_pressed_since_stays(
    site: Site,
) -> None:
    voters = _people(site, 8)
    async with site.running() as club:
        poll = await _opened(site)
        for member in voters[:3]:
            await member.vote(site.channel, poll, "Emma")
        await _voters(site, club, 3)
        # By buttons that were shown when they stood beside the poll.
        [memo] = (await club.club.post.recall_all("discord", "ballot:")).values()
        for member in (site.mara, voters[2]):  # the latter has changed their mind
            third = memo["options"][2]
            await club.club.meeting.polls.vote(_here(site), Reader(str(member.person.id)), memo["poll"], third)
        await _voters(site, club, 4)
    await voters[0].vote(site.channel, poll, "Hamlet")
    await voters[1].vote(site.channel, poll, None)
    for member in voters[3:]:
        await member.vote(site.channel, poll, "Hamlet")
    async with site.running() as club:
        await _voters(site, club, 8)
        await site.command("next", words="close")
        assert "Hamlet 6, Dom Casmurro 2, Emma 0" in await _counted(site, "Next we read Hamlet.")
        await _until(lambda: _forgotten(club))
    assert not site.fake.journal.refused()


async def test_a_poll_that_was_sent_when_the_process_died_is_found_again(site: Site) -> None:
    async with site.running() as club:
        poll = await _opened(site)
        await _bare(club)
    await site.mara.vote(site.channel, poll, "Hamlet")
    async with site.running() as club:
        await _voters(site, club, 1)
        await site.ivo.vote(site.channel, poll, "Emma")
        await _voters(site, club, 2)


async def test_one_that_was_never_sent_is_given_up_and_stays_with_our_buttons(site: Site) -> None:
    async with site.running() as club:
        poll = await _opened(site)
        await _bare(club)
        await site.mara.delete(site.channel, poll)
    async with site.running() as club:
        await _until(lambda: _forgotten(club))
        [shown] = await site.mara.settled(await site.mara.slash(site.channel, "next"))
        await site.opened(shown, "Vote 1")
        await _voters(site, club, 1)


async def test_while_a_poll_stands_there_is_no_second_ballot_beside_it(site: Site) -> None:
    async with site.running() as club:
        until = await _soon(site, 30)
        poll = await _opened(site, f"vote {until}")
        await site.ivo.vote(site.channel, poll, "Hamlet")
        await _voters(site, club, 1)
    async with site.running() as club:
        [told] = await site.mara.settled(await site.mara.slash(site.channel, "next"))
        words = text_of(told)
        assert all(
            part in words for part in ("Hamlet", "Vote in the poll above", f"Open until {until}", "1 has voted.")
        )
        assert labels(told) == []
        site.fake.fail("GET", "/channels/{channel}/messages/{message}", cut=True)
        [told] = await site.mara.settled(await site.mara.slash(site.channel, "next"))
        assert labels(told) == []  # what cannot be looked at may well be there
    assert not site.fake.journal.refused()


@pytest.mark.parametrize("how", ["deleted", "ended", "reopened"])
async def test_where_the_poll_stands_no_more_there_are_our_buttons(site: Site, how: str) -> None:
    async with site.running() as club:
        poll = await _opened(site)
        await site.ivo.vote(site.channel, poll, "Emma")
        await _voters(site, club, 1)
        if how == "deleted":
            await site.mara.delete(site.channel, poll)
        elif how == "ended":  # the vendor lets none be open for longer than 32 days
            await site.fake.rest.polls.expire(site.channel, poll)
        else:
            [count] = await site.mara.settled(await site.mara.slash(site.channel, "next", {"words": "close"}))
            await site.opened(count, "Undo")
        [shown] = await site.mara.settled(await site.mara.slash(site.channel, "next"))
        await site.opened(shown, "Vote 2")
        await _voters(site, club, 2)


async def test_an_answer_that_came_too_late_leaves_nothing_behind_but_the_poll_itself(site: Site) -> None:
    async with site.running() as club:
        for title in TITLES:
            await site.command("next", words=title)
        site.fake.fail("POST", "/interactions/{interaction}/{token}/callback", status=404, code=10062)
        await site.mara.slash(site.channel, "next", {"words": "vote"})
        await site.fake.until(lambda: site.fake.faults[0].times == 0)
        await _until(lambda: _forgotten(club))
        [shown] = await site.mara.settled(await site.mara.slash(site.channel, "next"))
        assert "Vote 1" in labels(shown)


@pytest.mark.parametrize("titles", [("Emma", "H" * 56), ("Emma", "H" + "😀" * 28), ("Emma", "Hamlet")])
async def test_what_discord_cannot_show_or_does_not_take_is_our_own_message(
    site: Site, titles: tuple[str, ...]
) -> None:
    async with site.running() as club:
        if titles[1] == "Hamlet":
            await site.fake.deny(site.channel, SEND_POLLS)
        shown = await _opened(site, titles=titles)
        assert "poll" not in shown
        await site.opened(shown, "Vote 2", by=site.ivo)
        await _voters(site, club, 1)
        assert await _memos(club) == []
    assert not site.fake.journal.refused()


@pytest.mark.parametrize("denied", [0, SEND_POLLS])
@pytest.mark.parametrize("ended", [False, True])
async def test_a_follow_up_and_an_ordinary_message_become_a_poll_too_or_our_buttons(
    site: Site, denied: int, ended: bool
) -> None:
    async with site.running() as club:
        for title in TITLES:
            await site.command("next", words=title)
        before = len(site.mara.answers(site.channel))
        site.channel.denied_bot = denied
        async with site.held():  # the club takes its time, so the command is acknowledged meanwhile
            asked = await site.mara.slash(site.channel, "next", {"words": "vote"})
            await site.fake.until(lambda: asked.answer == 5)
            if ended:
                site.fake.interactions.end_tokens()

        def shown() -> Payload | None:
            found = [
                one for one in site.mara.answers(site.channel)[before:] if "poll" in one or "Vote 2" in labels(one)
            ]
            return found[0] if found else None

        poll = await site.fake.until(shown)
        assert isinstance(poll, dict)
        assert ("poll" in poll) != bool(denied)
        assert (int(poll["id"]) == asked.original) != ended
        await _until(lambda: _known(club, not denied))
        if not denied:
            await site.ivo.vote(site.channel, poll, "Hamlet")
            await _voters(site, club, 1)


async def _known(club: TestClub, native: bool) -> bool:
    return len(await _memos(club)) == (2 if native else 0)


async def test_ranked_polls_and_those_open_for_too_long_stay_with_our_buttons(site: Site) -> None:
    async with site.running():
        shown = await _opened(site, f"vote {await _soon(site, 33 * 24)}")
        assert "Vote 3" in labels(shown)
        await site.command("next", words="close")
        for title in TITLES:
            await site.command("next", words=title)
        [ranked] = await site.mara.settled(await site.mara.slash(site.channel, "next", {"words": "vote ranked"}))
        assert "Vote 3" in labels(ranked)


async def test_what_discord_says_at_the_end_of_a_poll_and_polls_of_members_are_no_questions(site: Site) -> None:
    site.fake.grant_message_content()
    async with site.running() as club:
        poll = await _opened(site)
        await site.ivo.vote(site.channel, poll, "Emma")
        await _voters(site, club, 1)
        theirs = site.fake.rest.post(
            site.channel,
            site.ivo.person,
            {"poll": {"question": {"text": "Pizza?"}, "answers": [{"poll_media": {"text": "Emma"}}], "duration": 1}},
            [],
        )
        await site.fake.rest.tell("MESSAGE_CREATE", site.channel, theirs)
        await site.mara.vote(site.channel, theirs, "Emma")
        await site.command("next", words="close")
        count = await _counted(site, "Emma 1")
        await site.command("about")
        said = [message for message in site.mara.answers(site.channel) if message.get("message_reference")]
        assert [message["type"] for message in said] == [46]
        assert "Emma 1" in count


async def test_while_discord_does_not_tell_the_votes_nothing_is_counted_and_the_time_comes_again(site: Site) -> None:
    async with site.running() as club:
        poll = await _opened(site, f"vote {await _soon(site, 2)}")
        await site.ivo.vote(site.channel, poll, "Emma")
        await _voters(site, club, 1)
        site.fake.fail(*EXPIRE, cut=True)
        assert "try again in a minute" in await site.command("next", words="close")
        club.clock.pass_minutes(121)
        await site.command("about")
        assert "Emma 1" in await _counted(site, "Next we read Emma.")
        await _until(lambda: _forgotten(club))


async def test_a_poll_whose_message_is_gone_is_counted_all_the_same(site: Site) -> None:
    async with site.running() as club:
        poll = await _opened(site)
        await site.ivo.vote(site.channel, poll, "Emma")
        await _voters(site, club, 1)
        await site.mara.delete(site.channel, poll)
        assert "Emma 1" in await site.command("next", words="close")
        await _until(lambda: _forgotten(club))


@pytest.mark.parametrize(
    ("question", "options", "hours", "fits"),
    [
        ("Which?", ["Emma"], 768, True),
        ("Which?", ["Emma"], 768.1, False),
        ("Which?", ["Emma"] * 10, 0.1, True),
        ("Which?", ["Emma"] * 11, None, False),
        ("W" * 300, ["E" * 55], None, True),
        ("W" * 301, ["Emma"], None, False),
        ("😀" * 150, ["😀" * 27], None, True),
        ("Which?", ["😀" * 28], None, False),
    ],
)
def test_a_poll_is_made_exactly_within_the_vendors_limits(
    question: str, options: list[str], hours: float | None, fits: bool
) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    until = None if hours is None else now + timedelta(hours=hours)
    ballot = Ballot("p", question, tuple((str(at), title) for at, title in enumerate(options)), until)
    made = ballots.drawn(ballot, now)
    assert (made is not None) == fits
    if made is not None:
        check_poll(dict(made._to_dict()))


async def test_nothing_is_kept_of_a_poll_whose_channel_was_forgotten(site: Site) -> None:
    async with site.running() as club:
        await site.shelve()
        shown = await _opened(site)
        await site.ivo.vote(site.channel, shown, "Emma")
        await _voters(site, club, 1)
        [asked] = await site.mara.settled(await site.mara.slash(site.channel, "book forget", {"what": "chat"}))
        await site.mara.press(site.channel, asked, say("desk_forget_yes", "en"))
        await _until(lambda: _forgotten(club))
        assert await club.club.meeting.polls.latest(_here(site)) is None
