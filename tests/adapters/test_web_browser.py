"""The page as a person meets it, in a real browser: add, ask, press, close, jump, export; by keys alone; on a phone."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from playwright.async_api import Page, expect

from adapters.web.spots import Spot
from core.errors import UpstreamError
from core.model import ChatEvent, ChatModel, ChatRequest, Position, Said, Span, SpineFile
from core.strings import LOCALES, say
from core.tags import tag
from tests.adapters.web_served import HERE, Served, serve_web
from tests.books.lantern_epub import lantern_house as lantern_file
from tests.books.pdfs import RIGHT, Sheet, half_scanned, prose
from tests.browser import IN_BROWSER, Seen, open_page, shared_browser
from tests.clubs import TestClub, book_of, lantern_house, open_club
from tests.fakes.model import ScriptedModel

pytestmark = [*IN_BROWSER]

GREEN_INK = "Mara kept the lighthouse log in green ink."
QUESTION = "What did Mara keep the log in?"
PHONE: dict[str, Any] = {"viewport": {"width": 375, "height": 667}, "has_touch": True, "is_mobile": True}


@dataclass
class Desk:
    """A person at the page."""

    club: TestClub
    served: Served
    page: Page
    seen: Seen

    async def ask(self, words: str) -> None:
        await self.page.get_by_label(say("web_question"), exact=True).fill(words)
        await self.page.get_by_role("button", name="Ask", exact=True).click()

    async def read(self, place: Spot) -> None:
        await self.page.goto(self.served.address + place.path)


@asynccontextmanager
async def sit_down(
    folder: Path, *, shelved: bool = True, model: ChatModel | None = None, **options: Any
) -> AsyncIterator[Desk]:
    """A browser in front of the page; *The Lantern House* is there when `shelved`. Afterwards nothing was complained of
    and nothing asked for elsewhere.
    """
    async with AsyncExitStack() as stack:
        club = await stack.enter_async_context(open_club(folder / "data", model))
        served = await stack.enter_async_context(serve_web(club, folder / "web"))
        if shelved:
            await club.shelve(lantern_house())
        page, seen = await open_page(await shared_browser(), **options)
        stack.push_async_callback(page.context.close)
        await page.goto(served.address)
        yield Desk(club, served, page, seen)
        assert seen.complaints == []
        addresses = (served.address, served.public, "blob:")
        assert [url for url in seen.requests if not url.startswith(addresses)] == []


async def test_a_person_adds_a_book_asks_presses_closes_jumps_and_exports(tmp_path: Path) -> None:
    async with sit_down(tmp_path, shelved=False) as desk:
        page = desk.page
        await expect(page.get_by_text("Add a book (EPUB, PDF")).to_be_visible()
        await page.get_by_label("Add a book").set_input_files(lantern_file(tmp_path))
        await expect(page.get_by_text("Ready · 3 chapters")).to_be_visible()
        await expect(page.locator("#shelf")).to_have_text("The Lantern House")
        await expect(page.get_by_role("status")).to_have_text("The Lantern House is ready: 3 chapters.")

        await desk.ask(QUESTION)
        answer = page.locator("article[data-turn]")
        await expect(answer).to_contain_text(GREEN_INK)
        await expect(page.get_by_role("status")).to_contain_text(GREEN_INK)
        note = page.get_by_role("button", name="Footnote 1 · Ch. 1")
        await note.click()
        passage = page.get_by_role("region", name="Passage")
        await expect(passage.locator("mark")).to_contain_text(GREEN_INK)
        await expect(passage).to_contain_text("The Lantern House · Green Ink")
        await expect(note).to_have_attribute("aria-expanded", "true")
        beside, answered = await passage.bounding_box(), await answer.locator(".answer").bounding_box()
        assert beside is not None
        assert answered is not None
        assert beside["x"] >= answered["x"] + answered["width"]
        await note.click()
        await expect(passage).to_have_count(0)
        await expect(note).to_have_attribute("aria-expanded", "false")

        await note.click()
        await passage.get_by_role("link", name="Open in the book").click()
        await expect(page.locator("#mark")).to_contain_text(GREEN_INK)
        await expect(page.locator("#mark")).to_be_in_viewport()
        await expect(page.get_by_role("navigation", name="Contents")).to_contain_text("Tobin’s Coat")
        await page.get_by_role("link", name="Next").first.click()
        await expect(page.locator("article.text")).to_contain_text("Tuesday ferry")
        await page.get_by_role("link", name="Previous").first.click()
        await expect(page.locator("article.text")).to_contain_text(GREEN_INK)

        await page.get_by_role("link", name="Chat").click()
        await expect(answer).to_contain_text(GREEN_INK)  # what was said stays
        for name, form in (("Export as HTML", "html"), ("Export as Markdown", "md")):
            async with page.expect_download() as download:
                await page.get_by_role("link", name=name).click()
            file = tmp_path / f"export.{form}"
            await (await download.value).save_as(file)
            exported = await asyncio.to_thread(file.read_text, encoding="utf-8")
            assert GREEN_INK in exported
        html = (tmp_path / "export.html").as_uri()
        await page.goto(html)
        await page.get_by_role("link", name="Open in the book").first.click()
        await expect(page.locator("#mark")).to_contain_text(GREEN_INK)
        desk.seen.requests.remove(html)


async def test_keys_alone_are_enough(tmp_path: Path) -> None:
    async with sit_down(tmp_path) as desk:
        page, keys = desk.page, desk.page.keyboard
        await keys.press("Tab")
        await expect(page.get_by_role("link", name=say("web_question"))).to_be_focused()
        await keys.press("Enter")
        await keys.press("Tab")
        box = page.get_by_label(say("web_question"), exact=True)
        for _ in range(6):
            if await box.evaluate("box => box === document.activeElement"):
                break
            await keys.press("Tab")
        await expect(box).to_be_focused()
        await keys.type("a line")
        await keys.press("Shift+Enter")
        await expect(box).to_have_value("a line\n")
        await box.fill("")
        await keys.type(QUESTION)
        await keys.press("Enter")
        answer = page.locator("article[data-turn]")
        await expect(answer).to_contain_text(GREEN_INK)
        await keys.type("1")
        await keys.press("Enter")
        note = page.get_by_role("button", name="Footnote 1 · Ch. 1").first
        await expect(page.get_by_role("region", name="Passage").locator("mark")).to_contain_text(GREEN_INK)
        await expect(note).to_be_focused()
        for name in ("Open in the book", "Close"):
            for _ in range(30):
                await keys.press("Tab")
                if name in str(await page.evaluate("document.activeElement.textContent")):
                    break
            else:
                raise AssertionError(f"{name} is not reached by Tab")
        await keys.press("Enter")
        await expect(page.get_by_role("region", name="Passage")).to_have_count(0)
        await expect(note).to_be_focused()
        await keys.press("Enter")
        await expect(page.get_by_role("region", name="Passage")).to_have_count(1)
        await keys.press("Escape")
        await expect(page.get_by_role("region", name="Passage")).to_have_count(0)


async def test_everything_that_can_be_pressed_or_filled_in_has_a_name_and_nothing_is_said_by_colour_alone(
    tmp_path: Path,
) -> None:
    async with sit_down(tmp_path) as desk:
        await desk.ask(QUESTION)
        await desk.page.get_by_role("button", name="Footnote 1 · Ch. 1").first.click()
        await expect(desk.page.locator(".passage mark")).to_be_visible()
        await desk.ask("/books")
        await expect(desk.page.get_by_text("3 chapters").last).to_be_visible()
        unnamed = """() => [...document.querySelectorAll("a, button, input, textarea, summary, [role], [tabindex='0']")]
            .filter(element => !(element.textContent.trim() || element.getAttribute("aria-label") || element.labels?.length
                || element.getAttribute("role") === "status" || element.querySelector("img[alt]")))
            .map(element => element.outerHTML)"""
        assert await desk.page.evaluate(unnamed) == []
        assert await desk.page.locator("html").get_attribute("lang") == "en"
        ids = await desk.page.evaluate("() => [...document.querySelectorAll('[id]')].map(element => element.id)")
        assert len(ids) == len(set(ids))
        levels = await desk.page.evaluate(
            "() => [...document.querySelectorAll('h1,h2,h3,h4')].map(heading => Number(heading.tagName[1]))"
        )
        assert levels[0] == 1
        assert all(level >= 2 for level in levels[1:])


async def test_a_phone_shows_everything_without_sideways_scrolling_and_with_targets_a_thumb_hits(
    tmp_path: Path,
) -> None:
    async with sit_down(tmp_path, **PHONE) as desk:
        page = desk.page
        sideways = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(sideways) <= 0
        await desk.ask(QUESTION)
        await page.locator(".notes button").first.tap()
        passage, answer = page.locator(".passage"), page.locator("article[data-turn] .answer")
        await expect(passage.locator("mark")).to_be_in_viewport()
        below, above = await passage.bounding_box(), await answer.bounding_box()
        assert below is not None
        assert above is not None
        assert below["y"] >= above["y"] + above["height"]
        assert await page.evaluate(sideways) <= 0
        for button in await page.locator(".notes button, .ways button, .ways a, #ask button").all():
            box = await button.bounding_box()
            assert box is not None
            assert box["height"] >= 39
            assert box["width"] >= 24
        await passage.get_by_role("link", name="Open in the book").tap()
        await expect(page.locator("#mark")).to_be_in_viewport()
        await expect(page.get_by_text("Tobin’s Coat")).to_be_hidden()  # the contents are folded away
        assert await page.evaluate(sideways) <= 0


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_page_speaks_the_browsers_language(tmp_path: Path, locale: str) -> None:
    async with sit_down(tmp_path, locale=f"{locale}-XX") as desk:
        page = desk.page
        assert await page.locator("html").get_attribute("lang") == locale
        await page.get_by_label(say("web_question", locale), exact=True).fill(QUESTION)
        await page.get_by_role("button", name=say("web_ask", locale), exact=True).click()
        await expect(page.locator("article[data-turn]")).to_contain_text(say("quotes_only", locale))
        await page.locator(".cite").first.click()
        await page.get_by_role("link", name=say("web_open", locale)).click()
        await expect(page.get_by_role("link", name=say("web_next", locale)).first).to_be_visible()


async def test_dark_and_light_follow_the_system_and_both_can_be_read(tmp_path: Path) -> None:
    contrast = """element => {
        const light = colour => {
            const [r, g, b] = colour.match(/\\d+/g).map(part => part / 255)
                .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ink = light(getComputedStyle(element).color);
        let at = element;
        while (getComputedStyle(at).backgroundColor === "rgba(0, 0, 0, 0)") at = at.parentElement;
        const paper = light(getComputedStyle(at).backgroundColor);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    }"""
    async with sit_down(tmp_path) as desk:
        await desk.ask(QUESTION)
        await desk.page.locator(".cite").first.click()
        await expect(desk.page.locator(".passage mark")).to_be_visible()
        papers = set()
        for scheme in ("light", "dark"):
            await desk.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            papers.add(await desk.page.evaluate("getComputedStyle(document.body).backgroundColor"))
            for place in (
                ".answer blockquote",
                ".asked",
                ".notice",
                ".around",
                ".passage mark",
                ".cite",
                ".ways button",
            ):
                assert await desk.page.locator(place).first.evaluate(contrast) >= 4.5, (scheme, place)
        assert len(papers) == 2


async def test_the_first_page_weighs_less_than_50_kilobytes_with_everything_it_asks_for(tmp_path: Path) -> None:
    async with sit_down(tmp_path, shelved=False) as desk:
        sizes = await desk.page.evaluate("() => performance.getEntries().map(entry => entry.encodedBodySize || 0)")
        assert 0 < sum(sizes) < 50_000
        assert len(desk.seen.requests) <= 5


async def test_ranges_are_highlighted_exactly_scrolled_to_and_the_text_is_the_stored_one(tmp_path: Path) -> None:
    book = lantern_house()
    async with sit_down(tmp_path) as desk:
        [card] = await desk.club.club.shelf(HERE)
        for span in book.runs:
            await desk.read(Spot(card.sha256, "test-1", Position(span.file, span.start), span))
            assert await desk.page.locator("#mark").text_content() == book.files[span.file].text[span.start : span.end]
            assert await desk.page.locator("article.text").text_content() == book.files[span.file].text
            await expect(desk.page.locator("#mark")).to_be_in_viewport()


async def test_the_reading_view_ends_at_the_clubs_limit_and_says_so(tmp_path: Path) -> None:
    async with sit_down(tmp_path) as desk:
        [card] = await desk.club.club.shelf(HERE)
        await desk.ask("/progress in 2")
        await expect(desk.page.get_by_text("chapter 1").first).to_be_visible()
        await desk.read(Spot(card.sha256, "test-1", Position(1, 0)))
        assert await desk.page.get_by_role("link", name="Next").count() == 0
        await expect(desk.page.get_by_role("navigation", name="Contents")).not_to_contain_text("Ferry")
        await desk.read(Spot(card.sha256, "test-1", Position(2, 0)))
        await expect(desk.page.get_by_role("alert")).to_contain_text("beyond what the club has read")
        desk.seen.complaints.clear()  # the browser notes that the answer was "not found"


def paged(path: Path) -> Path:
    """Three full pages."""
    sheet = Sheet()
    for number in range(3):
        sheet.page()
        for part in range(5):
            sheet.paragraph(prose(60, 5 * number + part), room=RIGHT - 60.0)
    return sheet.save(path)


async def test_a_page_of_a_pdf_is_a_picture_with_the_range_marked_brought_into_sight_and_zoomed(tmp_path: Path) -> None:
    async with sit_down(tmp_path, shelved=False) as desk:
        page = desk.page
        await page.get_by_label("Add a book").set_input_files(paged(tmp_path / "three.pdf"))
        await expect(page.get_by_text(re.compile("^Ready"))).to_be_visible()
        [card] = await desk.club.club.shelf(HERE)
        text = (await desk.club.club.passages.page(HERE, card.sha256, Position(1, 0))).text
        span = Span(1, len(text) - 120, len(text) - 20)
        await desk.read(Spot(card.sha256, card.text_version, span.first, span))
        picture = page.get_by_role("img", name="Picture of page 2")
        await expect(picture).to_be_visible()
        # The range stands at the foot of the page: yellow is on the screen because the view scrolled to it.
        await expect(page.locator("#mark-text")).to_have_text(text[span.start : span.end])
        yellow = """image => {
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            const drawn = canvas.getContext("2d");
            drawn.drawImage(image, 0, 0);
            const { data } = drawn.getImageData(0, 0, canvas.width, canvas.height);
            for (let at = 0; at < data.length; at += 4)
                if (data[at] > 200 && data[at + 2] < 180) return Math.floor(at / 4 / canvas.width) / canvas.height;
            return null;
        }"""
        top = await picture.evaluate(yellow)
        assert top is not None
        assert top > 0.5
        where = "(image, top) => { const box = image.getBoundingClientRect(); return box.top + top * box.height; }"
        height = await page.evaluate("innerHeight")
        assert 0 <= await picture.evaluate(where, top) <= height
        usual = await picture.evaluate("image => image.naturalWidth")
        await page.get_by_role("link", name="Larger").click()
        await expect(page.get_by_role("link", name="Smaller")).to_be_visible()
        assert abs(await picture.evaluate("image => image.naturalWidth") - 2 * usual) <= 2
        await page.get_by_role("link", name="Next").first.click()
        await expect(page.get_by_role("img", name="Picture of page 3")).to_be_visible()
        assert await picture.count() == 0


async def test_a_locked_pdf_asks_for_its_password_and_a_half_scanned_one_whether_to_go_on(tmp_path: Path) -> None:
    locked = Sheet()
    locked.page()
    locked.paragraph(prose(80))
    lock = tmp_path / "locked.pdf"
    locked.document.save(lock, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="lantern", owner_pw="o")
    async with sit_down(tmp_path, shelved=False) as desk:
        page = desk.page
        await page.get_by_label("Add a book").set_input_files(lock)
        await page.get_by_label("Password").fill("lantern")
        await page.locator("article form button").click()
        await expect(page.get_by_text(re.compile("^Ready"))).to_be_visible()
        await page.get_by_label("Add a book").set_input_files(half_scanned(tmp_path / "half.pdf"))
        await expect(page.locator("article").get_by_text("are pictures")).to_be_visible()
        await page.get_by_role("button", name="Add it without those pages").click()
        await expect(page.get_by_text(re.compile("^Ready")).nth(1)).to_be_visible()


async def test_a_book_dropped_on_the_page_is_read(tmp_path: Path) -> None:
    async with sit_down(tmp_path, shelved=False) as desk:
        drop = """() => {
            const data = new DataTransfer();
            data.items.add(new File(["Mara kept the lighthouse log in green ink. ".repeat(30)], "log.txt"));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
        await desk.page.evaluate(drop)
        await expect(desk.page.get_by_text(re.compile("^Ready"))).to_be_visible()


async def test_an_answer_kept_for_the_provider_arrives_in_the_open_window(tmp_path: Path) -> None:
    away = [True]

    def answer(_: object) -> str | Exception:
        return UpstreamError("model_down") if away[0] else "In green ink [f1-0-42]."

    async with sit_down(tmp_path, model=ScriptedModel(answer)) as desk:
        await desk.ask(QUESTION)
        await expect(desk.page.locator("article[data-turn]")).to_contain_text("Meanwhile, quotations")
        away[0] = False
        await expect(desk.page.locator("article[data-turn]").last).to_contain_text("In green ink")
        await expect(desk.page.locator("article[data-turn]").last.locator(".cite")).to_have_count(1)


class Slow:
    """A model that begins to answer and never ends."""

    name = "slow"

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        yield Said("The beginning of an answer that takes its time. ")
        await asyncio.Event().wait()


async def test_an_answer_under_way_can_be_stopped_and_is_not_taken_up_again(tmp_path: Path) -> None:
    async with sit_down(tmp_path, model=Slow()) as desk:
        page = desk.page
        await desk.ask(QUESTION)
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator(".failed")).to_have_text(say("answer_stopped"))
        await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        assert [event async for event in desk.club.club.resume(HERE.platform)] == []


async def test_after_another_book_was_chosen_a_question_is_about_that_one(tmp_path: Path) -> None:
    async with sit_down(tmp_path) as desk:
        await desk.ask(QUESTION)
        await expect(desk.page.locator("article[data-turn]")).to_be_visible()
        other = book_of(
            (SpineFile(0, "", "."), SpineFile(1, "", "Mara kept the log in red chalk.")),
            [Span(0, 0, 1), Span(1, 0, 31)],
            ("One",),
            "The Second House",
        )
        await desk.club.shelve(other)
        await desk.ask("/use Second")
        await expect(desk.page.locator("article").nth(1)).to_contain_text("The Second House")
        await desk.ask(QUESTION)
        await expect(desk.page.locator("article[data-turn]").last).to_contain_text("red chalk")


async def test_what_a_command_hands_over_can_be_pressed_and_downloaded(tmp_path: Path) -> None:
    async with sit_down(tmp_path) as desk:
        page = desk.page
        await desk.ask(QUESTION)
        await expect(page.locator("article[data-turn]")).to_be_visible()
        await desk.ask("/quote it still smells like salt")
        await page.get_by_role("button", name=re.compile("^Open")).first.click()
        await expect(page.locator("article mark").last).to_contain_text("smells of salt")
        await desk.ask("/export")
        async with page.expect_download() as download:
            await page.get_by_role("link", name="loccit.html").click()
        assert (await download.value).suggested_filename == "loccit.html"
        await desk.ask("/nonsense")
        await expect(page.locator(".failed")).to_contain_text("/help")


HOSTILE = (
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    "<svg onload=window.hit=1>",
    "<iframe src=https://evil.example></iframe>",
    "<a href='javascript:window.hit=1'>x</a>",
    "<style>@import url(https://evil.example/x.css)</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<form action=https://evil.example><input autofocus onfocus=window.hit=1></form>",
    "<object data=https://evil.example/x.swf></object>",
    "<video><source onerror=window.hit=1></video>",
    "<details open ontoggle=window.hit=1>",
    "</article></main><script>window.hit = 1</script>",
    "</title><script>window.hit = 1</script>",
    '"><script>window.hit = 1</script>',
    "' onmouseover='window.hit=1' x='",
    "{{ 7 * 7 }} {% raw %} {{ config }} ${7*7} #{7*7}",
    "--><script>window.hit = 1</script><!--",
    "<![CDATA[<script>window.hit = 1</script>]]>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hit=1>",
    "<template><script>window.hit = 1</script></template>",
    "<body onload=window.hit=1>",
    "&lt;script&gt;window.hit = 1&lt;/script&gt;",
    "[x](javascript:window.hit=1) ![y](https://evil.example/y.png)",
    '<noscript><p title="</noscript><img src=x onerror=window.hit=1>">',
)


async def test_hostile_words_of_books_models_readers_and_file_names_are_only_words(tmp_path: Path) -> None:
    """Each in the book's text and title, the model's answer, the question; some in the name of a file."""
    spans, text = [], ""
    for hostile in HOSTILE:
        spans.append(Span(1, len(text), len(text) + len(hostile)))
        text += f"{hostile}\n\n"
    files = (SpineFile(0, "", "."), SpineFile(1, "", text.rstrip()))
    book = book_of(files, [Span(0, 0, 1), *spans], (HOSTILE[0],), HOSTILE[1])
    words = iter(zip(HOSTILE, spans, strict=True))

    def answer(_: object) -> str:
        said, span = next(words)
        return f"She said {said} and left. {tag(span)}"

    async with sit_down(tmp_path, shelved=False, model=ScriptedModel(answer)) as desk:
        page = desk.page
        sha256 = await desk.club.shelve(book)
        await page.reload()
        for at, hostile in enumerate(HOSTILE):
            await desk.ask(hostile)
            await expect(page.locator("article[data-turn]")).to_have_count(at + 1)
            await expect(page.locator("article[data-turn] h2").last).to_have_text(hostile)
            await page.locator("article[data-turn]").last.locator(".cite").first.click()
            assert await page.locator(".passage mark").text_content() == hostile
        await desk.read(Spot(sha256, "test-1", Position(1, 0)))
        assert await page.locator("article.text").text_content() == text.rstrip()
        for name in HOSTILE[:4]:
            await page.goto(desk.served.address)
            await page.get_by_label("Add a book").set_input_files(
                {"name": name.replace("/", "∕"), "mimeType": "text/plain", "buffer": f"{name} Nothing.".encode() * 9}
            )
            await expect(page.locator("article .where, article .failed, article p").last).to_be_visible()
        foreign = "iframe, object, embed, base, svg, img, link, style, meta, form, video, math, noscript, script"
        assert await page.evaluate(f"document.querySelectorAll('article :is({foreign})').length") == 0
        assert await page.evaluate("window.hit") is None
