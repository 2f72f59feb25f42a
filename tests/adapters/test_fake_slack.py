"""The fake workspace holds to the vendor's rules: the unmodified libraries work against it, and bad payloads are refused."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import APP_TOKEN, BOT, CLIENT, SCOPES, SECRET, TEAM, Driver, FakeSlack
from tests.fakes.slack.limits import answer_error, blocks_error, view_error
from tests.fakes.slack.liveness import live, live_markdown

CLUB, ANA = "C0CLUB", "U0ANA"


@pytest.fixture
async def fake() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        fake.world.channel(CLUB).members |= {BOT, ANA}
        fake.world.user(ANA)
        yield fake


def client(fake: FakeSlack) -> AsyncWebClient:
    return AsyncWebClient(fake.tokens.bot, base_url=fake.api)


@asynccontextmanager
async def bolt(fake: FakeSlack, register: Callable[[AsyncApp], None]) -> AsyncIterator[AsyncApp]:
    app = AsyncApp(client=client(fake))
    register(app)
    handler = AsyncSocketModeHandler(app, APP_TOKEN, ping_interval=1)
    await handler.connect_async()  # type: ignore[no-untyped-call]  # the library's own, without types
    await fake.sockets.connected()
    try:
        yield app
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]  # the library's own, without types


async def refused(call: Awaitable[Any]) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def test_a_mention_arrives_as_two_events_and_each_is_acknowledged(fake: FakeSlack) -> None:
    heard: list[str] = []

    def register(app: AsyncApp) -> None:
        @app.event("app_mention")
        async def mention(event: dict[str, Any]) -> None:
            heard.append(event["type"])

        @app.event("message")
        async def message(event: dict[str, Any]) -> None:
            heard.append(event["type"])

    async with bolt(fake, register):
        done = Driver(fake).mention(CLUB, ANA, "hello")
        for envelope in done.envelopes:
            await fake.sockets.acked(envelope, 5)
    assert sorted(heard) == ["app_mention", "message"]
    assert len({envelope.payload["event_id"] for envelope in done.envelopes}) == 2


async def test_a_mention_with_a_file_is_no_app_mention(fake: FakeSlack) -> None:
    done = Driver(fake).upload(CLUB, ANA, "book.epub", b"PK")
    told = [envelope.payload["event"] for envelope in done.envelopes]
    assert [event["type"] for event in told] == ["message", "file_shared"]
    assert told[0]["subtype"] == "file_share"
    assert "text" not in told[1]


async def test_what_is_not_acknowledged_comes_again_and_says_so(fake: FakeSlack) -> None:
    fake.sockets.retries, fake.sockets.patience = (0.0, 0.05), 0.2
    tries: list[str | None] = []

    def register(app: AsyncApp) -> None:
        @app.middleware
        async def middleware(body: dict[str, Any], req: Any, next: Callable[[], Awaitable[None]]) -> None:
            tries.append(req.headers.get("x-slack-retry-num", [None])[0])
            raise RuntimeError("the disk is full")

    async with bolt(fake, register):
        [envelope] = Driver(fake).say(CLUB, ANA, "hello").envelopes
        await fake.sockets.tried(envelope, 3, 15)
    assert not envelope.acked
    assert tries[:2] == ["0", "1"]


async def test_a_socket_comes_back_after_a_refresh_and_after_a_cut(fake: FakeSlack) -> None:
    def register(app: AsyncApp) -> None:
        @app.event("message")
        async def message() -> None:
            pass

    async with bolt(fake, register):
        await fake.sockets.refresh()
        await fake.sockets.connected()
        await fake.sockets.drop()
        [envelope] = Driver(fake).say(CLUB, ANA, "hello").envelopes
        await fake.sockets.acked(envelope, 20)
    assert fake.sockets.hellos >= 3


async def test_http_mode_is_signed_and_a_wrong_secret_is_refused(fake: FakeSlack) -> None:
    app = AsyncApp(client=client(fake), signing_secret=fake.sockets.signing_secret)

    @app.event("message")
    async def message() -> None:
        pass

    from aiohttp import web

    runner = web.AppRunner(app.web_app())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    fake.sockets.http_target = f"http://{host}:{port}/slack/events"
    fake.sockets.retries = ()
    [good] = Driver(fake).say(CLUB, ANA, "hello").envelopes
    await fake.sockets.acked(good, 5)
    fake.sockets.signing_secret = "another"
    [bad] = Driver(fake).say(CLUB, ANA, "hello").envelopes
    await fake.sockets.tried(bad, 1, 5)
    assert not bad.acked
    await runner.cleanup()


async def test_streams_have_states(fake: FakeSlack) -> None:
    web_client = client(fake)
    where: dict[str, Any] = {"channel": CLUB, "thread_ts": "1.0", "recipient_user_id": ANA, "recipient_team_id": TEAM}
    ts = str((await web_client.chat_startStream(**where, markdown_text="Green"))["ts"])
    await web_client.chat_appendStream(channel=CLUB, ts=ts, markdown_text=" ink")
    assert fake.world.messages[CLUB, ts].streamed == "Green ink"
    assert await refused(web_client.chat_update(channel=CLUB, ts=ts, text="x")) == "streaming_state_conflict"
    await web_client.chat_stopStream(channel=CLUB, ts=ts)
    late = web_client.chat_appendStream(channel=CLUB, ts=ts, markdown_text="!")
    assert await refused(late) == "message_not_in_streaming_state"
    await web_client.chat_update(channel=CLUB, ts=ts, text="Green ink.")
    assert fake.world.messages[CLUB, ts].history == ["Green", "Green ink", "Green ink", "Green ink."]


async def test_rates_hold_and_name_the_seconds_to_wait(fake: FakeSlack) -> None:
    hasty = client(fake)
    for _ in range(3):
        await hasty.chat_postMessage(channel=CLUB, text="hello")
    with pytest.raises(SlackApiError) as caught:
        await hasty.chat_postMessage(channel=CLUB, text="hello")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"
    patient = client(fake)
    patient.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=3))
    assert (await patient.chat_postMessage(channel=CLUB, text="hello"))["ok"]


async def test_an_ephemeral_message_changes_only_through_its_response_url(fake: FakeSlack) -> None:
    web_client = client(fake)
    posted = await web_client.chat_postEphemeral(channel=CLUB, user=ANA, text="only you")
    update = web_client.chat_update(channel=CLUB, ts=str(posted["message_ts"]), text="x")
    assert await refused(update) == "message_not_found"
    [whispered] = fake.world.ephemerals
    url = fake.response_url(CLUB, ANA, whispered)
    async with aiohttp.ClientSession() as session:
        await session.post(url, json={"replace_original": True, "text": "changed"})
        assert whispered.text == "changed"
        await session.post(url, json={"delete_original": True})
    assert whispered.deleted


async def test_a_download_without_the_scope_is_a_login_page(fake: FakeSlack) -> None:
    file = Driver(fake).file(ANA, "book.epub", b"PK\x03\x04")
    address = (await client(fake).files_info(file=file.id))["file"]["url_private_download"]
    headers = {"Authorization": f"Bearer {fake.tokens.bot}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        assert await (await session.get(address)).read() == b"PK\x03\x04"
        fake.scopes = SCOPES - {"files:read"}
        reply = await session.get(address)
        assert reply.status == 200
        assert b"Sign in" in await reply.read()


async def test_an_upload_takes_three_steps_and_ends_in_the_thread(fake: FakeSlack) -> None:
    await client(fake).files_upload_v2(filename="chat.md", content="# Chat", channel=CLUB, thread_ts="1.0")
    [file] = [file for file in fake.world.files.values() if file.name == "chat.md"]
    assert file.data == b"# Chat"
    assert fake.world.thread(CLUB, "1.0")[0].files == [file.id]


async def test_a_trigger_serves_once_and_for_three_seconds(fake: FakeSlack) -> None:
    web_client = client(fake)
    title = {"type": "plain_text", "text": "Books"}
    text = {"type": "section", "text": {"type": "plain_text", "text": "…"}}
    view = {"type": "modal", "title": title, "blocks": [text]}
    trigger = fake.trigger(ANA)
    opened = await web_client.views_open(trigger_id=trigger, view=view)
    assert await refused(web_client.views_open(trigger_id=trigger, view=view)) == "expired_trigger_id"
    await web_client.views_update(view_id=opened["view"]["id"], view=view)


async def test_a_refresh_token_serves_once_and_ends_the_token_before(fake: FakeSlack) -> None:
    web_client, old = client(fake), fake.tokens.bot
    spent = fake.tokens.refresh_token
    form = {
        "client_id": CLIENT,
        "client_secret": SECRET,
        "grant_type": "refresh_token",
        "refresh_token": spent,
    }
    new = await AsyncWebClient(base_url=fake.api).api_call("oauth.v2.access", data=form)
    assert await refused(web_client.auth_test()) == "token_expired"
    assert (await web_client.auth_test(token=new["access_token"]))["ok"]
    again = AsyncWebClient(base_url=fake.api).api_call("oauth.v2.access", data=form)
    assert await refused(again) == "invalid_refresh_token"
    assert old in fake.tokens.dead
    assert fake.problems.pop().startswith("oauth.v2.access")


async def test_unknown_methods_and_broken_limits_fail_the_test() -> None:
    async def shout() -> None:
        async with FakeSlack() as fake:
            await refused(client(fake).api_call("chat.shout"))

    async def go_on_and_on() -> None:
        async with FakeSlack() as fake:
            fake.world.channel(CLUB).members.add(BOT)
            long = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}]
            assert await refused(client(fake).chat_postMessage(channel=CLUB, text="x", blocks=long)) == "invalid_blocks"

    with pytest.raises(AssertionError, match="unknown_method"):
        await shout()
    with pytest.raises(AssertionError, match="section text"):
        await go_on_and_on()


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "1"}, **more}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "actions", "elements": [button(action_id=str(n)) for n in range(26)]},
        {"type": "actions", "elements": [button(), button()]},
        {"type": "actions", "elements": [button(text={"type": "plain_text", "text": "x" * 76})]},
        {"type": "actions", "elements": [button(value="x" * 2001)]},
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]}]},
        {"type": "rich_text", "elements": []},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101},
        {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}},
        {"type": "markdown", "text": "x" * 12_001},
        {"type": "hologram"},
    ],
)
def test_a_block_over_a_limit_is_refused(block: dict[str, Any]) -> None:
    assert blocks_error([block], 50) is not None


def test_counts_of_blocks_and_tables_are_limits_too() -> None:
    divider, table = {"type": "divider"}, {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}
    assert blocks_error([divider] * 50, 50) is None
    assert blocks_error([divider] * 51, 50) is not None
    assert blocks_error([table, table], 50) == "invalid_attachments: only_one_table_allowed"
    title = {"type": "plain_text", "text": "x" * 25}
    assert view_error({"type": "modal", "title": title, "blocks": [divider]}) is not None


def modal(field: dict[str, Any] | None = None, block: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A form with one text field."""
    words = {"type": "plain_text", "text": "x"}
    element = {"type": "plain_text_input", "action_id": "f", "max_length": 10, **(field or {})}
    blocks = [{"type": "input", "block_id": "f", "label": words, "element": element, **(block or {})}]
    return {"type": "modal", "title": words, "submit": words, "blocks": blocks, **more}


@pytest.mark.parametrize(
    "view",
    [
        modal(title={"type": "plain_text", "text": "x" * 25}),
        modal(submit={"type": "plain_text", "text": "x" * 25}),
        modal(close={"type": "plain_text", "text": "x" * 25}),
        modal(private_metadata="x" * 3001),
        modal(callback_id="x" * 256),
        modal(blocks=[]),
        {key: value for key, value in modal().items() if key != "submit"},
        modal(block={"label": {"type": "plain_text", "text": "x" * 2001}}),
        modal(block={"label": {"type": "mrkdwn", "text": "x"}}),
        modal(block={"block_id": "x" * 256}),
        modal({"max_length": 3001}),
        modal({"initial_value": "x" * 11}),
        modal(type="home"),
    ],
)
def test_a_form_over_a_limit_is_refused(view: dict[str, Any]) -> None:
    assert view_error(modal()) is None
    assert view_error(view) is not None


def test_a_sentence_about_a_form_stands_at_one_of_its_fields() -> None:
    assert answer_error(modal(), None) is None
    assert answer_error(modal(), {"response_action": "errors", "errors": {"f": "Too long."}}) is None
    for errors in ({"g": "Too long."}, {"f": ""}, {}):
        assert answer_error(modal(), {"response_action": "errors", "errors": errors}) is not None
    assert answer_error(modal(), {"text": "no"}) is not None


@pytest.mark.parametrize(
    "text", ["<!channel>", "<@U0ANA>", "<https://evil.example|here>", "https://evil.example", "a@b.example", "@here"]
)
def test_what_acts_in_a_text_is_seen(text: str) -> None:
    assert live(text)
    assert live_markdown(text)
    assert live("", [{"type": "section", "text": {"type": "mrkdwn", "text": text}}])
    inert = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    assert live("", [{"type": "rich_text", "elements": [inert]}]) == []


def test_links_made_on_purpose_and_escapes_are_told_apart() -> None:
    link = {"type": "rich_text_section", "elements": [{"type": "link", "url": "https://a.example"}]}
    assert live("", [{"type": "rich_text", "elements": [link]}]) == ["link: https://a.example"]
    assert live("&lt;!channel&gt;") == []
    assert live_markdown("[here](https://a.example)")
