"""Footnotes on Telegram: private where the server can, one shared reply where not; closing, widening, forged presses."""

import asyncio
import random
import string
from functools import partial
from pathlib import Path

import pytest

from core.formats.runs import cut_runs
from core.model import Conversation, ParsedBook, SpineFile
from tests.adapters.telegram_club import Served, served
from tests.books.pdfs import labelled
from tests.clubs import book_of
from tests.fakes.telegram import Chat, FakeTelegram, Person

GREEN = "What did Mara keep the log in?"
QUOTE = "Mara kept the lighthouse log in green ink."


async def asked(telegram: FakeTelegram, here: Served, *, private: bool = False) -> tuple[Person, Person, Chat]:
    """A chat in which an answer with footnotes stands."""
    ana, bea = telegram.person("Ana"), telegram.person("Bea", "es")
    chat = telegram.private(ana) if private else telegram.group("Club", ana, bea)
    await here.shelve(chat)
    telegram.say(ana, chat, f"/ask {GREEN}")
    await telegram.said(chat, "[1]")
    await here.settled()
    return ana, bea, chat


def passages(telegram: FakeTelegram, chat: Chat, person: Person | None = None) -> list[str]:
    return [text for text in telegram.texts(chat, person) if text.startswith("The Lantern House · ")]


async def press(telegram: FakeTelegram, person: Person, chat: Chat, label: str) -> str:
    return await telegram.answered(telegram.press(person, chat, label))


async def test_a_footnotes_label_begins_with_its_number_and_nothing_else_begins_with_a_digit(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = await asked(telegram, here)
        await press(telegram, ana, chat, "1 ·")
        await press(telegram, ana, chat, "⋯")
        for message in telegram.seen(ana, chat):
            for row in message.get("reply_markup", {}).get("inline_keyboard", []):
                for button in row:
                    assert 1 <= len(button["callback_data"].encode()) <= 40
        labels = telegram.buttons(ana, chat)
        notes = [label for label in labels if label[0].isdigit()]
        assert notes
        assert all(" · Ch. " in label for label in notes)


async def test_a_passage_is_for_the_one_who_pressed_and_the_same_press_closes_it(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, bea, chat = await asked(telegram, here)
        assert await press(telegram, ana, chat, "1 ·") == ""
        await telegram.until(lambda: passages(telegram, chat, ana))
        assert QUOTE in passages(telegram, chat, ana)[0]
        assert passages(telegram, chat) == passages(telegram, chat, bea) == []
        await press(telegram, bea, chat, "1 ·")
        await telegram.until(lambda: passages(telegram, chat, bea))
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: not passages(telegram, chat, ana))
        assert passages(telegram, chat, bea)
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: passages(telegram, chat, ana))


async def test_an_open_passage_closes_after_a_restart_and_every_member_opens_old_footnotes(
    tmp_path: Path,
) -> None:  # C66
    async with FakeTelegram() as telegram:
        async with served(tmp_path, telegram) as here:
            ana, bea, chat = await asked(telegram, here)
            await press(telegram, ana, chat, "1 ·")
            await telegram.until(lambda: passages(telegram, chat, ana))
            while not await here.club.club.post.recall_all("telegram", "at:"):  # noqa: ASYNC110  # rows
                await asyncio.sleep(0.01)
        async with served(tmp_path, telegram):
            await press(telegram, ana, chat, "1 ·")
            await telegram.until(lambda: not passages(telegram, chat, ana))
            answer = next(message for message in telegram.ours(chat) if "[1]" in message["text"])
            telegram.press(bea, chat, "1 ·", answer, stale=True)
            await telegram.until(lambda: passages(telegram, chat, bea))
            assert QUOTE in passages(telegram, chat, bea)[0]


async def test_an_older_server_shows_it_to_all_once_deletes_it_at_once_and_is_never_tried_again(tmp_path: Path) -> None:
    async with FakeTelegram(ephemeral="older") as telegram, served(tmp_path, telegram) as here:
        ana, bea, chat = await asked(telegram, here)
        answer = next(message for message in telegram.ours(chat) if "[1]" in message["text"])
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: len(passages(telegram, chat)) == 1 and telegram.server.calls("deleteMessage"))
        [shown] = [message for message in telegram.ours(chat) if message["text"].startswith("The Lantern House · ")]
        assert shown["reply_to_message"]["message_id"] == answer["message_id"]
        await press(telegram, bea, chat, "2 ·")
        tried = [
            entry for entry in telegram.server.calls("sendMessage") if "ephemeral_message_parameters" in entry.params
        ]
        assert len(tried) == 1


@pytest.mark.parametrize("ephemeral", ["older", "refuses"])
async def test_the_shared_reply_is_edited_in_place_and_closes_for_those_who_opened_it(
    tmp_path: Path, ephemeral: str
) -> None:
    async with FakeTelegram(ephemeral=ephemeral) as telegram, served(tmp_path, telegram) as here:
        ana, bea, chat = await asked(telegram, here)
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: len(passages(telegram, chat)) == 1)
        await press(telegram, bea, chat, "1 ·")  # another member's press leaves it shown
        assert len(passages(telegram, chat)) == 1
        await press(telegram, ana, chat, "2 ·")  # another footnote: the same reply shows it
        await telegram.until(lambda: "oilskin" in passages(telegram, chat)[0])
        assert len(passages(telegram, chat)) == 1
        await telegram.told(telegram.press(bea, chat, "Close"), bea, chat, "para la persona")
        await press(telegram, bea, chat, "2 ·")
        await press(telegram, bea, chat, "2 ·")
        await telegram.until(lambda: not passages(telegram, chat))
        await press(telegram, bea, chat, "1 ·")
        await telegram.until(lambda: passages(telegram, chat))
        await press(telegram, bea, chat, "Cerrar")
        await telegram.until(lambda: not passages(telegram, chat))


async def test_in_a_private_chat_one_reply_shows_the_passage_and_the_same_press_closes_it(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = await asked(telegram, here, private=True)
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: passages(telegram, chat))
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: not passages(telegram, chat))


@pytest.mark.parametrize("ephemeral", ["yes", "older"])
async def test_before_and_after_replace_the_text_in_place_and_close_takes_it_away(
    tmp_path: Path, ephemeral: str
) -> None:
    async with FakeTelegram(ephemeral=ephemeral) as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        await here.club.shelve(paragraphs(60), Conversation("telegram", str(chat.id)))
        telegram.say(ana, chat, "/ask What of dyorlan?")
        answer = (await telegram.said(chat, "dyorlan"))["text"]
        number = answer[answer.index("dyorlan") :].split("[", 1)[1][0]
        await press(telegram, ana, chat, f"{number} ·")
        await here.settled()
        await telegram.until(lambda: "‹ Before" in telegram.buttons(ana, chat))
        before = telegram.texts(chat, ana)[-1]
        await press(telegram, ana, chat, "After")
        await telegram.until(lambda: len(telegram.texts(chat, ana)[-1]) > len(before))
        await press(telegram, ana, chat, "‹ Before")
        await telegram.until(lambda: len(telegram.texts(chat, ana)[-1]) > len(before) + 150)
        count = len(telegram.ours(chat, ana))
        await press(telegram, ana, chat, "Close")
        await telegram.until(lambda: len(telegram.ours(chat, ana)) == count - 1)


async def test_a_passage_past_a_readers_own_place_comes_with_a_warning_first(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = await asked(telegram, here)
        telegram.say(ana, chat, "/place finished 1")
        await telegram.said(chat, "chapter 1")
        await press(telegram, ana, chat, "2 ·")
        await telegram.until(lambda: "Show it anyway" in telegram.buttons(ana, chat))
        assert not any("oilskin" in text for text in telegram.texts(chat, ana) if "[1]" not in text)
        await press(telegram, ana, chat, "Show it anyway")
        await telegram.until(lambda: any("oilskin" in text for text in passages(telegram, chat, ana)))


async def test_a_note_of_a_removed_book_is_one_sentence_in_a_pop_up_and_opens_again_after_undo(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = await asked(telegram, here)
        telegram.say(ana, chat, "/remove")
        await telegram.said(chat, "was removed")
        said = await telegram.sentence(telegram.press(ana, chat, "1 ·"), ana, chat)
        assert "removed" in said
        assert said.endswith(".")
        await press(telegram, ana, chat, "Undo")
        await telegram.said(chat, "is back")
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: passages(telegram, chat, ana))


async def test_forged_and_foreign_payloads_open_nothing_and_each_gets_one_sentence(tmp_path: Path) -> None:
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana, _, chat = await asked(telegram, here)
        other = telegram.group("Elsewhere", telegram.person("Eve"))
        eve = telegram.world.people[next(iter(other.statuses.keys() - {telegram.me.id}))]
        data = [
            button["callback_data"]
            for message in telegram.ours(chat)
            for row in message.get("reply_markup", {}).get("inline_keyboard", [])
            for button in row
        ]
        before = len(telegram.ours(chat, ana))
        rng = random.Random(3)
        payloads = [*data, *(forged(rng.choice(data), rng) for _ in range(80))]
        said = [await telegram.answered(telegram.press_data(eve, other, payload)) for payload in payloads]
        assert not any("\n" in words for words in said)
        # A sentence that came too late for the pop-up comes as a message for the one who pressed.
        late = said.count("")
        await telegram.until(lambda: len(telegram.ours(other, eve)) == late)
        assert not any("Mara" in text or "Lantern" in text for text in telegram.texts(other, eve))
        assert len(telegram.ours(chat, ana)) == before


def forged(data: str, rng: random.Random) -> str:
    """A payload changed the ways a modified client can, at most 64 bytes."""
    way = rng.randrange(6)
    at = rng.randrange(len(data))
    if way == 0:
        data = data[:at] + rng.choice(string.printable) + data[at + 1 :]
    elif way == 1:
        data = data[:at] + data[at + 1 :]
    elif way == 2:
        data = data + rng.choice([".0.0.0", ".1.1.1", ".p", "~", ".99.0.1", "\x00", "🧥"])
    elif way == 3:
        data = rng.choice(["~", "stop-", "close", ""]) + data
    elif way == 4:
        data = "".join(rng.choices(string.ascii_letters + string.digits + "_-.~", k=rng.randint(1, 60)))
    else:
        data = data[::-1]
    return data.encode()[:64].decode("utf-8", "ignore") or "x"


def paragraphs(count: int) -> ParsedBook:
    """One chapter of short paragraphs, each with a word of its own."""
    text = "\n\n".join(
        f"Here {chr(97 + at % 26)}{'xyz'[at // 26]}orlan says that the boat came in late and nobody minded it."
        for at in range(count)
    )
    files = [SpineFile(0, "", "Title"), SpineFile(1, "", text)]
    return book_of(files, [run for file in files for run in cut_runs(file)], ["One"], "Paragraphs")


def one_paragraph(characters: int, rng: random.Random) -> ParsedBook:
    """One paragraph full of what could break on the way."""
    pieces = [
        "🧥",
        "שלום עולם",
        "مرحبا",
        "*bold*",
        "_x_",
        "`code`",
        "[a](b)",
        "~~s~~",
        "<b>",
        "&amp;",
        "||",
        "> ",
        "# ",
        "@nobody",
        "example.com",
        "👩‍👩‍👧",
        "a\u0301",
    ]
    sentences: list[str] = []
    while sum(map(len, sentences)) < characters:
        words = " ".join(rng.choice([*pieces, "harbour", "lantern", "book", "ink"]) for _ in range(12))
        sentences.append(f"Sentence{len(sentences)}q says {words}. ")
    text = "".join(sentences).strip()
    files = [SpineFile(0, "", "Title"), SpineFile(1, "", text)]
    return book_of(files, [run for file in files for run in cut_runs(file)], ["One"], "Paragraph")


async def test_a_paragraph_of_10000_characters_is_read_by_press_and_after_letter_for_letter(tmp_path: Path) -> None:
    book = one_paragraph(10_000, random.Random(5))
    text = book.files[1].text
    async with FakeTelegram() as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.private(ana)
        await here.club.shelve(book, Conversation("telegram", str(chat.id)))
        telegram.say(ana, chat, "/ask What does Sentence0q say?")
        await telegram.said(chat, "[1]")
        await here.settled()
        base = len(telegram.ours(chat))
        await press(telegram, ana, chat, "1 ·")
        await telegram.until(lambda: len(telegram.ours(chat)) > base)
        for _ in range(45):
            before = len(passage_text(telegram.ours(chat)[base:]))
            if "After ›" not in telegram.buttons(ana, chat):
                break
            await press(telegram, ana, chat, "After")
            await telegram.until(partial(_grown, telegram, chat, base, before))
        shown = passage_text(telegram.ours(chat)[base:])
        shown = shown[shown.index("Sentence0q") :]
        assert shown == text[: len(shown)]
        assert len(shown) > 9_000


def _grown(telegram: FakeTelegram, chat: Chat, base: int, before: int) -> bool:
    """Whether the passage is longer now and all its parts stand there: the last one has the buttons."""
    messages = telegram.ours(chat)[base:]
    return "reply_markup" in messages[-1] and len(passage_text(messages)) > before


def passage_text(messages: list[dict[str, object]]) -> str:
    """The quoted text of a passage's messages, joined as a reader joins it."""
    parts = []
    for message in messages:
        wide = str(message["text"]).encode("utf-16-le")
        [mark] = [mark for mark in message["entities"] if mark["type"] == "blockquote"]  # type: ignore[attr-defined]
        parts.append(wide[2 * mark["offset"] : 2 * (mark["offset"] + mark["length"])].decode("utf-16-le").strip())
    return " ".join(parts).replace("\u2060", "")


@pytest.mark.parametrize("ephemeral", ["yes", "older"])
async def test_the_page_picture_takes_the_place_of_the_text_and_gives_it_back(tmp_path: Path, ephemeral: str) -> None:
    async with FakeTelegram(ephemeral=ephemeral) as telegram, served(tmp_path, telegram) as here:
        ana = telegram.person("Ana")
        chat = telegram.group("Club", ana)
        telegram.upload(ana, chat, labelled(tmp_path / "labelled.pdf"), caption="@loccit_bot")
        await telegram.said(chat, "Ready")
        telegram.say(ana, chat, "/ask Who was drying nets at the pier?")
        await telegram.said(chat, "[1]")
        await here.settled()
        await press(telegram, ana, chat, "1 ·")
        tried = ephemeral == "yes"  # else it stands there twice, until the first one is deleted
        await telegram.until(
            lambda: "Page picture" in telegram.buttons(ana, chat) and (tried or telegram.server.calls("deleteMessage"))
        )
        await press(telegram, ana, chat, "Page picture")
        await telegram.until(lambda: any("photo" in message for message in telegram.ours(chat, ana)))
        assert "Page picture" not in telegram.buttons(ana, chat)
        await press(telegram, ana, chat, "Text")
        await telegram.until(lambda: "Page picture" in telegram.buttons(ana, chat))
        await telegram.until(lambda: not any("photo" in message for message in telegram.ours(chat, ana)))
        await press(telegram, ana, chat, "Close")
        await telegram.until(lambda: "Page picture" not in telegram.buttons(ana, chat))
