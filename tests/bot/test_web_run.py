"""`loccit run` without a chat platform: the page, its address, the ways it ends; ports that are taken; the public port."""

import asyncio
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.books.lantern_epub import lantern_house
from tests.bot.running import command, environment, loccit
from tests.journeys.web_room import free_port

PATIENCE = 60.0


@asynccontextmanager
async def running(folder: Path, **settings: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The program, and what it said first; it is stopped with the block."""
    process = await asyncio.create_subprocess_exec(
        *command("run"),
        stderr=asyncio.subprocess.PIPE,
        env=environment(LOCCIT_DATA=str(folder / "data"), **settings),
    )
    assert process.stderr is not None
    try:
        said = await asyncio.wait_for(process.stderr.readline(), PATIENCE)
        yield process, said.decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_with_no_platform_the_page_is_served_its_address_is_said_and_a_signal_ends_it(
    tmp_path: Path, sign: signal.Signals
) -> None:
    async with running(tmp_path, LOCCIT_WEB_PORT="0") as (process, said), aiohttp.ClientSession() as session:
        [address] = re.findall(r"http://127\.0\.0\.1:\d+", said)
        async with session.get(address) as response:
            assert response.status == 200
            assert "Loccit" in await response.text()
        async with session.get(f"{address}/healthz") as response:
            assert await response.text() == "ok\n"
        async with session.get(f"{address}/metrics") as response:
            assert "loccit_platform_up" in await response.text()
        news = await session.get(f"{address}/news")  # an open window does not keep it from ending
        process.send_signal(sign)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        news.close()


async def test_the_page_says_its_address_in_the_operators_language(tmp_path: Path) -> None:
    async with running(tmp_path, LOCCIT_WEB_PORT="0", LOCCIT_LOCALE="pt") as (_, said):
        assert said.startswith("A página está em http://127.0.0.1:")


async def test_a_taken_port_is_one_sentence_that_names_the_setting(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with running(tmp_path, LOCCIT_WEB_PORT=str(port)) as (process, said):
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 78
            assert str(port) in said
            assert "LOCCIT_WEB_PORT" in said
            assert said.count("\n") == 1


async def test_the_public_port_serves_links_alone_and_the_key_outlives_a_restart(tmp_path: Path) -> None:
    public = free_port()
    settings = {
        "LOCCIT_WEB_PORT": "0",
        "LOCCIT_PUBLIC_URL": f"http://127.0.0.1:{public}/",
        "LOCCIT_PUBLIC_PORT": str(public),
    }
    keys = set()
    for _ in range(2):
        async with running(tmp_path, **settings), aiohttp.ClientSession() as session:
            for path, status in (
                ("/", 404),
                ("/metrics", 404),
                ("/healthz", 404),
                ("/book/x", 404),
                ("/robots.txt", 200),
            ):
                async with session.get(f"http://127.0.0.1:{public}{path}") as response:
                    assert response.status == status, path
        keys.add(await asyncio.to_thread((tmp_path / "data" / "web.key").read_bytes))
    assert len(keys) == 1
    log = await asyncio.to_thread((tmp_path / "data" / "loccit.log").read_bytes)
    for key in keys:
        assert key not in log
        assert key.hex().encode() not in log


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"LOCCIT_WEB_PORT": "http"}, "LOCCIT_WEB_PORT"),
        ({"LOCCIT_WEB_PORT": "65536"}, "LOCCIT_WEB_PORT"),
        ({"LOCCIT_WEB_PORT": "-1"}, "LOCCIT_WEB_PORT"),
        ({"LOCCIT_WEB_PORT": "٨٠"}, "LOCCIT_WEB_PORT"),
        ({"LOCCIT_PUBLIC_URL": "https://books.example.org"}, "LOCCIT_PUBLIC_PORT"),
        ({"LOCCIT_PUBLIC_PORT": "8080"}, "LOCCIT_PUBLIC_URL"),
        ({"LOCCIT_PUBLIC_URL": "books.example.org", "LOCCIT_PUBLIC_PORT": "8080"}, "https://"),
        ({"LOCCIT_PUBLIC_URL": "ftp://books.example.org", "LOCCIT_PUBLIC_PORT": "8080"}, "https://"),
        ({"LOCCIT_PUBLIC_URL": "https://me:secret@books.example.org", "LOCCIT_PUBLIC_PORT": "8080"}, "https://"),
        ({"LOCCIT_PUBLIC_URL": "https://books.example.org/?x=1", "LOCCIT_PUBLIC_PORT": "8080"}, "https://"),
    ],
)
def test_settings_that_cannot_be_are_one_sentence(tmp_path: Path, settings: dict[str, str], names: str) -> None:
    ran = loccit("run", data=tmp_path, stdin="", cwd=None, **settings)
    assert ran.code == 1
    assert names in ran.sentence


def test_an_export_from_the_terminal_leads_into_the_reading_view_and_may_be_html(tmp_path: Path) -> None:
    book = lantern_house(tmp_path)
    lines = f"/add {book}\nWhat did Mara keep the log in?\n/export {tmp_path}/a.md\n/export {tmp_path}/a.html\n"
    ran = loccit("chat", data=tmp_path / "data", stdin=lines, LOCCIT_WEB_PORT="8400")
    assert ran.code == 0, ran.err
    address = re.compile(r"http://127\.0\.0\.1:8400/read/[0-9a-f]{64}/epub-\d+/f\d+-\d+-\d+#mark")
    for name in ("a.md", "a.html"):
        assert address.search((tmp_path / name).read_text(encoding="utf-8")), name
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_demo_says_how_to_open_its_books_in_a_browser(tmp_path: Path) -> None:
    ran = loccit("demo", "--data", tmp_path)
    assert f"{sys.executable} -m bot run --data {tmp_path}" in ran.out
    assert "http://127.0.0.1:8321" in ran.out
