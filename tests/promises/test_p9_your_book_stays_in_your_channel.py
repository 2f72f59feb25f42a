"""P9: rights are (channel, book) rows asked on every read; neither hash, number, title nor a note's id opens a foreign book."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import BrokenPromise, LoccitError, Missing
from core.model import Answered, Conversation, ParsedBook, Question, Span, SpineFile, Turn, Upload
from core.tags import tag
from tests.clubs import MEMBER, TestClub, book_of, lantern_house, open_club, said
from tests.fakes.model import ScriptedModel
from tests.promises.shelves import upload, write_every_format

ROOMS = tuple(
    Conversation(platform, channel)
    for platform in ("console", "telegram", "discord")
    for channel in ("local", "other", "local ", "LOCAL", "1", "%", "")
)
BOOKS = 8
READS = 2_000


def secret(number: int) -> ParsedBook:
    """A book in which every sentence, title and author holds a word that no other book has."""
    word = f"zecret{'abcdefghij'[number]}"
    first = f"The {word} lies under the stone of the harbour."
    second = f" Nobody spoke of the {word} again."
    files = (SpineFile(0, "", f"{word} cover"), SpineFile(1, "", first + second))
    runs = (Span(0, 0, len(files[0].text)), Span(1, 0, len(first)), Span(1, len(first), len(first + second)))
    return replace(book_of(files, runs, (f"Chapter {word}",), f"House {word}"), authors=(f"Author {word}",))


def told(value: object) -> str:
    """Everything a reader could learn from a result, as text."""
    if isinstance(value, Turn):
        return f"{value} {said(value)}"
    return str(value)


async def test_two_thousand_random_reads_through_every_door_show_nothing_foreign(tmp_path: Path) -> None:
    rng = random.Random(9)
    async with open_club(tmp_path) as club:
        books = [secret(number) for number in range(BOOKS)]
        rights: dict[Conversation, set[int]] = {room: set() for room in ROOMS}
        ids: list[str] = []
        for number, book in enumerate(books):
            for room in rng.sample(ROOMS, 3):
                ids.append(await club.shelve(book, room))
                rights[room].add(number)
        by_id = dict(zip(ids, [number for number in range(BOOKS) for _ in range(3)], strict=True))
        notes: dict[str, tuple[Conversation, int]] = {}
        for room in ROOMS:
            for number in rights[room]:
                turn = await club.ask("What lies under the stone?", conversation=room, book=books[number].title)
                notes.update((note.id, (room, number)) for note in turn.answer.footnotes)
        assert len(notes) >= BOOKS

        foreign, own, refused = [], 0, 0
        for _ in range(READS):
            room = rng.choice(ROOMS)
            wanted = rng.randrange(BOOKS)
            door = _door(club, room, books[wanted], list(by_id)[wanted], notes, rng)
            try:
                shown = told(await door())
            except LoccitError as error:
                shown = f"{error.key} {error.params}"
                refused += 1
            allowed = rights[room]
            leaked = [n for n in range(BOOKS) if n not in allowed and f"zecret{'abcdefghij'[n]}" in shown.casefold()]
            # What the reader typed may come back in a refusal; that tells them nothing.
            if leaked and not (leaked == [wanted] and shown.startswith("no_such_book")):
                foreign.append((room, leaked, shown[:200]))
            own += any(f"zecret{'abcdefghij'[n]}" in shown for n in allowed)
    assert foreign == []
    assert own > READS / 20
    assert refused > READS / 4


def _door(
    club: TestClub,
    room: Conversation,
    book: ParsedBook,
    sha256: str,
    notes: dict[str, tuple[Conversation, int]],
    rng: random.Random,
) -> Callable[[], Awaitable[object]]:
    """One read through one of the club's methods, by a random name of the book."""
    choice = rng.choice(
        (sha256, sha256[:8], sha256.upper(), book.title, "house", "zecret", None, *map(str, range(-1, 5)))
    )
    run = tag(rng.choice(book.runs))
    note = rng.choice(list(notes))
    words = f"zecret{rng.choice('abcdefghij')} lies under the stone"
    doors: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: club.club.passages.press(room, note),
        lambda: club.club.passages.press(room, note, before=9, after=9),
        lambda: club.club.passages.open_tag(room, choice, run),
        lambda: club.club.passages.find_quote(room, words, choice),
        lambda: club.club.contents(room, choice),
        lambda: club.club.dump(room, choice or sha256),
        lambda: club.club.use(room, MEMBER, choice or sha256),
        lambda: club.club.shelf(room),
        lambda: club.club.questions.latest(room),
        lambda: club.club.passages.export(room),
        lambda: club.club.passages.export(room, form="html"),
        lambda: club.club.passages.page(room, sha256, book.runs[-1].first, marked=book.runs[-1]),
        lambda: club.club.passages.page_picture(room, sha256, 0),
        lambda: club.ask("What lies under the stone?", conversation=room, book=choice),
    )
    return rng.choice(doors)


async def test_an_id_a_number_and_a_title_of_another_channels_book_name_nothing_here(tmp_path: Path) -> None:
    here, there = ROOMS[0], ROOMS[1]
    async with open_club(tmp_path) as club:
        foreign = await club.shelve(secret(0), there)
        await club.shelve(secret(1), here)
        for choice in (foreign, foreign[:8], foreign[:63], foreign.upper(), "2", "0", "-1", "٢", secret(0).title):
            doors: tuple[Callable[[str], Awaitable[object]], ...] = (
                lambda named: club.club.contents(here, named),
                lambda named: club.club.dump(here, named),
                lambda named: club.club.use(here, MEMBER, named),
                lambda named: club.club.remove(here, MEMBER, named),
                lambda named: club.club.passages.open_tag(here, named, "[f1-0-46]"),
                lambda named: club.club.passages.find_quote(here, "stone", named),
                lambda named: club.ask("Which stone?", conversation=here, book=named),
            )
            for door in doors:
                with pytest.raises(Missing) as missing:
                    await door(choice)
                assert missing.value.key == "no_such_book", choice
                assert "zecreta" not in str(missing.value.params["titles"])
        assert [card.title for card in await club.club.shelf(there)] == [secret(0).title]


async def test_a_notes_id_opens_in_its_own_channel_only_and_elsewhere_reads_as_unknown(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house(), ROOMS[0])
        turn = await club.ask("What ink was the log kept in?", conversation=ROOMS[0])
        [note, *_] = turn.answer.footnotes
        thread = replace(ROOMS[0], thread="t1")
        assert (await club.club.passages.press(thread, note.id)).quote  # threads share their channel's books
        sentences = set()
        for room in ROOMS[1:]:
            await club.shelve(lantern_house(), room)  # the right to the book is not the right to another's note
            for id in (note.id, "no-such-note"):
                with pytest.raises(Missing) as missing:
                    await club.club.passages.press(room, id)
                sentences.add((missing.value.key, str(missing.value.params)))
    assert sentences == {("unknown_note", "{}")}


async def test_the_same_file_in_two_channels_is_two_rights_and_taking_one_leaves_the_other(tmp_path: Path) -> None:
    path = next(path for path in write_every_format(tmp_path) if path.suffix == ".epub")
    here, there, nowhere = ROOMS[:3]
    async with open_club(tmp_path / "data") as club:
        sha256 = await upload(club, path, event="a", conversation=here)
        with pytest.raises(Missing, match="no_book"):
            await club.club.contents(there, sha256)
        assert await upload(club, path, event="b", conversation=there) == sha256
        turn = await club.ask("Who was on the quay?", conversation=there)
        await club.club.remove(here, MEMBER, sha256)
        with pytest.raises(Missing, match="no_book"):
            await club.club.dump(here, sha256)
        assert (await club.club.passages.press(there, turn.answer.footnotes[0].id)).quote
        assert await club.club.shelf(nowhere) == ()
        with pytest.raises(Missing, match="nothing_to_undo"):
            await club.club.undo(there, MEMBER)
        with pytest.raises(Missing, match="nothing_to_undo"):
            await club.club.undo(nowhere, MEMBER)


async def test_an_events_key_from_another_channel_gives_neither_its_answer_nor_its_book(tmp_path: Path) -> None:
    path = next(path for path in write_every_format(tmp_path) if path.suffix == ".epub")
    here, there = ROOMS[0], ROOMS[1]
    async with open_club(tmp_path / "data") as club:
        await club.shelve(secret(1), there)
        await upload(club, path, event="upload", conversation=here)
        await club.ask("Who was on the quay?", conversation=here, event="question")
        with pytest.raises(BrokenPromise, match="event_reused"):
            await club.ask("Which stone?", conversation=there, event="question")
        with pytest.raises(BrokenPromise, match="event_reused"):
            async for _ in club.club.add_book(Upload("upload", there, MEMBER, path, path.name)):
                pass
        assert [card.title for card in await club.club.shelf(there)] == [secret(1).title]
        assert await club.club.questions.latest(there) is None


async def test_an_answer_never_draws_on_a_book_of_another_channel(tmp_path: Path) -> None:
    """The same words stand in both books; the model sees and the notes name only the channel's own."""
    model = ScriptedModel(lambda request: "It lies there [f1-0-47].")
    here, there = ROOMS[0], ROOMS[1]
    async with open_club(tmp_path, model) as club:
        await club.shelve(secret(0), there)
        own = await club.shelve(secret(1), here)
        for question in ("What lies under the stone?", "Where is the zecreta?", "House zecreta: what lies there?"):
            event = Question(question, here, MEMBER, question)
            [turn] = [step.turn async for step in club.club.questions.ask(event) if isinstance(step, Answered)]
            assert [sha256 for sha256, _ in turn.books] == [own]
            assert {note.book for note in turn.answer.footnotes} <= {own}
    for request in model.requests:
        for message in request.messages:
            if message.role in ("tool", "system"):
                assert "zecreta lies" not in message.content
                assert "House zecreta" not in message.content
