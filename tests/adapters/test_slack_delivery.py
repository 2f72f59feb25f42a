"""Nothing lost, nothing twice: acknowledgements, repeats, restarts, refusals, tokens that expire, both ways of connecting."""

import asyncio
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from adapters.slack.app import Settings, serve
from adapters.slack.tokens import Rotation
from core.errors import OperatorError
from core.model import Conversation, Notice, Question, Reader
from tests.adapters.slack_workspace import ANA, BEN, CLUB, PATIENCE, Workspace, host, served
from tests.clubs import lantern_house, open_club
from tests.fakes.model import ScriptedModel
from tests.fakes.slack import APP_TOKEN, BOT, CLIENT, SECRET, FakeSlack, buttons, label, shown

QUESTION = "What did Mara keep the log in?"


def answers(fake: FakeSlack) -> list[str]:
    return [shown(message) for message in fake.world.of_bot(CLUB) if "[1]" in shown(message)]


async def test_each_event_told_three_times_once_across_a_restart_is_answered_once(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        async with served(tmp_path, book=lantern_house(), fake=fake) as there:
            done = there.people.mention(CLUB, ANA, QUESTION)
            await there.until_said("[1]")
            for envelope in done.envelopes:
                assert (await fake.sockets.again(envelope, 1)).acked is not None
            await there.settled()
            assert len(answers(fake)) == 1
        async with served(tmp_path, fake=fake) as there:
            for envelope in done.envelopes:
                assert (await fake.sockets.again(envelope, 2)).acked is not None
            await there.settled()
            assert len(answers(fake)) == 1


async def test_an_event_that_cannot_be_kept_is_not_acknowledged_and_comes_again(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.sockets.retries, fake.sockets.patience = (0.1, 0.1), 0.5
        async with served(tmp_path, book=lantern_house(), fake=fake) as there:
            database = sqlite3.connect(tmp_path / "data" / "loccit.db")
            database.execute("ALTER TABLE event RENAME TO gone")
            envelopes = there.people.mention(CLUB, ANA, QUESTION).envelopes
            await fake.sockets.tried(envelopes[0], 2)
            assert not any(envelope.acked for envelope in envelopes)
            assert answers(fake) == []
            database.execute("ALTER TABLE gone RENAME TO event")
            database.close()
            for envelope in envelopes:
                await fake.sockets.again(envelope, 3)
            await there.until_said("[1]")
            await there.settled()
            assert len(answers(fake)) == 1


async def test_a_database_that_fails_at_the_end_of_an_event_leaves_nobody_waiting_behind_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        with closing(sqlite3.connect(tmp_path / "data" / "loccit.db", isolation_level=None)) as database:
            database.execute(
                "CREATE TRIGGER full BEFORE UPDATE ON event BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
            )
            root = there.people.mention(CLUB, ANA, QUESTION).message.root
            async with asyncio.timeout(PATIENCE):
                while not any(record.name == "adapters.lanes" for record in caplog.records):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            database.execute("DROP TRIGGER full")
        there.people.mention(CLUB, BEN, QUESTION, thread=root)
        async with asyncio.timeout(PATIENCE):
            while len(answers(there.fake)) < 2:
                await there.fake.news(1.0)
        said = [call.args["status"] for call in there.fake.calls("assistant.threads.setStatus")]
        assert not any("as soon as what came before" in status for status in said)


async def test_commands_presses_and_forms_are_acknowledged_with_nothing_to_show(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        envelopes = [
            there.people.slash(CLUB, ANA, "books"),
            there.people.press(answer, "1", ANA),
            there.people.press_value(answer, ANA, {"type": "button", "action_id": "x:0", "value": "forged"}),
            there.people.open_home(ANA),
            there.people.suggest(answer, ANA, "nothing", "x"),
        ]
        for envelope in envelopes:
            await there.fake.sockets.acked(envelope, 5)
            assert envelope.answer is None


async def test_c34_a_refused_message_goes_again_in_plain_words_and_its_footnotes_still_open(tmp_path: Path) -> None:
    """Case C34: `{"ok": false, "error": "invalid_blocks"}` for 3,400 characters with eight tags."""
    words = "Mara kept the log in green ink. " * 13
    text = " ".join(f"{words}{number}. [f1-0-42]" for number in range(8))
    async with FakeSlack() as fake:
        fake.fault("chat.startStream", "ratelimited", status=429, retry_after=1)
        fake.fault("chat.postMessage", "invalid_blocks")
        async with served(tmp_path, ScriptedModel([text]), book=lantern_house(), fake=fake) as there:
            done = there.people.mention(CLUB, ANA, QUESTION)
            plain = await there.until_said("Slack refused the formatted message")
            await there.settled()
            thread = fake.world.thread(CLUB, done.ts)
            assert " ".join(" ".join(shown(message) for message in thread).split()).count("green ink") == 8 * 13
            assert not plain.blocks
            apart = next(message for message in thread if "Buttons of the message above" in shown(message))
            there.people.press(apart, "1", BEN)
            passage = await there.until(lambda message: message.for_user == BEN, what="a passage")
            assert "Mara kept the lighthouse log in green ink" in shown(passage)


async def test_a_refused_passage_and_a_refused_replacement_come_in_plain_words(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        there.fake.fault("chat.postEphemeral", "invalid_blocks")
        there.people.press(answer, "1", BEN)
        passage = await there.until(lambda message: message.for_user == BEN, what="a passage")
        assert "Mara kept the lighthouse log in green ink" in shown(passage)
        await there.settled()
        apart = there.fake.world.of_bot(CLUB)[-1]
        assert "Close" in [label(button) for button in buttons(apart)]


async def test_while_slack_cannot_be_reached_nothing_is_lost(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("users.info", status=0, times=1)
        fake.fault("chat.startStream", status=0, times=2)
        fake.fault("chat.postMessage", status=0, times=4)
        async with served(tmp_path, book=lantern_house(), fake=fake) as there:
            there.people.mention(CLUB, ANA, QUESTION)
            await there.until_said("[1]")
            await there.settled()
            assert len(answers(fake)) == 1


async def test_a_channel_that_is_archived_meanwhile_ends_the_matter(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.fake.world.channel(CLUB).archived = True
        there.people.mention(CLUB, ANA, QUESTION)
        async with asyncio.timeout(20):
            while await there.club.club.post.unfinished("slack") or not there.fake.calls("chat.postMessage"):
                await there.fake.news(0.1)
        there.fake.world.channel(CLUB).archived = False
        assert "[1]" in shown(await there.ask("Whose coat was in the suitcase?"))


async def test_another_bot_is_never_answered(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.fake.world.user("U0ROBOT", bot=True)
        there.people.mention(CLUB, "U0ROBOT", QUESTION)
        there.people.say(CLUB, "U0ROBOT", f"<@U0LOCCIT> {QUESTION}", bot=True)
        await there.settled(quiet=0.6)
        assert there.fake.world.of_bot(CLUB) == []


async def test_an_expired_token_is_refreshed_once_for_everybody_and_kept_over_a_restart(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        rotation = Rotation(CLIENT, SECRET, fake.tokens.refresh_token)
        settings = Settings(fake.tokens.bot, APP_TOKEN, fake.api, sockets=1, rotation=rotation)
        async with served(tmp_path, book=lantern_house(), fake=fake, settings=settings) as there:
            await there.ask(QUESTION)
            before = fake.tokens.rotations
            fake.tokens.expire()
            first = there.people.mention(CLUB, ANA, "Whose coat was in the suitcase?")
            there.people.direct(BEN, "help")
            there.people.open_home(BEN)
            await there.until(lambda message: message.root == first.ts and "[1]" in shown(message), what="an answer")
            await there.settled()
            assert fake.tokens.rotations == before + 1
        async with served(tmp_path, fake=fake, settings=settings) as there:
            await there.ask("Who arrived on the ferry?")
            assert fake.tokens.rotations == before + 1


async def test_a_refused_refresh_names_what_to_put_in(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        rotation = Rotation(CLIENT, "wrong", fake.tokens.refresh_token)
        settings = Settings(fake.tokens.bot, APP_TOKEN, fake.api, sockets=1, rotation=rotation)
        with pytest.raises(OperatorError, match="slack_refresh_refused"):
            await serving(tmp_path, settings)


async def serving(folder: Path, settings: Settings) -> None:
    told: list[Notice] = []
    async with open_club(folder / "data") as club, asyncio.timeout(20):
        await serve(club.club, settings=settings, host=host(folder, told))


@pytest.mark.parametrize(("wrong", "setting"), [("token", "SLACK_BOT_TOKEN"), ("app_token", "SLACK_APP_TOKEN")])
async def test_a_refused_token_ends_it_with_the_settings_name(tmp_path: Path, wrong: str, setting: str) -> None:
    async with FakeSlack() as fake:
        good = Settings(fake.tokens.bot, APP_TOKEN, fake.api)
        bad = replace(good, token="no") if wrong == "token" else replace(good, app_token="no")
        with pytest.raises(OperatorError) as caught:
            await serving(tmp_path, bad)
        assert (caught.value.key, caught.value.params["setting"]) == ("token_refused", setting)


async def test_a_token_revoked_while_serving_ends_it_and_the_question_stands(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        told: list[Notice] = []
        async with open_club(tmp_path / "data") as club:
            settings = Settings(fake.tokens.bot, APP_TOKEN, fake.api, sockets=1)
            task = asyncio.create_task(serve(club.club, settings=settings, host=host(tmp_path, told)))
            await fake.sockets.connected()
            from tests.fakes.slack import Driver

            fake.world.channel(CLUB, creator=ANA).members |= {"U0LOCCIT", ANA}
            fake.tokens.bot = "another"
            Driver(fake).mention(CLUB, ANA, QUESTION)
            with pytest.raises(OperatorError, match="token_refused"):
                await asyncio.wait_for(task, 20)
            assert len(await club.club.post.unfinished("slack")) == 1


@asynccontextmanager
async def over_http(folder: Path, fake: FakeSlack) -> AsyncIterator[Workspace]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = Settings(fake.tokens.bot, "", fake.api, fake.sockets.signing_secret, port)
    fake.sockets.http_target = f"http://127.0.0.1:{port}/slack/events"
    async with served(folder, book=lantern_house(), fake=fake, settings=settings) as there:
        async with asyncio.timeout(20):
            await there.up()
        yield there


async def test_http_mode_answers_signed_requests_and_no_others(tmp_path: Path) -> None:
    async with FakeSlack() as fake, over_http(tmp_path, fake):
        from tests.fakes.slack import Driver

        done = Driver(fake).mention(CLUB, ANA, QUESTION)
        for envelope in done.envelopes:
            await fake.sockets.acked(envelope, 5)
        async with asyncio.timeout(20):
            while not answers(fake):
                await fake.news(0.1)
        command = Driver(fake).slash(CLUB, ANA, "books")
        await fake.sockets.acked(command, 5)
        body = b'{"type": "event_callback", "event": {}}'
        async with aiohttp.ClientSession() as session:
            reply = await session.post(str(fake.sockets.http_target), data=body)
            assert reply.status == 401
        assert fake.calls("apps.connections.open") == []


async def test_several_sockets_share_the_events_and_a_lost_one_comes_back(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        settings = Settings(fake.tokens.bot, APP_TOKEN, fake.api, sockets=3)
        async with served(tmp_path, book=lantern_house(), fake=fake, settings=settings) as there:
            assert fake.sockets.count == 3
            await fake.sockets.refresh()
            asked = [there.people.mention(CLUB, ANA, f"What did Mara keep the log in, {name}?") for name in "abc"]
            for done in asked:
                for envelope in done.envelopes:
                    await fake.sockets.acked(envelope, 20)
                await there.until(lambda message, root=done.ts: message.root == root and "[1]" in shown(message))
            await fake.sockets.connected(3)
            assert len(answers(fake)) == 3


async def test_what_was_for_one_alone_and_was_not_seen_before_a_stop_is_shown_to_nobody_else(tmp_path: Path) -> None:
    async with open_club(tmp_path / "data", ScriptedModel(lambda _: "Airships.")) as club:
        where = Conversation("slack", CLUB, "1.1")
        for place, key in ((where, "1.1"), (Conversation("slack", f"D{BEN[1:]}", "2.2"), "2.2")):
            await club.shelve(lantern_house(), place)
            event = f"slack:T0:{place.channel}:{key}:p1"
            asked = Question(event, place, Reader(BEN), "What flew?", without_book=True, private=True)
            async for _ in club.club.questions.ask(asked):
                pass  # made, and shown nowhere
    async with FakeSlack() as fake:
        fake.world.channel(f"D{BEN[1:]}", creator=BEN).members |= {BOT, BEN}
        async with served(tmp_path, fake=fake) as there:
            await there.until_said("Airships", f"D{BEN[1:]}")
            async with asyncio.timeout(20):
                while await there.club.store.turns.unshown("slack"):  # noqa: ASYNC110  # rows
                    await asyncio.sleep(0.02)
            assert not [message for message in fake.world.of_bot(CLUB) if "Airships" in shown(message)]
