"""What Slack shows beside the chat: forms that open at once, the App Home, and what doctor and the manifest say."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.slack.doctor import EVENTS, SCOPES, examine, missing_scopes
from adapters.slack.door import Settings
from adapters.slack.incoming import READ_THIS
from adapters.slack.tokens import Rotation
from bot.config import read_config
from bot.running import slack_settings
from core.errors import OperatorError
from core.model import Notice
from tests.adapters.slack_workspace import ANA, BEN, CLUB, HERE, Workspace, served
from tests.bot.running import CHECKOUT, Ran, loccit
from tests.clubs import book_of, lantern_house, long_book
from tests.fakes.slack import APP_TOKEN, BOT, FakeSlack, View, shown
from tests.fakes.slack import SCOPES as GRANTED
from tests.fakes.slack.world import block_text

MANIFEST = (CHECKOUT / "deploy" / "slack-manifest.yaml").read_text("utf-8")


async def view(there: Workspace, kind: str, *words: str) -> View:
    """The page of this kind once it holds these words."""
    async with asyncio.timeout(20):
        while True:
            for found in there.fake.world.views.values():
                if found.kind == kind and all(word in str(found.body) for word in words):
                    return found
            await there.fake.news(0.5)


def text(page: View) -> str:
    return "\n".join(block_text(block) for block in page.body["blocks"])


async def test_a_form_opens_within_the_triggers_life_and_sets_the_clubs_limit(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.people.slash(CLUB, ANA, "progress")
        form = await view(there, "modal", "finished 2")
        assert "Green Ink" not in str(form.body), "titles of chapters may be spoilers"
        book = form.body["blocks"][0]["element"]["initial_option"]
        reach = form.body["blocks"][1]["element"]["options"][2]
        assert reach["value"] == "finished 2"
        there.people.submit(form, ANA, {"book": {"selected_option": book}, "reach": {"selected_option": reach}})
        said = await there.until_said("chapter 2")
        assert said.for_user is None


async def test_the_form_comes_at_once_also_while_an_answer_is_being_written(tmp_path: Path) -> None:
    from tests.adapters.test_slack_streaming import SlowModel

    model = SlowModel(hold_after=3)
    async with served(tmp_path, model, book=lantern_house()) as there:
        there.people.mention(CLUB, ANA, "What did Mara keep the log in?")
        while not model.asked:
            await there.fake.news(0.05)
        there.people.slash(CLUB, BEN, "use")
        await view(there, "modal", "The Lantern House")
        model.gate.set()
        await there.until_said("[1]")


async def test_a_form_chooses_among_books_and_one_without_books_says_how_to_add(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.people.slash(CLUB, ANA, "use")
        empty = await view(there, "modal", "no book here")
        assert "submit" not in empty.body
        await there.club.shelve(lantern_house(), HERE)
        await there.club.shelve(long_book(2), HERE)
        there.people.slash(CLUB, ANA, "use")
        form = await view(there, "modal", "The Log of Days")
        options = form.body["blocks"][0]["element"]["options"]
        there.people.submit(form, ANA, {"book": {"selected_option": options[1]}})
        assert "The Log of Days" in shown(await there.until_said("The Log of Days"))


async def test_a_form_that_cannot_be_opened_becomes_text(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("views.open", "expired_trigger_id")
        async with served(tmp_path, book=lantern_house(), fake=fake) as there:
            there.people.slash(CLUB, ANA, "progress")
            await there.until(lambda message: message.for_user == ANA and "whole book" in shown(message), what="text")


async def test_a_form_with_a_book_of_another_channel_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        other = await there.club.shelve(long_book(2), type(HERE)("slack", "C0OTHER"))
        there.people.slash(CLUB, ANA, "remove")
        form = await view(there, "modal", "The Lantern House")
        there.people.submit(form, ANA, {"book": {"selected_option": {"value": other}}})
        await there.until(lambda message: shown(message) != "", what="a sentence")
        assert len(await there.club.club.shelf(type(HERE)("slack", "C0OTHER"))) == 1
        assert len(await there.club.club.shelf(HERE)) == 1


async def test_the_home_shows_a_readers_books_and_places_and_nobody_elses(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        secret = book_of(lantern_house().files, lantern_house().runs, ("A", "B", "C"), "The Secret Book")
        for channel, kind in (("C0SECRET", "group"), (CLUB, "channel")):
            there.fake.world.channel(channel, kind=kind).members |= {"U0LOCCIT", ANA}
            await there.club.club.post.remember("slack", f"shelf:{channel}", "T0LOCCIT")
        await there.club.shelve(secret, type(HERE)("slack", "C0SECRET"))
        there.people.slash(CLUB, BEN, "place finished 1")
        await there.until(lambda message: message.for_user == BEN, what="a place")
        there.people.open_home(BEN)
        home = await view(there, "home", "The Lantern House")
        assert "you: chapter 1" in text(home)
        assert "Secret" not in str(home.body)
        assert "/loccit ask" in text(home)
        there.people.open_home(ANA)
        async with asyncio.timeout(20):
            while not any("Secret" in str(page.body) for page in there.fake.world.views.values() if page.user == ANA):
                await there.fake.news(0.2)


async def test_a_home_without_books_says_how_to_start(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.people.open_home(BEN)
        home = await view(there, "home", "How to start")
        assert "no book yet" in text(home)


async def test_a_workspace_is_greeted_once_in_the_first_channel_the_bot_is_invited_to(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        there.fake.world.channel("C0HALL").members.add(BOT)
        for user, channel in ((BEN, CLUB), (BOT, CLUB), (BOT, CLUB), (BOT, "C0HALL")):
            joined = {"type": "member_joined_channel", "user": user, "channel": channel, "inviter": ANA}
            there.people.event({**joined, "event_ts": there.fake.world.next_ts()})
        assert "/loccit setup" in shown(await there.until_said("Hello"))
        await there.settled()
        said = [shown(message) for at in (CLUB, "C0HALL") for message in there.fake.world.of_bot(at)]
        assert len(said) == 1


# doctor and the manifest


def listed(key: str) -> list[str]:
    """The items of a list in the manifest; the project needs no YAML library."""
    found = re.search(rf"^( +){key}:\n((?:\1 +- .*\n)+)", MANIFEST, re.M)
    assert found, key
    return re.findall(r"- (\S+)", found[2])


def test_the_manifest_asks_for_exactly_what_the_code_needs() -> None:
    assert sorted(listed("bot")) == sorted(SCOPES)
    assert sorted(listed("bot_events")) == sorted(EVENTS)
    assert set(SCOPES) <= GRANTED
    assert f"callback_id: {READ_THIS}" in MANIFEST
    assert "command: /loccit" in MANIFEST
    assert "socket_mode_enabled: true" in MANIFEST
    assert "is_enabled: true" in MANIFEST


async def test_no_call_needs_a_scope_that_the_manifest_does_not_ask_for(tmp_path: Path) -> None:
    async with FakeSlack(scopes=frozenset(SCOPES)) as fake, served(tmp_path, book=lantern_house(), fake=fake) as there:
        answer = await there.ask("What did Mara keep the log in?")
        there.people.press(answer, "1", BEN)
        there.people.open_home(BEN)
        there.people.slash(CLUB, ANA, "export")
        await view(there, "home", "How to start")
        await there.settled()
        assert not any(entry.reply.get("error") == "missing_scope" for entry in fake.journal)


def test_missing_scopes_are_named_in_order() -> None:
    assert missing_scopes(",".join(SCOPES)) == []
    assert missing_scopes("chat:write, commands,files:read") == [
        scope for scope in SCOPES if scope not in ("chat:write", "commands", "files:read")
    ]


async def test_doctor_says_that_all_is_well_or_names_what_is_missing(tmp_path: Path) -> None:
    async with FakeSlack(scopes=frozenset(SCOPES)) as fake:
        good = Settings(fake.tokens.bot, APP_TOKEN, fake.api)
        assert await examine(good) == ([Notice("doctor_slack", {"team": "Club", "name": "loccit"})], True)
        fake.scopes = frozenset(SCOPES) - {"files:read", "users:read"}
        ran = await asyncio.to_thread(run_doctor, fake, tmp_path)
        assert ran.code == 1
        assert "Slack: the app lacks files:read, users:read;" in ran.out
        assert "reinstall the app" in ran.out
        for bad, setting in (
            (replace(good, token="no"), "SLACK_BOT_TOKEN"),
            (replace(good, app_token="no"), "SLACK_APP_TOKEN"),
        ):
            [notice], well = await examine(bad)
            assert not well
            assert (notice.key, notice.params["setting"]) == ("token_refused", setting)
        rotated = replace(good, token="old", rotation=Rotation("id", "secret", "refresh"))
        assert await examine(rotated) == ([Notice("doctor_slack_rotated")], True)
    assert await examine(good) == ([Notice("platform_unreachable", {"platform": "Slack"})], False)


def run_doctor(fake: FakeSlack, data: Path) -> Ran:
    token = fake.tokens.bot
    return loccit("doctor", data=data, SLACK_BOT_TOKEN=token, SLACK_APP_TOKEN=APP_TOKEN, SLACK_API_BASE=fake.api)


async def test_a_refused_token_ends_the_run_with_a_sentence_and_code_78(tmp_path: Path) -> None:
    def run() -> Ran:
        return loccit(
            "run",
            data=tmp_path,
            SLACK_BOT_TOKEN=fake.tokens.bot,
            SLACK_APP_TOKEN="xapp-wrong",
            SLACK_API_BASE=fake.api,
            LOCCIT_WEB_PORT="0",
        )

    async with FakeSlack() as fake:
        ran = await asyncio.to_thread(run)
        assert ran.code == 78
        assert "SLACK_APP_TOKEN" in ran.err
        assert "Traceback" not in ran.err
        assert "xapp-wrong" not in ran.err


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({}, "slack_no_app_token"),
        ({"SLACK_PORT": "8080"}, "slack_no_app_token"),
        ({"SLACK_APP_TOKEN": "xapp", "SLACK_REFRESH_TOKEN": "xoxe"}, "slack_no_client"),
        ({"SLACK_APP_TOKEN": "xapp", "SLACK_API_BASE": "https://slack.com/api"}, "config_slack_base"),
        ({"SLACK_APP_TOKEN": "xapp", "SLACK_SOCKETS": "11"}, "config_slack_sockets"),
        ({"SLACK_APP_TOKEN": "xapp", "SLACK_SOCKETS": "two"}, "config_slack_sockets"),
        ({"SLACK_APP_TOKEN": "xapp", "SLACK_PORT": "99999"}, "config_port"),
    ],
)
def test_settings_that_cannot_work_are_named(settings: dict[str, str], key: str) -> None:
    with pytest.raises(OperatorError, match=key):
        slack_settings(read_config({"SLACK_BOT_TOKEN": "xoxb", "HOME": "/nowhere"} | settings))


def test_secrets_stand_in_no_repr() -> None:
    given = {"SLACK_BOT_TOKEN": "s-1", "SLACK_APP_TOKEN": "s-2", "SLACK_SIGNING_SECRET": "s-3", "HOME": "/nowhere"}
    given |= {"SLACK_REFRESH_TOKEN": "s-4", "SLACK_CLIENT_ID": "id", "SLACK_CLIENT_SECRET": "s-5"}
    config = read_config(given)
    assert "s-" not in repr(config) + repr(slack_settings(config))
