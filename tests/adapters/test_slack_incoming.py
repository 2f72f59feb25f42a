"""What Slack tells, read: which messages are for us, one key for all that is told about one, words as people typed them."""

from typing import Any

import pytest

from adapters.slack import forms, incoming
from adapters.slack.incoming import Bot, Where
from core.model import Event

BOT = Bot("U0BOT", "T1")


def told(**more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "channel": "C1", "ts": "10.1", "text": "hello", **more}


def read(**more: Any) -> tuple[Event, bool] | None:
    return incoming.message(told(**more), BOT, "T1")


def test_a_mention_told_twice_is_one_event() -> None:
    as_message, as_mention = read(text="<@U0BOT> hi"), read(text="<@U0BOT> hi", type="app_mention")
    assert as_message is not None
    assert as_message == as_mention
    assert as_message[0].key == "slack:T1:C1:10.1"
    assert as_message[1]


def test_a_mention_with_a_file_is_an_upload() -> None:
    found = read(text="<@U0BOT> here it is", subtype="file_share", files=[{"id": "F1"}])
    assert found is not None
    assert found[0].payload["kind"] == "upload"
    assert found[0].payload["files"] == ["F1"]


@pytest.mark.parametrize(
    "more",
    [
        {"text": "people among themselves"},
        {"bot_id": "B1", "text": "<@U0BOT> hi"},
        {"user": "U0BOT", "text": "<@U0BOT> hi"},
        {"subtype": "channel_join", "text": "<@U0BOT> has joined"},
        {"subtype": "message_changed"},
        {"subtype": "file_share", "files": [{"id": "F1"}], "text": "a picture"},
        {"thread_ts": "9.9", "text": "<@U2> what do you think?"},
        {"user": None},
    ],
)
def test_what_is_not_for_us_is_not_kept(more: dict[str, Any]) -> None:
    assert read(**more) is None


def test_a_reply_in_a_thread_is_for_us_only_if_we_take_part() -> None:
    found = read(thread_ts="9.9", text="and then?")
    assert found is not None
    event, addressed = found
    assert not addressed
    assert event.payload["thread"] == "9.9"
    assert event.payload["follows"]


def test_a_direct_message_is_always_for_us_and_answered_in_its_own_thread() -> None:
    found = read(channel="D1")
    assert found is not None
    assert found[1]
    assert found[0].payload["thread"] == "10.1"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("<@U0BOT> who kept the log?", "who kept the log?"),
        ("who, <@U0BOT>, kept it?", "who, , kept it?"),
        ("<@U0BOT> is A &lt; B &amp; C &gt; D?", "is A < B & C > D?"),
        ("<@U0BOT> see <https://a.example/x|a.example/x>", "see a.example/x"),
        ("<@U0BOT> write to <mailto:a@b.example|a@b.example>", "write to a@b.example"),
        ("<@U0BOT> in <#C2|fiction> with <@U2|ben>", "in fiction with ben"),
        ("<@U0BOT>", ""),
    ],
)
def test_words_are_read_as_they_were_typed(typed: str, words: str) -> None:
    assert incoming.stripped(typed, BOT) == words


@pytest.mark.parametrize(
    ("typed", "name", "words"),
    [
        ("ask who?", "ask", "who?"),
        ("progress finished 3", "progress", "finished 3"),
        ("", "help", ""),
        ("TOC", "toc", ""),
    ],
)
def test_a_slash_command_is_a_name_and_words(typed: str, name: str, words: str) -> None:
    body = {
        "team_id": "T1",
        "channel_id": "C1",
        "user_id": "U1",
        "command": "/loccit",
        "text": typed,
        "trigger_id": "t",
    }
    event = incoming.command(body)
    assert (event.payload["name"], event.payload["text"]) == (name, words)


def press(**more: Any) -> incoming.Press | None:
    action = {"type": "button", "action_id": "note:0", "value": "id", "action_ts": "11.1", **more.pop("action", {})}
    body = {
        "type": "block_actions",
        "user": {"id": "U1"},
        "team": {"id": "T1"},
        "channel": {"id": "C1"},
        "container": {"message_ts": "10.2", "thread_ts": "10.1", "is_ephemeral": False},
        "actions": [action],
        **more,
    }
    return incoming.press(body)


def test_a_press_knows_its_place_its_kind_and_its_message() -> None:
    found = press()
    assert found is not None
    assert (found.kind, found.id, found.ts) == ("note", "id", "10.2")
    assert found.place == Where("C1", "10.1", "U1", "T1")


@pytest.mark.parametrize(
    "more",
    [{"action": {"value": None}}, {"action": {"value": 7}}, {"action": {"type": "static_select"}}, {"channel": None}],
)
def test_what_is_no_press_of_a_button_of_ours_is_none(more: dict[str, Any]) -> None:
    assert press(**more) is None


def submission(values: dict[str, Any], metadata: str = '{"channel": "C1", "team": "T1"}') -> dict[str, Any]:
    state = {block: {block: {"selected_option": {"value": value}}} for block, value in values.items()}
    view = {"callback_id": "loccit:progress", "private_metadata": metadata, "state": {"values": state}, "id": "V1"}
    return {"type": "view_submission", "user": {"id": "U1"}, "view": view}


def test_a_form_becomes_what_the_desk_does() -> None:
    found = forms.sent(submission({"book": "abc", "reach": "finished 2"}))
    assert found is not None
    assert found.action == {"do": "reach", "book": "abc", "words": "finished 2"}
    assert found.place == Where("C1", None, "U1", "T1")


@pytest.mark.parametrize(
    "body",
    [
        submission({"book": "abc"}),
        submission({"book": "abc", "reach": "all"}, metadata="not json"),
        submission({"book": "abc", "reach": "all"}, metadata="[]"),
        {"view": {"callback_id": "another"}, "user": {"id": "U1"}},
        {},
    ],
)
def test_a_form_that_is_broken_or_anothers_is_none(body: dict[str, Any]) -> None:
    assert forms.sent(body) is None
