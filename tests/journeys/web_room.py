"""The web page as a room: `loccit run` in a process of its own, a person at a real browser."""

import asyncio
import contextlib
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from playwright.async_api import Locator, Page

from tests import programs
from tests.browser import Seen, open_page, shared_browser
from tests.journeys.room import PATIENCE, Capability, Room

_TEXT = """element => {
    const copy = element.cloneNode(true);
    for (const cite of copy.querySelectorAll("button.cite")) cite.replaceWith(`[${cite.textContent}]`);
    for (const gone of copy.querySelectorAll(".ways, .notes, .asked")) gone.remove();
    const place = document.createElement("div");
    place.append(copy);
    document.body.append(place);
    const text = place.innerText;
    place.remove();
    return text.trim();
}"""
"""What an element shows, its buttons left out; a footnote's number as it would be read out."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class WebRoom:
    """One reader on the page of this machine."""

    capabilities: frozenset[Capability] = frozenset({"closes from outside"})

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._settings = settings or {}
        self._port = free_port()
        self._process: programs.Program | None = None
        self._open = contextlib.AsyncExitStack()
        self._page: Page | None = None
        self._watched = Seen()
        self._shown: list[str] = []
        self._read = 0
        """Articles of the page that have been noted."""

    async def upload(self, file: Path) -> str:
        page = await self._here()
        before = await page.locator("article").count()
        await page.set_input_files("#file", file)
        said = await self._settled(page, before)
        card = await page.locator("#status").inner_text()
        return self._note(card if "chapter" in card else said)

    async def ask(self, words: str) -> str:
        page = await self._here()
        before = await self._overheard(page)
        await page.get_by_label("Ask about the book", exact=True).fill(words)
        await page.get_by_role("button", name="Ask", exact=True).click()
        return self._note(await self._settled(page, before))

    async def command(self, name: str, words: str = "") -> str:
        return await self.ask(f"/{name} {words}".strip())

    async def press(self, label: str) -> str:
        page = await self._here()
        panel = page.locator(".passage")
        if label in "<>":
            old = await panel.locator(".text").text_content() or ""
            await panel.get_by_role("button", name="Before" if label == "<" else "After").click()
            await page.wait_for_function(
                "old => document.querySelector('.passage .text')?.textContent !== old", arg=old
            )
            new = await panel.locator(".text").text_content() or ""
            return self._note(new.removesuffix(old) if label == "<" else new.removeprefix(old))
        cite = (
            page.locator("article.turn")
            .filter(has=page.locator("[data-kind=note]:not(.cite)"))
            .last.locator("[data-kind=note]:not(.cite)")
            .filter(has_text=re.compile(rf"^{re.escape(label)}\b"))
        )
        if not await cite.count():  # nothing to press: typed, as in the terminal
            return await self.ask(label)
        warned = await panel.count() and not await panel.locator("mark").count()
        if warned and await panel.get_by_role("button").count() > 1:
            await panel.get_by_role("button").first.click()
            await panel.locator("mark").wait_for()
            return self._note(str(await panel.evaluate(_TEXT)))
        await cite.first.click()
        if await cite.first.get_attribute("aria-expanded") != "true":
            await panel.wait_for(state="detached")
            return self._note("")
        await panel.locator(":scope[aria-busy=false]").wait_for()
        return self._note(str(await panel.evaluate(_TEXT)))

    async def put(self, words: str) -> None:
        """Ask and do not wait."""
        page = await self._here()
        await self._overheard(page)
        await page.get_by_label("Ask about the book", exact=True).fill(words)
        await page.get_by_role("button", name="Ask", exact=True).click()

    async def choose(self, label: str) -> str:
        """Press the newest button with this label."""
        page = await self._here()
        before = await self._overheard(page)
        button = page.locator("article [data-id]:not(.cite)").filter(has_text=re.compile(rf"^{re.escape(label)}")).last
        if await button.get_attribute("data-kind") != "step":
            await button.click()
            return self._note(await self._settled(page, before))
        body = button.locator("xpath=ancestor::*[contains(@class, 'body')]")
        stood = await body.element_handle()
        old = await body.inner_html()
        await button.click()
        changed = (
            "([body, old]) => body.innerHTML !== old && body.closest('article').getAttribute('aria-busy') !== 'true'"
        )
        await page.wait_for_function(changed, arg=[stood, old])
        assert stood is not None
        return self._note(str(await stood.evaluate(_TEXT)))

    async def write(self, label: str, words: str) -> str:
        """Press a button that brings a form, and send that with these words."""
        page = await self._here()
        await page.get_by_role("button", name=label, exact=True).last.click()
        form = page.locator("form.write")
        await form.locator("textarea").fill(words)
        await form.get_by_role("button", name="Save").click()
        await form.wait_for(state="detached")
        return self._note(str(await page.locator("article .reply").last.evaluate(_TEXT)))

    async def _overheard(self, page: Page) -> int:
        """How many articles there are; those that came unasked are noted."""
        count = await page.locator("article").count()
        for at in range(self._read, count):
            self._note(str(await page.locator("article").nth(at).evaluate(_TEXT)))
        self._read = count
        return count

    async def restart(self, *, kill: bool = False) -> str:
        process = await self._running()
        if kill:
            process.kill()
        else:
            process.terminate()
        await asyncio.wait_for(process.wait(), PATIENCE)
        self._process = None
        page = await self._here()
        await page.reload()
        self._read = await page.locator("article").count()
        return self._shown[-1]

    async def second_member(self) -> Room:
        raise NotImplementedError("the page of a machine has one reader")

    def seen(self) -> list[str]:
        return list(self._shown)

    async def said(self, words: str) -> str:
        """Wait for a text that comes unasked."""
        page = await self._here()
        news = page.locator("article").filter(has_text=words.split(" [")[0]).last
        await news.wait_for(timeout=1_000 * PATIENCE)
        return self._note(str(await news.evaluate(_TEXT)))

    async def standing(self) -> list[str]:
        """What the page shows now, oldest first."""
        page = await self._here()
        return [str(await article.evaluate(_TEXT)) for article in await page.locator("article").all()]

    async def waits(self) -> None:
        """Wait until it is said that an answer is being made."""
        page = await self._here()
        await page.locator("article.turn").filter(has_text="Looking").last.wait_for(timeout=1_000 * PATIENCE)

    async def close(self) -> None:
        await self._open.aclose()
        if self._process is not None:
            self._process.terminate()
            code = await asyncio.wait_for(self._process.wait(), PATIENCE)
            assert code == 0, f"the page ended with {code}"
        assert [line for line in self._watched.complaints if "ERR_" not in line] == []
        assert all(url.startswith(f"http://127.0.0.1:{self._port}/") for url in self._watched.requests)

    def _note(self, said: str) -> str:
        self._shown.append(said)
        return said

    async def _settled(self, page: Page, before: int) -> str:
        """What the newest article says once nothing more comes."""
        newest: Locator = page.locator("article").nth(before)
        await newest.wait_for()
        done = "at => { const a = document.querySelectorAll('article.turn')[at]; return a && a.getAttribute('aria-busy') !== 'true'; }"
        await page.wait_for_function(done, arg=before)
        await page.wait_for_timeout(80)  # the spoken line follows after 50 ms
        self._read = before + 1
        return str(await newest.evaluate(_TEXT))

    async def _here(self) -> Page:
        await self._running()
        if self._page is None:
            self._page, self._watched = await open_page(await shared_browser())
            self._open.push_async_callback(self._page.context.close)
            await self._page.goto(f"http://127.0.0.1:{self._port}/")
        return self._page

    async def _running(self) -> programs.Program:
        if self._process is None:
            mine = {"LC_ALL": "C.UTF-8", "LOCCIT_WEB_PORT": str(self._port)}
            self._process = await programs.start(
                *(programs.LOCCIT, "run", "--data", self._folder / "data"),
                folder=self._folder,
                environment={**os.environ, **mine, **self._settings},
                stderr=asyncio.subprocess.PIPE,
            )
            assert self._process.stderr is not None
            said = await asyncio.wait_for(self._process.stderr.readline(), PATIENCE)
            assert str(self._port).encode() in said, said.decode()
        return self._process
