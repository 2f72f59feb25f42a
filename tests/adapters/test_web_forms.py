"""A text to be filled in on the page: it stands under its button's reply, by keys alone, and keeps what was refused."""

from pathlib import Path

import aiohttp
from playwright.async_api import expect

from adapters.web.guard import TOKEN_HEADER
from tests.adapters.test_web_browser import Desk, sit_down
from tests.adapters.test_web_requests import lines, say
from tests.adapters.web_served import HERE, Served, serve_web
from tests.browser import in_browser
from tests.clubs import lantern_house, open_club
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel


def button(html: str, label: str) -> str:
    """The id of the button with this label."""
    return html.split(f">{label}</button>")[0].rsplit('data-id="', 1)[1].split('"')[0]


async def post(session: aiohttp.ClientSession, served: Served, path: str, **said: str) -> list[dict[str, str]]:
    headers = {TOKEN_HEADER: await served.token(session)}
    async with session.post(f"{served.address}{path}", json=said, headers=headers) as response:
        assert response.status == 200
        return await lines(response)


async def test_edit_brings_a_form_and_what_is_written_comes_back_as_the_draft(tmp_path: Path) -> None:
    async with (
        open_club(tmp_path / "data", ScriptedModel([DRAFT])) as club,
        serve_web(club, tmp_path / "web") as served,
        aiohttp.ClientSession() as session,
    ):
        await club.shelve(lantern_house(), HERE)
        [draft] = await say(session, served, "/discuss")
        id = button(draft["html"], "Edit 1")
        [form] = await post(session, served, "/press", id=id)
        assert form["do"] == "form"
        assert "Why green ink?</textarea>" in form["html"]
        assert 'maxlength="600"' in form["html"]
        [refused] = await post(session, served, "/fill", id=id, text=" ")
        assert refused["do"] == "failed"
        assert "at most 600 characters" in refused["text"]
        [anew] = await post(session, served, "/fill", id=id, text="Why <b>green</b>? & why ink?")
        assert anew["do"] == "reply"
        assert "<b>green" not in anew["html"]
        assert "why ink?" in anew["text"]
        [again] = await post(session, served, "/press", id=id)
        assert "why ink?</textarea>" in again["html"]
        [forged] = await post(session, served, "/fill", id="forged", text="Why?")
        assert forged["do"] == "failed"


async def drafted(desk: Desk) -> None:
    await desk.ask("/discuss")
    await expect(desk.page.get_by_role("button", name="Edit 1")).to_be_visible()


@in_browser
async def test_a_question_is_written_anew_by_keys_alone(tmp_path: Path) -> None:
    async with sit_down(tmp_path, model=ScriptedModel([DRAFT])) as desk:
        page, keys = desk.page, desk.page.keyboard
        await drafted(desk)
        edit = page.get_by_role("button", name="Edit 2")
        await edit.focus()
        await keys.press("Enter")
        field = page.get_by_label("The question; its footnotes stay")
        await expect(field).to_be_focused()
        await expect(page.get_by_role("form", name="Edit 2")).to_be_visible()
        await keys.press("Escape")
        await expect(field).to_have_count(0)
        await expect(edit).to_be_focused()
        await keys.press("Enter")
        await field.fill("?")
        await keys.press("Tab")
        await expect(page.get_by_role("button", name="Save")).to_be_focused()
        await keys.press("Enter")
        await expect(page.get_by_role("form")).to_contain_text("at most 600 characters")
        await expect(page.get_by_role("status")).to_contain_text("at most 600 characters")
        await expect(field).to_have_value("?")
        await field.fill("Where is Tobin?")
        await keys.press("Tab")
        await keys.press("Enter")
        await expect(field).to_have_count(0)
        reply = page.locator(".reply")
        await expect(reply).to_have_count(1)
        await expect(reply).to_contain_text("Where is Tobin?")
        await expect(reply).not_to_contain_text("What may have happened to Tobin?")
        await expect(page.get_by_role("status")).to_contain_text("Where is Tobin?")
