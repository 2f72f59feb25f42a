"""The page at the wire: who may speak to it, what it refuses, in words; health and metrics; links from chats."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

from adapters.web.guard import TOKEN_HEADER
from adapters.web.health import Figures
from adapters.web.links import LIFETIME, Links, signing_key
from core.errors import Missing, OperatorError, ReaderError
from core.model import ChatEvent, ChatRequest, Conversation, Reader, Said, Turn
from core.spending import Terms
from core.strings import say as sentence
from core.tags import tag
from tests.adapters.web_served import HERE, Served, serve_web
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, held, lantern_house, long_book, open_club

PLAIN = re.compile(r"<[^>]+>")


async def lines(response: aiohttp.ClientResponse) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await response.read()).splitlines()]


async def say(session: aiohttp.ClientSession, served: Served, text: str) -> list[dict[str, Any]]:
    headers = {TOKEN_HEADER: await served.token(session)}
    async with session.post(f"{served.address}/say", json={"text": text}, headers=headers) as response:
        assert response.status == 200
        return await lines(response)


async def asked(club: TestClub) -> Turn:
    await club.shelve(lantern_house())
    return await club.ask("What did Mara keep the log in?", conversation=HERE)


async def test_an_answer_streams_line_by_line_and_ends_with_its_buttons(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        await club.shelve(lantern_house())
        async with aiohttp.ClientSession() as session:
            told = await say(session, served, "What did Mara keep the log in?")
        assert (told[0]["do"], told[0]["text"]) == ("asked", "What did Mara keep the log in?")
        assert "draft" in [line["do"] for line in told]
        assert [line["do"] for line in told].count("answer") == 1
        assert 'class="cite" data-kind="note"' in told[-1]["html"]
        assert "green ink" in told[-1]["text"]


async def test_a_browser_that_leaves_does_not_end_the_work(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        await club.shelve(lantern_house())
        async with aiohttp.ClientSession() as session:
            headers = {TOKEN_HEADER: await served.token(session)}
            response = await session.post(f"{served.address}/say", json={"text": "Who is Mara?"}, headers=headers)
            response.close()
        for _ in range(200):
            if await club.club.questions.history(HERE):
                break
            await asyncio.sleep(0.05)
        [turn] = await club.club.questions.history(HERE)
        assert turn.question == "Who is Mara?"


class _Slow:
    """A model that begins to answer and never ends."""

    name = "slow"

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        yield Said("The beginning of an answer that takes its time. ")
        await asyncio.Event().wait()


async def test_nobody_is_told_that_an_answer_was_stopped_before_that_is_on_record(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data", _Slow()) as club, serve_web(club, tmp_path / "web") as served:
        await club.shelve(lantern_house())
        async with aiohttp.ClientSession() as session:
            headers = {TOKEN_HEADER: await served.token(session)}
            question = {"text": "Who is Mara?"}
            async with session.post(f"{served.address}/say", json=question, headers=headers) as answer:
                told: list[dict[str, Any]] = []
                while not told or told[-1]["do"] != "draft":
                    told.append(json.loads(await answer.content.readline()))
                async with held(tmp_path / "data"):
                    stop = {"event": told[0]["event"]}
                    stopping = asyncio.create_task(session.post(f"{served.address}/stop", json=stop, headers=headers))
                    rest = asyncio.create_task(lines(answer))
                    done, _ = await asyncio.wait({stopping, rest}, timeout=0.5)
                    assert not done
                assert (await rest)[-1]["text"] == sentence("answer_stopped")
                assert (await stopping).status == 204
        assert [event async for event in club.club.resume(HERE.platform)] == []


async def test_a_date_is_asked_about_once_in_the_windows_that_are_open_and_waits_while_none_is(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club:
        async with serve_web(club, tmp_path / "web") as served, aiohttp.ClientSession() as session:
            await club.shelve(lantern_house())
            await say(session, served, '/schedule "finished 2" 2026-03-04 19:00')
            club.clock.pass_minutes(4 * 24 * 60)
            await say(session, served, "/about")
            await asyncio.sleep(0.3)
            due = {letter.id for letter in await club.club.post.due(HERE.platform)}
            assert due, "nobody is there to hear it"
            async with session.get(f"{served.address}/news") as news, asyncio.timeout(10):
                while "Has the club arrived?" not in (told := await _news(news))["text"]:
                    pass
                assert 'data-kind="act"' in told["html"]
                while due & {letter.id for letter in await club.club.post.due(HERE.platform)}:  # noqa: ASYNC110  # rows
                    await asyncio.sleep(0.02)
        async with (
            serve_web(club, tmp_path / "web") as served,
            aiohttp.ClientSession() as session,
            session.get(f"{served.address}/news") as news,
        ):
            await say(session, served, "/about")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await _news(news)


async def _news(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """The next thing that comes unasked."""
    while True:
        line = await response.content.readline()
        if line.startswith(b"data: "):
            found: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
            return found


async def test_nothing_is_done_for_another_page_and_nothing_under_another_name(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        await asked(club)
        async with aiohttp.ClientSession() as session:
            token = await served.token(session)
            good = {TOKEN_HEADER: token}
            evil = "http://evil.example"
            for headers, status in (
                ({}, 403),
                ({TOKEN_HEADER: ""}, 403),
                ({TOKEN_HEADER: token[:-1]}, 403),
                ({TOKEN_HEADER: "page.AAAA"}, 403),
                ({**good, "Origin": evil}, 403),
                ({**good, "Origin": "null"}, 403),
                ({**good, "Origin": served.address.replace("http", "https")}, 403),
                ({**good, "Sec-Fetch-Site": "cross-site"}, 403),
                ({**good, "Sec-Fetch-Site": "same-site"}, 403),
                ({**good, "Host": "evil.example"}, 421),
                ({**good, "Host": f"evil.example:{served.address.rsplit(':', 1)[1]}"}, 421),
                ({**good, "Host": "127.0.0.1"}, 421),
                ({**good, "Host": "127.0.0.1.evil.example:80"}, 421),
            ):
                for path in ("/say", "/press", "/fill", "/books"):
                    body = json.dumps({"text": "/remove 1", "id": "x"})
                    async with session.post(f"{served.address}{path}", data=body, headers=headers) as response:
                        said = PLAIN.sub("", await response.text())
                        assert response.status == status, (headers, said)
                        assert re.search(r"[.][\s\S]*$", said), said
        assert len(await club.club.shelf(HERE)) == 1
        assert len(await club.club.questions.history(HERE)) == 1


async def test_another_page_cannot_embed_or_read_what_is_here_but_may_link_to_it(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        await asked(club)
        cross = {"Sec-Fetch-Site": "cross-site"}
        async with aiohttp.ClientSession() as session:
            for path in ("/", "/export.html", "/metrics", "/static/chat.js", "/news"):
                for more in (
                    {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
                    {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", "Origin": "http://evil.example"},
                    {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
                ):
                    async with session.get(f"{served.address}{path}", headers={**cross, **more}) as response:
                        assert response.status == 403, (path, more)
                        assert "Access-Control-Allow-Origin" not in response.headers
            follow = {**cross, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            async with session.get(f"{served.address}/", headers=follow) as response:
                assert response.status == 200
                assert response.headers["X-Frame-Options"] == "DENY"
                assert "default-src 'none'" in response.headers["Content-Security-Policy"]
                assert "unsafe" not in response.headers["Content-Security-Policy"]


PATHS = (
    "/static/../app.py",
    "/static/..%2fapp.py",
    "/static/%2e%2e/%2e%2e/loccit.db",
    "/static/....//chat.js",
    "/static/chat.js%00.css",
    "/static/",
    "/static/none.js",
    "/file/../../etc/passwd",
    "/file/none",
    "/file/%2e%2e%2f",
    "/read/",
    "/read/x/y/z",
    "/read/{book}/test-1/f1-0-42/more",
    "/read/{book}/test-1/f1--5",
    "/read/{book}/test-1/f1-0-99999999",
    "/read/{book}/test-1/f99999999999-0-1",
    "/read/{book}/test-1/f1-42-0",
    "/read/{book}/test-1/f1-١-٢",
    "/read/{book}/other-9/f1-0-42",
    "/read/{book}/..%2f..%2f/f1-0-42",
    "/read/{other}/test-1/f1-0-42",
    "/read/%3Cscript%3E/test-1/f1-0-42",
    "/picture/{book}/test-1/f1-0-42/1.png",
    "/picture/{book}/test-1/f1-0-42/-1.png",
    "/picture/{book}/test-1/f1-0-42/99999999999.png",
    "/picture/{book}/test-1/f1-0-42/..%2f1.png",
    "/export.exe",
    "/export",
    "/book/token",
    "/admin",
    "/.env",
    "/loccit.db",
    "/web.key",
)


@pytest.mark.parametrize("path", PATHS)
async def test_an_address_that_names_nothing_is_one_sentence_and_shows_no_insides(tmp_path: Path, path: str) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        turn = await asked(club)
        [(sha256, _)] = turn.books
        spelled = path.format(book=sha256, other="ab" * 32)
        for address in (served.address, served.public):
            async with (
                aiohttp.ClientSession() as session,
                session.get(URL(address + spelled, encoded=True)) as response,
            ):
                body = await response.text()
                assert response.status in (400, 404), (response.status, body)
                assert re.search(r"\w[^.]+\.", PLAIN.sub(" ", body))
                for inside in ("Traceback", "aiohttp", str(tmp_path), "<script>", "green ink"):
                    assert inside not in body


async def test_requests_that_are_no_requests_of_ours_are_refused_in_words(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        await asked(club)
        async with aiohttp.ClientSession() as session:
            headers = {TOKEN_HEADER: await served.token(session)}
            for body, status in (
                (b"", 400),
                (b"not json", 400),
                (b"[]", 400),
                (b'"text"', 400),
                (b"\xff\xfe", 400),
                (b"[" * 60_000, 400),
                (b'{"text": "' + b"x" * 70_000 + b'"}', 413),
                (json.dumps({"text": "x" * 4_001}).encode(), 422),
            ):
                async with session.post(f"{served.address}/say", data=body, headers=headers) as response:
                    said = await response.text()
                    assert response.status == status, said
                    assert said.endswith("."), said
            for body in (b"{}", b'{"text": 5}', b'{"text": null}', b'{"text": "   "}', b'{"text": "/nonsense"}'):
                async with session.post(f"{served.address}/say", data=body, headers=headers) as response:
                    last = (await lines(response))[-1]
                    assert last["do"] in ("failed", "answer"), (body, last)
            for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"):
                async with session.request(method, f"{served.address}/say", headers=headers) as response:
                    assert response.status == 405, method


async def test_pressing_what_was_never_given_out_is_one_sentence(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        turn = await asked(club)
        [note, *_] = turn.answer.footnotes
        foreign = await club.ask("What did Mara keep the log in?", conversation=ROOM)
        async with aiohttp.ClientSession() as session:
            headers = {TOKEN_HEADER: await served.token(session)}
            ids = [
                "",
                "x",
                "../..",
                "\x00",
                note.id + "x",
                note.id[:-1],
                f"{note.id}.9.9",
                f"{note.id}.99.0.1",
                "🧥" * 50,
            ]
            for id in ids:
                async with session.post(f"{served.address}/press", json={"id": id}, headers=headers) as response:
                    told = await lines(response)
                assert [line["do"] for line in told] == ["failed"], (id, told)
                assert "green ink" not in told[0]["text"]
        assert foreign.answer.footnotes


async def test_a_file_over_the_limit_is_refused_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    async def endless() -> Any:
        for _ in range(60):
            yield b"x" * 1_000_000

    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        async with aiohttp.ClientSession() as session:
            headers = {TOKEN_HEADER: await served.token(session), "X-Loccit-Name": "big.txt"}
            try:
                async with session.post(f"{served.address}/books", data=endless(), headers=headers) as response:
                    assert response.status == 422
                    assert "50 MB" in await response.text()
            except aiohttp.ClientConnectionError:
                pass  # the answer was on its way while we still sent
        assert [path.name for path in (tmp_path / "web").iterdir()] == ["web.key"]
        assert await club.club.shelf(HERE) == ()


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "..%2f..%2fevil.txt",
        "%00",
        "C%3A%5Cevil.txt",
        "",
        "%F0%9F%A7%A5.txt",
        "x" * 5000,
        "a%0d%0ab.txt",
    ],
)
async def test_a_books_name_never_becomes_a_path(tmp_path: Path, name: str) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        text = b"Mara kept the lighthouse log in green ink. " * 20
        async with aiohttp.ClientSession() as session:
            headers = {TOKEN_HEADER: await served.token(session), "X-Loccit-Name": name}
            async with session.post(f"{served.address}/books", data=text, headers=headers) as response:
                told = await lines(response) if response.status == 200 else []
        assert told, name
        assert told[-1]["do"] == "reply", told[-1]
        assert [path.name for path in (tmp_path / "web").iterdir()] == ["web.key"]
        assert not (tmp_path / "evil.txt").exists()


# Health and metrics


async def test_health_and_metrics_tell_numbers_and_never_a_word_of_a_book_or_a_reader(tmp_path: Path) -> None:
    figures = Figures(Counter({"grounded": 7, "not_in_book": 2}), 31, 5_000, 400, 1.25, 3)
    async with (
        open_club(tmp_path / "data") as club,
        serve_web(club, tmp_path / "web", figures=lambda: figures) as served,
        aiohttp.ClientSession() as session,
    ):
        await asked(club)
        await say(session, served, "What did Mara keep the log in?")
        async with session.get(f"{served.address}/metrics") as response:
            told = await response.text()
            assert response.headers["Content-Type"].startswith("text/plain")
        for line in (
            'loccit_answers_total{outcome="grounded"} 7.0',
            'loccit_answers_total{outcome="not_in_book"} 2.0',
            "loccit_model_calls_total 31.0",
            'loccit_model_tokens_total{direction="read"} 5000.0',
            "loccit_model_money_total 1.25",
            'loccit_http_request_seconds_count{route="/say",status="200"} 1.0',
        ):
            assert line in told, line
        for word in ("Mara", "green", "Lantern", "local"):
            assert word not in told
        served.up |= {"telegram": True, "discord": False}
        async with session.get(f"{served.address}/healthz") as response:
            assert (response.status, await response.text()) == (503, "down: discord\n")
        served.up["discord"] = True
        async with session.get(f"{served.address}/healthz") as response:
            assert (response.status, await response.text()) == (200, "ok\n")


async def test_a_database_that_is_away_is_not_healthy(tmp_path: Path) -> None:
    def away() -> Figures:
        raise OperatorError("database_unavailable")

    async with (
        open_club(tmp_path / "data") as club,
        serve_web(club, tmp_path / "web", figures=away) as served,
        aiohttp.ClientSession() as session,
        session.get(f"{served.address}/healthz") as response,
    ):
        assert (response.status, await response.text()) == (503, "down: database\n")


async def test_beside_platforms_there_is_health_and_no_page(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web", page=False) as served:
        turn = await asked(club)
        [(sha256, _)] = turn.books
        async with aiohttp.ClientSession() as session:
            for path, status in (
                ("/healthz", 200),
                ("/metrics", 200),
                ("/", 404),
                (f"/read/{sha256}/test-1/f1-0", 404),
            ):
                async with session.get(served.address + path) as response:
                    assert response.status == status, path
    assert served.told == []


async def test_the_public_port_serves_neither_page_nor_health_nor_metrics(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        turn = await asked(club)
        [(sha256, _)] = turn.books
        async with aiohttp.ClientSession() as session:
            for path in (
                "/",
                "/healthz",
                "/metrics",
                "/news",
                "/export.md",
                f"/read/{sha256}/test-1/f1-0",
                "/book/",
                "/book",
            ):
                async with session.get(served.public + path) as response:
                    assert response.status == 404, path
                    assert "green ink" not in await response.text()
            async with session.post(f"{served.public}/say", json={"text": "x"}) as response:
                assert response.status in (404, 405)


# Links from chats

CHAT = Conversation("telegram", "-100")


async def linked(club: TestClub, served: Served, reader: Reader | None = MEMBER) -> str:
    """A link to the first note of an answer given in CHAT."""
    await club.shelve(lantern_house(), CHAT)
    turn = await club.ask("What did Mara keep the log in?", conversation=CHAT)
    passage = await club.club.passages.press(CHAT, turn.answer.footnotes[0].id)
    return served.links.link_for(CHAT, passage, reader)


async def opened(link: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(link) as response:
        return response.status, await response.text()


async def test_a_link_shows_its_passage_highlighted_and_lists_nothing_else(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        status, page = await opened(await linked(club, served))
        assert status == 200
        assert '<mark id="mark" tabindex="-1">Mara kept the lighthouse log in green ink.</mark>' in page
        for other in ("The Ferry", "Tobin’s Coat", "oilskin", 'rel="next"', 'class="contents"', "/export", "/read/"):
            assert other not in page
        assert re.findall(r'href="(?!#|\.\./static/)([^"]+)"', page) == []


async def test_a_link_of_a_removed_book_and_one_past_todays_limit_say_so(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        link = await linked(club, served)
        await club.club.progress(CHAT, MEMBER, words="start")
        status, page = await opened(link)
        assert status == 404
        assert "beyond what the club has read" in page
        await club.club.progress(CHAT, MEMBER, words="all")
        await club.club.remove(CHAT, MEMBER, "1")
        status, page = await opened(link)
        assert status == 404
        assert "was removed" in page
        assert "green ink" not in page


async def test_an_expired_link_says_how_to_get_a_new_one(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        link = await linked(club, served)
        club.clock.now += LIFETIME
        assert (await opened(link))[0] == 200
        club.clock.now += timedelta(seconds=5)
        status, page = await opened(link)
        assert status == 404
        assert "expired" in page


async def test_no_change_of_a_link_opens_anything(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        link = await linked(club, served)
        base, token = link.rsplit("/", 1)
        payload, stamp, signature = token.rsplit(".", 2)
        other_key = Links(b"x" * 32, served.public, club.clock)
        forged = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
        forged += [token[:at] for at in range(0, len(token), 9)]
        forged += [
            payload,
            f"{payload}.{stamp}",
            f"{payload}..{signature}",
            f".{stamp}.{signature}",
            token * 2,
            "x" * 5_000,
        ]
        note = (await club.ask("Whose coat was in the suitcase?", conversation=CHAT)).answer.footnotes[0]
        foreign = other_key.link_for(CHAT, await club.club.passages.press(CHAT, note.id), MEMBER).rsplit("/", 1)[1]
        for name in [*forged, foreign]:
            # The last letter of a base64 text may hold spare bits: then another letter spells the same signature.
            if name[:-1] == token[:-1]:
                continue
            status, page = await opened(f"{base}/{name}")
            assert status == 404, name
            assert "green ink" not in page
        assert len(forged) > 150


async def test_a_link_is_bound_to_its_channel_whoever_holds_it(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        link = await linked(club, served)
        latest = await club.club.questions.latest(CHAT)
        assert latest is not None
        passage = await club.club.passages.press(CHAT, latest.answer.footnotes[0].id)
        elsewhere = served.links.link_for(ELSEWHERE, passage, MEMBER)  # whose shelf has no such book
        assert (await opened(link))[0] == 200
        assert (await opened(elsewhere))[0] == 404


async def test_what_is_read_by_a_link_counts_with_what_its_reader_presses(tmp_path: Path) -> None:
    terms = Terms(passages_day=20_000)  # one chapter, not two
    async with open_club(tmp_path / "data", terms=terms) as club, serve_web(club, tmp_path / "web") as served:
        book = long_book(chapters=2)
        await club.shelve(book, CHAT)
        passages = [
            await club.club.passages.open_tag(
                CHAT, None, tag(next(run for run in book.runs if run.file == file)), reader=Reader("p")
            )
            for file in (1, 2)
        ]
        for reader in (MEMBER, Reader("somebody else"), None):
            first, second = (served.links.link_for(CHAT, passage, reader) for passage in passages)
            assert (await opened(first))[0] == 200
            assert (await opened(first))[0] == 200
            status, page = await opened(second)
            assert status == 422, reader
            assert "as much of The Log of Days today" in page
        with pytest.raises(ReaderError, match="cap_passages"):
            await club.club.passages.open_tag(CHAT, None, passages[1].tag, before=50, after=50, reader=MEMBER)


def test_the_key_is_made_once_is_its_owners_alone_and_outlives_a_restart(tmp_path: Path) -> None:
    key = signing_key(tmp_path)
    assert signing_key(tmp_path) == key
    assert (tmp_path / "web.key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["web.key"]
    (tmp_path / "web.key").write_bytes(b"short")
    with pytest.raises(OperatorError, match="web_key_damaged"):
        signing_key(tmp_path)


async def test_a_link_says_nothing_in_the_log_and_a_token_of_another_use_is_no_link(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data") as club, serve_web(club, tmp_path / "web") as served:
        async with aiohttp.ClientSession() as session:
            token = await served.token(session)
        with pytest.raises(Missing, match="link_broken"):
            served.links.read(token)
