"""Footnotes on Discord: they open for one, close again, grow, are shared, and outlive restarts, tokens and forgeries."""

import asyncio
import copy
import random
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.adapters.discord_club import Site, discord_site, said, text_of
from tests.adapters.discord_markdown import read, visible
from tests.books.lantern_epub import lantern_house
from tests.books.pdfs import labelled, prose
from tests.bot.running import environment
from tests.fakes.discord import Payload, buttons, labels
from tests.fakes.model import ScriptedModel
from tests.fakes.openai import FakeOpenAI, Reply

GREEN_INK = "Mara kept the lighthouse log in green ink."
LOG = "What did Mara keep the log in?"
COAT = "Whose coat was in the suitcase?"
BOATS = "Which boats came in late?"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with discord_site(tmp_path) as site:
        yield site


def cited(request: object, count: int) -> str:
    """An answer with so many notes; the prompt's own example names a file that the book does not have."""
    tags = list(dict.fromkeys(re.findall(r"\[f[012]-\d+-\d+\]", str(request))))
    return " ".join(f"Point {n} {tag}." for n, tag in enumerate(tags[:count], 1))


async def _until_grown(site: Site, before: int) -> None:
    def grown() -> bool:
        shown = _private(site, site.mara.id)
        return len(said(shown)) > before and bool(buttons(shown[-1]))

    await site.fake.until(grown)


def _private(site: Site, who: int) -> list[Payload]:
    return [m for m in site.channel.messages.values() if m.get("ephemeral_for") == str(who)]


async def test_the_quoted_run_is_marked_and_the_same_press_again_closes_it(site: Site) -> None:
    async with site.running():
        await site.shelve()
        answer = await site.ask(LOG)
        (shown,) = await site.opened(answer, "1")
        seen = read(shown["content"])
        assert GREEN_INK in visible("".join(seen.styled("strong")))
        assert GREEN_INK in visible(seen.styled("quote")[0])
        assert labels(shown)[-1] == "Close"
        await site.mara.press(site.channel, answer, "1")
        await site.fake.until(lambda: not _private(site, site.mara.id))
        assert GREEN_INK in said(await site.opened(answer, "1"))
        await site.mara.press(site.channel, _private(site, site.mara.id)[0], "Close")
        await site.fake.until(lambda: not _private(site, site.mara.id))
        assert GREEN_INK in said(await site.opened(answer, "1"))
    assert not site.fake.journal.refused()


async def test_each_member_has_a_copy_of_their_own(site: Site) -> None:
    async with site.running():
        await site.shelve()
        answer = await site.ask(LOG)
        await site.opened(answer, "1", by=site.mara)
        await site.opened(answer, "1", by=site.ivo)
        await site.mara.press(site.channel, answer, "1")
        await site.fake.until(lambda: not _private(site, site.mara.id))
        assert len(_private(site, site.ivo.id)) == 1


async def test_a_passage_closes_from_outside_after_a_restart_and_opens_anew_once_its_token_has_ended(
    site: Site,
) -> None:
    async with site.running():
        await site.shelve()
        answer = await site.ask(LOG)
        await site.opened(answer, "1")
    async with site.running():
        await site.mara.press(site.channel, answer, "1")
        await site.fake.until(lambda: not _private(site, site.mara.id))
        assert GREEN_INK in said(await site.opened(answer, "1"))
    async with site.running() as club:
        club.clock.pass_minutes(15)
        site.fake.interactions.end_tokens()
        assert GREEN_INK in said(await site.opened(answer, "1"))
        assert len(_private(site, site.mara.id)) == 2
    assert not site.fake.journal.refused()


async def test_a_passage_grows_in_place_and_its_text_runs_on_without_a_gap(site: Site, tmp_path: Path) -> None:
    book = lantern_house(tmp_path, filler=60)
    async with site.running():
        sent = await site.mara.mention(site.channel, "", files=[("book.epub", book.read_bytes())])
        await site.answer_to(sent, lambda text: "Ready" in text)
        answer = await site.ask(LOG)
        (shown,) = await site.opened(answer, "1")
        size = len(shown["content"])
        for label in ("After ›", "‹ Before", "After ›", "After ›", "After ›"):
            pressed = _private(site, site.mara.id)[-1]
            before = len(said(_private(site, site.mara.id)))
            await site.mara.press(site.channel, pressed, label)
            await _until_grown(site, before)
        grown = _private(site, site.mara.id)
        assert len(grown) > 1, size
        lines = [line for message in grown for line in text_of(message).splitlines() if line.startswith("Line ")]
        numbers = [int(line.split()[1]) for line in lines]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert [bool(buttons(message)) for message in grown] == [False] * (len(grown) - 1) + [True]
        await site.mara.press(site.channel, answer, "1")
        await site.fake.until(lambda: not _private(site, site.mara.id))
    assert not site.fake.journal.refused()


async def test_a_passage_past_ones_own_place_is_warned_of_first_and_hidden_when_shared(site: Site) -> None:
    async with site.running():
        await site.shelve()
        answer = await site.ask(COAT)
        await site.command("place", how_far="finished 1", by=site.ivo)
        (warned,) = await site.opened(answer, "1", by=site.ivo)
        assert "oilskin" not in warned["content"]
        assert "chapter 1" in text_of(warned)
        await site.ivo.press(site.channel, warned, "Show it anyway")
        await site.fake.until(lambda: "oilskin" in warned["content"])
        shared = await site.ivo.settled(await site.ivo.press(site.channel, warned, "Share here"))
        assert "ephemeral_for" not in shared[0]
        assert "oilskin" in visible("".join(read(shared[0]["content"]).styled("spoiler")))
        (open_one,) = await site.opened(answer, "1", by=site.mara)
        plainly = await site.mara.settled(await site.mara.press(site.channel, open_one, "Share here"))
        assert "oilskin" in text_of(plainly[0])
        assert read(plainly[0]["content"]).styled("spoiler") == []


async def test_more_notes_than_buttons_are_behind_one_and_open_from_there(site: Site, tmp_path: Path) -> None:
    site.model = ScriptedModel(lambda request: cited(request, 40))
    book = lantern_house(tmp_path, filler=60)
    async with site.running():
        sent = await site.mara.mention(site.channel, "", files=[("book.epub", book.read_bytes())])
        await site.answer_to(sent, lambda text: "Ready" in text)
        answer = await site.ask(BOATS)
        count = text_of(answer).count("[")
        assert count > 25
        shown = labels(answer)
        assert "More footnotes" in shown
        (further,) = await site.opened(answer, "More footnotes", by=site.ivo)
        numbers = [int(label.split(" ")[0]) for label in (*shown, *labels(further)) if label[0].isdigit()]
        assert numbers == list(range(1, count + 1))
        opened = await site.ivo.settled(await site.ivo.press(site.channel, further, f"{count} "))
        assert "Line" in said(opened)


async def test_mutated_and_foreign_ids_never_open_a_passage_and_each_gets_one_sentence(site: Site) -> None:
    """The bench goes through 100,000."""
    dice = random.Random(3)
    async with site.running():
        await site.shelve()
        answer = await site.ask(LOG)
        other = site.fake.channel(site.server, "other room")
        genuine = buttons(answer)[0]["custom_id"]
        copied = site.fake.world.message(other, site.fake.world.bot, "x", components=answer["components"])
        refused = await site.mara.settled(await site.mara.press_id(other, copied, genuine))
        assert GREEN_INK not in said(refused)
        for forged in forgeries(genuine, dice, 60):
            rows = [{"type": 1, "components": [{"type": 2, "style": 1, "label": "1", "custom_id": forged}]}]
            planted = dice.random() < 0.7
            message = site.fake.world.message(
                site.channel, site.fake.world.bot, "x", components=rows if planted else []
            )
            shown = await site.mara.settled(await site.mara.press_id(site.channel, message, forged))
            assert len(shown) == 1, forged
            assert text_of(shown[0]).endswith("."), forged
            assert GREEN_INK not in text_of(shown[0])
            assert shown[0]["ephemeral_for"] == str(site.mara.id)


def forgeries(genuine: str, dice: random.Random, count: int) -> list[str]:
    """Ids close to a true one, and ids that are nothing like it; never the true one."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"
    made: list[str] = []
    while len(made) < count:
        kind = dice.randrange(5)
        if kind == 0:
            at = dice.randrange(len(genuine))
            forged = genuine[:at] + dice.choice(alphabet) + genuine[at + 1 :]
        elif kind == 1:
            forged = genuine + "." + ".".join(str(dice.randrange(200)) for _ in range(dice.randint(1, 4)))
        elif kind == 2:
            forged = dice.choice(("act", "step", "close", "share", "page", "stop", "thread", "anyway")) + ":" + "x" * 9
        elif kind == 3:
            forged = genuine[: dice.randrange(1, len(genuine))]
        else:
            forged = "".join(dice.choice(alphabet + " \n'\"é日") for _ in range(dice.randint(1, 100)))
        parts = forged.split(".")
        true_step = (
            parts[0] == genuine
            and len(parts) == 4
            and int(parts[1]) <= 40  # as often as a passage may be widened
            and int(parts[2]) <= 40
            and int(parts[3]) <= 1
        )
        if forged != genuine and forged.strip() and not true_step and not forged.startswith("close:"):
            made.append(forged)
    return made


@asynccontextmanager
async def _program(site: Site, model: FakeOpenAI) -> AsyncIterator[programs.Program]:
    """`loccit run` in a process of its own, up; ended by SIGTERM with the block, unless it ended before."""
    given = {"LOCCIT_DATA": str(site.folder / "data"), "LOCCIT_WEB_PORT": "0", "DISCORD_TOKEN": site.fake.token}
    given |= {"DISCORD_API_BASE": site.fake.api, "DISCORD_GATEWAY": site.fake.gateway_url}
    given |= {"LOCCIT_LLM_BASE_URL": model.url, "LOCCIT_LLM_MODEL": "fake"}
    process = await programs.start(
        programs.LOCCIT, "run", environment=environment(**given), stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            while b"Discord is up" not in await process.stderr.readline():
                assert process.returncode is None
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            assert await process.wait() == 0


async def test_seven_footnotes_survive_kill_9_and_a_second_member_opens_the_sixth(site: Site, tmp_path: Path) -> None:
    lines: list[str] = []

    def answer(body: dict[str, Any]) -> Reply:
        """Seven lines of the book, each with its tag."""
        found = re.findall(r"(Line \d+ of the harbour book [^.]+\.)\s*(\[f\d+-\d+-\d+\])", str(body["messages"]))
        told = list(dict.fromkeys(found))[:7]
        if BOATS not in str(body["messages"]):
            return Reply("Boats come in late.")  # a summary
        lines[:] = [line for line, _ in told]
        return Reply(" ".join(f"Point {number} {tag}." for number, (_, tag) in enumerate(told, 1)))

    async with FakeOpenAI(answer) as model:
        async with _program(site, model) as process:
            book = await asyncio.to_thread(lambda: lantern_house(tmp_path, filler=20).read_bytes())
            sent = await site.mara.mention(site.channel, "", files=[("book.epub", book)])
            await site.answer_to(sent, lambda text: "Ready" in text)
            asked = await site.mara.mention(site.channel, BOATS)
            answer_shown = await site.answer_to(asked, lambda text: "Point 7" in text)
            assert sum(label[0].isdigit() for label in labels(answer_shown)) == 7
            process.kill()
            assert await process.wait() == -signal.SIGKILL
        before = copy.deepcopy(answer_shown)
        async with _program(site, model):
            [passage] = await site.opened(answer_shown, "6 ", by=site.ivo)
            assert visible(read(passage["content"]).styled("strong")[-1]) == lines[5]
            assert passage["ephemeral_for"] == str(site.ivo.id)
            assert answer_shown == before
            assert [one["id"] for one in site.mara.answers(site.channel)].count(answer_shown["id"]) == 1
    assert not site.fake.journal.refused()


async def test_a_press_is_acknowledged_in_time_while_the_loop_is_busy(site: Site) -> None:
    async with site.running():
        await site.shelve()
        answer = await site.ask(LOG)
        presses = [await site.mara.press(site.channel, answer, "1") for _ in range(10)]
        await site.fake.until(lambda: all(one.answer is not None for one in presses))
        assert all(one.took < 3 for one in presses)


async def test_the_page_of_a_pdf_is_shown_in_place_of_the_text_and_back(site: Site, tmp_path: Path) -> None:
    data = await asyncio.to_thread(lambda: labelled(tmp_path / "pages.pdf").read_bytes())
    async with site.running():
        sent = await site.mara.mention(site.channel, "", files=[("pages.pdf", data)])
        await site.answer_to(sent, lambda text: "Ready" in text)
        answer = await site.ask(prose(12))
        (shown,) = await site.opened(answer, "1")
        await site.mara.press(site.channel, shown, "Page picture")
        await site.fake.until(lambda: shown["attachments"])
        assert site.fake.files.data(shown["attachments"][0]).startswith(b"\x89PNG")
        await site.mara.press(site.channel, shown, "Text")
        await site.fake.until(lambda: not shown["attachments"])
        await site.mara.press(site.channel, answer, "1")
        await site.fake.until(lambda: not _private(site, site.mara.id))
    assert not site.fake.journal.refused()


async def test_a_button_that_is_no_longer_there_is_answered_in_the_language_of_the_channel(site: Site) -> None:
    async with site.running():
        await site.shelve()
        [shown] = await site.mara.settled(await site.mara.slash(site.channel, "book settings"))
        old = next(item["custom_id"] for item in buttons(shown) if item["label"] == "Only managers add books")
        assert "Ajustes de este chat" in said(await site.opened(shown, "Español"))
        late = said(await site.mara.settled(await site.mara.press_id(site.channel, shown, old)))
        assert "Este botón ya no está en uso" in late
