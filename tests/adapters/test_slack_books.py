"""Books arriving in Slack: by mention with a file, directly, from a message's menu; and what may go wrong with them."""

import asyncio
from pathlib import Path

from tests.adapters.slack_workspace import ANA, BEN, CLUB, HERE, Workspace, served
from tests.books.lantern_epub import lantern_house
from tests.books.pdfs import locked
from tests.fakes.slack import BOT, SCOPES, FakeSlack, Message, buttons, label, shown


async def epub(folder: Path) -> bytes:
    return await asyncio.to_thread(lantern_house(folder).read_bytes)


def card(there: Workspace, channel: str = CLUB) -> list[Message]:
    return [message for message in there.fake.world.of_bot(channel) if "3 chapters" in shown(message)]


async def test_a_mention_with_a_file_becomes_a_book_with_one_message_that_tells_how_far(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        done = there.people.upload(CLUB, ANA, "lantern.epub", await epub(tmp_path))
        ready = await there.until_said("3 chapters")
        assert "The Lantern House" in shown(ready)
        assert ready.thread == done.ts
        assert ready.edits >= 1
        assert [
            message for message in there.fake.world.of_bot(CLUB) if message.ts != ready.ts and not message.files
        ] == []
        labels = [label(button) for button in buttons(ready)]
        assert any("Ch. 1" in text for text in labels)
        assert not any(text[0].isdigit() for text in labels)
        there.people.press(ready, "Ch. 1", ANA)
        said = await there.until_said("chapter 1")
        assert said.thread == done.ts


async def test_the_same_book_again_is_not_read_twice(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        book = await epub(tmp_path)
        there.people.upload(CLUB, ANA, "lantern.epub", book)
        await there.until_said("3 chapters")
        there.people.upload(CLUB, BEN, "another name.epub", book)
        await there.until_said("nothing was read twice")
        assert len(await there.club.club.shelf(HERE)) == 1


async def test_a_file_sent_directly_needs_no_mention_and_is_the_readers_own(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        file = there.people.file(ANA, "lantern.epub", await epub(tmp_path))
        done = there.people.direct(ANA, "", files=(file,))
        ready = await there.until_said("3 chapters", done.message.channel)
        assert not buttons(ready)
        there.people.mention(CLUB, ANA, "What did Mara keep the log in?")
        nothing = await there.until(lambda message: message.thread is not None, what="no book")
        assert "book" in shown(nothing)
        assert "green" not in shown(nothing)


async def test_the_menu_of_a_message_reads_its_file(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        file = there.people.file(BEN, "lantern", await epub(tmp_path))  # by its name it may be anything
        dropped = there.people.say(CLUB, BEN, "found this", files=(file,))
        await there.settled()
        assert not there.fake.world.of_bot(CLUB)
        there.people.shortcut(dropped.message, ANA, "loccit_read")
        assert (await there.until_said("3 chapters")).thread == dropped.ts


async def test_the_menu_of_a_message_without_a_file_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        done = there.people.say(CLUB, BEN, "hello")
        there.people.shortcut(done.message, ANA, "loccit_read")
        await there.until_said("no file in this message")


async def test_an_upload_told_three_times_is_read_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        done = there.people.upload(CLUB, ANA, "lantern.epub", await epub(tmp_path))
        for attempt in (1, 2):
            await there.fake.sockets.again(done.envelopes[0], attempt)
        await there.until_said("3 chapters")
        await there.settled()
        assert len(card(there)) == 1
        assert len(there.fake.calls("files.info")) == 1


async def test_a_login_page_in_place_of_the_file_names_the_missing_permission(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        book = await epub(tmp_path)
        there.fake.login_pages = True
        there.people.upload(CLUB, ANA, "lantern.epub", book)
        said = await there.until_said("files:read")
        assert "reinstall" in shown(said)
        assert await there.club.club.shelf(HERE) == ()


async def test_a_missing_permission_is_named_at_the_start(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        assert [notice.key for notice in there.told] == ["run_up"]
    async with FakeSlack(scopes=SCOPES - {"files:read"}) as fake, served(tmp_path, fake=fake) as there:
        [first, *_] = there.told
        assert first.key == "doctor_slack_scopes"
        assert first.params == {"scopes": "files:read"}


async def test_files_that_are_no_books_are_refused_in_place_and_one_of_two_does_not_stop_the_other(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as there:
        bad = there.people.file(ANA, "picture.epub", b"\x89PNG\r\n\x1a\n" + b"\x00" * 100)
        good = there.people.file(ANA, "lantern.epub", await epub(tmp_path))
        there.people.say(CLUB, ANA, "<@U0LOCCIT>", files=(bad, good))
        await there.until_said("3 chapters")
        refused = [message for message in there.fake.world.of_bot(CLUB) if "picture" in shown(message)]
        assert len(refused) == 1
        assert not shown(refused[0]).endswith("…")


async def test_a_book_that_is_too_large_is_not_even_fetched(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.people.upload(CLUB, ANA, "huge.pdf", b"%PDF" + b"0" * (52 * 1024 * 1024))
        await there.until_said("50 MB")
        assert there.fake.calls("GET files-pri") == []


async def test_a_file_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.fake.fault("files.info", "file_not_found")
        there.people.upload(CLUB, ANA, "lantern.epub", b"PK")
        await there.until_said("once more")


async def test_a_file_whose_address_leads_nowhere_is_one_sentence_and_not_tried_for_ever(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.fake.gone_files = True
        there.people.upload(CLUB, ANA, "lantern.epub", b"PK")
        await there.until_said("once more")
        await there.settled()
        assert len(there.fake.calls("GET files-pri")) == 1


async def test_a_book_shared_with_nobody_in_particular_is_asked_about_and_read_in_the_same_message(
    tmp_path: Path,
) -> None:
    async with FakeSlack() as fake:
        book = await epub(tmp_path)
        async with served(tmp_path, fake=fake) as there:
            done = there.people.upload(CLUB, BEN, "lantern.epub", book, "")
            asked = await there.until_said("Shall the club read this here?")
            assert "lantern.epub" in shown(asked)
            assert asked.thread == done.ts
            assert fake.calls("files.info") == []  # nothing is fetched before a yes
            there.people.upload(CLUB, BEN, "notes.txt", b"Buy oil for the lamp.", "")
            there.people.upload(CLUB, BEN, "lantern.epub", book, "once more")
            await there.settled()
            there.people.press(asked, "Yes, here", "U0CLEO")
            await there.until_said("Only whoever sent the file")
        async with served(tmp_path, fake=fake) as there:  # the button outlives a restart
            there.people.press(asked, "Yes, here", BEN)
            ready = await there.until_said("3 chapters")
            assert ready.ts == asked.ts
            await there.settled()
            assert not any("Shall the club" in shown(message) for message in fake.world.of_bot(CLUB))


async def test_what_is_no_club_book_is_let_be(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.people.upload(CLUB, BEN, "invoice.pdf", b"%PDF", "", thread=there.people.say(CLUB, ANA, "see below").ts)
        asked = await there.until_said("Shall the club read this here?")
        there.people.press(asked, "Not a club book", ANA)
        await there.settled()
        assert there.fake.world.of_bot(CLUB) == []


async def test_a_locked_book_is_opened_by_the_password_beside_it(tmp_path: Path) -> None:
    book = await asyncio.to_thread(lambda: locked(tmp_path / "locked.pdf").read_bytes())
    async with served(tmp_path) as there:
        for words, answer in (
            ("", "needs a password"),
            ("our next book", "nothing but the password"),
            ("sesame", "Ready"),
        ):
            there.people.upload(CLUB, ANA, "locked.pdf", book, f"<@{BOT}> {words}")
            await there.until_said(answer)
