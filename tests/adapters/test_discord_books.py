"""Books arriving on Discord: by mention, command, menu; fetched at once, one message, refused in one sentence."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.discord_club import Site, discord_site, said, text_of
from tests.books.lantern_epub import lantern_house
from tests.books.pdfs import half_scanned, locked
from tests.fakes.discord import Payload, labels

LOG = "What did Mara keep the log in?"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


async def _ready(site: Site, messages: list[Payload]) -> Payload:
    def found() -> Payload | None:
        for message in messages or site.mara.answers(site.channel):
            if "chapters" in text_of(message):
                return message
        return None

    card = await site.fake.until(found)
    assert isinstance(card, dict)
    return card


async def test_a_mention_with_a_file_becomes_one_message_that_ends_as_the_ready_card(site: Site) -> None:
    async with site.running():
        card = await site.shelve()
        assert text_of(card).startswith("The Lantern House")
        assert "3 chapters" in text_of(card)
        assert "Where is the club?" in text_of(card)
        assert "Ch. 1 read" in labels(card)
        assert len(site.mara.answers(site.channel)) == 1
        set_ = await site.mara.settled(await site.mara.press(site.channel, card, "Ch. 1 read"))
        assert "chapter 1" in said(set_)


async def test_the_command_and_the_menu_take_books_too_also_without_the_intent(site: Site, tmp_path: Path) -> None:
    data = await asyncio.to_thread(lantern_house(tmp_path).read_bytes)
    second = await asyncio.to_thread(lantern_house(tmp_path, title="The Second House").read_bytes)
    async with site.running():
        added = await site.mara.slash(site.channel, "book add", file=("lantern house.epub", data))
        card = (await site.mara.settled(added, lambda: "Ready" in said(_of(site, added.posted))))[0]
        assert "The Lantern House" in text_of(card)
        posted = await site.ivo.say(site.channel, "found this", files=[("second.epub", second)])
        chosen = await site.mara.menu(site.channel, posted, "Read this book here")
        card = (await site.mara.settled(chosen, lambda: "Ready" in said(_of(site, chosen.posted))))[0]
        assert "The Second House" in text_of(card)
        empty = await site.ivo.say(site.channel, "nothing here")
        refused = await site.mara.settled(await site.mara.menu(site.channel, empty, "Read this book here"))
        assert "no file in this message" in said(refused)


async def test_a_link_that_has_ended_is_asked_for_again(site: Site, tmp_path: Path) -> None:
    data = await asyncio.to_thread(lantern_house(tmp_path).read_bytes)
    async with site.running():
        site.fake.files.ahead = 0
        await site.fake.gateway.drop()
        sent = await site.mara.mention(site.channel, "", files=[("lantern.epub", data)])
        site.fake.files.ahead = 48 * 3600
        card = await site.answer_to(sent, lambda text: "Ready" in text)
        assert "The Lantern House" in text_of(card)


async def test_a_book_already_here_is_not_read_twice_whatever_its_name(site: Site, tmp_path: Path) -> None:
    async with site.running():
        await site.shelve()
        data = await asyncio.to_thread((tmp_path / "the-lantern-house.epub").read_bytes)
        sent = await site.mara.mention(site.channel, "here it is", files=[("another name.epub", data)])
        assert "nothing was read twice" in text_of(await site.answer_to(sent, lambda text: "twice" in text))


async def test_what_is_no_book_is_refused_in_one_sentence_and_pictures_beside_words_are_no_upload(site: Site) -> None:
    async with site.running():
        for name, data in (("empty.epub", b""), ("a.pdf", b"\x7fELF" + b"\0" * 400), ("b.epub", b"PK\x03\x04zzz")):
            sent = await site.mara.mention(site.channel, "", files=[(name, data)])
            refused = await site.answer_to(
                sent, lambda text, name=name: name + " has arrived" not in text and "Reading" not in text
            )
            assert text_of(refused).endswith("."), name
            assert "reference" not in text_of(refused)
        await site.shelve()
        asked = await site.mara.mention(site.channel, LOG, files=[("photo.png", b"\x89PNG\r\n\x1a\n")])
        assert "[1]" in text_of(await site.answer_to(asked))


async def test_a_half_scanned_book_is_taken_without_its_pictures_once_its_uploader_says_so(
    site: Site, tmp_path: Path
) -> None:
    data = await asyncio.to_thread(lambda: half_scanned(tmp_path / "half.pdf").read_bytes())
    async with site.running():
        sent = await site.mara.mention(site.channel, "", files=[("half.pdf", data)])
        asked = await site.answer_to(sent, lambda text: "pictures" in text)
        assert labels(asked) == ["Add it without those pages"]
        other = await site.ivo.settled(await site.ivo.press(site.channel, asked, "Add it without"))
        assert "button is for the person" in said(other)
        going = await site.mara.press(site.channel, asked, "Add it without")
        await site.mara.settled(going, lambda: "Ready" in said(_of(site, going.posted)))


async def test_a_file_that_is_too_large_is_refused_before_it_is_fetched(site: Site) -> None:
    async with site.running():
        sent = await site.mara.say(site.channel, "later")
        sent["attachments"] = [
            {
                "id": "1",
                "filename": "big.epub",
                "title": "big",
                "size": 60_000_000,
                "url": "x",
                "proxy_url": "x",
                "path": "x",
            }
        ]
        sent["content"] = f"<@{site.fake.world.bot.id}>"
        sent["mentions"] = [site.fake.world.bot.wire()]
        await site.fake.rest.tell("MESSAGE_CREATE", site.channel, sent)
        assert "50 MB" in text_of(await site.answer_to(sent))
        assert not [entry for entry in site.fake.journal.entries if entry.route == "/attachments"]


async def test_nothing_is_fetched_from_a_host_that_is_not_the_vendors(site: Site) -> None:
    async with site.running():
        sent = await site.mara.say(site.channel, "later")
        url = "http://127.0.0.1:1/attachments/1/2/evil.epub"
        sent["attachments"] = [
            {
                "id": "1",
                "filename": "evil.epub",
                "size": 10,
                "url": url,
                "proxy_url": url,
                "path": "attachments/1/2/evil.epub",
            }
        ]
        sent["content"] = f"<@{site.fake.world.bot.id}>"
        sent["mentions"] = [site.fake.world.bot.wire()]
        await site.fake.rest.tell("MESSAGE_CREATE", site.channel, sent)
        await site.answer_to(sent, lambda text: "no longer where the message says" in text)


async def test_an_upload_cut_off_by_a_kill_goes_on_at_the_next_start(site: Site, tmp_path: Path) -> None:
    data = await asyncio.to_thread(lantern_house(tmp_path).read_bytes)
    async with site.running() as club:
        sent = await site.mara.mention(site.channel, "", files=[("lantern.epub", data)])
        await site.fake.until(lambda: site.mara.answers(site.channel))
        assert club.club is not None
    async with site.running():
        card = await site.answer_to(sent, lambda text: "Ready" in text)
        assert "The Lantern House" in text_of(card)
        assert len([m for m in site.mara.answers(site.channel) if "Lantern House" in text_of(m)]) == 1


async def test_without_the_right_to_attach_the_card_comes_without_its_cover_and_without_any_a_direct_message_says_so(
    site: Site,
) -> None:
    async with site.running():
        site.channel.denied_bot = 1 << 15
        await site.shelve()
        site.channel.denied_bot = 1 << 11
        await site.mara.mention(site.channel, LOG)
        await site.fake.until(lambda: site.mara.answers(site.mara.direct))
        assert "may not write" in text_of(site.mara.answers(site.mara.direct)[0])


def _of(site: Site, ids: list[int]) -> list[Payload]:
    return [site.channel.messages[id] for id in ids if id in site.channel.messages]


async def test_a_book_that_nobody_gave_to_the_bot_is_asked_about_and_read_in_the_same_message(
    site: Site, tmp_path: Path
) -> None:
    """Where what members write to others may be read at all."""
    data = await asyncio.to_thread(lantern_house(tmp_path).read_bytes)
    site.fake.grant_message_content()
    stranger = site.fake.member("Cleo", site.server)
    async with site.running():
        sent = await site.ivo.say(site.channel, "found this", files=[("lantern.epub", data)])
        asked = await site.answer_to(sent, lambda text: "Shall the club read this here?" in text)
        assert "lantern.epub" in text_of(asked)
        assert site.fake.journal.requests("GET", "/attachments") == []  # nothing is fetched before a yes
        refused = await stranger.settled(await stranger.press(site.channel, asked, "Yes, here"))
        assert "Only whoever sent the file" in said(refused)
        await site.ivo.say(site.channel, "notes", files=[("notes.txt", b"Buy oil for the lamp.")])
        await site.ivo.say(site.channel, "once more", files=[("lantern.epub", data)])
    async with site.running():  # the button outlives a restart
        await site.ivo.press(site.channel, asked, "Yes, here")
        card = await site.answer_to(sent, lambda text: "3 chapters" in text)
        assert card["id"] == asked["id"]
        other = await site.ivo.say(site.channel, "", files=[("invoice.pdf", b"%PDF")])
        asked = await site.answer_to(other, lambda text: "Shall the club" in text)
        await site.mara.press(site.channel, asked, "Not a club book")
        await site.fake.until(lambda: int(asked["id"]) not in site.channel.messages)
        assert sum("Shall the club" in text_of(message) for message in site.mara.answers(site.channel)) == 0


async def test_a_locked_book_is_opened_by_the_password_beside_it(site: Site, tmp_path: Path) -> None:
    book = await asyncio.to_thread(lambda: locked(tmp_path / "locked.pdf").read_bytes())
    async with site.running():
        for words, answer in (
            ("", "needs a password"),
            ("our next book", "nothing but the password"),
            ("sesame", "Ready"),
        ):
            sent = await site.mara.mention(site.channel, words, files=[("locked.pdf", book)])
            await site.answer_to(sent, lambda text, answer=answer: answer in text)
