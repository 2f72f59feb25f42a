"""A real browser for tests: headless Chromium that can reach this machine only, and a page that tells what it saw."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.parts import CHROMIUM, needs_chromium

Test = TypeVar("Test", bound=Callable[..., Any])

_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


@dataclass
class Seen:
    """What a page did while it was open."""

    requests: list[str] = field(default_factory=list)
    bytes: int = 0
    complaints: list[str] = field(default_factory=list)
    """Errors of scripts, what the page's policy refused, dialogs."""


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    assert CHROMIUM is not None
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            await browser.close()


IN_BROWSER = (needs_chromium, pytest.mark.asyncio(loop_scope="session"), pytest.mark.usefixtures("browsing"))
"""The marks of a test with a page of the shared browser: it runs in the session's loop, and the fixture closes it."""

_shared = AsyncExitStack()
_found: list[Browser] = []


async def shared_browser() -> Browser:
    """The one browser of all tests marked IN_BROWSER."""
    if not _found:
        _found.append(await _shared.enter_async_context(open_browser()))
    return _found[0]


def in_browser(test: Test) -> Test:
    """Mark one test IN_BROWSER."""
    for mark in IN_BROWSER:
        test = mark(test)
    return test


async def close_shared_browser() -> None:
    _found.clear()
    await _shared.aclose()


async def open_page(browser: Browser, **options: Any) -> tuple[Page, Seen]:
    """A page of its own, as if nobody had been here before. English, unless the options say otherwise."""
    context = await browser.new_context(**{"locale": "en-GB", **options})
    page, seen = await context.new_page(), Seen()
    page.set_default_timeout(20_000)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.complaints.append(f"script: {error}"))
    page.on("console", lambda said: seen.complaints.append(said.text) if said.type in ("error", "warning") else None)

    async def dismiss(dialog: Any) -> None:
        seen.complaints.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    page.on("dialog", dismiss)
    return page, seen
