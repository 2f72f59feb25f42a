"""Saved quotations and the quote of the day: by the limit of now, whole sentences, none twice before all were shown."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.desk import Desk
from core.document import plain
from core.errors import LoccitError, Missing, ReaderError
from core.meeting.material import is_whole
from core.meeting.wall import quotable
from core.model import Letter, Reader, Reply, Span
from core.retrieval import Source
from tests.books.planted import hidden, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.core.test_discussions import command, notes, press
from tests.promises.test_p6_never_ahead import LIMITS

KEEPER = Reader("keeper", "en", manages=True)


async def _save(club: TestClub, quotation: str) -> None:
    found = await command(club, f"quote {quotation}")
    opened = await press(club, found, "Open 1")
    club.clock.pass_minutes(1)
    await press(club, opened, "Save the quote")


async def test_a_passage_is_saved_from_a_note_and_from_the_quote_finder_once(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Who kept the lighthouse log in green ink?")
        opened = await Desk(club.club, str).press(ROOM, MEMBER, turn.answer.footnotes[0].id, event="e")
        assert isinstance(opened, Reply)
        assert "Saved" in plain((await press(club, opened, "Save the quote", MEMBER)).document)
        assert "already" in plain((await press(club, opened, "Save the quote")).document)
        await _save(club, "one suitcase")
        wall = await command(club, "quotes")
        assert [choice.label for choice in notes(wall)] == ["1 · Ch. 2", "2 · Ch. 1"]
        await press(club, wall, "Like 2")
        await press(club, wall, "Like 2", MEMBER)
        liked = await command(club, "quotes")
        assert "liked by 2" in plain(liked.document)
        assert [choice.label for choice in notes(liked)] == ["1 · Ch. 1", "2 · Ch. 2"]
        await press(club, liked, "Like 1")
        assert "liked by 1" in plain((await command(club, "quotes")).document)
        text = (await command(club, "quotes export")).attachments[0].data.decode()
        assert "> Mara kept the lighthouse log in green ink." in text
        assert "`[f1-0-42]`" in text
        with pytest.raises(ReaderError):
            await command(club, "quotes remove 2", MEMBER)
        await command(club, "quotes remove 1", MEMBER)
        assert "suitcase" in plain((await command(club, "quotes")).document)


async def test_what_lies_past_the_limit_of_now_hangs_there_unseen(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await _save(club, "oilskin coat")
        await _save(club, "green ink in the log was")
        wall = await command(club, "quotes")
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        with pytest.raises(Missing, match="quotes_none"):
            await command(club, "quotes")
        with pytest.raises(LoccitError):
            await Desk(club.club, str).press(ROOM, KEEPER, notes(wall)[0].id, event="e")
        await club.club.progress(ROOM, KEEPER, words="all")
        assert len(notes(await command(club, "quotes"))) == 2


async def _days(club: TestClub, days: int) -> list[tuple[Letter, Reply]]:
    """What comes unasked in so many days, looked for twice a day."""
    found = []
    for _ in range(2 * days):
        for letter in await club.club.post.due(ROOM.platform):
            reply = await Desk(club.club, str).letter(letter)
            again = await Desk(club.club, str).letter(letter)  # a crash came before it was done
            assert (reply is None) == (again is None)
            if reply is not None and again is not None:
                assert plain(reply.document) == plain(again.document)
                found.append((letter, reply))
            await club.club.post.done(letter.id)
        club.clock.now += timedelta(hours=12)
    return found


async def test_each_day_one_whole_sentence_of_what_was_read_and_none_twice_before_all_were_shown(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        told = await command(club, "quotes daily 9")
        assert "once you say where the club is" in plain(told.document)
        assert await _days(club, 3) == []
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        source = await Source.open(club.store, await club.store.shelf.channel(ROOM, club.clock()), sha256)
        offered: list[Span] = await quotable(source)
        sentences = [await source.text(span) for span in offered]
        assert len(sentences) == 4
        shown = [plain(reply.document).split("> ")[1].split(" [1]")[0] for _, reply in await _days(club, 9)]
        assert len(shown) >= 8
        assert set(shown[:4]) == set(sentences)
        assert set(shown[4:8]) == set(sentences)
        assert all(map(is_whole, shown))
        await command(club, "quotes daily off")
        assert await _days(club, 3) == []


async def test_a_platform_that_was_away_is_not_flooded(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        await command(club, "quotes daily 9")
        club.clock.now = datetime(2026, 3, 20, 12, tzinfo=UTC)
        assert len(await _days(club, 1)) == 1


@pytest.mark.parametrize("limit", LIMITS)
async def test_no_planted_word_past_a_limit_is_quoted(tmp_path: Path, limit: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(planted_book())
        for word in ("quorlin must never", "brastow must never", "vexmire must never", "thandry must never"):
            await _save(club, word)
        await club.club.progress(ROOM, KEEPER, words="all")
        await command(club, "quotes daily 9")
        _, reach = await club.club.progress(ROOM, KEEPER, words=limit)
        replies = [reply for _, reply in await _days(club, 6)]
        try:
            replies += [await command(club, "quotes"), await command(club, "quotes export")]
        except Missing as error:
            assert error.key == "quotes_none"  # noqa: PT017
        shown = "\n".join(plain(reply.document) for reply in replies)
        shown += "\n".join(file.data.decode() for reply in replies for file in reply.attachments)
        for word in hidden(reach.position):
            assert word.lower() not in shown.lower(), word
