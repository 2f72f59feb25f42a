"""Books on Telegram: how they arrive, what is said meanwhile, and what is refused before or after the download."""

from functools import partial
from pathlib import Path

import pytest

from tests.adapters.telegram_club import served
from tests.books.lantern_epub import lantern_house
from tests.books.pdfs import half_scanned, locked
from tests.fakes.telegram import Chat, FakeTelegram, Fault


async def test_one_message_tells_how_far_it_is_and_becomes_the_ready_card_with_the_cover(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana, forum=True)
        topic = telegram.topic(chat)
        sent = telegram.upload(ana, chat, lantern_house(tmp_path), caption="@loccit_bot please", topic=topic)
        card = await telegram.said(chat, "3 chapters")
        assert card["text"].startswith("The Lantern House\n\nReady")
        assert "Where is the club?" in card["text"]
        assert card["message_thread_id"] == topic
        assert card["reply_to_message"]["message_id"] == sent["message_id"]
        assert len(telegram.ours(chat)) == 1
        assert "Ch. 1 read" in telegram.buttons(ana, chat)
        telegram.press(ana, chat, "Ch. 1 read")
        await telegram.said(chat, "chapter 1")


async def test_a_book_sent_again_under_another_name_is_not_read_twice(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        book = lantern_house(tmp_path)
        telegram.upload(ana, chat, book)
        await telegram.said(chat, "3 chapters")
        telegram.upload(ana, chat, ("other.epub", book.read_bytes()))
        await telegram.said(chat, "nothing was read twice")


async def test_add_as_a_reply_takes_a_book_in_under_privacy_mode(tmp_path: Path) -> None:
    async with FakeTelegram(privacy=True) as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        sent = telegram.upload(ana, chat, lantern_house(tmp_path), caption="@loccit_bot")
        telegram.say(ana, chat, "/add")
        await telegram.said(chat, "/add")
        telegram.say(ana, chat, "/add@loccit_bot", reply_to=sent)
        await telegram.said(chat, "3 chapters")


@pytest.mark.parametrize("private", [True, False])
async def test_a_file_over_the_cloud_limit_is_refused_before_the_download_with_the_way_out(
    tmp_path: Path, private: bool
) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, cloud=True):
        ana = telegram.person("Ana")
        chat = telegram.private(ana) if private else telegram.group("Club", ana)
        telegram.upload(ana, chat, ("big.pdf", b"%PDF"), size=25_000_000, caption="@loccit_bot")
        said = await telegram.said(chat, "20 MB")
        assert "25 MB" in said["text"]
        assert "TELEGRAM_BASE_URL" in said["text"]
        assert telegram.server.calls("getFile") == []


async def test_a_server_of_ones_own_gives_files_the_cloud_does_not_and_over_50_mb_nobody_reads(tmp_path: Path) -> None:
    async with FakeTelegram(local=True) as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        big = b"A plain sentence of a long text file, repeated.\n" * 450_000
        assert len(big) > 20_000_000
        telegram.upload(ana, chat, ("big.txt", big), size=60_000_000)
        await telegram.said(chat, "50 MB")
        telegram.upload(ana, chat, ("empty.epub", b""), size=21_000_000)
        await telegram.until(lambda: telegram.server.calls("getFile"))


async def test_files_that_are_no_books_are_one_sentence_in_place_of_the_progress(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        for name, data in {"empty.epub": b"", "picture.epub": b"\x89PNG\r\n\x1a\n" + b"\0" * 100}.items():
            before = len(telegram.ours(chat))
            telegram.upload(ana, chat, (name, data))
            await telegram.until(partial(_more, telegram, chat, before))
            await here.settled()
            await telegram.until(lambda: telegram.texts(chat)[-1].endswith("."))
            assert len(telegram.ours(chat)) == before + 1
            assert "reading" not in telegram.texts(chat)[-1]


async def test_a_half_scanned_book_offers_to_go_on_without_its_picture_pages(tmp_path: Path) -> None:
    book = half_scanned(tmp_path / "half.pdf")
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        telegram.upload(ana, chat, book)
        await telegram.until(lambda: "Add it without those pages" in telegram.buttons(ana, chat))
        telegram.press(ana, chat, "Add it without")
        await telegram.said(chat, "Ready")


async def test_a_locked_book_is_opened_by_the_password_in_its_caption(tmp_path: Path) -> None:
    book = locked(tmp_path / "locked.pdf")
    async with FakeTelegram() as telegram, served(tmp_path, telegram):
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        telegram.upload(ana, chat, book, caption="@loccit_bot")
        await telegram.said(chat, "needs a password")
        telegram.upload(ana, chat, book, caption="@loccit_bot our next book")
        await telegram.said(chat, "nothing but the password")
        telegram.upload(ana, chat, book, caption="@loccit_bot sesame")
        await telegram.said(chat, "Ready")


async def test_a_download_that_breaks_is_tried_again(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram, squeeze=20):
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        telegram.server.faults += [Fault("getFile", "status"), Fault("download", "drop")]
        telegram.upload(ana, chat, lantern_house(tmp_path))
        await telegram.said(chat, "3 chapters")


async def test_who_may_upload_is_what_the_group_set_and_others_are_told(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea = telegram.person("Ana"), telegram.person("Bea")
        chat = telegram.group("Club", ana, bea)
        telegram.say(ana, chat, "/settings")
        await telegram.said(chat, "Settings")
        label = next(label for label in telegram.buttons(ana, chat) if "add books" in label.lower())
        assert (await telegram.sentence(telegram.press(bea, chat, label), bea, chat)).endswith(".")
        telegram.press(ana, chat, label)
        await telegram.until(lambda: label not in telegram.buttons(ana, chat))
        refused = telegram.upload(bea, chat, lantern_house(tmp_path), caption="@loccit_bot")
        await here.settled()
        assert telegram.ours(chat)[-1]["reply_to_message"]["message_id"] == refused["message_id"]
        assert telegram.texts(chat)[-1].endswith(".")
        telegram.upload(ana, chat, lantern_house(tmp_path), caption="@loccit_bot")
        await telegram.said(chat, "3 chapters")


def _more(telegram: FakeTelegram, chat: Chat, before: int) -> bool:
    return len(telegram.ours(chat)) > before


async def test_a_book_that_nobody_gave_to_the_bot_is_asked_about_and_read_in_the_same_message(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, ben, cleo = telegram.person("Ana"), telegram.person("Ben"), telegram.person("Cleo")
        chat = telegram.group("Club", ana, ben, cleo, forum=True)
        topic = telegram.topic(chat)
        book = lantern_house(tmp_path)
        sent = telegram.upload(ben, chat, book, topic=topic)
        asked = await telegram.said(chat, "Shall the club read this here?")
        assert asked["text"].replace("\u2060", "").startswith(book.name)
        assert (asked["message_thread_id"], asked["reply_to_message"]["message_id"]) == (topic, sent["message_id"])
        assert telegram.server.calls("getFile") == []  # nothing is fetched before a yes
        await telegram.told(telegram.press(cleo, chat, "Yes, here"), cleo, chat, "Only whoever sent the file")
        telegram.press(ben, chat, "Yes, here")
        card = await telegram.said(chat, "3 chapters")
        assert card["message_id"] == asked["message_id"]
        telegram.upload(ben, chat, book, topic=topic)
        telegram.upload(ben, chat, ("notes.txt", b"Buy oil for the lamp."))
        telegram.say(ben, chat, "/about")
        await telegram.said(chat, "AGPL")
        await here.settled()
        assert sum("Shall the club" in text for text in telegram.texts(chat)) == 0


async def test_what_is_no_club_book_is_let_be_and_the_buttons_outlive_a_restart(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram:
        ana, ben = telegram.person("Ana"), telegram.person("Ben")
        chat = telegram.group("Club", ana, ben)
        async with served(tmp_path, telegram) as here:
            telegram.upload(ben, chat, ("invoice.pdf", b"%PDF"))
            await telegram.said(chat, "Shall the club read this here?")
            await here.settled()
        async with served(tmp_path, telegram) as here:
            telegram.press(ana, chat, "Not a club book")  # an administrator may say so as well
            await telegram.until(lambda: not telegram.texts(chat))
            telegram.upload(ben, chat, ("invoice.pdf", b"%PDF"))
            await here.settled()
            assert telegram.texts(chat) == []
            assert telegram.server.calls("getFile") == []


async def test_under_privacy_mode_nothing_is_seen_and_nothing_asked(tmp_path: Path) -> None:
    async with FakeTelegram(privacy=True) as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        telegram.upload(ana, chat, lantern_house(tmp_path))
        await here.settled()
        assert telegram.texts(chat) == []
