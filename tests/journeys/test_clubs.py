"""What a club does between questions: it catches up, talks about the book, agrees on dates. Once for every room with buttons."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pytest

from tests.books.lantern_epub import lantern_house
from tests.fakes.openai import FakeOpenAI, Fault, Reply, Step
from tests.journeys.discord_room import DiscordRoom
from tests.journeys.room import ConsoleRoom, Room
from tests.journeys.slack_room import SlackRoom
from tests.journeys.telegram_room import TelegramRoom
from tests.journeys.test_users import tag_after
from tests.journeys.web_room import WebRoom
from tests.parts import needs_chromium

LATER = ("oilskin", "Tobin’s Coat", "smells of salt")


class ClubRoom(Room, Protocol):
    """A room whose other buttons can be pressed too."""

    async def choose(self, label: str) -> str:
        """Press the newest button with this label."""
        ...


@runtime_checkable
class Writing(Protocol):
    """A room of a platform that has forms."""

    async def write(self, label: str, words: str) -> str:
        """Press a button that brings a form, and send that with these words."""
        ...


_ROOMS: dict[str, Callable[[Path, Mapping[str, str]], ClubRoom]] = {
    "console": ConsoleRoom,
    "discord": DiscordRoom,
    "slack": SlackRoom,
    "telegram": TelegramRoom,
    "web": WebRoom,
}
_NEEDS = {"web": needs_chromium}
every = pytest.mark.parametrize("kind", [pytest.param(name, marks=_NEEDS.get(name, ())) for name in sorted(_ROOMS)])


async def heard(room: ClubRoom, since: int, words: str) -> str:
    """What was said unasked, once it holds these words: a platform may bring its messages one by one."""
    for _ in range(60):
        if words in (said := "\n".join(room.seen()[since:])):
            return said
        await asyncio.sleep(0.5)
        await room.command("about")
    raise AssertionError(f"nobody said {words!r} in: {said}")


class Model:
    """Recaps and questions about *The Lantern House*, by what the request asks for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, body: Mapping[str, Any]) -> Step:
        text = "\n".join(str(message.get("content") or "") for message in body["messages"])
        if text.startswith("Summarise"):
            return Reply("A part of the book.")
        self.asked.append(text)
        log = tag_after("Mara kept the lighthouse log in green ink.", text)
        ferry = tag_after("Ivo arrived on the Tuesday ferry with one suitcase.", text) or log
        if "What has happened so far?" in text:
            return Reply(
                f"Mara keeps the log {log}. Tobin vanished before her {log}. Nobody speaks of it {log}. "
                "The coat is Tobin's [f3-40-84]. And so on."
            )
        good = [f"{number}. What does the log keep from us, {number}? {log}" for number in range(1, 5)]
        bad = ["5. Whose coat is it? [f3-40-84]", "6. No proof at all?", f"7. Why one suitcase? {ferry}"]
        return Reply("\n".join([*bad, *good]))


@every
async def test_j1_whoever_sets_it_up_sees_what_is_missing_mends_it_and_looks_again(kind: str, tmp_path: Path) -> None:
    key = {"right": False}

    def behave(_: Mapping[str, Any]) -> Step:
        return Reply("ready") if key["right"] else Fault(401, code="invalid_api_key")

    async with FakeOpenAI(behave) as provider:
        given = {"LOCCIT_LLM_BASE_URL": provider.url, "LOCCIT_LLM_MODEL": "fake", "LOCCIT_LLM_API_KEY": "sk-secret"}
        room = _ROOMS[kind](tmp_path, given)
        try:
            first = await room.command("setup")
            assert "refused the key" in first
            assert "sk-secret" not in first
            assert "Traceback" not in first
            assert "Missing: there is no book yet" in first
            key["right"] = True
            await room.upload(lantern_house(tmp_path))
            await room.command("progress", "finished 1")
            again = await room.choose("Check again")
            assert "Missing" not in again
            assert "the language model fake answers" in again
            assert "the club is at chapter 1" in again
            assert "kept for the wrap-up" in await room.choose("Keep answers for the wrap-up")
            assert "Language:" in await room.choose("Language, uploads …")
        finally:
            await room.close()


@every
async def test_j7_a_discussion_is_prepared_in_private_posted_question_by_question_and_wrapped_up(
    kind: str, tmp_path: Path
) -> None:
    model = Model()
    async with FakeOpenAI(model) as provider:
        room = _ROOMS[kind](tmp_path, {"LOCCIT_LLM_BASE_URL": provider.url, "LOCCIT_LLM_MODEL": "fake"})
        try:
            await room.upload(lantern_house(tmp_path))
            await room.command("progress", "finished 2")
            draft = await room.command("discuss", "chapter 2")
            assert draft.count("?") >= 5
            assert "coat" not in draft
            assert "No proof" not in draft
            await room.choose("Another 2")
            await room.choose("Keep 1")
            if isinstance(room, Writing):
                assert "What would you have kept?" in await room.write("Edit 3", "What would you have kept?")
            else:
                assert "YOUR WORDS" in await room.choose("Edit 3")
            await room.restart(kill=True)
            edited = await room.command("discuss", "edit 3 What would you have written?")
            assert "What would you have written?" in edited
            assert edited.count("(kept)") == 2
            before = len(room.seen())
            await room.choose("Post")
            posted = await heard(room, before, "2/2 ")
            assert "Let us talk about The Lantern House, up to chapter 2" in posted
            assert "1/2 " in posted
            assert "2/2 What would you have written?" in posted
            assert "Green Ink" in await room.press("1")
            await room.command("discuss", "answer 2 Only the weather.")
            assert "2 questions" in await room.command("wrap")
            assert not any(word in "\n".join((*room.seen(), *model.asked)) for word in LATER)
        finally:
            await room.close()


@every
async def test_j8_who_comes_back_is_told_what_was_read_and_what_comes_next(kind: str, tmp_path: Path) -> None:
    model = Model()
    async with FakeOpenAI(model) as provider:
        room = _ROOMS[kind](tmp_path, {"LOCCIT_LLM_BASE_URL": provider.url, "LOCCIT_LLM_MODEL": "fake"})
        try:
            await room.upload(lantern_house(tmp_path))
            await room.command("progress", "finished 2")
            await room.command("place", "finished 1")
            asked = await room.command("recap")
            assert "you are at chapter 1, the club at chapter 2" in asked
            mine = await room.choose("Mine")
            assert mine.count("[1]") + mine.count("[2]") >= 3
            assert "coat" not in mine
            assert "And so on" not in mine
            assert "Next: chapter 2" in mine
            assert "Ivo" not in mine
            assert "Green Ink" in await room.press("1")
            assert "Ivo" not in model.asked[-1]
            assert "Ferry" not in model.asked[-1]
            assert "1 time" in await room.command("who", "tobin")
            assert not any(word in "\n".join((*room.seen(), *model.asked)) for word in LATER)
        finally:
            await room.close()
