"""The journeys that must feel right: a book arrives, ask and check, not in the book, spoilers, quotes, two languages, outages."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.books.lantern_epub import lantern_house
from tests.fakes.openai import FakeOpenAI, Fault, Reply, Step, Timing
from tests.journeys.discord_room import DiscordRoom
from tests.journeys.room import ConsoleRoom
from tests.journeys.slack_room import SlackRoom
from tests.journeys.telegram_room import TelegramRoom
from tests.journeys.web_room import WebRoom
from tests.parts import needs_chromium

AnyRoom = ConsoleRoom | DiscordRoom | SlackRoom | TelegramRoom | WebRoom
_ROOMS: dict[str, Callable[[Path, Mapping[str, str]], AnyRoom]] = {
    "console": ConsoleRoom,
    "discord": DiscordRoom,
    "slack": SlackRoom,
    "telegram": TelegramRoom,
    "web": WebRoom,
}
_NEEDS = {"web": needs_chromium}

WHO = "Who kept the log, and how?"
YEAR = "What year does the story take place?"
FERRY = "In what year did Ivo arrive on the ferry?"
COAT = "Whose coat is in Ivo's suitcase?"
TINTA = "¿De quién era la tinta verde?"


def tag_after(sentence: str, text: str) -> str:
    """The tag of the run that holds a sentence, as the model was given it; "" when it was not."""
    found = re.search(re.escape(sentence) + r"[^\[]*(\[f\d+-\d+-\d+\])", text)
    return found[1] if found else ""


class Model:
    """What a careful model says of *The Lantern House*, by question; `fault` instead while it is set."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.slow = 0.0
        """Seconds until the first word of an answer."""
        self.asked: list[str] = []

    def __call__(self, body: Mapping[str, Any]) -> Step:
        if self.fault is not None:
            return self.fault
        text = "\n".join(str(message.get("content") or "") for message in body["messages"])
        if text.startswith("Summarise"):
            return Reply("A part of the book.")
        self.asked.append(text)
        system = str(body["messages"][0]["content"])
        if "Thinking" in text and "answer" in text and "get_related" not in system and "JSON" in text:
            return Reply('{"Thinking": "", "answer": []}')
        question = str(body["messages"][-1].get("content") or "") + text[-600:]
        timing = Timing(first=self.slow)
        return Reply(self._answer(question if WHO in text or YEAR in text else text, text), timing=timing)

    def _answer(self, question: str, text: str) -> str:
        log = tag_after("Mara kept the lighthouse log in green ink.", text)
        tobin = tag_after("had vanished in a storm.", text) or log
        coat = tag_after("Ivo’s suitcase held Tobin’s oilskin coat.", text)
        suitcase = tag_after("Ivo arrived on the Tuesday ferry with one suitcase.", text)
        ink = tag_after("The green ink in the log was not Mara’s.", text)
        if "answer from your general knowledge" in text.lower() or "from your general knowledge" in text:
            return "Lighthouses of that kind were built around 1870."
        if TINTA in text.splitlines()[-1] or TINTA in text:
            return f"No era de Mara: “The green ink in the log was not Mara’s” {ink}."
        if FERRY in text:
            return "The book does not say."
        if COAT in text:
            if coat:
                return f"Tobin's oilskin coat {coat}."
            return f"The suitcase is not opened {suitcase}."
        if YEAR in text:
            return "The book does not say."
        return f"Mara kept the lighthouse log, in green ink {log}. The keeper before her, Old Tobin, vanished in a storm {tobin}."


@asynccontextmanager
async def clubhouse(kind: str, folder: Path, **settings: str) -> AsyncIterator[tuple[AnyRoom, Model]]:
    model = Model()
    async with FakeOpenAI(model) as provider:
        given = {"LOCCIT_LLM_BASE_URL": provider.url, "LOCCIT_LLM_MODEL": "fake", **settings}
        room = _ROOMS[kind](folder, given)
        try:
            yield room, model
        finally:
            await room.close()


CHATS = DiscordRoom | SlackRoom | TelegramRoom
"""Rooms with others in them, and buttons."""

both = pytest.mark.parametrize("kind", [pytest.param(name, marks=_NEEDS.get(name, ())) for name in sorted(_ROOMS)])


@both
async def test_j2_a_book_arrives_says_what_it_is_asks_where_the_club_is_and_can_be_taken_back(
    kind: str, tmp_path: Path
) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        book = lantern_house(tmp_path)
        if isinstance(room, CHATS):
            asked = await room.drop(book)
            assert book.name in asked
            assert "Shall the club read this here?" in asked
            assert {"Yes, here", "Not a club book"} <= set(room.buttons())
            ready = await room.choose("Yes, here")
            assert "Yes, here" not in room.buttons()  # the question became the card
        else:
            ready = await room.upload(book)
        assert "The Lantern House" in ready
        assert "3 chapters" in ready
        assert not any(title in ready for title in ("The Ferry", "Tobin’s Coat"))
        if isinstance(room, CHATS):
            assert "Where is the club?" in ready
            assert {"Not begun", "Ch. 1 read", "Ch. 2 read", "Whole book"} <= set(room.buttons())
            assert "chapter 1" in await room.choose("Ch. 1 read")
        else:
            assert "chapter 1" in await room.command("progress", "finished 1")
        assert "othing was read twice" in await room.upload(book)
        if not isinstance(room, ConsoleRoom):
            looked = await room.choose("Open")
            assert "Green Ink" in looked
            assert "The Ferry" not in looked
            assert "anew?" in await room.choose("Replace")
            assert "the same as before" in await room.choose("Yes, read it anew")
        assert "The Lantern House" in await room.command("books")
        if isinstance(room, CHATS):
            removed = await room.choose("Remove")
            assert "15 minutes" in removed
            assert "deleted" in removed
            await room.choose("Undo")
        else:
            assert "15 minutes" in await room.command("remove", "1")
            await room.command("undo")
        assert "The Lantern House" in await room.command("books")
        assert "oilskin" not in "\n".join(model.asked)


@both
async def test_j3_ask_and_check(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        await room.upload(lantern_house(tmp_path))
        await room.command("progress", "finished 2")
        model.slow = 5.0 if isinstance(room, TelegramRoom) else 0.0
        answer = await room.ask(WHO)
        model.slow = 0.0
        assert "in green ink [1]" in answer
        assert "storm [" in answer
        if isinstance(room, CHATS):
            assert "From The Lantern House, up to chapter 2." in answer
            assert any(label.startswith("1 · Ch. 1") for label in room.buttons())
            assert "⋯" in room.buttons()
        if isinstance(room, TelegramRoom):
            chat = room._bot.chat
            assert any(action == "typing" for _, _, action in room._bot.fake.methods.actions)
            looking = [
                entry for entry in room._bot.fake.server.calls("sendMessage") if "Looking" in entry.params["text"]
            ]
            assert len(looking) == 1  # it became the answer: no extra message
            assert not any(text.startswith("Looking") for text in room._bot.fake.texts(chat))
        asked = len(model.asked)
        passage = await room.press("1")
        assert "Green Ink" in passage
        assert "Mara kept the lighthouse log in green ink." in passage
        assert len(model.asked) == asked  # a lookup, no model
        if isinstance(room, CHATS):
            assert "Close" in room.buttons()
        if isinstance(room, SlackRoom):  # nothing outside an ephemeral message can close it
            await room.choose("Close", quietly=True)
            assert room.buttons().count("Close") == 0
        else:
            assert "Mara kept" not in await room.press("1")
        if "second member" in room.capabilities:
            ben = await room.second_member()
            assert "Mara kept the lighthouse log" in await ben.press("1")
            assert "Mara kept the lighthouse log" in await room.press("1")


@both
async def test_j4_it_is_not_in_the_book(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, _):
        await room.upload(lantern_house(tmp_path))
        answer = await room.ask(YEAR)
        assert "found nothing about this in The Lantern House" in answer
        assert "chapters 1–3" in answer
        assert "[1]" not in answer  # nothing in the book is near
        answer = await room.ask(FERRY)
        assert "found nothing about this in The Lantern House" in answer
        assert "Closest to your words" in answer
        assert "Ivo arrived on the Tuesday ferry with one suitcase. [1]" in answer
        assert "Ivo arrived on the Tuesday ferry" in await room.press("1")
        if isinstance(room, CHATS):
            assert {"Search exact words", "Answer without the book"} <= set(room.buttons())
            without = await room.choose("Answer without the book")
        else:
            without = await room.command("without", FERRY)
        assert "Not from the book:" in without
        assert "1870" in without
        assert "[1]" not in without


@both
async def test_j5_a_spoiler_question(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        await room.upload(lantern_house(tmp_path))
        await room.command("progress", "finished 2")
        before = await room.ask(COAT)
        assert "oilskin" not in before
        assert "[1]" in before
        if isinstance(room, CHATS):
            assert "up to chapter 2" in before
        read = "\n".join(model.asked)
        assert not any(word in read for word in ("oilskin", "Tobin’s Coat", "smells of salt", "not Mara’s"))
        moved = await room.command("progress", "finished 3")
        assert "chapter 3" in moved
        if isinstance(room, CHATS):
            assert "Undo" in room.buttons()
            assert "Changed by" in moved
        assert "oilskin coat [1]" in await room.ask(COAT)
        await room.command("place", "finished 1")
        warned = await room.press("1")
        assert "oilskin" not in warned
        assert "chapter 1" in warned
        if isinstance(room, CHATS):
            assert "This passage is from chapter 3" in warned
            assert {"Show it anyway", "Update my place"} <= set(room.buttons())
        assert "oilskin" in await room.press("1")
        if isinstance(room, CHATS):
            ben = await room.second_member()
            assert isinstance(ben, CHATS)
            await ben.command("place", "finished 1")
            assert "oilskin" not in await ben.press("1")
            assert "oilskin" in await ben.choose("Update my place")
            assert "chapter 3" in await ben.command("place")


@both
async def test_j6_find_the_exact_quote_without_a_model(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        await room.upload(lantern_house(tmp_path))
        asked = len(model.asked)
        near = await room.command("quote", "it still smells like salt")
        assert "Not word for word" in near
        assert "It still smells of salt" in near
        if isinstance(room, CHATS):
            assert "smells of salt" in await room.choose("Open 1")
        if isinstance(room, TelegramRoom):
            assert "Copy 1" in room.buttons()
        assert "Word for word" in await room.command("quote", "The green ink in the log was not Mara's")
        await room.command("progress", "finished 2")
        assert "up to chapter 2" in await room.command("quote", "it still smells like salt")
        assert len([text for text in model.asked[asked:] if "smells like salt" in text]) == 0


@both
async def test_j9_two_languages(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        if isinstance(room, CHATS):
            room.speak("es")
        await room.upload(lantern_house(tmp_path))
        await room.command("progress", "terminado 3")
        answer = await room.ask(TINTA)
        assert "No era de Mara" in answer
        assert any(TINTA in text for text in model.asked)
        if isinstance(room, CHATS):
            assert any(label.startswith("1 · Cap. 3") for label in room.buttons())
        # quotation marks stand around the book's own words only
        for quoted in re.findall("“([^”]+)”", answer):
            assert quoted.rstrip(",.") in "The green ink in the log was not Mara’s"
        assert "The green ink in the log was not Mara’s." in await room.press("1")


@both
async def test_j10_when_things_break(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        await room.upload(lantern_house(tmp_path))
        assert "[1]" in await room.ask(WHO)
        model.fault = Fault(429, "You exceeded your current quota", "insufficient_quota")
        broken = await room.ask(COAT)
        assert "account" in broken
        assert "used up" in broken
        assert "Your question is kept" in broken
        if not isinstance(room, ConsoleRoom):
            again = await room.choose("Try again")
            assert "used up" in again
            assert "Your question is kept" in again
        found = await room.command("quote", "Ivo’s suitcase held Tobin’s oilskin coat")
        assert "Word for word" in found
        assert "The language model is away" in found
        assert len((await room.press("1")).splitlines()) > 1  # passages open without a model
        await room.restart(kill=True)
        model.fault = None
        late = await room.said("Tobin's oilskin coat [1]")
        assert "Tobin's oilskin coat" in late
        shown = "\n".join(room.seen())
        assert shown.count("Tobin's oilskin coat [1]") == 1
        if isinstance(room, CHATS):
            assert COAT in room.replied_to("Tobin's oilskin coat [1]")


@both
async def test_j10_a_restart_in_the_middle_of_a_question_leaves_no_stuck_line(kind: str, tmp_path: Path) -> None:
    async with clubhouse(kind, tmp_path) as (room, model):
        if isinstance(room, ConsoleRoom):
            return  # a terminal that is killed shows nothing any more; test_reading covers its restart
        await room.upload(lantern_house(tmp_path))
        model.slow = 6.5
        await room.put(WHO)
        await room.waits()
        while not any(WHO in text for text in model.asked):  # noqa: ASYNC110  # it comes over the wire
            await asyncio.sleep(0.02)
        model.slow = 0.0
        await room.restart(kill=True)
        await room.said("in green ink [1]")
        standing = await room.standing()
        assert sum("in green ink [1]" in text for text in standing) == 1
        assert not any("ooking " in text for text in standing)
