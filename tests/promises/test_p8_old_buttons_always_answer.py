"""P8: a button of any age gives its passage or one clear sentence, whatever happened to the bot, the book or the model since."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import LoccitError, Missing
from core.model import ChatModel, Conversation, Footnote, ParsedBook, Passage
from core.offline import OfflineReader
from core.strings import LOCALES, say
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.fakes.model import ScriptedModel
from tests.promises.shelves import upload, write_every_format

QUOTE = "Mara kept the lighthouse log in green ink."
INK = "Green ink [f1-0-42]. A ferry [f2-0-51]."


async def answered(club: TestClub, book: ParsedBook | None = None) -> tuple[str, Footnote, Passage]:
    """A book with one answer: its id, the first note, and the passage as it opened on that day."""
    sha256 = await club.shelve(book or lantern_house())
    turn = await club.ask("What ink was the log kept in?")
    note = turn.answer.footnotes[0]
    return sha256, note, await club.club.passages.press(ROOM, note.id)


def model() -> ChatModel:
    return ScriptedModel(lambda request: INK)


Change = Callable[[TestClub, str, Path], Awaitable[None]]


async def nothing(club: TestClub, sha256: str, folder: Path) -> None:
    """A restart alone."""


async def rank_table_deleted(club: TestClub, sha256: str, folder: Path) -> None:
    tables = list((folder / "ranks").glob("*.rank"))
    assert tables
    for table in tables:
        table.unlink()


async def rank_table_damaged(club: TestClub, sha256: str, folder: Path) -> None:
    for table in (folder / "ranks").glob("*.rank"):
        table.write_bytes(b"not a table" * 1_000)


async def same_book_again(club: TestClub, sha256: str, folder: Path) -> None:
    await club.shelve(lantern_house())


async def another_book(club: TestClub, sha256: str, folder: Path) -> None:
    await club.shelve(replace(lantern_house(), title="The Second House"))


async def another_book_in_use(club: TestClub, sha256: str, folder: Path) -> None:
    await another_book(club, sha256, folder)
    await club.club.use(ROOM, MEMBER, "The Second House")


async def read_again_by_a_newer_extractor(club: TestClub, sha256: str, folder: Path) -> None:
    """The newer text is another: the old note still means the text of its own version."""
    book = lantern_house()
    files = tuple(replace(file, text=file.text.replace("green", "black")) for file in book.files)
    await club.shelve(replace(book, files=files, text_version="test-2"))


async def removed_and_brought_back(club: TestClub, sha256: str, folder: Path) -> None:
    await club.club.remove(ROOM, MEMBER)
    await club.club.undo(ROOM, MEMBER)


async def removed_and_added_again(club: TestClub, sha256: str, folder: Path) -> None:
    await club.club.remove(ROOM, MEMBER)
    club.clock.pass_minutes(60)
    await club.shelve(lantern_house())


async def shared_with_another_channel(club: TestClub, sha256: str, folder: Path) -> None:
    await club.shelve(lantern_house(), ELSEWHERE)
    await club.club.remove(ELSEWHERE, MEMBER)


async def a_hundred_questions_later(club: TestClub, sha256: str, folder: Path) -> None:
    for number in range(100):
        await club.ask(f"Question {number}: what ink?", event=f"later-{number}-{club.clock()}")


async def a_year_later(club: TestClub, sha256: str, folder: Path) -> None:
    club.clock.pass_minutes(60 * 24 * 365)


CHANGES: tuple[Change, ...] = (
    nothing,
    rank_table_deleted,
    rank_table_damaged,
    same_book_again,
    another_book,
    another_book_in_use,
    read_again_by_a_newer_extractor,
    removed_and_brought_back,
    removed_and_added_again,
    shared_with_another_channel,
    a_hundred_questions_later,
    a_year_later,
)
MODELS: tuple[tuple[str, Callable[[], ChatModel]], ...] = (
    ("the same model", model),
    ("another model", lambda: ScriptedModel(lambda request: "Other words [f3-0-40].", name="other")),
    ("no model", OfflineReader),
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("later", [made for _, made in MODELS], ids=[name for name, _ in MODELS])
async def test_a_note_opens_as_on_its_first_day(change: Change, later: Callable[[], ChatModel], tmp_path: Path) -> None:
    async with open_club(tmp_path, model()) as club:
        sha256, note, first = await answered(club)
    assert first.quote == QUOTE
    async with open_club(tmp_path, later()) as club:
        await change(club, sha256, tmp_path)
        assert await club.club.passages.press(ROOM, note.id) == first
        assert (await club.club.passages.press(ROOM, note.id, before=5, after=5)).quote == QUOTE
    async with open_club(tmp_path, later()) as club:
        assert await club.club.passages.press(ROOM, note.id) == first


async def test_a_bare_number_means_the_latest_answer_and_older_buttons_keep_their_own(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel(["Ink [f1-0-42].", "A ferry [f2-0-51]."])) as club:
        await club.shelve(lantern_house())
        first = await club.ask("What ink?", event="one")
        second = await club.ask("Which ferry?", event="two")
    async with open_club(tmp_path) as club:
        latest = await club.club.questions.latest(ROOM)
        assert latest is not None
        assert latest.id == second.id
        for turn, text in ((first, QUOTE), (second, "Ivo arrived on the Tuesday ferry with one suitcase.")):
            assert (await club.club.passages.press(ROOM, turn.answer.footnotes[0].id)).quote == text


def one_sentence(error: LoccitError) -> str:
    """The sentence in every locale; fails when it is more than a line, or shows an id or a tag."""
    for locale in LOCALES:
        text = say(error.key, locale, **error.params)
        assert "\n" not in text
        assert text[-1] in ".!?"
    return say(error.key, "en", **error.params)


async def test_a_removed_books_button_says_so_until_the_book_is_back(tmp_path: Path) -> None:
    async with open_club(tmp_path, model()) as club:
        _, note, first = await answered(club)
        await club.club.remove(ROOM, MEMBER)
        for minutes in (0, 14, 60):
            club.clock.pass_minutes(minutes)
            with pytest.raises(Missing) as missing:
                await club.club.passages.press(ROOM, note.id)
            assert one_sentence(missing.value).startswith("This book was removed")
    async with open_club(tmp_path, model()) as club:
        with pytest.raises(Missing) as missing:
            await club.club.passages.press(ROOM, note.id)
        assert missing.value.key == "book_removed"
        await club.shelve(lantern_house())
        assert await club.club.passages.press(ROOM, note.id) == first


UNKNOWN = (
    "", " ", "0", "1", "no-such-id", "id0", "../../etc/passwd", "'; DROP TABLE footnote; --", "%", "*", "\u202e", "x" * 10_000,
    "🧥", "\x00", "\x1b[31m", "\ud800", "[f1-0-42]", "None", "\n",
)  # fmt: skip


@pytest.mark.parametrize("id", UNKNOWN, ids=lambda id: ascii(id)[:24])
async def test_an_id_that_was_never_given_out_is_one_sentence(id: str, tmp_path: Path) -> None:
    async with open_club(tmp_path, model()) as club:
        await answered(club)
        with pytest.raises(Missing) as missing:
            await club.club.passages.press(ROOM, id)
    assert missing.value.key == "unknown_note"
    one_sentence(missing.value)


async def test_a_button_pressed_in_another_channel_is_unknown_there_and_opens_at_home(tmp_path: Path) -> None:
    async with open_club(tmp_path, model()) as club:
        _, note, first = await answered(club)
        await club.shelve(lantern_house(), ELSEWHERE)
        for place in (ELSEWHERE, Conversation("telegram", "local"), Conversation("console", "new")):
            with pytest.raises(Missing, match="unknown_note"):
                await club.club.passages.press(place, note.id)
        assert await club.club.passages.press(replace(ROOM, thread="any"), note.id) == first


async def test_steps_far_past_both_ends_of_the_book_end_with_the_whole_book(tmp_path: Path) -> None:
    async with open_club(tmp_path, model()) as club:
        _, note, _ = await answered(club)
        whole = await club.club.passages.press(ROOM, note.id, before=10_000, after=10_000)
    assert not whole.more_before
    assert not whole.more_after
    text = "\n\n".join(file.text for file in lantern_house().files)
    assert whole.before + whole.quote + whole.after == text


async def test_real_uploads_in_every_format_keep_their_buttons_over_a_restart_without_rank_tables(
    tmp_path: Path,
) -> None:
    pressed: list[tuple[str, Passage]] = []
    async with open_club(tmp_path / "data") as club:
        for path in write_every_format(tmp_path):
            sha256 = await upload(club, path)
            turn = await club.ask("Who sat on the quay when the ferry came?", book=sha256)
            assert turn.answer.footnotes, path
            pressed += [(note.id, await club.club.passages.press(ROOM, note.id)) for note in turn.answer.footnotes]
    for table in (tmp_path / "data" / "ranks").iterdir():
        table.unlink()
    async with open_club(tmp_path / "data") as club:
        for id, passage in pressed:
            assert await club.club.passages.press(ROOM, id) == passage
        for card in await club.club.shelf(ROOM):
            again = await club.ask("Who sat on the quay?", book=card.sha256, event=f"again-{card.sha256}")
            assert again.answer.footnotes, card.format
    assert len(pressed) >= 7
