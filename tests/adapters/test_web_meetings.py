"""Reading together on the page: what is typed after questions for all were posted is asked of the book, not taken for an answer."""

from pathlib import Path

import aiohttp
from playwright.async_api import expect

from tests.adapters.test_web_browser import QUESTION, sit_down
from tests.adapters.test_web_forms import button, post
from tests.adapters.test_web_requests import say
from tests.adapters.web_served import HERE, serve_web
from tests.browser import in_browser
from tests.clubs import lantern_house, open_club
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel


async def test_words_after_posted_questions_are_asked_of_the_book(tmp_path: Path) -> None:
    model = ScriptedModel([DRAFT, "She kept it in green ink. [f1-0-42]", "Only that. [f1-0-42]"])
    async with (
        open_club(tmp_path / "data", model) as club,
        serve_web(club, tmp_path / "web") as served,
        aiohttp.ClientSession() as session,
    ):
        await club.shelve(lantern_house(), HERE)
        [draft] = await say(session, served, "/discuss")
        await post(session, served, "/press", id=button(draft["html"], "Post"))
        told = await say(session, served, "tell me of the green ink")
        assert told[-1]["do"] == "answer", told[-1]["text"]
        assert model.requests[-1].purpose == "answer"
        again = await say(session, served, "and what else")
        assert again[-1]["do"] == "answer"
        [answered] = await say(session, served, "/discuss answer 1 It was cheap.")
        assert "Answers are not kept in this chat" in answered["text"]


async def test_whoever_moves_the_own_place_is_told_so_above_the_passage(tmp_path: Path) -> None:
    async with (
        open_club(tmp_path / "data") as club,
        serve_web(club, tmp_path / "web") as served,
        aiohttp.ClientSession() as session,
    ):
        await club.shelve(lantern_house(), HERE)
        [answer] = [
            line for line in await say(session, served, "What did Mara keep the log in?") if line["do"] == "answer"
        ]
        await say(session, served, "/place start")
        note = answer["html"].split('data-kind="note" data-id="')[1].split('"')[0]
        [warned] = await post(session, served, "/press", id=note)
        [moved] = await post(session, served, "/press", id=button(warned["html"], "Update my place"))
        assert "Your own place is now chapter 1" in moved["html"]
        assert "<mark>" in moved["html"]
        assert moved["text"].startswith("Your own place is now chapter 1")


@in_browser
async def test_a_number_typed_opens_the_footnote_of_what_was_said_last(tmp_path: Path) -> None:
    async with sit_down(tmp_path) as desk:
        passage = desk.page.locator(".passage mark")
        await desk.ask(QUESTION)
        await desk.page.locator("article[data-turn]").wait_for()
        await desk.ask("/who tobin")
        await desk.page.locator("article").filter(has_text="Tobin is named 2 times").wait_for()
        await desk.ask("1")
        await expect(passage).to_contain_text("Old Tobin")
        await desk.ask("2")
        await expect(passage).to_contain_text("oilskin")
        await desk.ask("2")
        await expect(passage).to_have_count(0)
