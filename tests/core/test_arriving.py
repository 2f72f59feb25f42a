"""Hello once, the checklist for whoever sets up, and the weekly digest by the limit of now."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.desk import Desk
from core.document import plain
from core.errors import OperatorError, ReaderError
from core.model import Check, Conversation, Reader, Reply
from core.strings import say
from tests.books.planted import hidden, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.core.test_discussions import command, drained, press
from tests.fakes.model import ScriptedModel
from tests.promises.test_p6_never_ahead import LIMITS

KEEPER = Reader("keeper", "en", manages=True)
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


async def _hellos(club: TestClub) -> list[tuple[str, str]]:
    """(where, what) is to be said as a first hello."""
    desk, found = Desk(club.club, lambda name: f"/{name}"), []
    for platform in ("discord", "telegram"):
        for letter in await club.club.post.due(platform):
            reply = await desk.letter(letter)
            assert reply is not None
            found.append((f"{platform} {letter.conversation.channel}", plain(reply.document)))
    return found


async def test_a_server_or_a_group_is_owed_one_hello_until_it_was_said_and_never_another(tmp_path: Path) -> None:
    places = [
        Conversation("discord", "1", server="s"),
        Conversation("discord", "2", server="s"),
        Conversation("discord", "3", server="t"),
        Conversation("telegram", "-100"),
        Conversation("telegram", "-100", "topic"),
    ]
    async with open_club(tmp_path) as club:
        for where in places:
            await Desk(club.club, str).hello(where, "es-MX", more="unknown_button")
    async with open_club(tmp_path) as club:  # nothing was said before the end
        hellos = await _hellos(club)
        assert sorted(where for where, _ in hellos) == ["discord 1", "discord 3", "telegram -100"]
        for _, said in hellos:
            assert "/help" in said
            assert said.startswith("Hola")
            assert said.endswith(say("unknown_button", "es"))
        for platform, note in (("discord", "hello:s"), ("telegram", "hello:-100")):
            await club.club.post.forget(platform, note)  # as if it had ended before this was noted
        for platform in ("discord", "telegram"):
            for letter in await club.club.post.due(platform):
                await club.club.post.done(letter.id)
    async with open_club(tmp_path) as club:
        for where in places:
            await Desk(club.club, str).hello(where)
        assert await _hellos(club) == []
        await club.club.forget_channel(places[0], KEEPER)  # the letter is gone with its channel
        await Desk(club.club, str).hello(places[1])
        assert await _hellos(club) == []


async def test_setup_names_what_is_missing_and_looks_again(tmp_path: Path) -> None:
    rights = [Check(False, "sending in threads; allow it in the channel's settings.")]

    async def checks(_: Conversation, locale: str | None) -> list[Check]:
        assert locale == "en"
        return rights

    refused = OperatorError("model_key_refused")
    async with open_club(tmp_path, ScriptedModel([refused, "ready"])) as club:
        desk = Desk(club.club, lambda name: f"/{name}", checks=checks)
        with pytest.raises(ReaderError, match="managers_only"):
            await desk.command(ROOM, MEMBER, "setup", event="e")
        first = await desk.command(ROOM, KEEPER, "setup", event="e")
        assert isinstance(first, Reply)
        assert first.private
        text = plain(first.document)
        assert "Missing: sending in threads" in text
        assert "Missing: The language model's provider refused the key" in text
        assert "Missing: there is no book yet" in text
        assert "OK: what is added and asked can be stored." in text
        rights[:] = [Check(True, "sending in threads")]
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        again = await desk.press(ROOM, KEEPER, first.choices[0][0].id, event="e")
        assert isinstance(again, Reply)
        text = plain(again.document)
        assert "Missing:" not in text
        assert "OK: the language model scripted answers" in text
        assert "the club is at chapter 1" in text


async def test_the_switches_of_setup_hold(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        shown = await command(club, "setup")
        for label, said in (
            ("Keep answers for the wrap-up", "are kept for the wrap-up"),
            ("Weekly digest", "A digest comes each Monday."),
            ("Ask first where the club is", "I ask where the club is"),
            ("No weekly digest", "There is no weekly digest."),
            ("Do not keep answers", "are not kept."),
        ):
            shown = await press(club, shown, label)
            assert said in plain(shown.document)


async def _opened(club: TestClub, notes: list[str], times: int) -> None:
    for note in notes:
        for number in range(times):
            await Desk(club.club, str).press(ROOM, Reader(f"reader{number}", "en"), note, event="e")


async def _week(club: TestClub, monday: datetime) -> list[Reply]:
    club.clock.now = monday
    return [reply for letter, reply in await drained(club) if letter.kind == "digest"]


async def test_the_digest_is_off_by_default_and_counts_nothing_then(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        turn = await club.ask("Who kept the lighthouse log in green ink?")
        await _opened(club, [turn.answer.footnotes[0].id], 3)
        assert await _week(club, MONDAY) == []
        assert await club.store.quotations.most_opened(1, ("2026-W09",)) == ()


async def test_a_known_week_gives_a_known_digest_once_each_monday(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:  # a Sunday noon
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        await club.club.meeting.digests.set(ROOM, KEEPER, True)
        log = await club.ask("Who kept the lighthouse log in green ink?")
        ferry = await club.ask("Who arrived on the Tuesday ferry with one suitcase?")
        await club.ask("What did the zeppelin carry?")
        await club.ask("Who sang in the orchard?", conversation=Conversation(ROOM.platform, ROOM.channel, "a thread"))
        await _opened(club, [ferry.answer.footnotes[0].id], 3)
        await _opened(club, [log.answer.footnotes[0].id], 2)
        await club.club.place(ROOM, MEMBER, words="finished 1")
        await club.club.place(ROOM, Reader("ahead", "en"), words="finished 3")
        [digest] = await _week(club, MONDAY)
        text = plain(digest.document)
        assert "The Lantern House: the club is at chapter 2." in text
        assert "1 reader is at chapter 1." in text
        assert text.index("Opened 3 times:") < text.index("Tuesday ferry") < text.index("Opened 2 times:")
        assert "What did the zeppelin carry?" in text
        assert "Who sang in the orchard?" in text
        assert "member" not in text
        assert await _week(club, MONDAY) == []
        [next_week] = await _week(club, MONDAY + timedelta(days=7))
        assert "Opened" not in plain(next_week.document)
        assert "orchard" not in plain(next_week.document)


async def test_before_somebody_says_where_the_club_is_no_passage_is_told_unasked(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.meeting.digests.set(ROOM, KEEPER, True)
        turn = await club.ask("Whose oilskin coat was in the suitcase?")
        await _opened(club, [turn.answer.footnotes[0].id], 3)
        assert await _week(club, MONDAY) == []


@pytest.mark.parametrize("limit", LIMITS)
async def test_no_planted_word_past_a_limit_stands_in_a_digest(tmp_path: Path, limit: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(planted_book())
        await club.club.meeting.digests.set(ROOM, KEEPER, True)
        notes = []
        for number in (1, 2, 3, 4):
            turn = await club.ask(f"What lay in the drawer of chapter {number} that must never leave the harbour?")
            notes += [note.id for note in turn.answer.footnotes]
        await club.ask("What did vexmire and thandry the zeppelin?")
        await _opened(club, notes, 1)
        _, reach = await club.club.progress(ROOM, KEEPER, words=limit)
        await club.club.place(ROOM, MEMBER, words="finished The Vantorel")
        await club.club.place(ROOM, Reader("two", "en"), words="in The Brunceval")
        replies = [*await _week(club, MONDAY), await command(club, "setup")]
        shown = "\n".join(plain(reply.document) for reply in replies)
        for word in hidden(reach.position):
            assert word.lower() not in shown.lower(), word
